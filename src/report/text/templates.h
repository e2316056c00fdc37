/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The wording of the text report in each reference version: const tables of templates (form.h). */
#ifndef BN_REPORT_TEXT_TEMPLATES_H
#define BN_REPORT_TEXT_TEMPLATES_H

#include <stdbool.h>

#include "api/opt.h"
#include "api/workload.h"

enum { BN_KINDS = BN_KIND_SQL + 1 };

/* The general part of a report: head, latency, one `rank` line per percentile or `no_ranks`, tail,
   further latencies, end.  Bench's own form adds lines between head and latency. */
struct bn_closing {
  const char *head, *latency, *rank, *no_ranks, *tail; /* no_ranks: for --percentile=0 */
  const char *end;
  bool rank_needs_events; /* no rank line when there was no event */
  bool no_sessions;       /* --debug adds nothing per session */
};

/* The texts of a report in one reference version, or in bench's own form.  All of them are
   templates (form.h).  Arrays are indexed by enum bn_kind. */
struct bn_dialect {
  const char *stamp_open, *stamp_close; /* around the seconds of interval and checkpoint reports */
  int stamp_width;                      /* columns of the whole seconds, at least */
  const char *validation;               /* header line of --validate */
  const char *from_timer;               /* header line of --rand-init; NULL: none */
  const char *seed_absent;              /* header line when no seed was given */
  /* NULL: this version has no interval lines of that kind. */
  const char *interval[BN_KINDS];
  const char *queue[BN_KINDS];    /* second line under --rate; NULL: none */
  const char *workload[BN_KINDS]; /* the workload's part of the final report; NULL: none */
  const char *transferred;        /* memory: a further line, of the bytes that were moved */
  const char *timing; /* fileio: latency of one kind of requests; NULL: none is printed */
  const struct bn_closing *closing[BN_KINDS];
  const char *session; /* --debug, once per session */
};

/* Templates of bench's own form: the parts of a run, and the arrivals of --rate. */
extern const char bn_template_outages[], bn_template_grace[], bn_template_unfinished[],
    bn_template_oldest[], bn_template_times[], bn_template_retries[], bn_template_failed[],
    bn_template_fatal[], bn_template_failed_threads[];
extern const char bn_template_arrivals[], bn_template_warmup_backlog[];

/* Returns the texts of a version, never NULL.  native: those of bench's own form, whatever the
   version. */
const struct bn_dialect *bn_dialect_get(enum bn_version version, bool native);

#endif
