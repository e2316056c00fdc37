/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inside of a run, shared by run.c, worker.c, sampler.c, command.c and view.c only. */
#ifndef BN_ENGINE_RUN_INTERNAL_H
#define BN_ENGINE_RUN_INTERNAL_H

#include <pthread.h>

#include "base/dist.h"
#include "base/gate.h"
#include "engine/admit.h"
#include "engine/book.h"
#include "engine/event.h"
#include "engine/pacer.h"
#include "engine/run.h"

static inline uint64_t bn_least(uint64_t a, uint64_t b)
{
  return a < b ? a : b;
}

/* How far a session's worker has come; written by the worker under run->lock. */
enum bn_worker_state { BN_WORKER_NONE, BN_WORKER_OPENING, BN_WORKER_RUNNING, BN_WORKER_GONE };

struct bn_worker {
  struct bn_run *run;
  struct bn_session *session;
  const struct bn_command *command; /* parallel commands only */
  pthread_t thread;
  bool created;
  enum bn_worker_state state;
  bool looped; /* left its loop */
  bool early;  /* before the time limit */
  void (*interrupt)(void *arg);
  void *interrupt_arg;
};

/* What the main thread is at, written by it alone. */
enum bn_stage {
  BN_STAGE_PREPARE, /* up to the gate; commands */
  BN_STAGE_MEASURE, /* waits for the workers and for the reporting thread */
  BN_STAGE_REPORT,  /* the final report */
  BN_STAGE_FINISH   /* the workload's finish */
};

struct bn_run {
  _Alignas(64) struct bn_admit admit;
  const struct bn_conf *conf;
  const struct bn_workload *ops;
  void *self;
  const void *workload_conf;
  struct bn_book *book;
  uint64_t seed; /* of the streams of this run or command */
  struct bn_services services;

  struct bn_clock clock;
  struct bn_session
      *sessions;       /* threads + 2: the workers', the main thread's, the reporting thread's */
  void *session_state; /* one block behind sessions[i].state */
  struct bn_worker *workers;    /* by session */
  uint64_t *warm_events;        /* by session: at the baseline that ends the warm-up */
  struct bn_statset stats;      /* of the workers' sessions */
  struct bn_statset side_stats; /* of the two other sessions: never reported */
  struct bn_unique unique;
  struct bn_pacer pacer;
  bool pacer_made, gate_made, sync_made;
  struct bn_gate gate;

  /* Set before the gate opens. */
  uint64_t start_ns, measure_ns,
      deadline_ns; /* CLOCK_MONOTONIC; deadline UINT64_MAX: no time limit */

  pthread_mutex_t lock; /* guards all below, and workers' state and interrupt */
  pthread_cond_t changed;
  unsigned gone;   /* workers that have finished */
  uint64_t cut_ns; /* when the run was ended before its limits; 0: it was not */
  uint64_t end_ns; /* when the last one had */
  bool failed;     /* some worker failed */
  bool left;       /* a script called os.exit(left_with) */
  int left_with;
  bool opened; /* the gate has opened: events are measured */
  bool stop_sampler, stop_receiver;
  _Atomic bool abandoned; /* written under the lock */
  bool over_backlog;
  _Atomic int signo;      /* written under the lock: the signal that ended the run, or 0 */
  enum bn_status timeout; /* BN_STATUS_TIMEOUT, or OK */
  bool report_failed;
  unsigned barrier_here, barrier_round; /* parallel commands */
  bool barrier_failed;

  struct bn_worker *interrupting; /* whose interrupt is running; NULL: nobody's */
  unsigned interrupt_round;       /* how often all were to be interrupted */
  bool interrupter_made, stop_interrupter, interrupter_gone;
  pthread_t interrupter;

  pthread_t sampler, receiver;
  bool sampler_made, receiver_made;
  bool sampler_gone,
      sampler_left;  /* it has ended; it hangs in a reporter and nobody waits for it */
  _Atomic int stage; /* enum bn_stage */
};

/* worker.c: the body of a worker thread, and of a parallel command's (command.c). */
void *bn_worker_main(void *arg);
int bn_worker_spawn(struct bn_run *run, struct bn_worker *w, void *(*body)(void *),
                    struct bn_err *err);
void bn_worker_gone(struct bn_worker *w);

/* sampler.c: its thread watches limits from start to stop and reports while the gate is open.  Stop
   leaves it behind when it hangs and the run has been abandoned. */
int bn_sampler_start(struct bn_run *run, struct bn_err *err);
void bn_sampler_stop(struct bn_run *run);
/* Whatever shows that something gets on: statements, events, sessions that have left. */
uint64_t bn_run_progress(struct bn_run *run);
/* How long what is in flight may go on without any: max(least_ns, 3 x the longest statement that
   was completed), or what the user said. */
uint64_t bn_run_grace(const struct bn_run *run, uint64_t least_ns);

/* signals.c: its thread receives signals from start, which comes after the sampler's, to stop. */
int bn_receiver_start(struct bn_run *run, struct bn_err *err);
void bn_receiver_stop(struct bn_run *run);

/* interrupt.c: makes calls that sessions are blocked in return, without waiting for it; any thread.
 */
void bn_run_interrupt_all(struct bn_run *run);
/* No more of that; false: an interrupt has not returned and was left behind. */
bool bn_run_stop_interrupting(struct bn_run *run);

/* run_setup.c: (re)seeds every stream for a run or for a command. */
void bn_run_seed(struct bn_run *run, bool command);
/* Raises the soft limit on open files to what so many sessions may need, if the hard one allows. */
void bn_run_allow_files(const struct bn_run *run);

/* moment.c */
/* --rate: how many arrivals wait for one of the `left` events that may yet begin.  The reporting
   thread, or the main thread without it. */
uint64_t bn_run_backlog(struct bn_run *run, uint64_t now_ns, uint64_t left);
/* What the book has to know of that instant. */
struct bn_moment bn_run_moment(struct bn_run *run, uint64_t now_ns);
/* The book says whether all went well; the reporters have said why not. */
void bn_run_note(struct bn_run *run, bool ok);

/* services.c */
void bn_run_bind_services(struct bn_run *run);
/* What it binds. */
bool bn_run_leave(struct bn_run *run, int status);
_Noreturn void bn_run_stay_behind(struct bn_run *run);
bool bn_run_barrier(struct bn_session *s);
void bn_run_set_interrupt(struct bn_session *s, void (*fn)(void *arg), void *arg);
/* The session of the reporting thread (id = threads). */
struct bn_session *bn_run_report_session(struct bn_run *run);

/* run.c */
void bn_run_end_now(struct bn_run *run); /* no event begins any more; wakes sleepers */
void bn_run_abandon(struct bn_run *run, enum bn_status status);
int bn_run_status(struct bn_run *run);
bool bn_run_has_failed(struct bn_run *run); /* workers that were left behind may still fail */
void bn_run_say_how_it_ended(struct bn_run *run);

#endif
