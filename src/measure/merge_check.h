/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether results are of runs that did the same, so that they can be summed. */
#ifndef BN_MEASURE_MERGE_CHECK_H
#define BN_MEASURE_MERGE_CHECK_H

#include <stdbool.h>

#include "base/buf.h"
#include "measure/runs.h"

/* Checks that all have a total of the same workload, dialect, metrics and percentiles, and were
   given the same options except those that differ from process to process or from host to host.
   Returns 0, or -1 and err.  force: options may differ, and `notes` gets a line about each. */
int bn_merge_check_parts(const struct bn_part *part, size_t n, bool force, struct bn_buf *notes,
                         struct bn_err *err);
/* Returns whether these are the same ranks of percentiles, in the same order. */
bool bn_merge_check_ranks(const double *a, size_t n_a, const double *b, size_t n_b);
/* Returns whether these are the same metrics, so that values of them can be summed. */
bool bn_merge_check_metrics(const struct bn_metrics *a, const struct bn_metrics *b);
/* Adds the single facts, lines and options that all have alike, and the class and message of each
   error from the first part that has it; without what an earlier merge said
   of itself.  What there is no memory for makes `out` incomplete. */
void bn_merge_common(const struct bn_part *part, size_t n, struct bn_facts *out);

#endif
