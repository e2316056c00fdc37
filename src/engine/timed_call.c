/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Passes calls to a thread and waits for them for a limited time. */
#include "engine/timed_call.h"

#include <string.h>

#include "base/clock.h"
#include "base/wait.h"

static const struct bn_wait next_call = {"a question about what is watched", BN_BOUND_STOP};
static const struct bn_wait call_return = {"an answer about what is watched", BN_BOUND_DEADLINE};
static const struct bn_wait thread_return = {"the thread that watches to return",
                                             BN_BOUND_RETURNING};

/* Makes the calls.  `busy` is cleared once a call has returned, also if the caller has given the
   call up. */
static void *timed_call_main(void *arg)
{
  struct bn_timed_call *t = arg;

  (void)pthread_mutex_lock(t->lock);
  while (!t->stop) {
    if (!t->busy) {
      (void)bn_wait_until(&next_call, &t->changed, t->lock, UINT64_MAX);
      continue;
    }
    (void)pthread_mutex_unlock(t->lock);
    t->fn(t->arg);
    (void)pthread_mutex_lock(t->lock);
    t->busy = false;
    bn_wait_wake(&t->changed);
  }
  t->gone = true;
  bn_wait_wake(&t->changed);
  (void)pthread_mutex_unlock(t->lock);
  return NULL;
}

int bn_timed_call_start(struct bn_timed_call *t, pthread_mutex_t *lock, struct bn_err *err)
{
  int rc;

  bn_wait_init_cond(&t->changed);
  t->lock = lock;
  rc = bn_wait_spawn(&t->thread, 0, timed_call_main, t);
  t->made = rc == 0;
  if (t->made)
    return 0;
  (void)pthread_cond_destroy(&t->changed);
  return bn_err_set(err, rc, "cannot start its thread: %s", strerror(rc));
}

/* Waits until *flag has the wanted value or the time is over.  Returns whether *flag has it. */
static bool timed_call_await(struct bn_timed_call *t, const bool *flag, bool wanted,
                             uint64_t patience_ns)
{
  const uint64_t until_ns = bn_clock_mono() + patience_ns;
  bool in_time = true;

  while (*flag != wanted && in_time)
    in_time = bn_wait_until(&call_return, &t->changed, t->lock, until_ns);
  return *flag == wanted;
}

bool bn_timed_call_make(struct bn_timed_call *t, void (*fn)(void *arg), void *arg,
                        uint64_t patience_ns)
{
  if (!t->made || t->busy) /* busy: a call that was given up has not returned */
    return false;
  t->fn = fn;
  t->arg = arg;
  t->busy = true;
  bn_wait_wake(&t->changed);
  return bn_timed_call_await_idle(t, patience_ns);
}

bool bn_timed_call_await_idle(struct bn_timed_call *t, uint64_t patience_ns)
{
  return !t->made || timed_call_await(t, &t->busy, false /* wanted */, patience_ns);
}

bool bn_timed_call_stop(struct bn_timed_call *t, uint64_t patience_ns)
{
  if (!t->made)
    return true;
  t->stop = true;
  bn_wait_wake(&t->changed);
  if (!timed_call_await(t, &t->gone, true /* wanted */, patience_ns))
    return false;
  /* No lock is held while a thread is joined (base/wait.h). */
  (void)pthread_mutex_unlock(t->lock);
  bn_wait_join(&thread_return, t->thread);
  (void)pthread_mutex_lock(t->lock);
  t->made = false;
  (void)pthread_cond_destroy(&t->changed);
  return true;
}
