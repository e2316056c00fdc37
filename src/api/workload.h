/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contract between the engine and a workload: a built-in test or a script. */
#ifndef BN_API_WORKLOAD_H
#define BN_API_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "api/metric.h"
#include "api/opt.h"
#include "api/session.h"
#include "base/err.h"

struct bn_facts; /* measure/facts.h */
struct bn_view;  /* measure/view.h */

/* The result of an event or a loop. */
enum bn_next {
  BN_CONTINUE,
  BN_FINISHED, /* this session ends; the event that returns it is not counted */
  BN_FAILED    /* the session ends and the run fails; the workload has logged why */
};

/* The parts of a session's life, for a session that shares its worker with others. */
enum bn_phase { BN_PHASE_OPEN, BN_PHASE_LOOP, BN_PHASE_CLOSE };

/* The result of a turn of a session that shares its worker. */
enum bn_turn {
  BN_TURN_WAITS, /* the session waits for a call, or for a time (engine/loop.h) */
  BN_TURN_DONE,
  BN_TURN_FAILED /* as -1 or BN_FAILED of the function of the phase */
};

/* A number that is computed from a view for structured reports. */
struct bn_figure {
  const char *key; /* "mib_per_s" */
  double value;
  enum bn_merge_rule merge; /* no figure is a sum: BN_MERGE_SUM is taken as BN_MERGE_NONE */
  unsigned weight;          /* BN_MERGE_MEAN: index of the counter by which a process weighs */
  const char *text; /* its name in the text report; NULL: not printed there, as are all figures that
                       the user did not ask for by a native option */
};

/* A command other than `run`: prepare, cleanup, or one of a script.  parallel: if there are several
   sessions, `run` is called for each in its own thread, on all hosts.  quiet: no message says that
   there are several threads, as sysbench has only one.  run returns 0, or -1 and err. */
struct bn_command {
  const char *name;
  bool parallel, quiet;
  int (*run)(void *self, struct bn_session *s, const char *name, struct bn_err *err);
};

struct bn_workload {
  const char *name, *title;     /* "cpu", "CPU performance test" */
  const char *required;         /* an option that `run` requires; NULL: none */
  enum bn_kind kind;            /* its kind in reports */
  bool untimed_close;           /* session_close is not part of the measured time */
  bool fixed_amount;            /* the workload has an amount of work: --events does not limit it */
  bool statements;              /* statements are counted by their names: measure/statements.h */
  bool sets_pauses;             /* its sessions may pause by themselves: bn_event_set_pause */
  bool proves;                  /* calls the service `prove` while the final report is made */
  const struct bn_opt *options; /* NULL: none (scripts bring theirs at load) */
  const struct bn_metric
      *metrics; /* ends with a NULL name; counters follow BN_C_FIXED in this order */
  size_t conf_size, session_size;
  const struct bn_command *commands; /* ends with a NULL name; NULL: none */
  /* Looks up a command before `commands`; for scripts.  Returns true and fills *out if found. */
  bool (*find_command)(void *self, const char *name, struct bn_command *out);
  /* Returns the next name that find_command finds, in alphabetical order; after NULL: the first.
     Returns NULL if there is none.  Leaves out the commands that a script need not declare. */
  const char *(*next_command)(void *self, const char *after);
  /* Runs `help` beyond the list of options; NULL: the list only.  Returns 0, or -1 and err. */
  int (*help)(void *self, struct bn_err *err);
  /* Is called before anything is printed about the run, with the session of the main thread. *self
     may be preset (scripts); if open is NULL, self is the conf. */
  int (*open)(void **self, struct bn_session *s, const void *conf, struct bn_err *err);
  /* Adds the lines of the heading that describe the test, by bn_facts_add_row (measure/facts.h). */
  void (*describe)(const void *self, struct bn_facts *f);
  /* Called once, between describe and the first worker.  After -1 the run ends and prints err. */
  int (*start)(void *self, struct bn_err *err);
  int (*session_open)(void *self, struct bn_session *s, struct bn_err *err);
  enum bn_next (*event)(void *self, struct bn_session *s);
  /* Is used instead of event by workloads that begin and end events themselves, with the functions
     of engine/event.h.  Returns BN_FINISHED or BN_FAILED. */
  enum bn_next (*loop)(void *self, struct bn_session *s);
  /* Is paired with every session_open that was called, also a failed one.  After -1 the status of
     the run is 1 and err is printed. */
  int (*session_close)(void *self, struct bn_session *s, struct bn_err *err);
  /* Optional, for --workers: does what session_open, loop or session_close does, by phase, in
     turns.  After WAITS it is called again when the session's wait is over. */
  enum bn_turn (*turn)(void *self, struct bn_session *s, enum bn_phase phase, struct bn_err *err);
  size_t (*figures)(const struct bn_view *v, struct bn_figure *out,
                    size_t max); /* pure; counters only */
  /* Is called after the measurement, before the final report is computed; some sessions may hang.
     After -1 the run fails and err is printed. */
  int (*verify)(void *self, struct bn_session *main, struct bn_err *err);
  /* Is called instead of verify if the start was abandoned; some sessions may hang. */
  void (*forget)(void *self, struct bn_session *main);
  /* Is called for every snapshot, from start on: sets the counters that are looked up instead of
     counted by sessions (statistics of the device); BN_ABSENT: not known. counter: by enum
     bn_counter, then those of the workload.  Reporting threads call it, one at a time. */
  void (*sample)(void *self, uint64_t *counter);
  /* Is called after the final report (the done() of a script), unless the run failed to start. */
  int (*finish)(void *self, struct bn_err *err);
  /* Is called once at the end.  self is what open or the script has set, NULL before: also open may
     have failed, or not have been called. */
  void (*close)(void *self);
};

#endif
