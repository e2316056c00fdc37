/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts workers, tracks their states, and ends them. */
#include "engine/threads.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/wait.h"
#include "engine/loop.h"

/* The least size of a stack.  Libraries that call back into scripts need more than the 64 KiB of
   the option, and the size costs address space, not memory. */
static const uint64_t least_stack_bytes = (uint64_t)1 << 20;

static const struct bn_wait workers_end = {"workers to go", BN_BOUND_END};
static const struct bn_wait worker_return = {"a worker to return", BN_BOUND_RETURNING};
static const struct bn_wait arrivals = {"every session to be open", BN_BOUND_END};
static const struct bn_wait opening = {"the start barrier to open", BN_BOUND_END};
static const struct bn_wait barrier = {"the other sessions at the barrier", BN_BOUND_END};
static const struct bn_wait pause_end = {"the end of a pause", BN_BOUND_END};
static const struct bn_wait start_of_hosts = {"the start of all hosts", BN_BOUND_END};

/* --- making --- */

/* Sets how many sessions each worker has.  The first workers may have one more than the others. */
static void threads_make_workers(struct bn_threads *t)
{
  const unsigned n_each = t->n / t->n_workers;   /* sessions */
  const unsigned n_larger = t->n % t->n_workers; /* workers with one more */

  for (unsigned i = 0; i < t->n_workers; i++) {
    t->worker[i].threads = t;
    t->worker[i].number = i;
    t->worker[i].n_sessions = i < n_larger ? n_each + 1 : n_each;
  }
}

void bn_threads_init(struct bn_threads *t, struct bn_session *sessions, unsigned n,
                     unsigned n_workers, struct bn_outcome *outcome, struct bn_quota *quota,
                     struct bn_pacer *pacer)
{
  memset(t, 0, sizeof *t);
  t->outcome = outcome;
  t->quota = quota;
  t->pacer = pacer;
  t->session = sessions;
  t->n = n;
  t->n_workers = n_workers;
  t->worker = bn_alloc(n_workers, sizeof *t->worker);
  t->of_session = bn_alloc(n, sizeof *t->of_session);
  (void)pthread_mutex_init(&t->lock, NULL);
  bn_wait_init_cond(&t->changed);
  bn_wait_init_cond(&t->decided);
  threads_make_workers(t);
}

void bn_threads_done(struct bn_threads *t)
{
  free(t->worker);
  free(t->of_session);
  (void)pthread_cond_destroy(&t->decided);
  (void)pthread_cond_destroy(&t->changed);
  (void)pthread_mutex_destroy(&t->lock);
}

/* --- start --- */

int bn_threads_spawn(struct bn_threads *t, const struct bn_threads_plan *plan, struct bn_err *err)
{
  const uint64_t stack_bytes =
      plan->stack_bytes > least_stack_bytes ? plan->stack_bytes : least_stack_bytes;

  for (unsigned i = 0; i < t->n_workers; i++) {
    struct bn_worker *w = &t->worker[i];
    int rc;

    if (bn_threads_have_signal(t) || bn_clock_mono() >= plan->until_ns)
      return 0;
    w->job = plan->job;
    rc = bn_wait_spawn(&w->thread, stack_bytes, plan->body, w);
    if (rc != 0)
      return bn_err_set(err, rc, "cannot start worker thread %u of %u: %s", i + 1, t->n_workers,
                        strerror(rc));
    w->created = true;
    t->created += w->n_sessions;
  }
  return 0;
}

bool bn_threads_have_signal(const struct bn_threads *t)
{
  return atomic_load(&t->outcome->signo) != 0;
}

bool bn_threads_has_ended(struct bn_threads *t)
{
  bool ended;

  (void)pthread_mutex_lock(&t->lock);
  ended = t->ended;
  (void)pthread_mutex_unlock(&t->lock);
  return ended;
}

