/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts workers, tracks their states, and ends them. */
#include "engine/threads.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/wait.h"

/* This is address space, not memory: libraries that call back into scripts need more than the 64
   KiB of the option. */
static const uint64_t stack_least = (uint64_t)1 << 20;

uint64_t bn_threads_stack(uint64_t wanted)
{
  return wanted > stack_least ? wanted : stack_least;
}

static const struct bn_wait workers = {"workers to go", BN_BOUND_END};
static const struct bn_wait returning = {"a worker to return", BN_BOUND_RETURNING};
static const struct bn_wait barrier = {"the other sessions at the barrier", BN_BOUND_END};
static const struct bn_wait pausing = {"the next try", BN_BOUND_DEADLINE};
static const struct bn_wait start_of_hosts = {"the start of all hosts", BN_BOUND_END};

/* --- making --- */

void bn_threads_init(struct bn_threads *c, struct bn_session *sessions, unsigned n,
                     struct bn_outcome *outcome, struct bn_quota *quota, struct bn_pacer *pacer)
{
  memset(c, 0, sizeof *c);
  c->outcome = outcome;
  c->quota = quota;
  c->pacer = pacer;
  c->n = n;
  c->worker = bn_alloc(n, sizeof *c->worker);
  bn_start_barrier_init(&c->start_barrier, n);
  (void)pthread_mutex_init(&c->lock, NULL);
  bn_wait_init(&c->changed);
  for (unsigned i = 0; i < n; i++) {
    c->worker[i].threads = c;
    c->worker[i].session = &sessions[i];
  }
  c->made = true;
}

void bn_threads_done(struct bn_threads *c)
{
  if (!c->made)
    return;
  free(c->worker);
  bn_start_barrier_done(&c->start_barrier);
  (void)pthread_cond_destroy(&c->changed);
  (void)pthread_mutex_destroy(&c->lock);
  c->made = false;
}

/* --- start --- */

static int threads_spawn(struct bn_worker *w, void *(*body)(void *), uint64_t stack_bytes)
{
  const int rc = bn_wait_spawn(&w->thread, bn_threads_stack(stack_bytes), body, w);

  w->created = rc == 0;
  return rc;
}

int bn_threads_spawn(struct bn_threads *c, const struct bn_threads_plan *plan, struct bn_err *err)
{
  for (unsigned i = 0; i < c->n && !bn_threads_unwanted(c) && bn_clock_mono() < plan->until_ns;
       i++) {
    int rc;

    c->worker[i].job = plan->job;
    rc = threads_spawn(&c->worker[i], plan->body, plan->stack_bytes);
    if (rc != 0)
      return bn_err_set(err, rc, "cannot start worker thread %u of %u: %s", i + 1, c->n,
                        strerror(rc));
    c->created++;
  }
  return 0;
}

bool bn_threads_unwanted(const struct bn_threads *c)
{
  return atomic_load(&c->outcome->signo) != 0;
}

enum bn_start_barrier_state bn_threads_ready(struct bn_threads *c, uint64_t deadline_ns)
{
  return bn_start_barrier_await(&c->start_barrier, deadline_ns);
}

/* Returns what a worker is doing before it is ready, or NULL if it is ready. */
static const char *threads_opening(struct bn_threads *c, unsigned i)
{
  const char *doing = NULL;

  if (i == c->n)
    return NULL;
  (void)pthread_mutex_lock(&c->lock);
  if (c->worker[i].state < BN_WORKER_READY)
    doing = atomic_load_explicit(&c->worker[i].session->doing, memory_order_relaxed);
  (void)pthread_mutex_unlock(&c->lock);
  return doing;
}

/* Prints a few lines at most: adjacent threads with the same reason share a line. */
void bn_threads_log_waiting(struct bn_threads *c)
{
  unsigned i, from = 0, lines = 0;
  const char *reason = NULL;

  for (i = 0; i <= c->n && lines < 10; i++) {
    const char *doing = threads_opening(c, i);

    if (doing == reason)
      continue;
    if (reason != NULL && i - from == 1)
      bn_log_hint("thread %u: %s", from, reason);
    else if (reason != NULL)
      bn_log_hint("threads %u to %u: %s", from, i - 1, reason);
    lines += reason != NULL;
    reason = doing;
    from = i;
  }
}

