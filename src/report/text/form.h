/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Templates such as "eps: {eps:4.2}" and the figures they may name, taken from a view. */
#ifndef BN_REPORT_TEXT_FORM_H
#define BN_REPORT_TEXT_FORM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "measure/view.h"

enum { BN_FORM_TEXT = 48 };

/* All figures that a template may name, by the names of the members.  Times of single events are in
   ms, longer times in seconds; *_s members that are rates are per second of the span. */
struct bn_form {
  uint64_t threads, events, reads, writes, other, queries, requests, transactions;
  uint64_t errors, reconnects, retried_events, retries, failed_events, backlog, concurrency,
      unfinished, in_flight, failed_threads;
  uint64_t outages, in_grace, due, started, dropped, finished, warmup_backlog;
  double longest_outage, setup, grace, teardown, oldest; /* seconds */
  double served;                                         /* percent */
  double events_s, reads_s, writes_s, other_s, queries_s, requests_s, transactions_s;
  double errors_s, reconnects_s;
  double mib, mib_s, read_mib_s, written_mib_s, read_mb_s, written_mb_s;
  double time, span; /* since the start of the measurement; covered by this report */
  double min, avg, max, sum, busy;
  double fair_events, fair_events_dev, fair_time, fair_time_dev;
  char read_size[BN_FORM_TEXT], written_size[BN_FORM_TEXT]; /* as 0.5 prints sizes */
  char moved_size[BN_FORM_TEXT], moved_size_s[BN_FORM_TEXT];
  /* The current percentile: at first the one of interval lines. */
  char rank[BN_FORM_TEXT], approx[BN_FORM_TEXT];
  double percentile;
  bool max_at_least, at_least; /* the maximum, the current percentile are lower bounds */
  bool native;                 /* no dialect: latencies have three significant digits */
  bool nothing;                /* no dialect, and no event has ended: there is no latency */
  bool interval;               /* an interval: the oldest event stands for the missing latency */
  char timing[BN_FORM_TEXT];   /* name of what the extremes belong to: "reads" */
  /* The current session. */
  uint64_t session, session_events;
  double session_min, session_avg, session_max, session_busy;
};

/* native: latencies have three significant digits, "≥" if they are lower bounds, and "-" if no
   event has ended. */
void bn_form_fill(struct bn_form *f, const struct bn_view *v, bool native);
/* Sets the current percentile; i < v->n_percents, else rank 0 with the value 0, natively NAN. */
void bn_form_rank(struct bn_form *f, const struct bn_view *v, size_t i);
/* Sets the extremes to those of a timing, which is called `name`. */
void bn_form_timing(struct bn_form *f, const struct bn_timing *t, const char *name);
/* Sets the current percentile to that of a timing with percentiles; i < v->n_percents. */
void bn_form_timing_rank(struct bn_form *f, const struct bn_view *v, const struct bn_timing *t,
                         size_t i);
/* Sets the current session; i < v->n_sessions. */
void bn_form_session(struct bn_form *f, const struct bn_view *v, size_t i);

/* Prints a template.  {name:W.P} is the figure `name` right-aligned in W columns ('-' before W:
   left-aligned) with P decimals; W and .P are optional, whole numbers and texts take no P.  '~'
   after P marks a latency, which has more decimals if the form asks for three significant digits.
   A value beyond the range of the histogram is printed as ">" and the end of that range. */
void bn_form_print(const struct bn_form *f, const char *text, FILE *out);

#endif