bool bn_threads_await_ready(struct bn_threads *t, uint64_t deadline_ns)
{
  bool are_ready, in_time = true;

  (void)pthread_mutex_lock(&t->lock);
  while (t->at_start < t->n && !t->ended && in_time)
    in_time = bn_wait_until(&arrivals, &t->changed, &t->lock, deadline_ns);
  are_ready = t->at_start == t->n && !t->ended;
  (void)pthread_mutex_unlock(&t->lock);
  return are_ready;
}

/* Returns what session i is doing before it is ready, or NULL if it is ready. */
static const char *threads_get_doing(struct bn_threads *t, unsigned i)
{
  const char *doing = NULL;

  (void)pthread_mutex_lock(&t->lock);
  if (t->of_session[i].stage < BN_SESSION_READY)
    doing = atomic_load_explicit(&t->session[i].doing, memory_order_relaxed);
  (void)pthread_mutex_unlock(&t->lock);
  return doing;
}

/* Adjacent threads that do the same share a line.  The texts are static, so that equal texts have
   the same address. */
void bn_threads_log_waiting(struct bn_threads *t)
{
  enum { LINES_MAX = 10 };
  unsigned n_lines = 0, next;

  for (unsigned first = 0; first < t->n && n_lines < LINES_MAX; first = next) {
    const char *doing = threads_get_doing(t, first);

    next = first + 1;
    while (next < t->n && threads_get_doing(t, next) == doing)
      next++;
    if (doing == NULL)
      continue;
    n_lines++;
    if (next - first == 1)
      bn_log_hint("thread %u: %s", first, doing);
    else
      bn_log_hint("threads %u to %u: %s", first, next - 1, doing);
  }
}

void bn_threads_set_start(struct bn_threads *t, uint64_t at_ns)
{
  (void)pthread_mutex_lock(&t->lock);
  if (t->start_at_ns == 0)
    t->start_at_ns = at_ns;
  bn_wait_wake(&t->changed);
  (void)pthread_mutex_unlock(&t->lock);
}

/* Returns the time of the common start of all hosts; UINT64_MAX: it is not known yet.  The caller
   holds the lock. */
static uint64_t threads_get_start_ns(const struct bn_threads *t)
{
  return t->start_at_ns != 0 ? t->start_at_ns : UINT64_MAX;
}

bool bn_threads_await_start(struct bn_threads *t)
{
  bool starts;

  (void)pthread_mutex_lock(&t->lock);
  while (!t->ended && bn_clock_mono() < threads_get_start_ns(t))
    (void)bn_wait_until(&start_of_hosts, &t->changed, &t->lock, threads_get_start_ns(t));
  starts = !t->ended;
  (void)pthread_mutex_unlock(&t->lock);
  return starts;
}

/* Opens the start barrier, unless the run has been ended.  The caller holds the lock. */
static void threads_open_barrier(struct bn_threads *t)
{
  t->opened = !t->ended;
  bn_wait_wake(&t->decided);
}

/* Sessions that pass the barrier see OPENED and the times. */
bool bn_threads_open(struct bn_threads *t, const struct bn_times *times)
{
  bool opens;

  bn_quota_open(t->quota, times->deadline_ns, times->measure_ns);
  (void)pthread_mutex_lock(&t->lock);
  opens = !t->ended;
  if (opens) {
    t->times = *times;
    bn_outcome_set(t->outcome, BN_OUTCOME_OPENED);
    threads_open_barrier(t);
  }
  (void)pthread_mutex_unlock(&t->lock);
  return opens;
}

/* --- the barrier of the sessions of all hosts --- */

/* Returns whether all sessions of the run are on this host. */
static bool threads_is_single_host(const struct bn_threads *t)
{
  return bn_host_group_sessions(t->host_group, t->n) == t->n;
}

/* Releases the barrier and makes it ready for its next round.  The caller holds the lock, here and
   in the function below. */
static void threads_begin_round(struct bn_threads *t)
{
  t->arrival_sent = false;
  t->barrier_arrived = 0;
  t->barrier_round++;
  bn_wait_wake(&t->changed);
}

