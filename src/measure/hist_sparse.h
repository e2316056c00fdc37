/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The non-empty buckets of a histogram, for keeping many of them. */
#ifndef BN_MEASURE_HIST_SPARSE_H
#define BN_MEASURE_HIST_SPARSE_H

#include <stddef.h>
#include <stdint.h>

#include "base/hist.h"

struct bn_bucket {
  uint64_t lowest, count; /* lowest: its least value; 2^BN_HIST_TOP_BIT for the overflow */
};

struct bn_hist_sparse {
  struct bn_bucket *bucket; /* owned; ascending */
  size_t n;
};

/* These make the sparse form of a histogram, or copy a sparse form.  They do not free the buckets
   that `s` or `to` had before. */
void bn_hist_sparse_pack(struct bn_hist_sparse *s, const struct bn_hist *h);
void bn_hist_sparse_copy(struct bn_hist_sparse *to, const struct bn_hist_sparse *from);
void bn_hist_sparse_done(struct bn_hist_sparse *s);
/* Subtracts the counts of `base` from those of `from`.  A bucket in which `base` has as much or
   more is left out. */
void bn_hist_sparse_sub(struct bn_hist_sparse *from, const struct bn_hist_sparse *base);

#endif
