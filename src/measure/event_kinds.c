/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Computes the figures of the kinds of events from the counters and timings of a view. */
#include "measure/event_kinds.h"

#include <math.h>
#include <string.h>

enum { EVENT_PART_LEN = sizeof BN_EVENT_PART - 1, GROUP_PART_LEN = sizeof BN_GROUP_PART - 1 };

/* The k-th kind of events has the k-th row of each of its metric kinds. */
bool bn_event_kinds_find_rows(const struct bn_metrics *m, size_t k, struct bn_event_kind_rows *out)
{
  *out = (struct bn_event_kind_rows){
      .hist = bn_metrics_find_nth(m->hist, m->n_hists, BN_EVENT_HISTOGRAM, k),
      .ended = bn_metrics_find_nth(m->counter, m->n_counters, BN_EVENT_ENDED, k),
      .retries = bn_metrics_find_nth(m->counter, m->n_counters, BN_EVENT_RETRIES, k),
      .failed = bn_metrics_find_nth(m->counter, m->n_counters, BN_EVENT_FAILED, k),
      .late = bn_metrics_find_nth(m->counter, m->n_counters, BN_EVENT_LATE, k)};
  return out->hist < m->n_hists;
}

bool bn_event_kinds_is_group(const char *name)
{
  return strncmp(name, BN_GROUP_PART, GROUP_PART_LEN) == 0;
}

const char *bn_event_kinds_bare_name(const char *name)
{
  return bn_event_kinds_is_group(name) ? name + GROUP_PART_LEN : name;
}

const char *bn_event_kinds_parse_part(const char *part)
{
  if (bn_event_kinds_is_group(part)) /* the names of groups keep their prefix */
    return part;
  return strncmp(part, BN_EVENT_PART, EVENT_PART_LEN) == 0 ? part + EVENT_PART_LEN : NULL;
}

/* A document may name its metrics in any way, so a name without a prefix is returned as it is. */
const char *bn_event_kinds_name(const char *metric)
{
  const char *name = bn_event_kinds_parse_part(metric);

  return name != NULL ? name : metric;
}

/* Returns the value of a counter of a kind, or 0 if it is not counted. */
static uint64_t event_kinds_count(const struct bn_view *v, size_t counter)
{
  return counter < v->delta->metrics.n_counters ? v->counter[counter] : 0;
}

void bn_event_kinds_set_shares(const struct bn_view *v, struct bn_view_store *store)
{
  for (size_t k = 0; k < v->n_event_kinds; k++)
    store->event_kind[k].share =
        v->events > 0 ? (double)store->event_kind[k].events / (double)v->events : NAN;
}

void bn_event_kinds_name_all(struct bn_view *v, struct bn_view_store *store,
                             const struct bn_metrics *m)
{
  struct bn_event_kind_rows rows;
  size_t n = 0;

  for (; bn_event_kinds_find_rows(m, n, &rows); n++)
    store->event_kind[n] =
        (struct bn_event_kind){.name = bn_event_kinds_name(m->hist[rows.hist].name),
                               .timing = &store->timing[rows.hist - BN_H_FIXED]};
  v->event_kinds = store->event_kind;
  v->n_event_kinds = n;
}

/* Kind k is the same in both views, because both have the metrics of one run. */
void bn_event_kinds_copy(struct bn_view *to, struct bn_view_store *store,
                         const struct bn_view *from, const struct bn_metrics *m)
{
  bn_event_kinds_name_all(to, store, m); /* sets to->n_event_kinds */
  for (size_t k = 0; k < to->n_event_kinds && k < from->n_event_kinds; k++) {
    struct bn_event_kind *kind = &store->event_kind[k];
    const struct bn_event_kind named = *kind; /* with the name and the timing of `to` */

    *kind = from->event_kinds[k];
    kind->name = named.name;
    kind->timing = named.timing;
  }
}

/* Events of the grace (BN_EVENT_LATE) count as they do in the figures of all events: in no rate,
   and in the counts unless rules->in_span is set. */
void bn_event_kinds_compute(struct bn_view *v, struct bn_view_store *store,
                            const struct bn_view_rules *rules)
{
  struct bn_event_kind_rows rows;

  bn_event_kinds_name_all(v, store, &v->delta->metrics);
  for (size_t k = 0; bn_event_kinds_find_rows(&v->delta->metrics, k, &rows); k++) {
    const uint64_t events = event_kinds_count(v, rows.ended);
    const uint64_t late = event_kinds_count(v, rows.late);
    const uint64_t in_span = events > late ? events - late : 0;
    struct bn_event_kind *kind = &store->event_kind[k];

    kind->events = rules->in_span ? in_span : events;
    kind->events_per_s = (double)in_span / v->span_s;
    kind->retries = event_kinds_count(v, rows.retries);
    kind->failed_events = event_kinds_count(v, rows.failed);
  }
}

const struct bn_event_kind *bn_event_kinds_find_kind(const struct bn_view *v, const char *name)
{
  for (size_t k = 0; k < v->n_event_kinds; k++)
    if (strcmp(v->event_kinds[k].name, name) == 0)
      return &v->event_kinds[k];
  return NULL;
}
