/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Progress, and how long events in flight may last without it.

   Pure: reads counters and the configuration, no clock, and changes nothing. */
#ifndef BN_ENGINE_GRACE_H
#define BN_ENGINE_GRACE_H

#include "engine/moment.h"

/* A number that grows while sessions get on: statements, events, workers that have gone. */
uint64_t bn_grace_progress(const struct bn_parts *p);
/* Events in flight have a limit.  Built-in tests and scripts without SQL have none unless the user
   sets one. */
bool bn_grace_is_limited(const struct bn_parts *p);
/* max(least_ns, 3 x the longest statement that was completed), or what the user said. */
uint64_t bn_grace_ns(const struct bn_parts *p, uint64_t least_ns);

#endif
