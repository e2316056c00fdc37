/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The phases of --rate-profile or --threads-profile, as a total tells them apart. */
#ifndef BN_MEASURE_PHASES_H
#define BN_MEASURE_PHASES_H

#include "base/units.h"
#include "measure/sum.h"
#include "measure/view.h"

/* Returns how many phases a table of metrics has. */
size_t bn_phases_count(const struct bn_metrics *m);
/* Returns the index of the histogram of phase k, from 0 on, which the table has. */
size_t bn_phases_find_hist(const struct bn_metrics *m, size_t k);
/* Returns how many bytes of a metric's name are to be shown: "phase:2" of "phase:2 hold:5000/5m",
   and all of any other. */
size_t bn_phases_part_len(const char *metric);
/* Returns whether the name of a metric, "phase:2 hold:5000/5m", is that of a part, "phase:2". */
bool bn_phases_is_metric_of(const char *metric, const char *part);
/* Returns the phase of a view that a part such as "phase:2" names, or NULL. */
const struct bn_phase_view *bn_phases_find(const struct bn_view *v, const char *part);
/* Returns whether phases have a figure of that name that is no latency. */
bool bn_phases_have_figure(const char *figure);
/* Sets *value to the figure of that name, and returns true.  Returns false, and leaves *value, if
   phases do not have it. */
bool bn_phases_get_value(const struct bn_phase_view *p, const char *figure, double *value);
/* Returns whether the value of a figure is a lower bound: it is that of a recovery which has not
   come. */
bool bn_phases_is_lower_bound(const struct bn_phase_view *p, const char *figure);
/* Prints the seconds of a recovery: exactly, or rounded if they are a lower bound.  Returns
   digits. */
const char *bn_phases_print_recovery(const struct bn_phase_view *p, char digits[BN_UNITS_DIGITS]);
/* Returns how many phases of a view began, which are the first ones. */
size_t bn_phases_count_begun(const struct bn_view *v);
/* Returns whether the name of a part is that of a phase. */
bool bn_phases_is_part(const char *part);

/* Sets the figures of a phase that are not known to NaN, and also its wanted threads if it has a
   rate: documents of earlier versions, which lack them, are read with 0. */
void bn_phases_settle(struct bn_phase_view *p);
/* Sets the figures of a phase that did not begin: no event was due, and the rates and the queues at
   its begin and its end are not known. */
void bn_phases_set_unknown(struct bn_phase_view *p);
/* Gives a view the phases that its metrics have, with their texts and timings; recovery_s is NaN,
   and the other figures are 0. */
void bn_phases_name_all(struct bn_view *v, struct bn_view_store *store, const struct bn_metrics *m);
/* Returns the timing of phase k, from 0 on; the metrics have that phase. */
struct bn_timing *bn_phases_timing(struct bn_view_store *store, const struct bn_metrics *m,
                                   size_t k);
/* Copies the phases of `from`, if it has any, to the view `to`.  The copies have the texts that m
   has, and the timings of the store of `to`. */
void bn_phases_copy(struct bn_view *to, struct bn_view_store *store, const struct bn_view *from,
                    const struct bn_metrics *m);
/* Sets the phases of the total of a run, or their sums over its hosts.  v has been filled from the
   sum of the snapshots. */
void bn_phases_sum(struct bn_view *v, struct bn_view_store *store, const struct bn_views *parts);

#endif
