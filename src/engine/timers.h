/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times that a worker waits for, the earliest first: a heap (Williams 1964, Algorithm 232) whose
   entries know their places, so that each can be taken out. */
#ifndef BN_ENGINE_TIMERS_H
#define BN_ENGINE_TIMERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bn_timer {
  uint64_t at_ns; /* CLOCK_MONOTONIC */
  size_t place;   /* from 1; 0: it is not set */
};

/* All zero: empty. */
struct bn_timers {
  struct bn_timer **heap; /* heap[0] … heap[n - 1] */
  size_t n, cap;
};

void bn_timers_done(struct bn_timers *t);
/* Sets a timer, or sets it to another time.  It is borrowed until it is cleared or due. */
void bn_timers_set(struct bn_timers *t, struct bn_timer *timer, uint64_t at_ns);
/* Takes a timer out; does nothing if it is not set. */
void bn_timers_clear(struct bn_timers *t, struct bn_timer *timer);
/* Takes out and returns the earliest timer if it is due at now_ns, or NULL. */
struct bn_timer *bn_timers_take_due(struct bn_timers *t, uint64_t now_ns);
/* Returns the earliest time, or UINT64_MAX if no timer is set. */
static inline uint64_t bn_timers_next_ns(const struct bn_timers *t)
{
  return t->n > 0 ? t->heap[0]->at_ns : UINT64_MAX;
}

#endif