/* Tells the host group that the sessions of this host have arrived.  The caller holds the lock,
   which is released meanwhile: if the other hosts have arrived, bn_threads_release_barrier may be
   called before `meet` returns. */
static void threads_announce_arrival(struct bn_threads *t)
{
  t->arrival_sent = true;
  (void)pthread_mutex_unlock(&t->lock);
  t->host_group->meet(t->host_group->of);
  (void)pthread_mutex_lock(&t->lock);
}

void bn_threads_release_barrier(struct bn_threads *t)
{
  (void)pthread_mutex_lock(&t->lock);
  if (t->arrival_sent)
    threads_begin_round(t);
  (void)pthread_mutex_unlock(&t->lock);
}

void bn_threads_open_command(struct bn_threads *t)
{
  (void)pthread_mutex_lock(&t->lock);
  if (!threads_is_single_host(t)) {
    const unsigned round = t->barrier_round;

    threads_announce_arrival(t);
    while (round == t->barrier_round && !t->ended)
      (void)bn_wait_until(&start_of_hosts, &t->changed, &t->lock, UINT64_MAX);
  }
  threads_open_barrier(t);
  (void)pthread_mutex_unlock(&t->lock);
}

/* --- end --- */

/* Whether a wait for the workers ends when the run is abandoned. */
enum threads_wait { WAIT_UNTIL_ABANDONED, WAIT_EVEN_IF_ABANDONED };

/* Waits for the sessions of the started workers until until_ns, and returns whether all have
   gone. */
static bool threads_await_all_gone(struct bn_threads *t, uint64_t until_ns, enum threads_wait wait)
{
  bool all_gone, in_time = true;

  (void)pthread_mutex_lock(&t->lock);
  while (t->gone < t->created && in_time &&
         (wait == WAIT_EVEN_IF_ABANDONED || !bn_outcome_has(t->outcome, BN_OUTCOME_ABANDONED)))
    in_time = bn_wait_until(&workers_end, &t->changed, &t->lock, until_ns);
  all_gone = t->gone == t->created;
  (void)pthread_mutex_unlock(&t->lock);
  return all_gone;
}

bool bn_threads_await(struct bn_threads *t, uint64_t until_ns)
{
  return threads_await_all_gone(t, until_ns, WAIT_UNTIL_ABANDONED);
}

bool bn_threads_await_abandoned(struct bn_threads *t, uint64_t until_ns)
{
  return threads_await_all_gone(t, until_ns, WAIT_EVEN_IF_ABANDONED);
}

void bn_threads_join(struct bn_threads *t)
{
  for (unsigned i = 0; i < t->n_workers; i++)
    if (t->worker[i].created) {
      bn_wait_join(&worker_return, t->worker[i].thread);
      t->worker[i].created = false;
    }
}

/* Records in the outcome why and when a run was ended.  A run whose threads are abandoned ends now:
   what they do later is not part of it.  ABANDONED is set after the end of the run, so that a
   thread that sees the flag finds the time of the end. */
static void threads_record_cause(struct bn_outcome *o, enum bn_cause cause, int value,
                                 uint64_t now_ns)
{
  switch (cause) {
  case BN_CAUSE_FAILED:
    bn_outcome_set(o, BN_OUTCOME_FAILED);
    break;
  case BN_CAUSE_EXIT:
    bn_outcome_record_exit(o, value);
    break;
  case BN_CAUSE_SIGNAL:
    bn_outcome_record_signal(o, value);
    break;
  case BN_CAUSE_VIOLATED:
    bn_outcome_set(o, BN_OUTCOME_VIOLATED);
    bn_outcome_set(o, BN_OUTCOME_JUDGED);
    break;
  case BN_CAUSE_TIMEOUT:
    bn_outcome_set(o, BN_OUTCOME_TIMEOUT);
    bn_outcome_record_end(o, now_ns);
    bn_outcome_set(o, BN_OUTCOME_ABANDONED);
    break;
  case BN_CAUSE_ABANDONED:
    bn_outcome_record_end(o, now_ns);
    bn_outcome_set(o, BN_OUTCOME_ABANDONED);
    break;
  }
  bn_outcome_record_cut(o, now_ns);
}

