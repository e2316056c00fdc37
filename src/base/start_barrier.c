/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A start barrier that any party can fail. */
#include "base/start_barrier.h"

#include "base/wait.h"

static const struct bn_wait arrivals = {"every session to be open", BN_BOUND_END};
static const struct bn_wait opening = {"the start barrier to open", BN_BOUND_END};

void bn_start_barrier_init(struct bn_start_barrier *g, unsigned expected)
{
  (void)pthread_mutex_init(&g->lock, NULL);
  bn_wait_init(&g->arrived);
  bn_wait_init(&g->opened);
  g->expected = expected;
  g->n_arrived = 0;
  g->state = BN_START_BARRIER_CLOSED;
}

void bn_start_barrier_done(struct bn_start_barrier *g)
{
  (void)pthread_cond_destroy(&g->opened);
  (void)pthread_cond_destroy(&g->arrived);
  (void)pthread_mutex_destroy(&g->lock);
}

bool bn_start_barrier_wait(struct bn_start_barrier *g)
{
  (void)pthread_mutex_lock(&g->lock);
  g->n_arrived++;
  if (g->n_arrived >= g->expected)
    bn_wait_wake(&g->arrived);
  while (g->state == BN_START_BARRIER_CLOSED)
    (void)bn_wait_until(&opening, &g->opened, &g->lock, UINT64_MAX);
  const bool opened = g->state == BN_START_BARRIER_OPEN;

  (void)pthread_mutex_unlock(&g->lock);
  return opened;
}

/* The first decision stands, so that all parties see the same. */
static void start_barrier_decide(struct bn_start_barrier *g, enum bn_start_barrier_state state)
{
  (void)pthread_mutex_lock(&g->lock);
  if (g->state == BN_START_BARRIER_CLOSED) {
    g->state = state;
    bn_wait_wake(&g->opened);
    bn_wait_wake(&g->arrived);
  }
  (void)pthread_mutex_unlock(&g->lock);
}

void bn_start_barrier_fail(struct bn_start_barrier *g)
{
  start_barrier_decide(g, BN_START_BARRIER_FAILED);
}

void bn_start_barrier_open(struct bn_start_barrier *g)
{
  start_barrier_decide(g, BN_START_BARRIER_OPEN);
}

enum bn_start_barrier_state bn_start_barrier_await(struct bn_start_barrier *g, uint64_t deadline_ns)
{
  bool in_time = true;

  (void)pthread_mutex_lock(&g->lock);
  while (g->state == BN_START_BARRIER_CLOSED && g->n_arrived < g->expected && in_time)
    in_time = bn_wait_until(&arrivals, &g->arrived, &g->lock, deadline_ns);
  const enum bn_start_barrier_state state =
      g->state == BN_START_BARRIER_CLOSED && g->n_arrived >= g->expected ? BN_START_BARRIER_OPEN
                                                                         : g->state;

  (void)pthread_mutex_unlock(&g->lock);
  return state;
}
