/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --threads-profile: the times at which each session is active.

   If the curve has the value v, the first v sessions are active, where a half counts as one more:
   session k is active while v >= k + 1/2.  The others pause between their events. */
#ifndef BN_ENGINE_ACTIVE_H
#define BN_ENGINE_ACTIVE_H

#include "option/profile.h"

/* A session is active from from_s (HUGE_VAL: never) until until_s (HUGE_VAL: for ever), in seconds
   since the start of the run. */
struct bn_active_span {
  double from_s, until_s;
};

/* Returns the span in which the session is active at at_s, or the next such span if it pauses then.
   If the span has begun, its from_s is at_s. */
struct bn_active_span bn_active_find(const struct bn_profile *p, unsigned session, double at_s);
/* Returns how many sessions are active at at_s. */
unsigned bn_active_count(const struct bn_profile *p, double at_s);

#endif
