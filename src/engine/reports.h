/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reports of a run: its baselines, its facts, and the reporters that are told of both.

   Invariant: intervals partition the measured time (each begins where the one before it ended), and
   a total covers the time since the last checkpoint, or since the start.  Snapshots are subtracted
   here and nowhere else.  The reports knows what it is given: statistics, a configuration, a
   moment.
 */
#ifndef BN_ENGINE_REPORTS_H
#define BN_ENGINE_REPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "api/report.h"
#include "engine/outage.h"
#include "measure/assert.h"
#include "measure/facts.h"
#include "measure/result.h"
#include "measure/stat.h"
#include "measure/view.h"
#include "option/conf.h"

struct bn_reports;
struct bn_watch; /* engine/watch.h */

/* Everything is borrowed and outlives the reports. */
struct bn_reports_setup {
  const struct bn_conf *conf;
  const struct bn_workload *ops;
  const struct bn_statset *stats; /* of the workers' sessions */
  const struct bn_report_use *reporters;
  size_t n_reporters;
  const struct bn_assert *asserts; /* n_asserts <= BN_ASSERTS_MAX */
  size_t n_asserts;
  struct bn_watch *watch; /* NULL: nothing is watched */
};

/* An instant of the run, as its other parts know it. */
struct bn_moment {
  uint64_t now_ns, from_ns; /* CLOCK_MONOTONIC; from_ns: what reports count their time from */
  bool at_limit;            /* the time limit was reached: `running` is how many got that far */
  unsigned running;
  unsigned failed_threads; /* while others went on */
  bool paced;
  uint64_t backlog; /* arrivals that wait */
  bool abandoned;   /* threads are left behind: what they do is unfinished */
  /* Of the final report alone, which is of the span. */
  uint64_t observed_ns;                     /* until then the events in flight were watched */
  uint64_t looped_ns;                       /* when the last session left its loop */
  uint64_t setup_ns, grace_ns, teardown_ns; /* durations */
  struct bn_outages outages;
  uint64_t due;         /* arrivals in the span */
  uint64_t warmup_left; /* those of the warm-up that still wait */
  struct bn_hist *ages; /* of those that wait, borrowed; NULL: nothing waits */
  uint64_t oldest_ns;   /* the largest of them */
};

/* 0 or -1: out of memory. */
int bn_reports_new(struct bn_reports **out, const struct bn_reports_setup *setup);
void bn_reports_free(struct bn_reports *b);
/* The statistics have another table of metrics; before begin.  -1: out of memory, and the reports
   can only be freed. */
int bn_reports_measure(struct bn_reports *b);

/* Any thread. */
void bn_reports_set_kind(struct bn_reports *b, enum bn_kind kind);
enum bn_kind bn_reports_kind(const struct bn_reports *b);
void bn_reports_fact(struct bn_reports *b, const char *section, const char *key, const char *text);
void bn_reports_fact_f64(struct bn_reports *b, const char *section, const char *key, double value);

/* --- the main thread, in this order --- */
/* -1: err names an assertion about something that this run does not measure. */
int bn_reports_check(const struct bn_reports *b, struct bn_err *err);
/* Opens the reporters; false: one cannot be opened, which has been logged. */
bool bn_reports_open(struct bn_reports *b);
/* What the composition root knows moves into the reports; before begin. */
void bn_reports_know(struct bn_reports *b, struct bn_facts *facts);
/* Prints the heading, after the workload has said what it is.  seed: of the streams. */
void bn_reports_begin(struct bn_reports *b, const void *workload, uint64_t seed);
void bn_reports_starting(struct bn_reports *b);
void bn_reports_started(struct bn_reports *b);
/* Tells what is watched the place that the facts name; before the start. */
void bn_reports_place(struct bn_reports *b);
/* The measurement, or the warm-up before it, starts: the first baseline. */
void bn_reports_start(struct bn_reports *b, uint64_t now_ns);
/* After the reporting thread has ended or was left behind: counts what the final report is of. */
void bn_reports_count(struct bn_reports *b, const struct bn_moment *m);
/* Computes what it says, once the workload has been verified, if it is to be. */
void bn_reports_sum(struct bn_reports *b, const struct bn_moment *m);
/* The reporters are told of the total next. */
void bn_reports_ended(struct bn_reports *b);
/* The final report; false: some reporter failed. */
bool bn_reports_total(struct bn_reports *b);
/* After it: logs the assertions that do not hold, in a dialect all of them, whose report has none.
   false: one does not hold. */
bool bn_reports_log_verdicts(const struct bn_reports *b);
/* Tells how the run ended and closes the reporters; false: a report is not complete. */
bool bn_reports_close(struct bn_reports *b, const struct bn_end *how);

/* --- the reporting thread, or the main thread where there is none --- */
/* The end of the warm-up: everything measured until now is forgotten.  Returns the snapshot that is
   the new baseline, which stays the reports'. */
const struct bn_snap *bn_reports_baseline(struct bn_reports *b, uint64_t now_ns);
/* The span ended at end_ns: rates follow from what has been counted until now.  Again: nothing. */
void bn_reports_end_span(struct bn_reports *b, uint64_t end_ns, uint64_t now_ns);
/* false: some reporter failed. */
bool bn_reports_interval(struct bn_reports *b, const struct bn_moment *m);
bool bn_reports_checkpoint(struct bn_reports *b, const struct bn_moment *m);
bool bn_reports_tick(struct bn_reports *b, const struct bn_moment *m);
/* The time since the last call, or since the measurement began: which assertion has been violated
   for --abort-on-assert; NULL: none. */
const struct bn_assert *bn_reports_second(struct bn_reports *b, const struct bn_moment *m);
/* There is something to do every second: ticks, or seconds. */
bool bn_reports_ticks(const struct bn_reports *b);

/* --- any other thread --- */
/* The reporting thread hangs in a reporter and nobody waits for it: what it still brings is too
   late. */
void bn_reports_leave_reporter(struct bn_reports *b);
/* A reporter that prints the final report in place of the text report is at it. */
bool bn_reports_in_hook(const struct bn_reports *b);
/* While that hangs: the others print the final report. */
void bn_reports_instead(struct bn_reports *b);

#endif