void bn_threads_start_at(struct bn_threads *c, uint64_t at_ns)
{
  (void)pthread_mutex_lock(&c->lock);
  if (c->start_at_ns == 0)
    c->start_at_ns = at_ns;
  bn_wait_wake(&c->changed);
  (void)pthread_mutex_unlock(&c->lock);
}

bool bn_threads_await_start(struct bn_threads *c)
{
  bool goes;

  (void)pthread_mutex_lock(&c->lock);
  while (!c->ended && (c->start_at_ns == 0 || bn_clock_mono() < c->start_at_ns))
    (void)bn_wait_until(&start_of_hosts, &c->changed, &c->lock,
                        c->start_at_ns != 0 ? c->start_at_ns : UINT64_MAX);
  goes = !c->ended;
  (void)pthread_mutex_unlock(&c->lock);
  return goes;
}

/* bn_threads_end sets `ended` before it fails the start barrier, so that OPENED is set if and only
   if the barrier opens.  Workers that pass the barrier see the flag and the times. */
bool bn_threads_open(struct bn_threads *c, const struct bn_times *times)
{
  bool opens;

  bn_quota_open(c->quota, times->deadline_ns, times->measure_ns);
  (void)pthread_mutex_lock(&c->lock);
  opens = !c->ended;
  if (opens) {
    c->times = *times;
    bn_outcome_set(c->outcome, BN_OUTCOME_OPENED);
    bn_start_barrier_open(&c->start_barrier);
  }
  (void)pthread_mutex_unlock(&c->lock);
  return opens;
}

/* --- where sessions of all hosts meet --- */

static bool is_single_host(const struct bn_threads *c)
{
  return c->host_group == NULL || c->host_group->sessions == c->n;
}

/* The caller holds the lock, here and in the function below. */
static void threads_pass(struct bn_threads *c)
{
  c->arrival_sent = false;
  c->barrier_arrived = 0;
  c->barrier_round++;
  bn_wait_wake(&c->changed);
}

/* The other hosts may have arrived before `meet` returns. */
static void announce_arrival(struct bn_threads *c)
{
  c->arrival_sent = true;
  (void)pthread_mutex_unlock(&c->lock);
  c->host_group->meet(c->host_group->of);
  (void)pthread_mutex_lock(&c->lock);
}

void bn_threads_pass(struct bn_threads *c)
{
  (void)pthread_mutex_lock(&c->lock);
  if (c->arrival_sent)
    threads_pass(c);
  (void)pthread_mutex_unlock(&c->lock);
}

void bn_threads_go(struct bn_threads *c)
{
  (void)pthread_mutex_lock(&c->lock);
  if (!is_single_host(c)) {
    const unsigned round = c->barrier_round;

    announce_arrival(c);
    while (round == c->barrier_round && !c->ended)
      (void)bn_wait_until(&start_of_hosts, &c->changed, &c->lock, UINT64_MAX);
  }
  (void)pthread_mutex_unlock(&c->lock);
  bn_start_barrier_open(&c->start_barrier);
}

/* --- end --- */

bool bn_threads_await(struct bn_threads *c, uint64_t until_ns, bool also_abandoned)
{
  bool all, done, in_time = true;

  (void)pthread_mutex_lock(&c->lock);
  while (!(done = c->gone + bn_threads_lost(c) >= c->created) && in_time &&
         (also_abandoned || !bn_outcome_has(c->outcome, BN_OUTCOME_ABANDONED)))
    in_time = bn_wait_until(&workers, &c->changed, &c->lock, until_ns);
  all = c->gone == c->created;
  (void)pthread_mutex_unlock(&c->lock);
  if (done && !all && !bn_outcome_has(c->outcome, BN_OUTCOME_ABANDONED))
    bn_threads_end(c, BN_CAUSE_ABANDONED, 0);
  return all;
}

