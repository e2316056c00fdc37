/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks that results are of runs that did the same, so that they can be summed. */
#ifndef BN_MEASURE_MERGE_CHECK_H
#define BN_MEASURE_MERGE_CHECK_H

#include <stdbool.h>

#include "base/buf.h"
#include "measure/runs.h"

/* Checks that all parts have a total of the same workload, dialect, metrics and percentiles, and
   that their runs had the same options except those that may differ between processes or hosts.
   force: options may differ, and `notes` gets a line about each.  Returns 0, or -1 and err. */
int bn_merge_check_parts(const struct bn_part *part, size_t n, bool force, struct bn_buf *notes,
                         struct bn_err *err);
/* Returns whether two lists have the same ranks of percentiles in the same order. */
bool bn_merge_have_same_ranks(const double *a, size_t n_a, const double *b, size_t n_b);
/* Returns whether two tables have the same metrics in the same order, so that their values can be
   summed. */
bool bn_merge_have_same_metrics(const struct bn_metrics *a, const struct bn_metrics *b);
/* Adds to `out` the facts, lines and options that all parts have alike, and the class and message
   of each error from the first part that has it, but not what an earlier merge has added. */
void bn_merge_add_common(const struct bn_part *part, size_t n, struct bn_facts *out);

#endif
