/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The figures of all runs of a sweep, and what they say about each point. */
#ifndef BN_STUDY_TALLY_H
#define BN_STUDY_TALLY_H

#include <stdbool.h>
#include <stddef.h>

#include "measure/assert.h"
#include "measure/result.h"
#include "study/sweep/grid.h"

/* How the names of figures begin that only this test has: "test_ns_per_load". */
#define BN_TALLY_OF_TEST "test_"

enum bn_tally_state {
  BN_TALLY_PENDING,
  BN_TALLY_DONE, /* it ended well */
  BN_TALLY_FAILED,
  BN_TALLY_LEFT_OUT /* by --stop-when */
};

/* Those figures that every table begins with; the others follow in the order in which results have
   them. */
enum { BN_TALLY_RATE, BN_TALLY_P50, BN_TALLY_P95, BN_TALLY_P99, BN_TALLY_FIRST };

struct bn_tally_run {
  enum bn_tally_state state;
  double *value; /* owned; [n_values] figures; NAN: not measured */
  size_t n_values;
  bool stops; /* --stop-when holds */
};

/* Of a grid and an order, both borrowed. */
struct bn_tally {
  const struct bn_grid *grid;
  const size_t *order; /* which point each run is of */
  struct bn_tally_run *run;
  size_t n_runs;
  char **name; /* of figures: "rate", "p50_s" */
  size_t n_names;
  const char *rate; /* "transactions_per_s" or "events_per_s"; NULL: no run is done */
};

struct bn_tally_point {
  size_t done, failed, left_out, pending; /* runs; their sum is the number of repeats */
  bool stops; /* --stop-when holds for more than half of those that are done */
};

/* Of the runs of a point that are done and have measured it. */
struct bn_spread {
  size_t n;
  double median, min, max;
};

/* -1: out of memory. */
int bn_tally_init(struct bn_tally *t, const struct bn_grid *grid, const size_t *order,
                  size_t n_runs);
void bn_tally_done(struct bn_tally *t);
/* The result of a run that ended well; stop: --stop-when, or NULL.  -1: out of memory. */
int bn_tally_take(struct bn_tally *t, size_t run, const struct bn_result *r,
                  const struct bn_assert *stop);
void bn_tally_mark(struct bn_tally *t, size_t run, enum bn_tally_state state);

size_t bn_tally_count(const struct bn_tally *t, enum bn_tally_state state);
void bn_tally_look(const struct bn_tally *t, size_t point, struct bn_tally_point *out);
/* After each run, in their order: if --stop-when now holds for more than half of the runs of its
   point, marks the pending runs behind it of points with a larger value of the first option and the
   same values of the others.  What follows a run follows from the runs before it, so that a sweep
   that is resumed leaves out the same. */
void bn_tally_leave_out(struct bn_tally *t, size_t run);
/* NAN: the run is not done, or has not measured it. */
double bn_tally_value(const struct bn_tally *t, size_t run, size_t figure);
/* false: no run of the point has it. */
bool bn_tally_spread(const struct bn_tally *t, size_t point, size_t figure, struct bn_spread *out);
/* The point with the highest median of the rate, the first of several; false: there is none. */
bool bn_tally_best(const struct bn_tally *t, size_t *point);

#endif
