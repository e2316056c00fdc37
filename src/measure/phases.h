/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The phases of --rate-profile, as a total tells them apart. */
#ifndef BN_MEASURE_PHASES_H
#define BN_MEASURE_PHASES_H

#include "base/units.h"
#include "measure/sum.h"
#include "measure/view.h"

/* Returns how many phases a table of metrics has. */
size_t bn_phases_count(const struct bn_metrics *m);
/* Returns the index of the histogram of phase k, from 0 on, which the table has. */
size_t bn_phases_find_hist(const struct bn_metrics *m, size_t k);
/* Returns the bytes of the name of the part that a metric is of, or of the metric's name. */
size_t bn_phases_part_len(const char *metric);
/* Returns whether a metric is that of the part "phase:2". */
bool bn_phases_is(const char *metric, const char *part);
/* Returns the phase of a view that a part such as "phase:2" names, or NULL. */
const struct bn_phase_view *bn_phases_find(const struct bn_view *v, const char *part);
/* Returns whether phases have a figure of that name, which is no latency. */
bool bn_phases_have(const char *figure);
/* Sets the value of a figure by its name; false: phases do not have it. */
bool bn_phases_value(const struct bn_phase_view *p, const char *figure, double *value);
/* Returns whether the value is a lower bound: without a recovery, nobody knows how long it takes.
 */
bool bn_phases_at_least(const struct bn_phase_view *p, const char *figure);
/* Prints a recovery with the digits that are known.  Returns digits. */
const char *bn_phases_recovery(const struct bn_phase_view *p, char digits[BN_UNITS_DIGITS]);
/* Returns how many phases of a view began, which are the first ones. */
size_t bn_phases_begun(const struct bn_view *v);
/* Returns whether the name of a part is that of a phase. */
bool bn_phases_is_part(const char *part);

/* Makes what a record does not have NaN.  Earlier versions have no numbers of threads. */
void bn_phases_settle(struct bn_phase_view *p);
/* Gives a view of these metrics and timings the phases that they have, with no figures. */
void bn_phases_name_all(struct bn_view *v, struct bn_view_store *store, const struct bn_metrics *m);
/* Returns the timing of phase k, from 0 on, which the metrics have. */
struct bn_timing *bn_phases_timing(struct bn_view_store *store, const struct bn_metrics *m,
                                   size_t k);
/* Copies the figures of the phases of a view, if it has any, into one that owns its metrics and
   timings. */
void bn_phases_copy(struct bn_view *to, struct bn_view_store *store, const struct bn_view *from,
                    const struct bn_metrics *m);
/* Sums the phases of the parts of a run on several hosts, or of one. */
void bn_phases_sum(struct bn_view *v, struct bn_view_store *store, const struct bn_views *parts);

#endif
