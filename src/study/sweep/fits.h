/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fits of a sweep over threads: one for each combination of the other options. */
#ifndef BN_STUDY_FITS_H
#define BN_STUDY_FITS_H

#include <stddef.h>

#include "study/stats/usl.h"
#include "study/sweep/tally.h"

struct bn_fit {
  size_t point; /* one of those that were fitted: what they have in common */
  double *threads, *rate;
  size_t n;
  struct bn_usl usl;
};

/* All zero is none. */
struct bn_fits {
  struct bn_fit *fit;
  size_t n;
  size_t axis; /* that of the threads */
};

/* The medians of points that differ in "threads" alone.  -1: out of memory. */
int bn_fits_find(struct bn_fits *f, const struct bn_tally *t);
void bn_fits_done(struct bn_fits *f);

#endif
