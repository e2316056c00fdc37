/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Progress, and how long events in flight may last without it.

   Pure: reads counters and the configuration, no clock, and changes nothing. */
#ifndef BN_ENGINE_GRACE_H
#define BN_ENGINE_GRACE_H

#include "engine/moment.h"
#include "engine/schedule.h"

/* Grows while sessions get on. */
struct bn_progress bn_grace_progress(const struct bn_parts *p);
/* Events in flight have a limit.  Built-in tests, and scripts without SQL in a dialect, have none
   unless the user sets one. */
bool bn_grace_is_limited(const struct bn_parts *p);
/* Nothing that has been counted makes it shorter: an event of a script may be anything, while
   statements of a server that answers are short. */
uint64_t bn_grace_least_ns(const struct bn_parts *p);
/* max(least_ns, 3 x the longest statement, or event without SQL, that was completed), or what the
   user said. */
uint64_t bn_grace_ns(const struct bn_parts *p, uint64_t least_ns);
/* How long statements alone renew it: ten times as long, or 3 x the longest event; for ever in a
   dialect where the user set nothing. */
uint64_t bn_grace_longest_ns(const struct bn_parts *p, uint64_t grace_ns);

#endif
