/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The body of a worker thread: open its session, wait at the gate, loop, close; and the slow half
   of the event path. */
#include <sys/prctl.h>

#include <limits.h>
#include <string.h>

#include "base/log.h"
#include "engine/run_internal.h"
#include "engine/stop.h"

/* Address space, not memory: libraries that call back into scripts need more than the option's 64
 * KiB. */
static const size_t stack_least = (size_t)1 << 20;

enum { TICKETS_AT_ONCE = 256 };
static const uint64_t short_event_ns = 10000;

/* Tickets are claimed in batches, but only while events are short: a worker that sits on many
   tickets of long events would keep others idle. */
static uint64_t batch_size(const struct bn_run *run, const struct bn_session *s, uint64_t left)
{
  const uint64_t share = left / (8 * (uint64_t)run->conf->threads);
  const uint64_t n = bn_stat_get(&s->stat->ended);
  const uint64_t busy = bn_stat_get(&s->stat->busy_ns);

  if (run->conf->raw.rate > 0 || n == 0 || busy / n > short_event_ns || share < 1)
    return 1;
  return share < TICKETS_AT_ONCE ? share : TICKETS_AT_ONCE;
}

static bool take_ticket(struct bn_run *run, struct bn_session *s)
{
  const uint64_t limit = run->conf->events;
  uint64_t taken, want;

  if (s->tickets > 0) {
    s->tickets--;
    return true;
  }
  taken = atomic_load_explicit(&run->tickets_taken, memory_order_relaxed);
  do {
    if (taken >= limit)
      return false;
    want = batch_size(run, s, limit - taken);
  } while (!atomic_compare_exchange_weak_explicit(&run->tickets_taken, &taken, taken + want,
                                                  memory_order_relaxed, memory_order_relaxed));
  s->tickets = want - 1;
  return true;
}

/* However long the reporting thread is held up in it: otherwise short events by the thousand would
   end between the baseline and the first ticket.  No event's time holds the wait. */
static void await_baseline(struct bn_run *run, struct bn_session *s)
{
  (void)pthread_mutex_lock(&run->lock);
  (void)pthread_mutex_unlock(&run->lock);
  s->last_ns = bn_clock_now(&s->clock);
}

uint64_t bn_run_counted_events(struct bn_session *s)
{
  struct bn_run *run = s->run;
  const int counting = atomic_load_explicit(&run->counting, memory_order_acquire);

  if (counting == BN_COUNT_LATER)
    return 0;
  if (counting == BN_COUNT_TAKING)
    await_baseline(run, s);
  return bn_stat_get(&s->stat->counter[BN_C_EVENTS]) - run->workers[s - run->sessions].warm_events;
}

/* Of the events since the warm-up's baseline, how many the budget pays for.  In sysbench 1.1 the
   one in flight when the warm-up ends comes on top of it. */
static uint64_t charged(const struct bn_conf *c, uint64_t n)
{
  const bool one_more = c->explicit_dialect && c->version == BN_V11 && c->warmup_ns != 0;

  return one_more && n > 0 ? n - 1 : n;
}

/* What ended between the warm-up's baseline and the first claim is charged, and what is in flight
   and so will be counted too, to the kept tickets first, so that the total stays exact. */
static void charge(struct bn_run *run, struct bn_session *s, struct bn_worker *w)
{
  const struct bn_stat *st = s->stat;
  const uint64_t ended = bn_stat_get(&st->counter[BN_C_EVENTS]) - w->warm_events;
  const uint64_t in_flight = bn_stat_get(&st->begun) - bn_stat_get(&st->ended);
  const uint64_t n = charged(run->conf, ended + in_flight);

  if (n > w->kept)
    atomic_fetch_add_explicit(&run->tickets_taken, n - w->kept, memory_order_relaxed);
  else
    s->tickets = w->kept - n;
}

/* Events need tickets from the moment the warm-up's baseline was taken. */
static bool needs_ticket(struct bn_run *run, struct bn_session *s)
{
  struct bn_worker *w = &run->workers[s - run->sessions];
  int counting;

  if (w->counted)
    return true;
  counting = atomic_load_explicit(&run->counting, memory_order_acquire);
  if (counting == BN_COUNT_LATER)
    return false;
  if (counting == BN_COUNT_TAKING)
    await_baseline(run, s);
  w->counted = true;
  charge(run, s, w);
  return true;
}

/* Before the warm-up's baseline there are no tickets. */
void bn_event_unclaim(struct bn_session *s)
{
  s->tickets += s->run->has_budget && s->run->workers[s - s->run->sessions].counted;
}

/* Gives back what was claimed and not used, so that the total stays exact. */
static void return_tickets(struct bn_run *run, struct bn_session *s)
{
  if (run->has_budget)
    (void)needs_ticket(run, s);
  if (s->tickets > 0)
    atomic_fetch_sub_explicit(&run->tickets_taken, s->tickets, memory_order_relaxed);
  s->tickets = 0;
}

/* Sleeps until then; false: woken early because the run ends.  The session's clock may be a little
   behind the one that ends the wait. */
static bool wait_for(struct bn_run *run, struct bn_session *s, uint64_t due_ns)
{
  const struct timespec at = {(time_t)(due_ns / BN_NSEC_PER_SEC), (long)(due_ns % BN_NSEC_PER_SEC)};
  int rc = 0;

  s->last_ns = bn_clock_now(&s->clock);
  if (s->last_ns >= due_ns)
    return true;
  (void)pthread_mutex_lock(&run->lock);
  while (bn_stat_get(&run->limit.until_ns) >= due_ns && rc == 0)
    rc = pthread_cond_timedwait(&run->sleepers, &run->lock, &at);
  (void)pthread_mutex_unlock(&run->lock);
  s->last_ns = bn_clock_now(&s->clock);
  return rc != 0;
}

