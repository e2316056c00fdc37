/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reports of a run: its baselines, its facts, and its reporters.

   Intervals partition the measured time: each begins where the one before it ended.  If a reporter
   wants the rest, a last interval covers the time after the last full one.  A total covers the time
   since the last checkpoint, or since the start.  Snapshots are subtracted here and nowhere else.
   The reports depend on statistics, a configuration and the state of the run only. */
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

enum { BN_FAILURE_KINDS = 16 };

struct bn_reports;
struct bn_phases;    /* engine/phases.h */
struct bn_run_setup; /* engine/run.h */
struct bn_watch;     /* engine/watch.h */

/* An instant of the run, as its other parts know it. */
struct bn_run_state {
  uint64_t now_ns, from_ns; /* CLOCK_MONOTONIC; from_ns: the zero of the times in reports */
  uint64_t span_end_ns;     /* now_ns, or before it the end of the span; in a dialect now_ns */
  uint64_t deadline_ns;     /* of --time; CLOCK_MONOTONIC, UINT64_MAX: none */
  bool at_limit;            /* the time limit was reached, by `running` sessions */
  unsigned running;
  unsigned failed_threads; /* threads that failed while others went on */
  bool paced;
  uint64_t backlog;    /* arrivals that wait for a session */
  uint64_t queue_skip; /* arrivals before the waiting ones, since the pacer's start */
  bool abandoned;      /* threads were abandoned: their events are unfinished */
  /* The members below are set for the final report only. */
  uint64_t observed_ns;                     /* the last look at the events in flight */
  uint64_t looped_ns;                       /* when the last session left its loop */
  uint64_t setup_ns, grace_ns, teardown_ns; /* durations */
  struct bn_outages outages;
  const struct bn_phases *phases; /* borrowed; NULL: none */
  uint64_t due;                   /* arrivals in the span */
  uint64_t warmup_waiting;        /* arrivals of the warm-up that still wait */
  struct bn_hist *ages;           /* ages of the waiting arrivals, borrowed; NULL: none waits */
  uint64_t oldest_ns;             /* the largest of these ages */
};

/* Returns the rules of every view of a run with this configuration. */
static inline struct bn_view_rules bn_reports_rules(const struct bn_conf *conf)
{
  return (struct bn_view_rules){.percents = conf->plan.percents,
                                .n_percents = conf->plan.n_percents,
                                .nearest = !bn_policy_is_native(conf->policy),
                                .commits = conf->policy->transactions_are_commits};
}

/* stats: those of the workers' sessions.  Everything but the setup itself is borrowed, and outlives
   the reports. */
struct bn_reports *bn_reports_new(const struct bn_run_setup *setup, const struct bn_statset *stats,
                                  struct bn_watch *watch);
void bn_reports_free(struct bn_reports *r);
/* Adapts to another table of metrics, before bn_reports_print_heading. */
void bn_reports_set_metrics(struct bn_reports *r);

/* Any thread may call the next six functions. */
void bn_reports_set_kind(struct bn_reports *r, enum bn_kind kind);
enum bn_kind bn_reports_get_kind(const struct bn_reports *r);
/* Add a fact about the run, or replace its value.  The first fact about a database that comes after
   the heading also records that the heading did not name the server (database.at_start). */
void bn_reports_set_fact(struct bn_reports *r, const char *section, const char *key,
                         const char *text);
void bn_reports_set_fact_f64(struct bn_reports *r, const char *section, const char *key,
                             double value);
/* Records, as facts, that a thread failed at_s after the measurement began (negative: before it)
   while others went on.  Returns true for the first failure of its kind.  A kind may be any text;
   the fact has it escaped by bn_escape() and cut between characters.  After BN_FAILURE_KINDS, no
   kind is new. */
bool bn_reports_add_failure(struct bn_reports *r, const char *kind, const char *text, double at_s);
/* Completes the verdict of --assert=proof, while bn_reports_show_total shows the final report. */
void bn_reports_prove(struct bn_reports *r, const struct bn_proof *proof);

