/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a run as tables of the text report. */
#ifndef BN_REPORT_TEXT_TABLES_H
#define BN_REPORT_TEXT_TABLES_H

#include <stdio.h>

#include "measure/view.h"

/* The places of a view's percentiles in the ascending order of their ranks. */
struct bn_text_ranks {
  size_t n, at[BN_PERCENTS_MAX];
};
struct bn_text_ranks bn_text_sort_ranks(const struct bn_view *v);

/* The statements of --statements, those with the most time first; nothing if there are none. */
void bn_text_statements(FILE *out, const struct bn_view *v);
/* The kinds of events, in the order of the script, and the groups; nothing if there are none. */
void bn_text_event_kinds(FILE *out, const struct bn_view *v);
/* The phases that began, of the run or of a group; NULL: of the run. */
void bn_text_phases(FILE *out, const struct bn_view *v, const char *group);
/* A kind of events in an interval, on a line without its stamp. */
void bn_text_event_kind_line(FILE *out, const struct bn_view *v, const struct bn_event_kind *k);

#endif