static bool await_arrival(struct bn_run *run, struct bn_session *s)
{
  const uint64_t due = s->due_ns;
  const bool never = due >= bn_stat_get(&run->limit.until_ns);
  const bool waited = wait_for(run, s, never ? bn_stat_get(&run->limit.until_ns) : due);

  s->due_ns = 0;
  if (never || !waited || s->last_ns >= bn_stat_get(&run->limit.until_ns))
    return false;
  s->due_ns = due;
  return true;
}

/* 0.5 says nothing. */
static void say_why(const struct bn_run *run, const char *limit)
{
  if (run->conf->version != BN_V05)
    bn_log(BN_INFO, "%s limit exceeded, exiting...", limit);
}

bool bn_event_claim(struct bn_session *s)
{
  struct bn_run *run = s->run;

  if (s->last_ns >= bn_stat_get(&run->limit.until_ns)) {
    if (bn_stat_get(&run->limit.until_ns) != 0)
      say_why(run, "Time");
    return false;
  }
  if (run->has_budget && needs_ticket(run, s) && !take_ticket(run, s)) {
    say_why(run, "Event");
    return false;
  }
  if (run->conf->raw.rate > 0)
    s->due_ns = bn_pacer_claim(&run->pacer);
  return true;
}

bool bn_event_more_slow(struct bn_session *s)
{
  return bn_event_claim(s) && (s->due_ns == 0 || await_arrival(s->run, s));
}

static enum bn_next run_loop(struct bn_run *run, struct bn_session *s)
{
  enum bn_next next = BN_CONTINUE;
  struct bn_tick tick;

  if (run->ops->loop != NULL)
    return run->ops->loop(run->self, s);
  while (next == BN_CONTINUE && bn_event_begin(s, &tick)) {
    next = run->ops->event(run->self, s);
    if (next == BN_CONTINUE)
      bn_event_end(s, &tick);
    else
      bn_event_drop(s, &tick);
  }
  return next;
}

static void set_state(struct bn_worker *w, enum bn_worker_state state)
{
  (void)pthread_mutex_lock(&w->run->lock);
  w->state = state;
  (void)pthread_mutex_unlock(&w->run->lock);
}

static void print_error(const struct bn_err *err)
{
  if (err->text[0] != '\0')
    bn_log(BN_FATAL, "%s", err->text);
}

/* Between the gate and the end of the loop. */
static void measure(struct bn_worker *w)
{
  struct bn_session *s = w->session;
  struct bn_run *run = w->run;

  s->last_ns = bn_clock_now(&s->clock);
  if (run_loop(run, s) == BN_FAILED)
    bn_run_fail(run);
  (void)pthread_mutex_lock(&run->lock);
  w->looped = true;
  w->early = bn_clock_now(&s->clock) < run->deadline_ns;
  if (run->ops->untimed_close)
    run->end_ns = bn_clock_mono();
  (void)pthread_mutex_unlock(&run->lock);
  return_tickets(run, s);
  atomic_store_explicit(&s->stat->running, false, memory_order_relaxed);
}

void bn_worker_gone(struct bn_worker *w)
{
  struct bn_run *run = w->run;

  (void)pthread_mutex_lock(&run->lock);
  w->state = BN_WORKER_GONE;
  if (!run->ops->untimed_close)
    run->end_ns = bn_clock_mono();
  run->gone++;
  (void)pthread_cond_broadcast(&run->changed);
  (void)pthread_mutex_unlock(&run->lock);
}

void *bn_worker_main(void *arg)
{
  struct bn_worker *w = arg;
  struct bn_session *s = w->session;
  struct bn_run *run = w->run;
  struct bn_err err = {0};
  bool ready;

  if (run->conf->version != BN_V05)
    bn_log(BN_DEBUG, "Worker thread (#%u) started", s->id);
  if (run->conf->raw.rate > 0)
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  set_state(w, BN_WORKER_OPENING);
  bn_clock_reader_init(&s->clock, &run->clock);
  ready = run->ops->session_open == NULL || run->ops->session_open(run->self, s, &err) == 0;
  if (ready) {
    bn_log(BN_DEBUG, "Worker thread (#%u) %s", s->id,
           run->conf->version == BN_V05 ? "started!" : "initialized");
    set_state(w, BN_WORKER_RUNNING);
    atomic_store_explicit(&s->doing, "waiting for the other threads", memory_order_relaxed);
    if (bn_gate_wait(&run->gate))
      measure(w);
  } else {
    print_error(&err);
    bn_log(BN_DEBUG, "Worker thread (#%u) failed to initialize!", s->id);
    bn_run_fail(run);
    bn_gate_fail(&run->gate);
  }
  err.text[0] = '\0';
  if (run->ops->session_close != NULL && run->ops->session_close(run->self, s, &err) != 0) {
    print_error(&err);
    bn_run_fail(run);
  }
  bn_worker_gone(w);
  return NULL;
}

int bn_worker_spawn(struct bn_run *run, struct bn_worker *w, void *(*body)(void *),
                    struct bn_err *err)
{
  const size_t wanted = (size_t)run->conf->raw.thread_stack_size;
  pthread_attr_t attr;
  int rc;

  rc = pthread_attr_init(&attr);
  if (rc == 0) {
    rc = pthread_attr_setstacksize(&attr, wanted > stack_least ? wanted : stack_least);
    if (rc == 0)
      rc = pthread_create(&w->thread, &attr, body, w);
    (void)pthread_attr_destroy(&attr);
  }
  if (rc != 0)
    return bn_err_set(err, rc, "cannot start worker thread %u of %u: %s", w->session->id + 1,
                      run->conf->threads, strerror(rc));
  w->created = true;
  return 0;
}
