/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a run as tables of the text report. */
#ifndef BN_REPORT_TEXT_TABLES_H
#define BN_REPORT_TEXT_TABLES_H

#include <stdio.h>

#include "measure/view.h"

/* The indices of a view's percentiles in the ascending order of their ranks. */
struct bn_text_ranks {
  size_t n, at[BN_PERCENTS_MAX];
};
/* Returns the indices, one for each rank, although a document may have a rank twice. */
struct bn_text_ranks bn_text_sort_ranks(const struct bn_view *v);

/* The functions below print what their names say, each name escaped. */

/* The statements of --statements, those with the most time first; nothing if there are none. */
void bn_text_print_statements(FILE *out, const struct bn_view *v);
/* The kinds of events, in the order of the script, and the groups; nothing if there are none. */
void bn_text_print_event_kinds(FILE *out, const struct bn_view *v);
/* The phases that began, and how long it took to recover from them; nothing if there are none.
   group: the escaped name of the group that they are of; NULL: they are of the run. */
void bn_text_print_phases(FILE *out, const struct bn_view *v, const char *group);
/* The rest of the line of a kind of events in an interval, after the stamp: its rate, the greatest
   percentile if there is one, and its losses. */
void bn_text_print_event_kind(FILE *out, const struct bn_view *v, const struct bn_event_kind *k);

#endif
