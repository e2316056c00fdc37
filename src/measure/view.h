/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A span of time with every figure that any format prints.  Reporters divide only to convert
   units. */
#ifndef BN_MEASURE_VIEW_H
#define BN_MEASURE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/report.h"
#include "api/session.h"
#include "measure/snap.h"
#include "measure/watch.h"

struct bn_facts; /* measure/facts.h */

enum bn_view_span { BN_VIEW_INTERVAL, BN_VIEW_CHECKPOINT, BN_VIEW_TOTAL, BN_VIEW_TICK };

enum { BN_FIGURES_MAX = 64, BN_LINES_MAX = 1 << 16 }; /* bytes of lines */

/* Statistics of one session.  The extremes are exact, and since the measurement began.  A statistic
   of no events is NaN. */
struct bn_session_view {
  double min_s, avg_s, max_s, busy_s;
  uint64_t events;
};

/* A histogram besides the event latency: "read_latency", "sql_execute".  If it is empty, count and
   sum_s are 0 and the rest is NaN. */
struct bn_timing {
  const char *name; /* of the metric; the snapshot's */
  /* The values of the view's ranks, in their order; HUGE_VAL: overflow.  NULL in kept intervals,
     and if a document does not have them. */
  const double *percentile_s;
  uint64_t count;
  double min_s, avg_s, max_s, sum_s, dev_s;
  bool of_script; /* a script has declared it */
  bool of_kind;   /* it is the latency of a kind of events */
  bool of_phase;  /* it is that of the events of a phase */
  /* The events of a phase or a group that have not ended; they make max_s a lower bound.  The
     percentiles and the maximum of a phase count their ages, and so does its histogram; the other
     members do not.  Those of a group count them as longer than all others. */
  uint64_t unfinished;
  double youngest_s; /* of a phase: the smallest of these ages */
  uint32_t at_least; /* of a group: bit i is set if percentile i is a lower bound */
};

/* Returns whether percentile i is a lower bound, because an event that has not ended may raise it.
   The maximum is a lower bound if there is such an event. */
static inline bool bn_timing_at_least(const struct bn_timing *t, size_t i)
{
  return (t->at_least >> i & 1) != 0 ||
         (t->of_phase && t->unfinished > 0 && t->percentile_s[i] >= t->youngest_s);
}

/* Returns the timing of a histogram, with its name and kind, before anything is counted. */
struct bn_timing bn_view_timing_of(const struct bn_metric *hist);

/* A counter that a script has declared. */
struct bn_count {
  const char *name, *unit; /* of the metric; the snapshot's */
  uint64_t count;
  double per_s;
};

/* The statements of one name.  `timing` is of those that succeeded. */
struct bn_statement_view {
  struct bn_timing timing; /* with the name */
  uint64_t rows;           /* returned or changed */
  uint64_t errors;         /* executions that failed */
};

/* The events of a kind, as the script names it. */
struct bn_event_kind {
  const char *name;               /* as of bn_event_kinds_name(); the snapshot's */
  const struct bn_timing *timing; /* their latencies, one of the view's */
  uint64_t events, retries, failed_events;
  double events_per_s;
  double share; /* of all events of the view, 0 to 1; NaN: there are none */
};

/* A phase of --rate-profile or --threads-profile, in a total.  due + carried = started + dropped +
   queued: `carried` had waited when the phase began, and `queued` wait when it ends; UINT64_MAX: it
   did not begin. */
struct bn_phase_view {
  const char *text;               /* as in the profile; the snapshot's */
  const struct bn_timing *timing; /* of the events that were due in it; one of the view's */
  double from_s, to_s;            /* since the measurement began; equal: it did not begin */
  double wanted_per_s;            /* the mean of its rate; NaN: it has none */
  double wanted_threads;          /* the mean number of its active threads; NaN: it has no curve */
  double started_per_s;           /* NaN: it did not begin */
  /* These count at the time at which an event was due, and began. */
  uint64_t due, carried, started, dropped, queued;
  uint64_t retries, failed_events; /* of the events that were due in it */
  /* The time after it, or after its bursts, until the latency was that of a phase before; 0: it did
     not grow, or the time is too short to be told.  NaN: there is nothing to compare it with, or
     the rate does not fall after it. */
  double recovery_s;
  bool recovered; /* false: recovery_s is a lower bound, until the end of the run or later bursts */
};

/* All members but the pointers are plain values.  A rate is a counter of `rated`, divided by
   rated_s; if nothing ended after the span, that is count / span_s.  span_s is span_ns * 1e-9, or
   less in a tick that was made after the span.  Reporters divide the rate by their unit, as in
   MB/s = (bytes / span_s) / 1e6: in another order the last bit may differ.  The pointers lead to
   memory of the maker of the view: the reports while a reporter is called, the record in a
   result. */
