/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a run ends: what happened, when it was cut short, and the exit status that follows.

   Flags are only ever set, never cleared.  The first signal, the first status of a script and the
   first cut count; stages only advance.  The exit status is a pure function of these values and the
   dialect.  Any thread may set and read at any time; there is no lock. */
#ifndef BN_ENGINE_OUTCOME_H
#define BN_ENGINE_OUTCOME_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "measure/result.h"

/* If several apply, the exit status is the first of: signal, timeout, the script's own, failed,
   not served, violated. */
enum bn_status {
  BN_STATUS_OK = 0,
  BN_STATUS_FAILED = 1,
  BN_STATUS_TIMEOUT = 2,  /* thread-init timeout, forced shutdown, time grace used up */
  BN_STATUS_VIOLATED = 3, /* --assert: the result is complete, and not as it should be */
  BN_STATUS_UNSERVED = 4, /* --rate: the arrivals were not served */
  BN_STATUS_SIGNAL = 128  /* + n */
};

enum bn_outcome_flag {
  BN_OUTCOME_OPENED = 1,            /* the start barrier has opened: events are measured */
  BN_OUTCOME_FAILED = 2,            /* workload, script or worker; who failed has logged why */
  BN_OUTCOME_REPORT_FAILED = 4,     /* a report could not be written or made */
  BN_OUTCOME_OVERLOADED = 8,        /* --rate: more arrivals waited than --rate-max-backlog */
  BN_OUTCOME_TIMEOUT = 16,          /* a limit of the program's patience was reached */
  BN_OUTCOME_ABANDONED = 32,        /* nobody waits for the workers any more */
  BN_OUTCOME_RETURNED = 64,         /* and yet all of them have come back */
  BN_OUTCOME_REPORTER_HANGS = 128,  /* the reporting thread was left behind in a reporter */
  BN_OUTCOME_INTERRUPT_HANGS = 256, /* an interrupt was left behind in a driver */
  BN_OUTCOME_UNSERVED = 512,        /* --rate: of the arrivals that were due too many have no end */
  BN_OUTCOME_TIME_UP = 1024,        /* the time limit ended the load */
  BN_OUTCOME_SPENT = 2048,          /* --events did */
  BN_OUTCOME_VIOLATED = 4096,       /* --assert: one does not hold */
  BN_OUTCOME_JUDGED = 8192,         /* --abort-on-assert ended the load */
  BN_OUTCOME_TO_INTERRUPT = 16384,  /* calls of workers are interrupted once they are counted */
  BN_OUTCOME_WATCHER_HANGS = 32768, /* a watcher was left behind in a call */
  BN_OUTCOME_THREAD_FAILED = 65536, /* a thread, and the others went on (--on-thread-error) */
  BN_OUTCOME_EARLY = 131072         /* the load was ended while events could begin */
};

/* What the main thread does; only the main thread writes it. */
enum bn_stage {
  BN_STAGE_PREPARE,   /* up to the start barrier; commands */
  BN_STAGE_MEASURE,   /* waits for the workers and for the reporting thread */
  BN_STAGE_REPORT,    /* the final report */
  BN_STAGE_FINISH,    /* the workload's finish */
  BN_STAGE_DOCUMENTS, /* reports that are written in one piece */
  BN_STAGE_CLOSE      /* the workload's close */
};

struct bn_outcome {
  _Atomic unsigned flags;
  _Atomic int signo;               /* the signal that ended the run, or 0 */
  _Atomic int left_with;           /* the status a script left with, or -1 */
  _Atomic uint64_t cut_ns, end_ns; /* CLOCK_MONOTONIC; 0: not yet */
  _Atomic uint64_t last_ns;   /* the end of the last event of those that have left their loop */
  _Atomic uint64_t looped_ns; /* when the last of them left it */
  _Atomic int stage;          /* enum bn_stage */
};

void bn_outcome_init(struct bn_outcome *o);
/* The main thread goes on to a later stage; an earlier one has no effect. */
void bn_outcome_advance(struct bn_outcome *o, enum bn_stage stage);
enum bn_stage bn_outcome_stage(const struct bn_outcome *o);
void bn_outcome_set(struct bn_outcome *o, enum bn_outcome_flag flag);
bool bn_outcome_has(const struct bn_outcome *o, enum bn_outcome_flag flag);
void bn_outcome_signal(struct bn_outcome *o, int signo);
/* A script wants the process to end with that status. */
void bn_outcome_leave(struct bn_outcome *o, int status);
/* The run was ended before its limits. */
void bn_outcome_cut(struct bn_outcome *o, uint64_t now_ns);
/* A worker ended, or was given up; the latest time counts. */
void bn_outcome_end(struct bn_outcome *o, uint64_t now_ns);
/* A session has left its loop at now_ns; its last event ended at last_ns. */
void bn_outcome_looped(struct bn_outcome *o, uint64_t last_ns, uint64_t now_ns);
/* The time at which arrivals end: the time limit, or an earlier cut. */
uint64_t bn_outcome_limit(const struct bn_outcome *o, uint64_t deadline_ns);

/* Some threads hang and were left behind: nothing may be freed. */
bool bn_outcome_left_behind(const struct bn_outcome *o);
/* overload_fails: overload is a failure in this dialect. */
int bn_outcome_status(const struct bn_outcome *o, bool overload_fails);
/* The same as a reason. */
enum bn_end_reason bn_outcome_reason(const struct bn_outcome *o, bool overload_fails);
/* Logs what the report does not say. */
void bn_outcome_say(const struct bn_outcome *o, bool overload_fails);

#endif