void bn_threads_join(struct bn_threads *c)
{
  for (unsigned i = 0; i < c->n; i++)
    if (c->worker[i].created) {
      bn_wait_join(&returning, c->worker[i].thread);
      c->worker[i].created = false;
    }
}

static void record_cause(struct bn_outcome *o, enum bn_cause cause, int value, uint64_t now_ns)
{
  switch (cause) {
  case BN_CAUSE_FAILED:
    bn_outcome_set(o, BN_OUTCOME_FAILED);
    break;
  case BN_CAUSE_EXIT:
    bn_outcome_leave(o, value);
    break;
  case BN_CAUSE_SIGNAL:
    bn_outcome_signal(o, value);
    break;
  case BN_CAUSE_VIOLATED:
    bn_outcome_set(o, BN_OUTCOME_VIOLATED);
    bn_outcome_set(o, BN_OUTCOME_JUDGED);
    break;
  case BN_CAUSE_TIMEOUT:
    bn_outcome_set(o, BN_OUTCOME_TIMEOUT);
    bn_outcome_end(o, now_ns);
    bn_outcome_set(o, BN_OUTCOME_ABANDONED);
    break;
  case BN_CAUSE_ABANDONED:
    bn_outcome_end(o, now_ns);
    bn_outcome_set(o, BN_OUTCOME_ABANDONED);
    break;
  }
  bn_outcome_cut(o, now_ns);
}

/* The caller holds the lock.  Workers that are still to be started count. */
static unsigned threads_looping(const struct bn_threads *c)
{
  unsigned n = 0;

  for (unsigned i = 0; i < c->n; i++)
    n += c->worker[i].state < BN_WORKER_LOOPED;
  return n;
}

/* Returns whether events can begin.  Sessions hold few tickets when no others remain. */
static bool has_load(struct bn_threads *c, uint64_t now_ns)
{
  bool has;

  if (bn_quota_unused(c->quota) == 0)
    return false;
  (void)pthread_mutex_lock(&c->lock);
  has = threads_looping(c) > 0 && (c->times.deadline_ns == 0 || now_ns < c->times.deadline_ns);
  (void)pthread_mutex_unlock(&c->lock);
  return has;
}

void bn_threads_end(struct bn_threads *c, enum bn_cause cause, int value)
{
  const uint64_t now = bn_clock_mono();

  if (has_load(c, now))
    bn_outcome_set(c->outcome, BN_OUTCOME_EARLY);
  record_cause(c->outcome, cause, value, now);
  bn_quota_close(c->quota, now);
  (void)pthread_mutex_lock(&c->lock);
  c->ended = true;
  bn_wait_wake(&c->changed);
  (void)pthread_mutex_unlock(&c->lock);
  /* The pacer is woken after the barrier has failed: a woken worker that goes must not open it. */
  if (c->pacer != NULL)
    bn_pacer_wake(c->pacer);
  bn_start_barrier_fail(&c->start_barrier);
}

/* --- a worker --- */

void bn_threads_enter(struct bn_worker *w, enum bn_worker_state state)
{
  struct bn_threads *c = w->threads;

  (void)pthread_mutex_lock(&c->lock);
  w->state = state;
  if (state == BN_WORKER_GONE) {
    c->gone++;
    bn_wait_wake(&c->changed);
  }
  (void)pthread_mutex_unlock(&c->lock);
}

bool bn_threads_await_start_barrier(struct bn_worker *w)
{
  return bn_start_barrier_wait(&w->threads->start_barrier);
}

void bn_threads_looped(struct bn_worker *w, uint64_t now_ns)
{
  (void)pthread_mutex_lock(&w->threads->lock);
  w->state = BN_WORKER_LOOPED;
  w->early = now_ns < w->threads->times.deadline_ns;
  (void)pthread_mutex_unlock(&w->threads->lock);
}

