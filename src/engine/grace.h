/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Progress, and how long what is in flight may go on without any.

   Pure: it reads counters and what the user asked for, no clock, and changes nothing. */
#ifndef BN_ENGINE_GRACE_H
#define BN_ENGINE_GRACE_H

#include "engine/moment.h"

/* Whatever shows that something gets on: statements, events, sessions that have left. */
uint64_t bn_grace_progress(const struct bn_parts *p);
/* What is in flight has no time without end: built-in tests and scripts without SQL do, unless the
   user set one. */
bool bn_grace_is_limited(const struct bn_parts *p);
/* max(least_ns, 3 x the longest statement that was completed), or what the user said. */
uint64_t bn_grace_ns(const struct bn_parts *p, uint64_t least_ns);

#endif