struct bn_view {
  const struct bn_snap *delta;   /* raw counters and histograms of the span */
  const uint64_t *counter;       /* delta's, by enum bn_counter and the workload's metrics */
  const uint64_t *rated;         /* the counters from which rates follow; NULL in a record */
  double rated_s;                /* the time that they cover */
  const struct bn_hist *latency; /* delta's; NULL in a record without histograms */
  const struct bn_hist *ages;    /* of unfinished events, which percentiles count; NULL: none */
  enum bn_view_span span;
  enum bn_kind kind; /* BN_KIND_SQL once any database driver was initialised */
  unsigned running;  /* sessions still in their loop */
  bool paced;        /* --rate */
  bool replaced;     /* another reporter prints this instead (a script's hook): text keeps
                        headings that the reference keeps, nothing else */
  bool max_at_least; /* max_s is a lower bound: an event has not ended */
#define BN_FIGURE_u64           uint64_t
#define BN_FIGURE_f64           double
#define FIGURE(type, name, ...) BN_FIGURE_##type name;
#include "measure/figures.def"
#undef BN_FIGURE_u64
#undef BN_FIGURE_f64
  const double *percents;          /* ranks; in dialects interval lines print the first */
  const double *percentile_s;      /* their values; NaN without events; HUGE_VAL: overflow */
  const bool *at_least;            /* NULL: none is */
  size_t n_percents;               /* 0: --percentile=0 */
  const struct bn_timing *timings; /* of histograms 1, 2, … */
  size_t n_timings;
  /* By name, the one with the most time first; of totals and checkpoints. */
  const struct bn_statement_view *statements;
  size_t n_statements;
  const struct bn_count *counts; /* of the counters that a script has declared, in their order */
  size_t n_counts;
  const struct bn_event_kind *event_kinds; /* the kinds of events, in the order of the script */
  size_t n_event_kinds;
  const struct bn_phase_view *phases; /* of the profile of a run; only in totals */
  size_t n_phases;
  const struct bn_figure *figures; /* of the workload */
  size_t n_figures;
  /* The facts about errors and failed threads, as they were when the view was made: threads add to
     those of the run.  In totals and checkpoints; NULL: nobody adds to the facts. */
  const struct bn_facts *error_facts;
  const char *lines; /* of a script, for the end of the report, each with its newline; NULL: none */
  const struct bn_watched_figure *watched; /* --watch; not in ticks */
  size_t n_watched;
  const struct bn_session_view *sessions; /* NULL in intervals and ticks */
  size_t n_sessions;
};

/* Returns whether percentile i of the events is a lower bound. */
static inline bool bn_view_at_least(const struct bn_view *v, size_t i)
{
  return v->at_least != NULL && v->at_least[i];
}

enum bn_view_type { BN_VIEW_U64, BN_VIEW_F64 }; /* uint64_t, double */
enum bn_better { BN_BETTER_NEITHER, BN_BETTER_MORE, BN_BETTER_LESS };
/* figures.def explains the rules. */
enum bn_view_rule {
  BN_RULE_COMPUTED,
  BN_RULE_STATISTIC,
  BN_RULE_COUNTER,
  BN_RULE_RATE,
  BN_RULE_SUM,
  BN_RULE_LONGEST
};

enum {
  BN_FIGURE_NONE = 0,
  BN_FIGURE_PARTS = 1,   /* known only in a total that tells the parts of a run apart */
  BN_FIGURE_PACED = 2,   /* measured only with --rate */
  BN_FIGURE_COMMITS = 4, /* measured only with --verify-commits */
  BN_FIGURE_NATIVE = 8,  /* not measured in a dialect; neither are PARTS */
  BN_FIGURE_SHARE = 16,  /* its limit may be in percent in an assertion; if a count, of attempts */
  BN_FIGURE_WHOLE = 32,  /* measured only in totals */
  BN_FIGURE_AGED = 64,   /* ages of unfinished events count too */
  BN_FIGURE_WAKES = 128  /* measured only where threads sleep: with --rate or pauses */
};

