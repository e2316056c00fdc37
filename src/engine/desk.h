/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a report is made from: a snapshot, its difference to a baseline, and the view of that. */
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
  struct bn_hist *ages; /* owned; of unfinished events; NULL but on the desk of the final report */
  struct bn_view_store store;
  struct bn_buf lines;         /* the view's */
  struct bn_facts error_facts; /* the view's */
  struct bn_view view;
};

/* For these statistics.  0 or -1: out of memory; done accepts what is half made, and zeroes. */
int bn_desk_init(struct bn_desk *d, const struct bn_statset *stats);
void bn_desk_done(struct bn_desk *d);
/* Takes the snapshot; warming: of the warm-up. */
void bn_desk_count(struct bn_desk *d, const struct bn_statset *stats, bool warming,
                   uint64_t now_ns);
/* Takes anew what the workload looks up, if it does. */
void bn_desk_look_up(struct bn_desk *d, const struct bn_statset *stats);
void bn_desk_compare(struct bn_desk *d, const struct bn_snap *base);
/* Gives the view its error_facts.  false: out of memory, and they are not all. */
bool bn_desk_copy_errors(struct bn_desk *d, const struct bn_facts *f);

#endif
