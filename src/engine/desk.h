/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The data of a report: a snapshot, its difference to a baseline, and the view of that. */
#ifndef BN_ENGINE_DESK_H
#define BN_ENGINE_DESK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "measure/facts.h"
#include "measure/snap.h"
#include "measure/view.h"

struct bn_desk {
  struct bn_snap now, delta;
  struct bn_hist *ages; /* owned; ages of unfinished events, for the final report */
  struct bn_view_store store;
  struct bn_buf lines;         /* the text that view.lines points at */
  struct bn_facts error_facts; /* the facts that view.error_facts points at */
  struct bn_view view;
};

/* Makes a desk for these statistics.  Returns 0, or -1 if out of memory. bn_desk_done accepts a
   desk that init left half made, and zeroes it. */
int bn_desk_init(struct bn_desk *d, const struct bn_statset *stats);
void bn_desk_done(struct bn_desk *d);
/* Takes the snapshot, with the events of the warm-up if `warming`. */
void bn_desk_count(struct bn_desk *d, const struct bn_statset *stats, bool warming,
                   uint64_t now_ns);
/* Reads again the counters that the workload looks up, if it looks up any. */
void bn_desk_look_up(struct bn_desk *d, const struct bn_statset *stats);
void bn_desk_compare(struct bn_desk *d, const struct bn_snap *base);
/* Copies the facts about errors for the view.  Returns false if some are missing: out of memory. */
bool bn_desk_copy_errors(struct bn_desk *d, const struct bn_facts *f);

#endif
