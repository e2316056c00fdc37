/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loop of a worker that drives many sessions: which of them may go on.

   A task is a session in a loop.  Its code runs in the worker's own stack until it has to wait.  A
   call of C code that may wait (a statement) runs in a stack of its own while it lasts
   (bn_task_call): its wait leaves that stack, and the loop goes on with other tasks.  A task
   without such a call waits for a time (bn_task_sleep).  In either case the session's code returns
   to the loop, which calls `go_on` once the call has returned or the time has come.

   The work of a wake-up grows with the number of tasks that are ready, not with the number of
   tasks.  Only its worker uses a loop, unless a function says otherwise. */
#ifndef BN_ENGINE_LOOP_H
#define BN_ENGINE_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/driver.h"
#include "api/session.h"
#include "base/err.h"
#include "base/fiber.h"
#include "engine/timers.h"

struct bn_loop;

struct bn_task {
  struct bn_loop *loop;
  struct bn_session *session;
  struct bn_sql_waiter waiter; /* for the drivers of its connections; its `of` is the task */
  struct bn_fiber *fiber;      /* the stack of the call that has not returned; NULL: none */
  struct bn_timer timer;       /* the end of its wait */
  struct bn_task *next;        /* the next ready task */
  int fd;                      /* the descriptor that it waits for; -1: none */
  short wanted, came;          /* events of the descriptor: waited for, and that ended the wait */
  bool waits;                  /* for the descriptor, the timer or both */
  bool queued;                 /* it is in a list of ready tasks */
  bool slept;                  /* it has slept since engine/event.c cleared this */
  bool until_over;             /* its wait ends when the run does */
  uint64_t turn_ns;            /* the begin of its turn, set by bn_event_ask; 0: not known yet */
};

/* The state of a descriptor; the table is indexed by its number. */
struct bn_loop_fd {
  struct bn_task *task; /* the task that waits for it, or waited last */
  bool armed;           /* registered for its life, for input */
  bool early;           /* input came while no task waited */
};

struct bn_task_list {
  struct bn_task *first, **last;
};

struct bn_loop {
  int epoll_fd, wake_fd;
  struct bn_loop_fd *fd; /* owned; n_fds entries */
  size_t n_fds;
  struct bn_timers timers;
  struct bn_task_list woken; /* tasks whose waits have ended */
  struct bn_task_list queue; /* tasks that may go on without a wait */
  struct bn_fiber_pool fibers;
  void *spare;             /* owned; what the drivers' waiters share (struct bn_sql_waiter) */
  struct bn_task *running; /* the task whose call's stack is in use; NULL: the worker's own is */
  struct bn_task **task;   /* owned; n_tasks borrowed tasks */
  unsigned n_tasks;
  bool has_failed; /* a call got no stack, or a descriptor cannot be watched: the run has failed */
  void (*go_on)(struct bn_task *t);
};

/* Returns 0, or -1 and err if the process has too many descriptors.  go_on is called for a task
   whose session may go on.  bn_loop_done accepts a loop that init left half made. */
int bn_loop_init(struct bn_loop *l, unsigned n_tasks, void (*go_on)(struct bn_task *t),
                 struct bn_err *err);
/* Frees the loop after every call of a task has returned. */
void bn_loop_done(struct bn_loop *l);
/* Adds task number i, zeroed before. */
void bn_loop_add(struct bn_loop *l, unsigned i, struct bn_task *t, struct bn_session *s);
/* Puts a task that waits for nothing in the queue. */
void bn_loop_queue(struct bn_task *t);
/* Waits until a task is ready or bn_loop_wake is called.  Then goes on with all tasks whose waits
   have ended, and with tasks of the queue for about a millisecond. */
void bn_loop_turn(struct bn_loop *l);
/* Ends the waits that end with the run, and the waits of sessions that were interrupted.  Any
   thread. */
void bn_loop_wake(struct bn_loop *l);

/* Calls fn(arg) in a stack of its own.  Returns true if fn has returned.  Returns false if it
   waits: the caller then returns to the loop.  Without memory for a stack, the run fails, and fn is
   called in the stack of the caller, where its waits hold up the other tasks. */
bool bn_task_call(struct bn_task *t, void (*fn)(void *arg), void *arg);
/* Waits here until the call has returned, and holds up the other tasks. */
void bn_task_finish(struct bn_task *t);
/* Lets the task go on at until_ns, or when its session is interrupted; the caller returns to the
   loop. */
void bn_task_delay(struct bn_task *t, uint64_t until_ns);
/* As bn_task_delay, for a sleep until an arrival: the end of the run ends it, too. */
void bn_task_sleep(struct bn_task *t, uint64_t until_ns);
/* Waits until until_ns or the end of the run, in a call of the task (the service `pause`). */
void bn_task_pause(struct bn_task *t, uint64_t until_ns);

#endif
