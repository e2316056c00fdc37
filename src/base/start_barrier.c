/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A start barrier that any party can fail. */
#include "base/start_barrier.h"

#include "base/wait.h"

static const struct bn_wait arrivals = {"every session to be open", BN_BOUND_END};
static const struct bn_wait opening = {"the start barrier to open", BN_BOUND_END};

void bn_start_barrier_init(struct bn_start_barrier *b, unsigned expected)
{
  (void)pthread_mutex_init(&b->lock, NULL);
  bn_wait_init_cond(&b->arrived);
  bn_wait_init_cond(&b->opened);
  b->expected = expected;
  b->n_arrived = 0;
  b->state = BN_START_BARRIER_CLOSED;
}

void bn_start_barrier_done(struct bn_start_barrier *b)
{
  (void)pthread_cond_destroy(&b->opened);
  (void)pthread_cond_destroy(&b->arrived);
  (void)pthread_mutex_destroy(&b->lock);
}

bool bn_start_barrier_arrive(struct bn_start_barrier *b, unsigned n)
{
  (void)pthread_mutex_lock(&b->lock);
  b->n_arrived += n;
  if (b->n_arrived >= b->expected)
    bn_wait_wake(&b->arrived);
  while (b->state == BN_START_BARRIER_CLOSED)
    (void)bn_wait_until(&opening, &b->opened, &b->lock, UINT64_MAX);
  const bool opened = b->state == BN_START_BARRIER_OPEN;

  (void)pthread_mutex_unlock(&b->lock);
  return opened;
}

/* Opens or fails the barrier.  The first decision stands, so that all parties see the same one. */
static void start_barrier_decide(struct bn_start_barrier *b, enum bn_start_barrier_state state)
{
  (void)pthread_mutex_lock(&b->lock);
  if (b->state == BN_START_BARRIER_CLOSED) {
    b->state = state;
    bn_wait_wake(&b->opened);
    bn_wait_wake(&b->arrived);
  }
  (void)pthread_mutex_unlock(&b->lock);
}

void bn_start_barrier_fail(struct bn_start_barrier *b)
{
  start_barrier_decide(b, BN_START_BARRIER_FAILED);
}

void bn_start_barrier_open(struct bn_start_barrier *b)
{
  start_barrier_decide(b, BN_START_BARRIER_OPEN);
}

enum bn_start_barrier_state bn_start_barrier_wait_for_all(struct bn_start_barrier *b,
                                                          uint64_t deadline_ns)
{
  bool in_time = true;

  (void)pthread_mutex_lock(&b->lock);
  while (b->state == BN_START_BARRIER_CLOSED && b->n_arrived < b->expected && in_time)
    in_time = bn_wait_until(&arrivals, &b->arrived, &b->lock, deadline_ns);
  enum bn_start_barrier_state state = b->state;

  /* The barrier itself stays closed until it is opened or failed. */
  if (state == BN_START_BARRIER_CLOSED && b->n_arrived >= b->expected)
    state = BN_START_BARRIER_OPEN;
  (void)pthread_mutex_unlock(&b->lock);
  return state;
}
