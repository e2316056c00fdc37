/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contract of reporters: the calls they receive, with every number already computed. */
#ifndef BN_API_REPORT_H
#define BN_API_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "api/opt.h"
#include "api/workload.h"
#include "base/err.h"

struct bn_buf;   /* base/buf.h */
struct bn_end;   /* measure/result.h */
struct bn_facts; /* measure/facts.h */
struct bn_group; /* measure/result.h */
struct bn_plan;  /* api/plan.h */
struct bn_view;  /* measure/view.h */

/* Bits of bn_reporter.replaces: the views that a reporter prints in place of the text report. */
enum { BN_REPLACES_INTERVAL = 1, BN_REPLACES_TOTAL = 2 };

struct bn_reporter {
  const char *name; /* "text", "json", "csv" */
  const struct bn_opt *options;
  size_t conf_size, state_size; /* bytes of conf, and of self, which begin as zeros */
  unsigned replaces;
  bool facts;    /* wants all facts, not only the plan and the rows of the workload */
  bool rest;     /* also wants the time after the last interval, without watched figures */
  bool aside;    /* has no file and prints no report of its own */
  bool own_file; /* opens its file itself, so `out` is NULL */
  bool joins;    /* joins several stored results in one report: begin to finish are called once for
                    each, and its facts are gone afterwards */
  bool for_programs;   /* nothing precedes it on standard output */
  const char *journal; /* suffix of its second file during the run; NULL: none */
  /* out is borrowed and stays open until close has returned; path names it, NULL: standard
     output.  A stored result gives no conf (the defaults), no path, and an `out` also with
     own_file. */
  int (*open)(void *self, const void *conf, const char *path, FILE *out, struct bn_err *err);
  /* Is called for a run before anything happens: refuses a plan that the report cannot show.  With
     several hosts or groups, plan->metrics is NULL then, and a second call comes before the start,
     when the metrics are known. */
  int (*check)(void *self, const struct bn_plan *plan, struct bn_err *err);
  /* Facts stay valid until close has returned.  Between these calls threads add facts: views have
     those that reports show (error_facts of measure/view.h). */
  void (*begin)(void *self, const struct bn_facts *f);    /* heading, with the workload's rows */
  void (*starting)(void *self, const struct bn_facts *f); /* before the first worker */
  void (*started)(void *self, const struct bn_facts *f);  /* the start barrier opens */
  /* Is called before the reporters get an interval, a checkpoint or the total: adds complete lines
     to `out`, which become v->lines.  After -1 and err the report has none. */
  int (*add)(void *self, const struct bn_view *v, struct bn_buf *out, struct bn_err *err);
  int (*interval)(void *self, const struct bn_view *v, struct bn_err *err);
  int (*checkpoint)(void *self, const struct bn_view *v, struct bn_err *err);
  /* Called once a second with everything measured since the start of the measurement. */
  int (*tick)(void *self, const struct bn_view *v, struct bn_err *err);
  void (*ended)(void *self); /* no interval, checkpoint or tick follows; comes before total */
  int (*total)(void *self, const struct bn_view *v, struct bn_err *err);
  /* Called after the total of a run on n hosts, with a group (measure/result.h) of each. */
  int (*members)(void *self, const struct bn_group *g, size_t n, struct bn_err *err);
  /* Called after a checkpoint or total with v->replaced whose replacement has failed. */
  int (*instead)(void *self, const struct bn_view *v, struct bn_err *err);
  /* Prints the total of a run whose process is ended by force.  It uses no state of a reporter,
     takes no lock but that of `out`, and allocates nothing. */
  void (*summary)(const struct bn_facts *f, const struct bn_view *v, FILE *out);
  /* Is called last before close, also for a run that never began to measure: how the run ended. */
  int (*finish)(void *self, const struct bn_end *end, struct bn_err *err);
  /* Returns 0, or -1 and err after a write error.  err NULL: the report is not complete, for a
     reason that is known already. */
  int (*close)(void *self, struct bn_err *err);
};

/* A reporter to use in a run; borrowed by the run. */
struct bn_report_use {
  const struct bn_reporter *ops;
  const void *conf;
  FILE *out;        /* NULL where the reporter opens its file itself */
  const char *path; /* for messages; NULL: standard output */
};

#endif
