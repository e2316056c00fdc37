/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Start barrier that can be failed by any party. */
#include "base/gate.h"

#include <errno.h>
#include <time.h>

enum { NSEC_PER_SEC = 1000000000 };

/* A condition variable that waits by CLOCK_MONOTONIC: setting the wall clock moves no deadline. */
static int init_cond(pthread_cond_t *cond)
{
  pthread_condattr_t attr;
  int rc = pthread_condattr_init(&attr);

  if (rc != 0)
    return rc;
  rc = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
  if (rc == 0)
    rc = pthread_cond_init(cond, &attr);
  (void)pthread_condattr_destroy(&attr);
  return rc;
}

int bn_gate_init(struct bn_gate *g, unsigned expected)
{
  int rc = pthread_mutex_init(&g->lock, NULL);

  if (rc != 0)
    return rc;
  rc = init_cond(&g->arrived);
  if (rc == 0) {
    rc = init_cond(&g->opened);
    if (rc != 0)
      (void)pthread_cond_destroy(&g->arrived);
  }
  if (rc != 0)
    (void)pthread_mutex_destroy(&g->lock);
  g->expected = expected;
  g->here = 0;
  g->state = BN_GATE_CLOSED;
  return rc;
}

void bn_gate_done(struct bn_gate *g)
{
  (void)pthread_cond_destroy(&g->opened);
  (void)pthread_cond_destroy(&g->arrived);
  (void)pthread_mutex_destroy(&g->lock);
}

bool bn_gate_wait(struct bn_gate *g)
{
  (void)pthread_mutex_lock(&g->lock);
  g->here++;
  if (g->here >= g->expected)
    (void)pthread_cond_signal(&g->arrived);
  while (g->state == BN_GATE_CLOSED)
    (void)pthread_cond_wait(&g->opened, &g->lock);
  const bool opened = g->state == BN_GATE_OPEN;

  (void)pthread_mutex_unlock(&g->lock);
  return opened;
}

/* The first decision stands: all parties must see the same. */
static void decide(struct bn_gate *g, enum bn_gate_state state)
{
  (void)pthread_mutex_lock(&g->lock);
  if (g->state == BN_GATE_CLOSED) {
    g->state = state;
    (void)pthread_cond_broadcast(&g->opened);
    (void)pthread_cond_broadcast(&g->arrived);
  }
  (void)pthread_mutex_unlock(&g->lock);
}

void bn_gate_fail(struct bn_gate *g)
{
  decide(g, BN_GATE_FAILED);
}

void bn_gate_open(struct bn_gate *g)
{
  decide(g, BN_GATE_OPEN);
}

enum bn_gate_state bn_gate_await(struct bn_gate *g, uint64_t deadline_ns)
{
  const struct timespec deadline = {.tv_sec = (time_t)(deadline_ns / NSEC_PER_SEC),
                                    .tv_nsec = (long)(deadline_ns % NSEC_PER_SEC)};
  int rc = 0;

  (void)pthread_mutex_lock(&g->lock);
  while (g->state == BN_GATE_CLOSED && g->here < g->expected && rc != ETIMEDOUT)
    rc = deadline_ns == UINT64_MAX ? pthread_cond_wait(&g->arrived, &g->lock)
                                   : pthread_cond_timedwait(&g->arrived, &g->lock, &deadline);
  const enum bn_gate_state state =
      g->state == BN_GATE_CLOSED && g->here >= g->expected ? BN_GATE_OPEN : g->state;

  (void)pthread_mutex_unlock(&g->lock);
  return state;
}