/* A row of figures.def. */
struct bn_view_field {
  const char *name, *unit;
  enum bn_view_type type;
  enum bn_better better;
  enum bn_view_rule rule;
  size_t of;       /* BN_RULE_RATE, BN_RULE_STATISTIC: offset of the figure that is counted */
  unsigned kinds;  /* 1U << enum bn_kind, ORed */
  unsigned traits; /* BN_FIGURE_…, ORed */
  size_t offset;   /* in struct bn_view */
};
extern const struct bn_view_field bn_view_fields[]; /* ends with a NULL name */
/* Returns whether the unit of a figure is "1/s" or "bytes/s". */
bool bn_view_is_rate(const struct bn_view_field *f);
/* Returns the value of a figure of either type; a whole number beyond 2^53 is rounded. */
double bn_view_value(const struct bn_view *v, const struct bn_view_field *f);
/* Returns the exact value of a figure of the type BN_VIEW_U64. */
uint64_t bn_view_u64(const struct bn_view *v, const struct bn_view_field *f);
/* These return where a view has the figure with that offset (struct bn_view_field), whose type is
   BN_VIEW_U64 or BN_VIEW_F64. */
uint64_t *bn_view_u64_at(struct bn_view *v, size_t offset);
double *bn_view_f64_at(struct bn_view *v, size_t offset);

/* Returns whether a view has the histogram "wakeup_lag" because sessions may pause, but none of
   them did: reports leave the histogram out. */
bool bn_view_has_idle_lag(const struct bn_view *v);
/* Returns whether the view tells the parts of a run apart. */
bool bn_view_has_parts(const struct bn_view *v);
/* Returns false if the 0 of a figure means that it is unknown: the figure is one of PARTS, and the
   view does not tell the parts of a run apart. */
bool bn_view_knows(const struct bn_view *v, const struct bn_view_field *f);

/* These facts decide whether a run measures a figure. */
struct bn_view_scope {
  unsigned kinds; /* 1U << enum bn_kind of each that it may be of, ORed */
  bool paced;     /* --rate */
  bool wakes;     /* --rate or --think-time */
  bool commits;   /* --verify-commits */
  bool parts;     /* figures of PARTS are known */
  bool native;    /* figures of NATIVE are known */
  bool total;     /* it is about the whole run */
};
enum bn_view_lack {
  BN_LACK_NONE,    /* it is measured */
  BN_LACK_RATE,    /* it needs --rate */
  BN_LACK_WAKES,   /* it needs --rate or --think-time */
  BN_LACK_COMMITS, /* it needs --verify-commits */
  BN_LACK_DIALECT, /* it is not measured in a dialect */
  BN_LACK_TOTAL,   /* a part of the time does not have it */
  BN_LACK_KIND     /* it is of other kinds of tests */
};
/* Returns why a run does not measure a figure: the first reason that applies, or BN_LACK_NONE. */
enum bn_view_lack bn_view_find_lack(const struct bn_view_field *f, const struct bn_view_scope *s);
/* Returns whether a run with these metrics counts the commits of --verify-commits. */
bool bn_view_counts_commits(const struct bn_metrics *m);
/* Returns whether a view has a measured value of a figure, and not 0 or NaN in its place. */
bool bn_view_measures(const struct bn_view *v, const struct bn_view_field *f);

/* The memory behind a view; reused. */
struct bn_view_store {
  double percents[BN_PERCENTS_MAX], percentile_s[BN_PERCENTS_MAX];
  bool at_least[BN_PERCENTS_MAX];
  struct bn_timing *timing;               /* owned; as many as the snapshots have histograms */
  double (*timing_s)[BN_PERCENTS_MAX];    /* owned; their percentiles; NULL in kept intervals */
  struct bn_statement_view *statement;    /* owned; as many as the snapshot has room for */
  double (*statement_s)[BN_PERCENTS_MAX]; /* owned; their percentiles */
  struct bn_figure *figure;               /* owned; [BN_FIGURES_MAX], of a record [n_figures] */
  struct bn_session_view *session;        /* owned */
  struct bn_count *count;                 /* owned; as many as the snapshots have counters */
  struct bn_event_kind *event_kind;       /* owned; as many as the snapshots have histograms */
  struct bn_phase_view *phase;            /* owned; as many as the snapshots have phases */
};

/* Allocates the memory for views of snapshots with as many metrics, sessions and statements as
   `shape` has room for. */
void bn_view_store_init(struct bn_view_store *store, const struct bn_snap *shape);
void bn_view_store_done(struct bn_view_store *store);
/* Sets every statistic of no values to NaN, and every figure that a run does not measure to 0.  A
   view that was filled or read from a document needs this: documents have null for both, and those
   of earlier versions have 0. */
void bn_view_settle(struct bn_view *v, struct bn_view_store *store);

