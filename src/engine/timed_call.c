/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Passes calls to a thread and waits for them for a limited time. */
#include "engine/timed_call.h"

#include <string.h>

#include "base/clock.h"
#include "base/wait.h"

static const struct bn_wait question = {"a question about what is watched", BN_BOUND_STOP};
static const struct bn_wait answer = {"an answer about what is watched", BN_BOUND_DEADLINE};
static const struct bn_wait returning = {"the thread that watches to return", BN_BOUND_RETURNING};

static void *timed_call_main(void *arg)
{
  struct bn_timed_call *a = arg;

  (void)pthread_mutex_lock(a->lock);
  while (!a->stop) {
    if (!a->busy) {
      (void)bn_wait_until(&question, &a->changed, a->lock, UINT64_MAX);
      continue;
    }
    (void)pthread_mutex_unlock(a->lock);
    a->fn(a->arg);
    (void)pthread_mutex_lock(a->lock);
    a->busy = false;
    bn_wait_wake(&a->changed);
  }
  a->gone = true;
  bn_wait_wake(&a->changed);
  (void)pthread_mutex_unlock(a->lock);
  return NULL;
}

int bn_timed_call_start(struct bn_timed_call *a, pthread_mutex_t *lock, struct bn_err *err)
{
  int rc;

  bn_wait_init(&a->changed);
  a->lock = lock;
  rc = bn_wait_spawn(&a->thread, 0, timed_call_main, a);
  a->made = rc == 0;
  if (a->made)
    return 0;
  (void)pthread_cond_destroy(&a->changed);
  return bn_err_set(err, rc, "cannot start its thread: %s", strerror(rc));
}

/* Waits until *flag is value or the time is over; returns whether it is. */
static bool timed_call_await(struct bn_timed_call *a, const bool *flag, bool value,
                             uint64_t patience_ns)
{
  const uint64_t until_ns = bn_clock_mono() + patience_ns;
  bool in_time = true;

  while (*flag != value && in_time)
    in_time = bn_wait_until(&answer, &a->changed, a->lock, until_ns);
  return *flag == value;
}

bool bn_timed_call_make(struct bn_timed_call *a, void (*fn)(void *arg), void *arg,
                        uint64_t patience_ns)
{
  if (!a->made || a->busy)
    return false;
  a->fn = fn;
  a->arg = arg;
  a->busy = true;
  bn_wait_wake(&a->changed);
  return timed_call_await(a, &a->busy, false, patience_ns);
}

bool bn_timed_call_await_idle(struct bn_timed_call *a, uint64_t patience_ns)
{
  return !a->made || timed_call_await(a, &a->busy, false, patience_ns);
}

bool bn_timed_call_stop(struct bn_timed_call *a, uint64_t patience_ns)
{
  if (!a->made)
    return true;
  a->stop = true;
  bn_wait_wake(&a->changed);
  if (!timed_call_await(a, &a->gone, true, patience_ns))
    return false;
  (void)pthread_mutex_unlock(a->lock);
  bn_wait_join(&returning, a->thread);
  (void)pthread_mutex_lock(a->lock);
  a->made = false;
  (void)pthread_cond_destroy(&a->changed);
  return true;
}
