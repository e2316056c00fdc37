/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The worker threads of a run: the stages of their sessions, their barrier, how all are stopped.

   A worker drives one session or, under --workers, several: session i belongs to worker
   i % n_workers.  Each session is in one stage, and stages only advance.  `gone` is the number of
   sessions in the last stage. bn_threads_end is the only way to stop a run before its limits: it
   sets the outcome, closes admission, fails the barrier, wakes sessions that wait for an arrival,
   and fails the start barrier if it has not opened.  Every wait ends at its deadline or with
   bn_threads_end. */
#ifndef BN_ENGINE_THREADS_H
#define BN_ENGINE_THREADS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/session.h"
#include "base/err.h"
#include "engine/arrivals.h"
#include "engine/host_group.h"
#include "engine/outcome.h"
#include "engine/quota.h"

/* The times of a run, CLOCK_MONOTONIC; known when the start barrier opens. */
struct bn_times {
  uint64_t start_ns, measure_ns; /* the measurement begins after the warm-up */
  uint64_t deadline_ns;          /* UINT64_MAX: no time limit */
};

enum bn_session_stage {
  BN_SESSION_NONE,    /* has not been begun */
  BN_SESSION_OPENING, /* is being opened */
  BN_SESSION_READY,   /* is at the start barrier or in its loop */
  BN_SESSION_LOOPED,  /* has left its loop */
  BN_SESSION_GONE     /* is closed, or will not be begun: no thread waits for it */
};

struct bn_threads;
struct bn_job;  /* engine/worker.h */
struct bn_loop; /* engine/loop.h */

struct bn_worker {
  struct bn_threads *threads;
  const struct bn_job *job; /* borrowed */
  pthread_t thread;
  unsigned number, n_sessions; /* it drives the sessions number, number + n_workers, … */
  bool created;
  struct bn_loop *loop; /* guarded by threads->lock; NULL: it has none, or none any more */
};

/* How far a session has come; guarded by threads->lock. */
struct bn_threads_session {
  enum bn_session_stage stage;
  bool early;  /* left its loop before the time limit */
  bool failed; /* it failed, and the other sessions went on */
};

struct bn_threads {
  struct bn_outcome *outcome;
  struct bn_quota *quota;
  struct bn_pacer *pacer;                 /* NULL: no --rate */
  const struct bn_host_group *host_group; /* whose sessions meet at the barrier; NULL: one host */
  struct bn_session *session;             /* borrowed, n of them */
  struct bn_threads_session *of_session;  /* owned; by session */
  struct bn_worker *worker;               /* owned */
  unsigned n_workers;
  unsigned n;            /* sessions */
  unsigned created;      /* sessions whose worker has been started */
  unsigned gone, failed; /* sessions that have gone; that failed while others went on */
  bool goes_on;          /* a failed session does not end the run while others remain */
  struct bn_times times; /* guarded by the lock; workers read it after the start barrier */
  uint64_t start_at_ns;  /* guarded by the lock; see bn_threads_set_start; 0: not known yet */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  pthread_cond_t decided; /* for the sessions at the start barrier, which no other change wakes */
  unsigned at_start;      /* guarded by the lock: sessions that have come to the start barrier */
  bool opened;            /* guarded by the lock: the start barrier has opened */
  unsigned barrier_arrived, barrier_round;
  bool arrival_sent; /* the host group knows that all sessions of this host are at the barrier */
  bool ended;        /* guarded by the lock; bn_threads_end was called */
};

/* sessions is an array of n; everything is borrowed. n_workers <= n. */
void bn_threads_init(struct bn_threads *t, struct bn_session *sessions, unsigned n,
                     unsigned n_workers, struct bn_outcome *outcome, struct bn_quota *quota,
                     struct bn_pacer *pacer);
void bn_threads_done(struct bn_threads *t);

/* --- the main thread --- */
struct bn_threads_plan {
  const struct bn_job *job;    /* borrowed until all have gone */
  void *(*body)(void *worker); /* its argument is a struct bn_worker */
  uint64_t stack_bytes;        /* of each worker; less than 1 MiB: 1 MiB */
  uint64_t until_ns;           /* CLOCK_MONOTONIC; UINT64_MAX: no limit */
};
/* Starts the workers, no further one after until_ns or a signal.  Returns 0, or -1 and err. */
int bn_threads_spawn(struct bn_threads *t, const struct bn_threads_plan *plan, struct bn_err *err);
/* Waits until all sessions are at the start barrier, at most until deadline_ns (CLOCK_MONOTONIC;
   UINT64_MAX: for ever).  Returns false if they are not, or if the run has been ended. */