bool bn_threads_barrier(struct bn_threads *c)
{
  unsigned round;
  bool ok;

  (void)pthread_mutex_lock(&c->lock);
  round = c->barrier_round;
  c->barrier_arrived++;
  while (round == c->barrier_round && !c->ended) {
    /* Sessions that have returned from the command are not waited for. */
    const bool all_here = c->barrier_arrived + c->gone >= c->n;

    if (all_here && is_single_host(c))
      threads_pass(c);
    else if (all_here && !c->arrival_sent)
      announce_arrival(c);
    else
      (void)bn_wait_until(&barrier, &c->changed, &c->lock, UINT64_MAX);
  }
  ok = !c->ended;
  (void)pthread_mutex_unlock(&c->lock);
  return ok;
}

/* The first failure of each worker counts.  Before the start, a failure always ends the run. */
bool bn_threads_fail(struct bn_threads *c, unsigned worker)
{
  const bool goes_on = c->goes_on && bn_outcome_has(c->outcome, BN_OUTCOME_OPENED);
  bool counted = false, all;

  (void)pthread_mutex_lock(&c->lock);
  if (goes_on && !c->worker[worker].failed) {
    c->worker[worker].failed = counted = true;
    c->failed++;
  }
  all = c->failed == c->n;
  (void)pthread_mutex_unlock(&c->lock);
  if (goes_on)
    bn_outcome_set(c->outcome, BN_OUTCOME_THREAD_FAILED);
  if (!goes_on || all)
    bn_threads_end(c, BN_CAUSE_FAILED, 0);
  return counted;
}

/* FAILED is set before `lost` grows, so that a thread that sees the loss sees the failure. */
unsigned bn_threads_lose(struct bn_threads *c, const char *loss_message)
{
  if (loss_message != NULL)
    atomic_store(&c->loss_message, loss_message);
  bn_outcome_set(c->outcome, BN_OUTCOME_FAILED);
  return atomic_fetch_add(&c->lost, 1) + 1;
}

void bn_threads_pause(struct bn_threads *c, uint64_t until_ns)
{
  bool early = true;

  (void)pthread_mutex_lock(&c->lock);
  while (!c->ended && early)
    early = bn_wait_until(&pausing, &c->changed, &c->lock, until_ns);
  (void)pthread_mutex_unlock(&c->lock);
}

/* --- any thread --- */

bool bn_threads_times(struct bn_threads *c, struct bn_times *times)
{
  if (!bn_outcome_has(c->outcome, BN_OUTCOME_OPENED))
    return false;
  (void)pthread_mutex_lock(&c->lock);
  *times = c->times;
  (void)pthread_mutex_unlock(&c->lock);
  return true;
}

unsigned bn_threads_gone(struct bn_threads *c)
{
  unsigned n;

  (void)pthread_mutex_lock(&c->lock);
  n = c->gone;
  (void)pthread_mutex_unlock(&c->lock);
  return n;
}

const char *bn_threads_take_message(struct bn_threads *c)
{
  return atomic_exchange(&c->loss_message, NULL);
}

unsigned bn_threads_lost(const struct bn_threads *c)
{
  return atomic_load(&c->lost);
}

void bn_threads_acknowledge(struct bn_threads *c, unsigned lost)
{
  atomic_store(&c->acknowledged, lost);
}

bool bn_threads_has_acknowledged(const struct bn_threads *c, unsigned lost)
{
  return atomic_load(&c->acknowledged) >= lost;
}

unsigned bn_threads_failed(struct bn_threads *c)
{
  unsigned n;

  (void)pthread_mutex_lock(&c->lock);
  n = c->failed;
  (void)pthread_mutex_unlock(&c->lock);
  return n;
}

unsigned bn_threads_busy(struct bn_threads *c)
{
  return c->n - bn_threads_gone(c);
}

unsigned bn_threads_looping(struct bn_threads *c)
{
  unsigned n;

  (void)pthread_mutex_lock(&c->lock);
  n = threads_looping(c);
  (void)pthread_mutex_unlock(&c->lock);
  return n;
}

unsigned bn_threads_reached_limit(struct bn_threads *c)
{
  unsigned early = 0;

  (void)pthread_mutex_lock(&c->lock);
  for (unsigned i = 0; i < c->n; i++)
    early += c->worker[i].early;
  (void)pthread_mutex_unlock(&c->lock);
  return c->n - early;
}
