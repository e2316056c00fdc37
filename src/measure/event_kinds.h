/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kinds of events: what a view says of each kind that a script tells apart. */
#ifndef BN_MEASURE_EVENT_KINDS_H
#define BN_MEASURE_EVENT_KINDS_H

#include "measure/view.h"

/* The rows of a kind of events in a table of metrics. */
struct bn_event_kind_rows {
  size_t hist;                       /* n_hists: there is no such kind */
  size_t counter[BN_EVENT_COUNTERS]; /* from BN_EVENT_ENDED on; n_counters: it is not counted */
};

/* Returns false if the table has no k-th kind of events, from 0 on. */
bool bn_event_kinds_rows(const struct bn_metrics *m, size_t k, struct bn_event_kind_rows *out);
/* The name of a kind, without BN_EVENT_PART, from that of its histogram.  That of a group keeps
   BN_GROUP_PART. */
const char *bn_event_kinds_name(const char *metric);
/* Returns whether a kind of that name is a group of --group. */
bool bn_event_kinds_is_group(const char *name);
/* Returns the name of a kind, that of a group without BN_GROUP_PART. */
const char *bn_event_kinds_bare_name(const char *name);

/* Sets the kinds of a view whose timings, span and counts are set, but not their shares. */
void bn_event_kinds_find(struct bn_view *v, struct bn_view_store *store,
                         const struct bn_view_rules *rules);
/* Gives a view of these metrics and timings the kinds of events that they have, with no figures. */
void bn_event_kinds_name_all(struct bn_view *v, struct bn_view_store *store,
                             const struct bn_metrics *m);
/* Copies the figures of the kinds of a view into one that owns its metrics and timings. */
void bn_event_kinds_copy(struct bn_view *to, struct bn_view_store *store,
                         const struct bn_view *from, const struct bn_metrics *m);
/* Sets the shares of a view whose events and kinds are set. */
void bn_event_kinds_share(const struct bn_view *v, struct bn_view_store *store);
/* Returns the name of a kind from that of a part, "event:payment" or "group:report"; NULL: it is
   another part. */
const char *bn_event_kinds_part(const char *part);
/* Sets the value of a figure by its name; false: kinds of events do not have it. */
bool bn_event_kinds_value(const struct bn_event_kind *k, const char *figure, double *value);
/* Returns the kind of that name, or NULL. */
const struct bn_event_kind *bn_event_kinds_named(const struct bn_view *v, const char *name);

#endif