/* --- the main thread, in this order --- */
/* Returns -1 if an assertion is about something that this run does not measure; err names it. */
int bn_reports_check(const struct bn_reports *r, struct bn_err *err);
/* Opens the reporters.  Returns false if one cannot be opened, which has been logged. */
bool bn_reports_open(struct bn_reports *r);
/* Moves the facts that main.c collected into the reports, before bn_reports_print_heading. */
void bn_reports_add_facts(struct bn_reports *r, struct bn_facts *facts);
/* Prints the heading, after the workload has described itself. seed: the seed of the streams. */
void bn_reports_print_heading(struct bn_reports *r, const void *workload, uint64_t seed);
/* Tell the reporters that the workers are about to be started, and that the start barrier opens. */
void bn_reports_announce_workers(struct bn_reports *r);
void bn_reports_announce_opening(struct bn_reports *r);
/* Passes the place that the facts name to the watchers, before the start. */
void bn_reports_pass_place(struct bn_reports *r);
/* Takes the first baseline: the measurement, or the warm-up before it, starts. */
void bn_reports_take_baseline(struct bn_reports *r, uint64_t now_ns);
/* Takes the counters of the final report, after the reporting thread has ended. */
void bn_reports_count_total(struct bn_reports *r, const struct bn_run_state *s);
/* Computes the final report, after bn_reports_count_total and the verification of the workload. */
void bn_reports_compute_total(struct bn_reports *r, const struct bn_run_state *s);
/* Announces to the reporters that the total is next. */
void bn_reports_announce_total(struct bn_reports *r);
/* Makes the final report.  Returns false if a reporter failed. */
bool bn_reports_show_total(struct bn_reports *r);
/* Logs, after the final report, the assertions that do not hold; in a dialect, whose report shows
   none, all assertions.  Returns false if an assertion does not hold. */
bool bn_reports_log_verdicts(const struct bn_reports *r);
/* Returns what was counted since the measurement began, once the final report is made.  The view of
   that report has only the time after the last checkpoint. */
struct bn_view_counts bn_reports_count_all(const struct bn_reports *r);
/* Passes the end of the run to the reporters and closes them.  Returns false if one failed. */
bool bn_reports_close(struct bn_reports *r, const struct bn_end *run_end);

/* --- the reporting thread, or the main thread where there is none --- */
/* Forgets what was measured in the warm-up.  Returns the new baseline, which the reports own. */
const struct bn_snap *bn_reports_end_warmup(struct bn_reports *r, uint64_t now_ns);
/* Takes the counters at the end of the span, end_ns; the rates of the final report and of ticks
   after the span follow from them.  Only the first call has an effect. */
void bn_reports_end_span(struct bn_reports *r, uint64_t end_ns, uint64_t now_ns);
/* Reads the counters that may wrap around, once a minute: without intervals they would be read at
   the start and at the end of the run alone. */
void bn_reports_follow_counters(struct bn_reports *r);
/* Make a report of an interval, a checkpoint, or all that was measured so far.  Return false if a
   reporter failed. */
bool bn_reports_show_interval(struct bn_reports *r, const struct bn_run_state *s);
bool bn_reports_show_checkpoint(struct bn_reports *r, const struct bn_run_state *s);
bool bn_reports_show_tick(struct bn_reports *r, const struct bn_run_state *s);
/* Judges the assertions over the time since the last call, or since the measurement began.  Returns
   the assertion that has been violated for as long as --abort-on-assert says, or NULL. */
const struct bn_assert *bn_reports_judge_second(struct bn_reports *r, const struct bn_run_state *s);
/* Returns whether ticks are shown or assertions judged, once a second. */
bool bn_reports_want_ticks(const struct bn_reports *r);

/* --- any other thread --- */
/* Returns whether a script's hook is printing the final report or a part of it. */
bool bn_reports_is_in_hook(const struct bn_reports *r);
/* Returns whether the final report has been printed. */
bool bn_reports_is_shown(const struct bn_reports *r);
/* Prints the final report from the counters as they are, without a reporter's state, its streams or
   its memory.  The watchdog calls it, after the start barrier has opened. */
void bn_reports_print_forced(struct bn_reports *r, const struct bn_run_state *s, FILE *out);

#endif
