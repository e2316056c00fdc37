/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The worker threads of a run: how far each has come, where they meet, and how all are stopped.

   Each worker is in one state, and states only advance.  `gone` is the number of workers in the
   last state.  bn_threads_end is the only way to stop a run before its limits: it sets the outcome,
   closes admission, fails the barrier, wakes workers that wait for an arrival, and fails the start
   barrier if it has not opened.  Every wait ends at the time that is given or with bn_threads_end.
 */
#ifndef BN_ENGINE_THREADS_H
#define BN_ENGINE_THREADS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/session.h"
#include "base/err.h"
#include "base/start_barrier.h"
#include "engine/host_group.h"
#include "engine/outcome.h"
#include "engine/pacer.h"
#include "engine/quota.h"

/* Of a run, CLOCK_MONOTONIC; known when the start barrier opens. */
struct bn_times {
  uint64_t start_ns, measure_ns; /* the measurement begins after the warm-up */
  uint64_t deadline_ns;          /* UINT64_MAX: no time limit */
};

enum bn_worker_state {
  BN_WORKER_NONE,
  BN_WORKER_OPENING, /* its session */
  BN_WORKER_READY,   /* at the start barrier, or in its loop */
  BN_WORKER_LOOPED,  /* has left its loop */
  BN_WORKER_GONE
};

struct bn_threads;
struct bn_job; /* engine/worker.h */

struct bn_worker {
  struct bn_threads *threads;
  struct bn_session *session;
  const struct bn_job *job; /* borrowed */
  pthread_t thread;
  bool created;
  enum bn_worker_state state; /* with threads->lock */
  bool early;                 /* left its loop before the time limit */
  bool failed;                /* and the others went on */
};

struct bn_threads {
  struct bn_outcome *outcome;
  struct bn_quota *quota;
  struct bn_pacer *pacer; /* NULL: no --rate */
  const struct bn_host_group
      *host_group; /* whose sessions meet at the barrier too; NULL: there are no others */
  struct bn_worker *worker;
  unsigned n, created, gone, failed;
  _Atomic bool told_lost;     /* why the first one is lost, or it is in `untold` */
  const char *_Atomic untold; /* bn_threads_lose */
  _Atomic unsigned lost;      /* will never go; who adds one wakes the receiver of signals */
  _Atomic unsigned taken;     /* bn_threads_take */
  bool goes_on;          /* a worker that fails does not end the run, as long as others are left */
  struct bn_times times; /* with the lock; workers: from the start barrier on */
  uint64_t start_at_ns; /* with the lock: what bn_threads_await_start waits for; 0: not known yet */
  struct bn_start_barrier start_barrier;
  pthread_mutex_t lock; /* before the barrier's; nothing of others is called with it */
  pthread_cond_t changed;
  unsigned barrier_here, barrier_round;
  bool told; /* the host group: all sessions of this host are at the barrier */
  bool ended, made;
};

/* sessions: of n workers, one after another; all borrowed.  0 or -1: out of memory. */
int bn_threads_init(struct bn_threads *c, struct bn_session *sessions, unsigned n,
                    struct bn_outcome *outcome, struct bn_quota *quota, struct bn_pacer *pacer);
void bn_threads_done(struct bn_threads *c);

/* --- the main thread --- */
/* Bytes that each worker's stack gets. */
uint64_t bn_threads_stack(uint64_t wanted);
struct bn_threads_plan {
  const struct bn_job *job;    /* borrowed until all have gone */
  void *(*body)(void *worker); /* of struct bn_worker */
  uint64_t stack_bytes;
  uint64_t until_ns; /* CLOCK_MONOTONIC; UINT64_MAX: however long it takes */
};
/* Starts all, or none after that time or after a signal; 0, or -1 and err. */
int bn_threads_spawn(struct bn_threads *c, const struct bn_threads_plan *plan, struct bn_err *err);
/* Waits until all are at the start barrier; as bn_start_barrier_await. */
enum bn_start_barrier_state bn_threads_ready(struct bn_threads *c, uint64_t deadline_ns);
/* Logs which threads are still busy with what before they are ready. */
void bn_threads_log_waiting(struct bn_threads *c);
/* Waits until bn_threads_start_at has told the time of the start, and for that time; false: the run
   has been ended. */