bool bn_threads_await_ready(struct bn_threads *t, uint64_t deadline_ns);
/* Logs the sessions that are not ready and what each is doing. */
void bn_threads_log_waiting(struct bn_threads *t);
/* Waits until bn_threads_set_start has set a time, and for that time.  Returns false if the run has
   been ended. */
bool bn_threads_await_start(struct bn_threads *t);
/* Opens the start barrier: events are measured.  Returns false if the run has been ended; then no
   worker passes the barrier. */
bool bn_threads_open(struct bn_threads *t, const struct bn_times *times);
/* Opens the start barrier of a command, which has no times, after waiting for the other hosts. */
void bn_threads_open_command(struct bn_threads *t);
/* Waits until the sessions of all started workers have gone, which returns true.  Returns false
   after until_ns (UINT64_MAX: never), or when the run is abandoned. */
bool bn_threads_await(struct bn_threads *t, uint64_t until_ns);
/* As bn_threads_await, but goes on to wait if the run is or has been abandoned. */
bool bn_threads_await_abandoned(struct bn_threads *t, uint64_t until_ns);
/* Joins the threads, which have all gone. */
void bn_threads_join(struct bn_threads *t);

/* --- a worker --- */
/* Returns the i-th session of the worker. */
static inline struct bn_session *bn_worker_session(const struct bn_worker *w, unsigned i)
{
  return &w->threads->session[w->number + i * w->threads->n_workers];
}
/* Moves the session to its next stage but LOOPED, which bn_threads_note_looped enters.  GONE is
   counted, and wakes the threads that wait for it. */
void bn_threads_enter_stage(struct bn_threads *t, const struct bn_session *s,
                            enum bn_session_stage stage);
/* Waits at the start barrier, where n sessions arrive with this call, until it opens.  Returns
   false if there will be no run. */
bool bn_threads_await_start_barrier(struct bn_threads *t, unsigned n);
/* Records that the session left its loop at now_ns. */
void bn_threads_note_looped(struct bn_threads *t, const struct bn_session *s, uint64_t now_ns);
/* Sets the loop of a worker, which the end of the run wakes; NULL: it has none any more. */
void bn_threads_set_loop(struct bn_worker *w, struct bn_loop *loop);
/* Waits for all sessions on all hosts that have not gone.  Returns false if the run was ended. */
bool bn_threads_await_barrier(struct bn_threads *t);
/* Handles the failure of a session, which has been logged: ends the run or, if the others go on,
   counts the failure.  Returns true if it has been counted. */
bool bn_threads_fail(struct bn_threads *t, unsigned session);
/* Waits until until_ns or the end of the run.  The end of the load by its limits does not end the
   wait. */
void bn_threads_pause(struct bn_threads *t, uint64_t until_ns);

/* --- any thread --- */
/* Sets when the start barrier is to open (CLOCK_MONOTONIC, not 0); the first call counts. */
void bn_threads_set_start(struct bn_threads *t, uint64_t at_ns);
/* Releases the barrier: the sessions of all hosts have arrived. */
void bn_threads_release_barrier(struct bn_threads *t);
/* Returns whether bn_threads_end was called. */
bool bn_threads_has_ended(struct bn_threads *t);
/* Returns whether a signal has ended the run, so that no session need be opened. */
bool bn_threads_have_signal(const struct bn_threads *t);
enum bn_cause {
  BN_CAUSE_FAILED,   /* the part that failed has logged why */
  BN_CAUSE_EXIT,     /* a script ends the process with that status */
  BN_CAUSE_SIGNAL,   /* a signal of that number has asked for the end */
  BN_CAUSE_VIOLATED, /* an assertion; the workers get the same time as at the limit */
  BN_CAUSE_TIMEOUT,  /* the workers are abandoned, and that is a failure */
  BN_CAUSE_ABANDONED /* the workers are abandoned */
};
/* Ends the run, see above; value: the signal or the exit status, by the cause. */
void bn_threads_end(struct bn_threads *t, enum bn_cause cause, int value);
/* Returns true if the start barrier has opened, and sets *times. */
bool bn_threads_get_times(struct bn_threads *t, struct bn_times *times);
/* Wakes the loops of all workers: sessions were interrupted. */
void bn_threads_wake_loops(struct bn_threads *t);
/* Returns how many sessions have gone. */
unsigned bn_threads_count_gone(struct bn_threads *t);
/* Returns how many sessions have failed while others went on, the last one included. */
unsigned bn_threads_count_failed(struct bn_threads *t);
/* Returns how many sessions have not gone. */
unsigned bn_threads_count_busy(struct bn_threads *t);
/* Returns how many sessions have not left their loop. */
unsigned bn_threads_count_looping(struct bn_threads *t);
/* Returns how many sessions did not leave their loop before the time limit. */
unsigned bn_threads_count_at_limit(struct bn_threads *t);

#endif
