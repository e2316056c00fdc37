/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The form of a histogram in documents and journals: one list of numbers.

   The numbers are the counts of its buckets (base/hist.h), from that of 0 ns to the last that is
   not empty; -n stands for n empty buckets.  Values beyond the range are in the bucket after all
   others.  Version 1 has a list for each bucket that is not empty: its lowest value (2^42 beyond
   the range), and its count. */
#ifndef BN_MEASURE_JSON_HIST_H
#define BN_MEASURE_JSON_HIST_H

#include "measure/hist_sparse.h"
#include "measure/json_read.h"
#include "measure/json_write.h"

/* Returns the list of a histogram in one of its two forms; if both are NULL, it is empty. */
struct bn_node *bn_json_hist(const struct bn_hist *h, const struct bn_hist_sparse *s);
/* Adds the values of a member of a map, a list of either version or the text that
   bn_skip_to_totals() makes of it, to a histogram.  No values are added if there is no such
   member.  Another value is a fault. */
void bn_json_in_hist(struct bn_json_in *in, const struct bn_node *map, const char *key,
                     struct bn_hist *h);

#endif