/* Besides the snapshot, figures depend on these rules. */
struct bn_view_rules {
  const double *percents;
  size_t n_percents;
  bool nearest;  /* the rank of a percentile is rounded to the nearest, as sysbench does; else up */
  bool commits;  /* transactions are what the counter "transactions" counts, if there is one; else
                    events */
  bool exact;    /* delta's base is the start of the measurement: its exact extremes hold where they
                    fall into the outermost buckets */
  bool in_span;  /* only events that ended in the span count, as in intervals */
  bool sessions; /* also the statistics of each session, and of each name of statements */
  const struct bn_hist *ages; /* of unfinished events; NULL: there are none */
  uint64_t oldest_ns;         /* the largest of these ages */
  const uint64_t *rated;      /* the counters at the end of the span, from which rates follow; NULL:
                                 the delta's.  Of events those in the grace are subtracted. */
  double rated_s;             /* the time that these counters cover */
  double span_s;              /* the part of the delta's time that is in the span; 0: all of it */
};

/* The counts of several views together.  With checkpoints, the total of a run has only what came
   after the last one, so that the counts of the run are a sum. */
struct bn_view_counts {
  uint64_t events; /* that succeeded */
  uint64_t failed_events, dropped;
  uint64_t errors, reconnects; /* of statements, and of connections */
};

/* Returns the counts of one view, which has its delta. */
static inline struct bn_view_counts bn_view_count(const struct bn_view *v)
{
  return (struct bn_view_counts){.events = v->events,
                                 .failed_events = v->failed_events,
                                 .dropped = v->delta->dropped,
                                 .errors = v->errors,
                                 .reconnects = v->reconnects};
}

/* Adds counts to a sum. */
static inline void bn_view_counts_add(struct bn_view_counts *sum, struct bn_view_counts more)
{
  sum->events += more.events;
  sum->failed_events += more.failed_events;
  sum->dropped += more.dropped;
  sum->errors += more.errors;
  sum->reconnects += more.reconnects;
}

/* Sets the members that follow from a difference of two snapshots and the rules.  All others become
   0 or NULL, and the caller sets them later.  The view points into the store, delta and rules. */
void bn_view_fill(struct bn_view *v, struct bn_view_store *store, const struct bn_snap *delta,
                  const struct bn_view_rules *rules);
/* Returns any percentile of the events of a view that was filled with these rules; HUGE_VAL if it
   is beyond the range of the histogram, NaN if there are neither finished events nor ages.  Sets
   *at_least to whether an unfinished event may still make it larger. */
double bn_view_percentile_s(const struct bn_view *v, const struct bn_view_rules *rules,
                            double percent, bool *at_least);
/* Returns the largest value that the percentile may still reach: unfinished events count as longer
   than all others.  HUGE_VAL: it may be that of an unfinished event, or there are no events. */
double bn_view_percentile_bound_s(const struct bn_view *v, const struct bn_view_rules *rules,
                                  double percent);
/* Returns the index of a rank in the view's list, or n_percents if it is not there. */
size_t bn_view_find_rank(const struct bn_view *v, double rank);
/* Returns the index of the greatest rank, which lines with a single percentile show; 0: there is no
   rank. */
size_t bn_view_greatest_rank(const struct bn_view *v);
/* Returns a percentile of a histogram, or NaN if the histogram is empty.  `nearest` is as in the
   rules. */
double bn_view_hist_percentile_s(const struct bn_hist *h, double percent, bool nearest);
/* Returns a lower bound of a percentile of a timing, whose histogram is h, and sets *upper_s to an
   upper bound, HUGE_VAL if there is none.  They differ only if unfinished events may change the
   percentile.  The timing has at least one event, ended or not. */
double bn_view_timing_percentile_s(const struct bn_timing *t, const struct bn_hist *h,
                                   double percent, double *upper_s);
/* Returns a figure in seconds as nanoseconds, or 0 if it is NaN, negative, or 10^9 s or more, which
   no run takes. */
uint64_t bn_view_seconds_to_ns(double s);
/* Returns the mean of n values with that sum, or 0 if there are none. */
double bn_view_mean(double sum, uint64_t n);
/* Returns the share of the events due that finished, 0 to 1, or NaN if none was due or a number is
   not known. */
double bn_view_served_share(uint64_t finished, uint64_t due);
/* Returns the share of the time of all statements of a view that the statements of one name took,
   0 to 1; 0 if they took no time. */
double bn_view_statement_share(const struct bn_view *v, const struct bn_statement_view *s);
/* Sets the counts and rates of a view whose delta, counter, span_s and in_grace are set.  The
   events of the grace are known, and no rate of events or transactions has them.  Other counters do
   not tell the grace apart, so their rates follow from rules->rated. */
void bn_view_set_counts_and_rates(struct bn_view *v, const struct bn_view_rules *rules);

#endif
