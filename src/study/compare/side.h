/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The runs of one side of a comparison: a result in a file, or those in a folder. */
#ifndef BN_STUDY_SIDE_H
#define BN_STUDY_SIDE_H

#include "measure/store.h"
#include "study/figure.h"
#include "study/points.h"

enum { BN_SIDE_FIGURES_MAX = 48 };

/* What is read of each run. */
struct bn_side_figures {
  struct bn_figure_name name[BN_SIDE_FIGURES_MAX];
  bool implied[BN_SIDE_FIGURES_MAX]; /* nobody has named it */
  size_t n;
  bool wants_percentiles;      /* those of the first result are still to be added */
  bn_opt_traits_of *traits_of; /* of options in documents of older versions */
};

/* -1: err says what is wrong with the name, after the name of the option. */
int bn_side_add_figure(struct bn_side_figures *f, const char *option, const char *name,
                       bool implied, struct bn_err *err);

struct bn_side_run {
  char *path;
  struct bn_result result; /* facts, the name of its workload, how it ended; the options are in the
                              order of their names */
  const char *left_out;    /* why it does not count; NULL: it does */
  double value[BN_SIDE_FIGURES_MAX];
  bool measured[BN_SIDE_FIGURES_MAX];
};

struct bn_side {
  struct bn_side_run *run; /* owned; in the order of their names */
  size_t n;
};

/* A file has to be a result.  Of a folder, all results called *.json that it or its folder runs/
   has are read, and other documents are passed over; at least one has to be a result.  -1 and err;
   what was read is there. */
int bn_side_read(const struct bn_store *js, const char *path, struct bn_side_figures *figures,
                 struct bn_side *out, struct bn_err *err);
void bn_side_done(struct bn_side *s);
/* The points of the runs of A and, behind them, of B; options by which only the sides differ make
   none.  -1: out of memory.  bn_points_done() in any case. */
int bn_side_points(const struct bn_side *a, const struct bn_side *b, struct bn_points *out,
                   struct bn_err *err);
/* NULL: the run has no such option. */
const struct bn_fact_option *bn_side_option(const struct bn_side_run *r, const char *name);

#endif
