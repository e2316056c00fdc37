/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Progress, and the time that events in flight may take without it.

   Pure: the functions read counters and the configuration, no clock, and change nothing. */
#ifndef BN_ENGINE_GRACE_H
#define BN_ENGINE_GRACE_H

#include "engine/run_state.h"
#include "engine/schedule.h"

/* Returns counters that grow while sessions make progress. */
struct bn_progress bn_grace_read_progress(const struct bn_run_parts *p);
/* Returns whether the time of events in flight is limited.  Built-in tests, and scripts without SQL
   in a dialect, have no limit unless the user sets one. */
bool bn_grace_is_limited(const struct bn_run_parts *p);
/* Returns the shortest grace.  It is short with SQL, because statements of a server that answers
   are short.  It is longer without SQL, because an event of a script may take any time.  It is the
   longest in a dialect, because sysbench waits without a limit for events in flight; but not if the
   run is cut, as by a signal, because a signal ends sysbench at once. */
uint64_t bn_grace_least_ns(const struct bn_run_parts *p, bool is_cut);
/* Returns the grace that the user set, or max(least_ns, 3 x the longest completed statement, or
   event if there is no SQL). */
uint64_t bn_grace_ns(const struct bn_run_parts *p, uint64_t least_ns);
/* Returns how long statements alone renew the grace: max(10 x grace_ns, 3 x the longest event); no
   limit in a dialect where the user set no grace. */
uint64_t bn_grace_longest_ns(const struct bn_run_parts *p, uint64_t grace_ns);

#endif
