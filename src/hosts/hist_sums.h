/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums of the histograms that hosts send. */
#ifndef BN_HOSTS_HIST_SUMS_H
#define BN_HOSTS_HIST_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "measure/hist_codec.h"

/* Sums of the histograms that lines have.  All zero: nothing has been added. */
struct bn_hist_sums {
  struct bn_hist **hist; /* owned; [n]; NULL: nothing has been added */
  uint64_t *count;       /* owned; [n]; how many values each histogram has */
  size_t n;
};

void bn_hist_sums_done(struct bn_hist_sums *s);
/* Adds the histograms of a line, which has n, as all lines that are added. */
void bn_hist_sums_add(struct bn_hist_sums *s, const struct bn_hist_codec *line, size_t n);
/* Adds other sums, of as many histograms.  Does nothing if nothing has been added to them. */
void bn_hist_sums_merge(struct bn_hist_sums *s, const struct bn_hist_sums *from);

#endif
