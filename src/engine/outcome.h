/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a run: its events as flags, when it was cut short, and the exit status that follows.

   Flags are only set, never cleared.  The first signal, the first status of a script and the first
   cut count; stages only advance.  The exit status is a pure function of these values and the
   dialect.  Any thread may set and read at any time; there is no lock. */
#ifndef BN_ENGINE_OUTCOME_H
#define BN_ENGINE_OUTCOME_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "measure/result.h"

struct bn_conf; /* option/conf.h */

/* If several apply, the exit status is the first of: signal, timeout, the script's own, failed,
   without an event, not served, violated. */
enum bn_status {
  BN_STATUS_OK = 0,
  BN_STATUS_FAILED = 1,
  BN_STATUS_TIMEOUT = 2,  /* thread-init timeout, forced shutdown, time grace used up */
  BN_STATUS_VIOLATED = 3, /* --assert, conditions: complete, and not as it should be */
  BN_STATUS_UNSERVED = 4, /* --rate: the arrivals were not served */
  BN_STATUS_EMPTY = 5,    /* events were begun, and none succeeded */
  BN_STATUS_SIGNAL = 128  /* + n */
};

enum bn_outcome_flag {
  BN_OUTCOME_OPENED = 1 << 0,        /* the start barrier has opened: events are measured */
  BN_OUTCOME_FAILED = 1 << 1,        /* the workload, a script or a worker failed and logged why */
  BN_OUTCOME_REPORT_FAILED = 1 << 2, /* a report could not be written or made */
  BN_OUTCOME_OVERLOADED = 1 << 3,    /* --rate: more arrivals waited than --rate-max-backlog */
  BN_OUTCOME_TIMEOUT = 1 << 4,       /* a limit on waiting was reached */
  BN_OUTCOME_ABANDONED = 1 << 5,     /* the run no longer waits for its workers */
  BN_OUTCOME_RETURNED = 1 << 6,      /* all workers have returned after they were abandoned */
  BN_OUTCOME_INTERRUPT_HANGS = 1 << 7, /* an interrupt was abandoned in a driver */
  BN_OUTCOME_UNSERVED = 1 << 8,        /* --rate: too many arrivals that were due have no end */
  BN_OUTCOME_TIME_UP = 1 << 9,         /* the time limit ended the load */
  BN_OUTCOME_SPENT = 1 << 10,          /* --events ended the load */
  BN_OUTCOME_VIOLATED = 1 << 11,       /* an assertion or a condition of a script does not hold */
  BN_OUTCOME_JUDGED = 1 << 12,         /* --abort-on-assert ended the load */
  BN_OUTCOME_TO_INTERRUPT = 1 << 13,   /* workers are interrupted once their events are counted */
  BN_OUTCOME_WATCHER_HANGS = 1 << 14,  /* a watcher was abandoned in a call */
  BN_OUTCOME_THREAD_FAILED = 1 << 15,  /* a thread failed while others went on */
  BN_OUTCOME_EARLY = 1 << 16,          /* the load was ended while events could begin */
  BN_OUTCOME_EMPTY = 1 << 17,          /* events were begun, and none succeeded */
  BN_OUTCOME_UNCHECKED = 1 << 18       /* a script could not find out if its conditions hold */
};

/* The phase of the main thread, which alone writes it. */
enum bn_stage {
  BN_STAGE_PREPARE,   /* up to the start barrier; commands */
  BN_STAGE_MEASURE,   /* waits for the workers and for the reporting thread */
  BN_STAGE_REPORT,    /* prints the final report */
  BN_STAGE_FINISH,    /* calls the workload's finish */
  BN_STAGE_DOCUMENTS, /* writes reports that are written in one piece */
  BN_STAGE_CLOSE      /* calls the workload's close */
};

struct bn_outcome {
  _Atomic unsigned flags;
  _Atomic int signo;               /* the signal that ended the run, or 0 */
  _Atomic int script_status;       /* the exit status that a script asked for, or -1 */
  _Atomic uint64_t cut_ns, end_ns; /* CLOCK_MONOTONIC; 0: not yet */
  _Atomic uint64_t last_ns;        /* latest end of an event of a session that has left its loop */
  _Atomic uint64_t looped_ns;      /* when the last session left its loop */
  _Atomic int stage;               /* enum bn_stage */
  bool overload_passes;            /* as in the policy; set before any thread is started */
};

void bn_outcome_init(struct bn_outcome *o);
/* Moves the main thread to a later stage; an earlier one has no effect. */
void bn_outcome_advance(struct bn_outcome *o, enum bn_stage stage);
enum bn_stage bn_outcome_stage(const struct bn_outcome *o);
void bn_outcome_set(struct bn_outcome *o, enum bn_outcome_flag flag);
bool bn_outcome_has(const struct bn_outcome *o, enum bn_outcome_flag flag);
/* Records the signal that ended the run; the first one counts. */
void bn_outcome_record_signal(struct bn_outcome *o, int signo);
/* Records the exit status that a script asks for; the first one counts. */
void bn_outcome_record_exit(struct bn_outcome *o, int status);
/* Records when the run was ended before its limits; the first time counts. */
void bn_outcome_record_cut(struct bn_outcome *o, uint64_t now_ns);
/* Records when a worker ended or was abandoned; the latest time counts. */
void bn_outcome_record_end(struct bn_outcome *o, uint64_t now_ns);
/* Records that a session left its loop at now_ns and that its last event ended at last_ns. */
void bn_outcome_record_looped(struct bn_outcome *o, uint64_t last_ns, uint64_t now_ns);
/* Returns the time at which arrivals end: the time limit, or an earlier cut. */
uint64_t bn_outcome_arrivals_end_ns(const struct bn_outcome *o, uint64_t deadline_ns);

/* Returns whether abandoned threads are still running: nothing may be freed. */
bool bn_outcome_has_stuck_threads(const struct bn_outcome *o);
/* Returns the exit status. */
int bn_outcome_status(const struct bn_outcome *o);
/* Returns whether a run with these counts is empty: events were begun, and none succeeded.  A
   script's own loop may begin no event. */
bool bn_outcome_is_empty(const struct bn_view_counts *all);
/* Logs on standard error that no event succeeded, and why.  group: the name of the host or group
   whose counts these are; NULL: they are of the run. */
void bn_outcome_log_empty(const struct bn_view_counts *all, const char *group);
/* Returns the reason for the end, the first that applies in the order of the exit statuses. */
enum bn_end_reason bn_outcome_reason(const struct bn_outcome *o);
/* Logs a note if the default of --time has ended the run before its limit of events, because the
   user may have wanted the work of that limit to be done. */
void bn_outcome_note_default_time(const struct bn_outcome *o, const struct bn_conf *c);
/* Logs the reasons for the end that the report does not show. */
void bn_outcome_log(const struct bn_outcome *o);

#endif
