/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contract between the engine and what it runs: a built-in test or a script. */
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

enum bn_next {
  BN_CONTINUE,
  BN_FINISHED, /* this session ends; the event that returns it is not counted */
  BN_FAILED    /* the session ends and the run fails; the workload has logged why */
};

struct bn_figure { /* a number computed from a view for structured reports: "mib_per_s" */
  const char *key;
  double value;
  const char *text; /* what the text report calls it; NULL: it does not print it, which is so for
                       all that the user did not ask for by an option of our own */
};

/* A command other than `run`: prepare, cleanup, a script's own.  parallel: called once per session
   on its own thread when there are several sessions, on all hosts.  quiet: no line says that there
   are several, as where the reference has but one.  run returns 0, or -1 with the sentence in err.
 */
struct bn_command {
  const char *name;
  bool parallel, quiet;
  int (*run)(void *self, struct bn_session *s, const char *name, struct bn_err *err);
};

struct bn_workload {
  const char *name, *title; /* "cpu", "CPU performance test" */
  const char *required;     /* an option without which `run` is refused; NULL: none */
  enum bn_kind kind;        /* how it is reported */
  bool untimed_close;       /* what session_close does is no part of the measured time */
  bool own_amount; /* the workload knows how much there is to do: --events does not limit it */
  bool statements; /* they are counted by their names: measure/statements.h */
  const struct bn_opt *options; /* NULL: none (scripts bring theirs at load) */
  const struct bn_metric
      *metrics; /* ends with a NULL name; counters follow BN_C_FIXED in this order */
  size_t conf_size, session_size;
  const struct bn_command *commands; /* ends with a NULL name; NULL: none */
  /* Looked up before `commands`; for scripts.  true: found, *out filled. */
  bool (*find_command)(void *self, const char *name, struct bn_command *out);
  /* `help` command beyond the option listing; NULL: list the options.  0, or -1 and err. */
  int (*help)(void *self, struct bn_err *err);
  /* Before anything is printed about the run, with the main thread's session.  *self may be preset
     (scripts); NULL open: self is the conf. */
  int (*open)(void **self, struct bn_session *s, const void *conf, struct bn_err *err);
  /* The lines of the heading that say what the test is, by bn_facts_row (measure/facts.h). */
  void (*describe)(const void *self, struct bn_facts *f);
  /* Once, after describe and before the first worker; -1: the run ends, err (if any) is printed. */
  int (*start)(void *self, struct bn_err *err);
  int (*session_open)(void *self, struct bn_session *s, struct bn_err *err);
  enum bn_next (*event)(void *self, struct bn_session *s);
  /* Instead of event: for workloads that begin and end events by themselves, with the functions of
     engine/event.h.  BN_FINISHED or BN_FAILED. */
  enum bn_next (*loop)(void *self, struct bn_session *s);
  /* Paired with every session_open that was called, also a failed one.  -1: the run's status is 1,
     err is printed. */
  int (*session_close)(void *self, struct bn_session *s, struct bn_err *err);
  size_t (*figures)(const struct bn_view *v, struct bn_figure *out,
                    size_t max); /* pure; counters only */
  /* When the measurement is over, before it is summed up; some sessions may hang.  -1: the run
     fails, err is printed. */
  int (*verify)(void *self, struct bn_session *main, struct bn_err *err);
  /* Instead of verify, if the start was given up; some sessions may hang. */
  void (*forget)(void *self, struct bn_session *main);
  /* Whenever a snapshot is taken, from start on: sets the counters that no session counts because
     they are looked up (the device's own statistics); BN_ABSENT: not known.  counter: by enum
     bn_counter, then the workload's.  Reporting threads, one at a time. */
  void (*sample)(void *self, uint64_t *counter);
  /* After the final report (a script's done()); not called when the run failed to start. */
  int (*finish)(void *self, struct bn_err *err);
  void (*close)(void *self); /* paired with open, also a failed one */
};

#endif
