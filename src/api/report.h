/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contract of reporters: what they are told, with every number already computed. */
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
struct bn_plan;  /* measure/facts.h */
struct bn_view;  /* measure/view.h */

/* Which views a reporter prints in place of the text report. */
enum { BN_REPLACES_INTERVAL = 1, BN_REPLACES_TOTAL = 2 };

struct bn_reporter {
  const char *name; /* "text", "json", "csv" */
  const struct bn_opt *options;
  size_t conf_size, state_size;
  unsigned replaces;
  bool facts;          /* it wants all facts, not only the plan and the workload's rows */
  bool aside;          /* it has no file and prints no report */
  bool own_file;       /* it opens its file itself, so `out` is NULL */
  bool joins;          /* several stored results make one report: begin to finish once for each,
                          after which the facts of that one are gone */
  bool for_programs;   /* nothing else stands before it on standard output */
  const char *journal; /* it has a second file during the run: the end of its name; NULL: none */
  /* out is borrowed and stays open until close has returned; path names it, NULL: standard
     output.  A stored result gives no conf (the defaults), no path, and an `out` also with
     own_file. */
  int (*open)(void *self, const void *conf, const char *path, FILE *out, struct bn_err *err);
  /* Of a run, before anything happens: refuses what the report cannot show. */
  int (*check)(void *self, const struct bn_plan *plan, struct bn_err *err);
  /* Facts stay valid until close has returned.  Between these calls threads add to them: views have
     what reports show of that (error_facts of measure/view.h). */
  void (*begin)(void *self, const struct bn_facts *f);    /* heading, with the workload's rows */
  void (*starting)(void *self, const struct bn_facts *f); /* before the first worker */
  void (*started)(void *self, const struct bn_facts *f);  /* the start barrier opens */
  /* Before anybody is told of an interval, a checkpoint or the total: adds whole lines to `out`,
     which become v->lines.  -1 and err: it has failed, and the report goes without. */
  int (*add)(void *self, const struct bn_view *v, struct bn_buf *out, struct bn_err *err);
  int (*interval)(void *self, const struct bn_view *v, struct bn_err *err);
  int (*checkpoint)(void *self, const struct bn_view *v, struct bn_err *err);
  /* Once a second from the start of the measurement on, all that was measured since. */
  int (*tick)(void *self, const struct bn_view *v, struct bn_err *err);
  void (*ended)(void *self); /* no interval, checkpoint or tick comes any more; before total */
  int (*total)(void *self, const struct bn_view *v, struct bn_err *err);
  /* After the total of a run on several hosts: n groups (measure/result.h), one of each of them. */
  int (*members)(void *self, const struct bn_group *g, size_t n, struct bn_err *err);
  /* After a checkpoint or total with v->replaced: who should have printed it has failed. */
  int (*instead)(void *self, const struct bn_view *v, struct bn_err *err);
  /* The last call, before close: how the run ended, also one that never began to measure. */
  int (*finish)(void *self, const struct bn_end *end, struct bn_err *err);
  /* Reports write errors.  err NULL: the report is not complete, for a reason that is known. */
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
