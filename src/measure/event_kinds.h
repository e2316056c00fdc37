/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kinds of events: what a view says of each kind that a script tells apart. */
#ifndef BN_MEASURE_EVENT_KINDS_H
#define BN_MEASURE_EVENT_KINDS_H

#include "measure/view.h"

/* The indexes of the rows of a kind of events in a table of metrics. */
struct bn_event_kind_rows {
  size_t hist;                         /* n_hists: there is no such kind */
  size_t ended, retries, failed, late; /* n_counters: it is not counted */
};

/* Finds the rows of kind k, from 0 on.  Returns false if the table has fewer kinds of events. */
bool bn_event_kinds_find_rows(const struct bn_metrics *m, size_t k, struct bn_event_kind_rows *out);
/* Returns the name of a kind from that of its histogram: without BN_EVENT_PART, but with
   BN_GROUP_PART if it is that of a group. */
const char *bn_event_kinds_name(const char *metric);
/* Returns whether a kind of that name is a group of --group. */
bool bn_event_kinds_is_group(const char *name);
/* Returns the name of a kind, without BN_GROUP_PART if it is that of a group. */
const char *bn_event_kinds_bare_name(const char *name);

/* Computes the kinds of events of a view whose timings, span and counts are set, but not their
   shares. */
void bn_event_kinds_compute(struct bn_view *v, struct bn_view_store *store,
                            const struct bn_view_rules *rules);
/* Gives a view the kinds of events that its metrics have, with their names and timings and with all
   figures 0. */
void bn_event_kinds_name_all(struct bn_view *v, struct bn_view_store *store,
                             const struct bn_metrics *m);
/* Copies the kinds of events of `from` to the view `to`.  The copies have the names that m has, and
   the timings of the store of `to`. */
void bn_event_kinds_copy(struct bn_view *to, struct bn_view_store *store,
                         const struct bn_view *from, const struct bn_metrics *m);
/* Sets the shares of the kinds of a view whose events are counted, in all and by kind; NaN without
   events. */
void bn_event_kinds_set_shares(const struct bn_view *v, struct bn_view_store *store);
/* Returns the name of a kind from that of a part of a run: "payment" of "event:payment",
   "group:report" of "group:report", or NULL if it is another part. */
const char *bn_event_kinds_parse_part(const char *part);
/* Returns the kind of a view that has that name, or NULL. */
const struct bn_event_kind *bn_event_kinds_find_kind(const struct bn_view *v, const char *name);

#endif
