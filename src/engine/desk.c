/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Allocates the data of a report and fills it with numbers. */
#include "engine/desk.h"

int bn_desk_init(struct bn_desk *d, const struct bn_statset *stats)
{
  bn_buf_init(&d->lines, BN_LINES_MAX);
  d->ages = bn_hist_new();
  if (d->ages == NULL || bn_snap_init(&d->now, stats) != 0 || bn_snap_init(&d->delta, stats) != 0)
    return -1;
  return bn_view_store_init(&d->store, &d->now);
}

void bn_desk_done(struct bn_desk *d)
{
  bn_snap_done(&d->now);
  bn_snap_done(&d->delta);
  bn_view_store_done(&d->store);
  bn_hist_free(d->ages);
  bn_buf_done(&d->lines);
  bn_facts_done(&d->error_facts);
  *d = (struct bn_desk){.ages = NULL};
}

void bn_desk_count(struct bn_desk *d, const struct bn_statset *stats, bool warming, uint64_t now_ns)
{
  bn_snap_take(&d->now, stats, now_ns);
  if (warming)
    bn_snap_add_warmup(&d->now, stats);
}

void bn_desk_look_up(struct bn_desk *d, const struct bn_statset *stats)
{
  if (stats->sample != NULL)
    stats->sample(stats->sampled, d->now.counter);
}

void bn_desk_compare(struct bn_desk *d, const struct bn_snap *base)
{
  bn_snap_copy(&d->delta, &d->now);
  bn_snap_diff(&d->delta, base);
}

bool bn_desk_copy_errors(struct bn_desk *d, const struct bn_facts *f)
{
  bn_facts_done(&d->error_facts);
  bn_facts_add_errors(&d->error_facts, f);
  d->view.error_facts = &d->error_facts;
  return !d->error_facts.incomplete;
}