/* Returns how many sessions have not left their loop, also those whose worker is still to be
   started.  The caller holds the lock. */
static unsigned threads_count_looping_locked(const struct bn_threads *t)
{
  unsigned n = 0;

  for (unsigned i = 0; i < t->n; i++)
    if (t->of_session[i].stage < BN_SESSION_LOOPED)
      n++;
  return n;
}

/* Returns whether events can begin, so that an end of the run is early.  Tickets that sessions have
   in reserve do not count: once no other tickets remain, the reserves are small. */
static bool threads_can_begin_events(struct bn_threads *t, uint64_t now_ns)
{
  bool can_begin;

  if (bn_quota_unused(t->quota) == 0)
    return false;
  (void)pthread_mutex_lock(&t->lock);
  /* Before the start, deadline_ns is 0. */
  can_begin = threads_count_looping_locked(t) > 0 &&
              (t->times.deadline_ns == 0 || now_ns < t->times.deadline_ns);
  (void)pthread_mutex_unlock(&t->lock);
  return can_begin;
}

/* The outcome comes first, so that a thread that is woken finds the cause. */
void bn_threads_end(struct bn_threads *t, enum bn_cause cause, int value)
{
  const uint64_t now_ns = bn_clock_mono();

  if (threads_can_begin_events(t, now_ns))
    bn_outcome_set(t->outcome, BN_OUTCOME_EARLY);
  threads_record_cause(t->outcome, cause, value, now_ns);
  bn_quota_close(t->quota, now_ns);
  (void)pthread_mutex_lock(&t->lock);
  t->ended = true;
  bn_wait_wake(&t->changed);
  bn_wait_wake(&t->decided);
  (void)pthread_mutex_unlock(&t->lock);
  /* The pacer is woken after `ended` is set: bn_threads_await_barrier counts a woken worker that
     has gone, and could otherwise release the barrier instead of failing it. */
  if (t->pacer != NULL)
    bn_pacer_wake(t->pacer);
  bn_threads_wake_loops(t);
}

void bn_threads_wake_loops(struct bn_threads *t)
{
  (void)pthread_mutex_lock(&t->lock);
  for (unsigned i = 0; i < t->n_workers; i++)
    if (t->worker[i].loop != NULL)
      bn_loop_wake(t->worker[i].loop);
  (void)pthread_mutex_unlock(&t->lock);
}

void bn_threads_set_loop(struct bn_worker *w, struct bn_loop *loop)
{
  (void)pthread_mutex_lock(&w->threads->lock);
  w->loop = loop;
  (void)pthread_mutex_unlock(&w->threads->lock);
}

/* --- a worker --- */

void bn_threads_enter_stage(struct bn_threads *t, const struct bn_session *s,
                            enum bn_session_stage stage)
{
  (void)pthread_mutex_lock(&t->lock);
  t->of_session[s->id].stage = stage;
  if (stage == BN_SESSION_GONE) {
    t->gone++;
    bn_wait_wake(&t->changed);
  }
  (void)pthread_mutex_unlock(&t->lock);
}

bool bn_threads_await_start_barrier(struct bn_threads *t, unsigned n)
{
  bool opened;

  (void)pthread_mutex_lock(&t->lock);
  t->at_start += n;
  if (t->at_start == t->n)
    bn_wait_wake(&t->changed);
  while (!t->opened && !t->ended)
    (void)bn_wait_until(&opening, &t->decided, &t->lock, UINT64_MAX);
  opened = t->opened;
  (void)pthread_mutex_unlock(&t->lock);
  return opened;
}