bool bn_threads_await_start(struct bn_threads *c);
/* Opens the start barrier: events are measured.  false: the run has been ended, and no worker
 * passes it. */
bool bn_threads_open(struct bn_threads *c, const struct bn_times *times);
/* The same for a command, which has no times; waits for the other hosts. */
void bn_threads_go(struct bn_threads *c);
/* true: all that were started have gone; false: until_ns (UINT64_MAX: never) has passed, the run
   was abandoned and also_abandoned is false, or all others are lost: then the run is abandoned. */
bool bn_threads_await(struct bn_threads *c, uint64_t until_ns, bool also_abandoned);
/* All have gone: ends their threads. */
void bn_threads_join(struct bn_threads *c);

/* --- a worker --- */
/* Its state is the next one. */
void bn_threads_enter(struct bn_worker *w, enum bn_worker_state state);
/* Waits at the start barrier; false: there will be no run. */
bool bn_threads_await_start_barrier(struct bn_worker *w);
/* Left its loop at now_ns. */
void bn_threads_looped(struct bn_worker *w, uint64_t now_ns);
/* Waits for all that have not gone, and for those of the other hosts; false: the run has been
   ended. */
bool bn_threads_barrier(struct bn_threads *c);
/* That worker's session has failed, and who knows why has logged it: ends the run, or if the others
   go on, counts it.  true: it has been counted. */
bool bn_threads_fail(struct bn_threads *c, unsigned worker);
/* It will never go, and the run fails: async-signal-safe, so that the receiver of signals has to
   end the run.  untold: why, if nobody has been told; NULL: somebody has.  Returns how many are
   lost. */
unsigned bn_threads_lose(struct bn_threads *c, const char *untold);
/* Why one is lost, for who calls to tell; NULL: there is nothing to tell. */
const char *bn_threads_unreported(struct bn_threads *c);
/* Waits until that time, or until the run is ended. */
void bn_threads_pause(struct bn_threads *c, uint64_t until_ns);

/* --- any thread --- */
/* The start barrier is to open at that time (CLOCK_MONOTONIC, not 0); the first call counts. */
void bn_threads_start_at(struct bn_threads *c, uint64_t at_ns);
/* All hosts that were told to the host group are at the barrier. */
void bn_threads_pass(struct bn_threads *c);
/* A signal has ended the run: a session that has not been opened need not be. */
bool bn_threads_unwanted(const struct bn_threads *c);
enum bn_cause {
  BN_CAUSE_FAILED,   /* who failed has logged why */
  BN_CAUSE_LEFT,     /* a script wants to leave the process with that status */
  BN_CAUSE_SIGNAL,   /* with that number */
  BN_CAUSE_VIOLATED, /* an assertion; the workers get the time that they get at the limit */
  BN_CAUSE_TIMEOUT,  /* the workers are given up, and that is a failure */
  BN_CAUSE_ABANDONED /* the workers are given up */
};
void bn_threads_end(struct bn_threads *c, enum bn_cause cause, int value);
/* true: the start barrier has opened, and *times are set. */
bool bn_threads_times(struct bn_threads *c, struct bn_times *times);
unsigned bn_threads_gone(struct bn_threads *c);
unsigned bn_threads_lost(const struct bn_threads *c);
/* The receiver of signals has ended the run for so many that are lost; async-signal-safe. */
void bn_threads_take(struct bn_threads *c, unsigned lost);
bool bn_threads_has_taken(const struct bn_threads *c, unsigned lost);
/* Those that have failed while others went on, and the last one. */
unsigned bn_threads_failed(struct bn_threads *c);
/* Those that have not gone. */
unsigned bn_threads_busy(struct bn_threads *c);
/* Those that have not left their loop. */
unsigned bn_threads_looping(struct bn_threads *c);
/* Those that did not leave their loop before the time limit. */
unsigned bn_threads_reached_limit(struct bn_threads *c);

#endif
