/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms to which the lines of hosts are added when they come. */
#ifndef BN_HOSTS_SUMS_H
#define BN_HOSTS_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/hist.h"
#include "measure/hist_codec.h"

/* All zero: nothing has been added. */
struct bn_sums {
  struct bn_hist **hist; /* owned; [n]; NULL: nothing has been added */
  uint64_t *count;       /* owned; [n]; how many values each has */
  size_t n;
};

void bn_sums_done(struct bn_sums *s);
/* Makes place for n histograms, if there is none yet. */
void bn_sums_prepare(struct bn_sums *s, size_t n);
/* After that.  The caller sees to it that the counts fit into 64 bits, here and below. */
void bn_sums_add(struct bn_sums *s, const struct bn_hist_codec *line);
/* Adds the histograms of another one. */
void bn_sums_merge(struct bn_sums *s, const struct bn_sums *from);

#endif