void bn_threads_note_looped(struct bn_threads *t, const struct bn_session *s, uint64_t now_ns)
{
  struct bn_threads_session *progress = &t->of_session[s->id];

  (void)pthread_mutex_lock(&t->lock);
  progress->stage = BN_SESSION_LOOPED;
  progress->early = now_ns < t->times.deadline_ns;
  (void)pthread_mutex_unlock(&t->lock);
}

bool bn_threads_await_barrier(struct bn_threads *t)
{
  unsigned round;
  bool ok;

  (void)pthread_mutex_lock(&t->lock);
  round = t->barrier_round;
  t->barrier_arrived++;
  while (round == t->barrier_round && !t->ended) {
    /* Sessions that have returned from the command are not waited for. */
    const bool all_here = t->barrier_arrived + t->gone >= t->n;

    if (all_here && threads_is_single_host(t))
      threads_begin_round(t);
    else if (all_here && !t->arrival_sent)
      threads_announce_arrival(t);
    else
      (void)bn_wait_until(&barrier, &t->changed, &t->lock, UINT64_MAX);
  }
  ok = !t->ended;
  (void)pthread_mutex_unlock(&t->lock);
  return ok;
}

/* The first failure of each session counts.  Before the start, a failure always ends the run. */
bool bn_threads_fail(struct bn_threads *t, unsigned session)
{
  struct bn_threads_session *progress = &t->of_session[session];
  const bool may_go_on = t->goes_on && bn_outcome_has(t->outcome, BN_OUTCOME_OPENED);
  bool is_counted, all_failed;

  if (!may_go_on) {
    bn_threads_end(t, BN_CAUSE_FAILED, 0);
    return false;
  }
  (void)pthread_mutex_lock(&t->lock);
  is_counted = !progress->failed;
  if (is_counted) {
    progress->failed = true;
    t->failed++;
  }
  all_failed = t->failed == t->n;
  (void)pthread_mutex_unlock(&t->lock);
  bn_outcome_set(t->outcome, BN_OUTCOME_THREAD_FAILED);
  if (all_failed)
    bn_threads_end(t, BN_CAUSE_FAILED, 0);
  return is_counted;
}

void bn_threads_pause(struct bn_threads *t, uint64_t until_ns)
{
  bool in_time = true;

  (void)pthread_mutex_lock(&t->lock);
  while (!t->ended && in_time)
    in_time = bn_wait_until(&pause_end, &t->changed, &t->lock, until_ns);
  (void)pthread_mutex_unlock(&t->lock);
}

/* --- any thread --- */

bool bn_threads_get_times(struct bn_threads *t, struct bn_times *times)
{
  if (!bn_outcome_has(t->outcome, BN_OUTCOME_OPENED))
    return false;
  (void)pthread_mutex_lock(&t->lock);
  *times = t->times;
  (void)pthread_mutex_unlock(&t->lock);
  return true;
}

static unsigned threads_read_counter(struct bn_threads *t, const unsigned *counter)
{
  unsigned n;

  (void)pthread_mutex_lock(&t->lock);
  n = *counter;
  (void)pthread_mutex_unlock(&t->lock);
  return n;
}

unsigned bn_threads_count_gone(struct bn_threads *t)
{
  return threads_read_counter(t, &t->gone);
}

unsigned bn_threads_count_failed(struct bn_threads *t)
{
  return threads_read_counter(t, &t->failed);
}

unsigned bn_threads_count_busy(struct bn_threads *t)
{
  return t->n - bn_threads_count_gone(t);
}

unsigned bn_threads_count_looping(struct bn_threads *t)
{
  unsigned n;

  (void)pthread_mutex_lock(&t->lock);
  n = threads_count_looping_locked(t);
  (void)pthread_mutex_unlock(&t->lock);
  return n;
}

unsigned bn_threads_count_at_limit(struct bn_threads *t)
{
  unsigned n_early = 0;

  (void)pthread_mutex_lock(&t->lock);
  for (unsigned i = 0; i < t->n; i++)
    if (t->of_session[i].early)
      n_early++;
  (void)pthread_mutex_unlock(&t->lock);
  return t->n - n_early;
}
