/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps the timers in a heap: none is due before its parent. */
#include "engine/timers.h"

#include <stdlib.h>

#include "base/alloc.h"

static void timers_put(struct bn_timers *t, size_t i, struct bn_timer *timer)
{
  t->heap[i] = timer;
  timer->place = i + 1;
}

/* Returns the entry of the parent of entry i; the root has none. */
static size_t timers_parent(size_t i)
{
  return (i - 1) / 2;
}

/* Puts the timer into the free entry i, or into an entry nearer to the root if it is due before the
   timers on that way. */
static void timers_rise(struct bn_timers *t, size_t i, struct bn_timer *timer)
{
  while (i > 0 && timer->at_ns < t->heap[timers_parent(i)]->at_ns) {
    timers_put(t, i, t->heap[timers_parent(i)]);
    i = timers_parent(i);
  }
  timers_put(t, i, timer);
}

/* Puts the timer into the free entry i, or into an entry nearer to the leaves if timers there are
   due before it. */
static void timers_sink(struct bn_timers *t, size_t i, struct bn_timer *timer)
{
  for (;;) {
    size_t child = 2 * i + 1; /* the left one; the right one comes next */

    if (child + 1 < t->n && t->heap[child + 1]->at_ns < t->heap[child]->at_ns)
      child++;
    if (child >= t->n || timer->at_ns <= t->heap[child]->at_ns)
      break;
    timers_put(t, i, t->heap[child]);
    i = child;
  }
  timers_put(t, i, timer);
}

void bn_timers_done(struct bn_timers *t)
{
  free(t->heap);
  *t = (struct bn_timers){.n = 0};
}

void bn_timers_clear(struct bn_timers *t, struct bn_timer *timer)
{
  struct bn_timer *last;
  size_t i;

  if (timer->place == 0)
    return;
  i = timer->place - 1;
  timer->place = 0;
  /* The last timer takes the free place, from where it may have to go either way. */
  last = t->heap[--t->n];
  if (last == timer)
    return;
  if (i > 0 && last->at_ns < t->heap[timers_parent(i)]->at_ns)
    timers_rise(t, i, last);
  else
    timers_sink(t, i, last);
}

void bn_timers_set(struct bn_timers *t, struct bn_timer *timer, uint64_t at_ns)
{
  enum { FIRST_CAP = 64 };

  bn_timers_clear(t, timer);
  if (t->n == t->cap) {
    t->cap = t->cap == 0 ? FIRST_CAP : 2 * t->cap;
    t->heap = bn_alloc_resize(t->heap, t->cap, sizeof(struct bn_timer *));
  }
  timer->at_ns = at_ns;
  timers_rise(t, t->n++, timer);
}

struct bn_timer *bn_timers_take_due(struct bn_timers *t, uint64_t now_ns)
{
  struct bn_timer *first = t->n > 0 ? t->heap[0] : NULL;

  if (first == NULL || first->at_ns > now_ns)
    return NULL;
  bn_timers_clear(t, first);
  return first;
}
