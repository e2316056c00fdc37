/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Templates such as "eps: {events_per_s:4.2}", which name the figures of a view. */
#ifndef BN_REPORT_TEXT_FORM_H
#define BN_REPORT_TEXT_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "measure/view.h"

/* The view that templates are printed with, and the current elements of its lists. */
struct bn_form {
  const struct bn_view *view;
  bool native;                           /* no dialect */
  const struct bn_timing *timing;        /* has min_s, avg_s and max_s; NULL: those of the events */
  const char *timing_name;               /* its name, "reads", while it is printed; else NULL */
  double rank, percentile_s;             /* the current percentile, of that timing */
  bool at_least;                         /* the percentile is a lower bound */
  const struct bn_session_view *session; /* the current one; NULL: there is none */
};

/* Prepares to print figures of a view, which is borrowed.  native: latencies have three significant
   digits, "≥" if they are lower bounds, and "-" if no event has ended.  The current percentile is
   that of interval lines: natively the greatest rank, in dialects the first one that was typed. */
void bn_form_init(struct bn_form *f, const struct bn_view *v, bool native);
/* Makes percentile i current: of the current timing, which must have percentiles, or of the events
   if no timing was set.  If the view has no percentile i, the rank is 0 and the value unknown,
   which dialects print as 0. */
void bn_form_set_rank(struct bn_form *f, size_t i);

enum { BN_FORM_NUMBER = 352 }; /* bytes of a number; DBL_MAX has 309 digits */
/* Formats a latency in milliseconds with at least two decimals, right-aligned in at least `width`
   columns, with "≥" before a lower bound, or "-" for NaN.  HUGE_VAL, which is beyond the range of
   the histogram, is ">" and the end of that range.  Returns text. */
const char *bn_form_format_latency(char text[BN_FORM_NUMBER], int width, double s, bool at_least);

/* Prints a title and n times, in milliseconds, with slashes between them. */
void bn_form_print_times(const char *title, const double *s, size_t n, FILE *out);

/* Returns how many events of the view have begun and not ended; queued arrivals have not begun. */
uint64_t bn_form_count_in_flight(const struct bn_form *f);

/* Prints a template.  {name:W.P~UNIT} is a figure, right-aligned in W columns ('-' before W:
   left-aligned) with P decimals.  Everything after the name is optional; whole numbers and texts
   take no P.  A name is one of measure/figures.def, or:

     threads, in_flight           of the view: in their loops, events in flight
     rank, approx, percentile_s   the current percentile; the first two are texts
     timing                       the name of the current timing
     session, session_events, session_min_s, session_avg_s, session_max_s, session_busy_s

   '~' marks a latency, which natively has more decimals.  UNIT is what a figure in seconds or bytes
   is converted to: ms, MB, MiB, or "size", a text such as "3.5M"; % is for shares.  A value beyond
   the range of the histogram is printed as ">" and the end of that range.

   What stands in brackets is about the current percentile, and natively left out if the view has no
   percentiles. */
void bn_form_print(const struct bn_form *f, const char *template, FILE *out);

#endif
