/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The seconds of a run on several hosts, each of which is judged by itself (--abort-on-assert).

   A second is the difference of two sums of all hosts; its figures are those that one process would
   have. */
#ifndef BN_HOSTS_SECONDS_H
#define BN_HOSTS_SECONDS_H

#include "engine/asserts.h"
#include "measure/snap.h"
#include "measure/view.h"

/* All zero: none has been taken. */
struct bn_seconds {
  struct bn_snap base, delta; /* what there was when the last second ended; what came since */
  struct bn_view_store store;
  bool made;
};

/* tick: all that the hosts have measured up to a second.  begin_ns: when the measurement began.
 *out: what has been violated for too long, NULL: nothing has.  -1: out of memory. */
int bn_seconds_judge(struct bn_seconds *s, struct bn_asserts *asserts, const struct bn_view *tick,
                     const struct bn_view_rules *rules, uint64_t begin_ns,
                     const struct bn_assert **out);
void bn_seconds_done(struct bn_seconds *s);

#endif
