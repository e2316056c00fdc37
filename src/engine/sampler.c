/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An agenda of times: interval and checkpoint reports, warm-up, forced shutdown, time grace. */
#include "engine/sampler.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "engine/grace.h"
#include "engine/stop.h"

/* What the sampler has to do when; all times CLOCK_MONOTONIC, UINT64_MAX: never. */
struct agenda {
  const struct bn_parts *p;
  uint64_t *ended;
  struct bn_times times;
  bool measuring; /* the gate has opened */
  bool warming;
  uint64_t refit_ns, interval_ns, tick_ns, forced_ns, grace_ns;
  size_t checkpoint;      /* index of the next one */
  uint64_t last_progress; /* which renews the grace */
};

static const uint64_t never = UINT64_MAX;

/* For a reporter to come back from a call once the run has been abandoned. */
static const uint64_t farewell_ns = BN_NSEC_PER_SEC;
/* How often it is looked whether the run has been abandoned while a reporter takes its time. */
static const uint64_t glance_ns = BN_NSEC_PER_SEC / 4;

static uint64_t least(uint64_t a, uint64_t b)
{
  return a < b ? a : b;
}

static uint64_t checkpoint_at(const struct agenda *a)
{
  const struct bn_conf *c = a->p->conf;

  return a->checkpoint < c->n_checkpoints ? a->times.measure_ns + c->checkpoint_ns[a->checkpoint]
                                          : never;
}

/* Also without a grace: threads that stop by themselves at the limit are not to be forced. */
static uint64_t forced_after(const struct bn_conf *c)
{
  const uint64_t stopping_ns = 200 * BN_NSEC_PER_MSEC;

  return c->forced_ns > stopping_ns ? c->forced_ns : stopping_ns;
}

static void start_measuring(struct agenda *a)
{
  const struct bn_conf *c = a->p->conf;

  a->measuring = true;
  a->warming = c->warmup_ns != 0;
  a->interval_ns = c->interval_ns != 0 ? a->times.measure_ns + c->interval_ns : never;
  a->tick_ns = bn_book_ticks(a->p->book) ? a->times.measure_ns + BN_NSEC_PER_SEC : never;
  a->forced_ns = c->forced ? a->times.deadline_ns + forced_after(c) : never;
  /* At 0 there is nothing to report yet. */
  while (a->checkpoint < c->n_checkpoints && c->checkpoint_ns[a->checkpoint] == 0)
    a->checkpoint++;
}

/* However long this thread is held up in it, no event begins meanwhile: otherwise short ones by the
   thousand would end between the baseline and the first ticket. */
static void end_warmup(struct agenda *a, uint64_t now)
{
  const struct bn_snap *base;

  bn_admit_freeze(a->p->admit);
  base = bn_book_baseline(a->p->book, now);
  for (unsigned i = 0; i < a->p->conf->threads; i++)
    a->ended[i] = base->session[i].events;
  bn_admit_thaw(a->p->admit, a->ended);
  a->warming = false;
}

/* The first point after `now` on the grid; a late report skips what it missed. */
static uint64_t next_on_grid(uint64_t from, uint64_t step, uint64_t now)
{
  return now < from ? from : from + ((now - from) / step + 1) * step;
}

/* The book says whether all went well; the reporters have said why not. */
static void report(const struct agenda *a, uint64_t now,
                   bool (*hand_out)(struct bn_book *b, const struct bn_moment *m))
{
  const struct bn_moment m = bn_moment_at(a->p, &a->times, now);

  if (!hand_out(a->p->book, &m))
    bn_outcome_set(a->p->outcome, BN_OUTCOME_REPORT_FAILED);
}

static void report_due(struct agenda *a, uint64_t now)
{
  if (now >= a->interval_ns) {
    report(a, now, bn_book_interval);
    a->interval_ns = next_on_grid(a->interval_ns, a->p->conf->interval_ns, now);
    /* Whoever prints it may have taken his time. */
    now = bn_clock_mono();
  }
  if (now >= checkpoint_at(a)) {
    report(a, now, bn_book_checkpoint);
    while (now >= checkpoint_at(a))
      a->checkpoint++;
  }
  if (now >= a->tick_ns) {
    report(a, now, bn_book_tick);
    a->tick_ns = next_on_grid(a->tick_ns, BN_NSEC_PER_SEC, now);
  }
}

static void check_backlog(const struct agenda *a, uint64_t now)
{
  const uint64_t most = (uint64_t)a->p->conf->raw.rate_max_backlog;

  if (a->p->pacer == NULL || most == 0 || !a->measuring)
    return;
  if (bn_moment_backlog(a->p, &a->times, now, bn_admit_left(a->p->admit)) <= most)
    return;
  bn_outcome_set(a->p->outcome, BN_OUTCOME_OVERLOADED);
  if (a->p->conf->policy->overload_passes)
    bn_log(BN_FATAL, "Event queue is full.");
}

static uint64_t grace(const struct agenda *a)
{
  return bn_grace_ns(a->p, 2 * BN_NSEC_PER_SEC);
}

/* Once nothing new may begin, what is in flight gets the grace; a statement that completes renews
   it. */
static void watch_grace(struct agenda *a, uint64_t now)
{
  uint64_t done;

  if (now < bn_stat_get(&a->p->admit->limit.until_ns) || !bn_grace_is_limited(a->p))
    return;
  done = bn_grace_progress(a->p);
  if (a->grace_ns == never || done != a->last_progress) {
    a->last_progress = done;
    a->grace_ns = now + grace(a);
  }
}

static void use_up_grace(const struct agenda *a)
{
  bn_log_stderr(
      "the time grace of %.1f s is used up: %u thread(s) are still busy; the report comes "
      "without what they are doing",
      (double)grace(a) * 1e-9, bn_crew_busy(a->p->crew));
  bn_interrupt_first(a->p->interrupt, a->p->conf->threads);
  bn_crew_end(a->p->crew, BN_CAUSE_TIMEOUT, 0);
}

static void force_shutdown(const struct agenda *a)
{
  bn_log(BN_FATAL, "The --max-time limit has expired, forcing shutdown...");
  bn_crew_end(a->p->crew, BN_CAUSE_TIMEOUT, 0);
}

static uint64_t next_wake(const struct agenda *a)
{
  uint64_t at = a->refit_ns;

  if (!a->measuring)
    return at;
  if (a->warming)
    return least(at, a->times.measure_ns);
  at = least(at, least(least(a->interval_ns, a->tick_ns), checkpoint_at(a)));
  at = least(at, least(a->forced_ns, a->grace_ns));
  return least(at, a->times.deadline_ns > bn_clock_mono() ? a->times.deadline_ns : never);
}

static void do_due(struct agenda *a)
{
  const uint64_t now = bn_clock_mono();

  if (now >= a->refit_ns) {
    bn_clock_refit(a->p->clock);
    check_backlog(a, now);
    a->refit_ns = now + BN_NSEC_PER_SEC;
  }
  if (!a->measuring)
    return;
  if (a->warming && now >= a->times.measure_ns)
    end_warmup(a, now);
  if (!a->warming)
    report_due(a, now);
  watch_grace(a, now);
  /* A report may have held this up until there was nobody left. */
  if (bn_crew_busy(a->p->crew) == 0)
    return;
  if (now >= a->forced_ns) {
    force_shutdown(a);
    a->forced_ns = never;
  }
  if (now >= a->grace_ns) {
    use_up_grace(a);
    a->grace_ns = never;
  }
}

static bool is_to_stop(struct bn_sampler *s)
{
  bool stop;

  (void)pthread_mutex_lock(&s->lock);
  stop = s->stop;
  (void)pthread_mutex_unlock(&s->lock);
  return stop;
}

static void *sampler_main(void *arg)
{
  struct bn_sampler *s = arg;
  struct agenda a;
  bool stop = false;

  memset(&a, 0, sizeof a);
  a.p = s->parts;
  a.ended = s->ended;
  a.refit_ns = bn_clock_mono() + BN_NSEC_PER_SEC / 10;
  a.interval_ns = a.tick_ns = a.forced_ns = a.grace_ns = never;
  while (!stop) {
    bn_stop_sleep(next_wake(&a));
    stop = is_to_stop(s);
    if (!a.measuring && bn_crew_times(a.p->crew, &a.times))
      start_measuring(&a);
    if (!bn_outcome_has(a.p->outcome, BN_OUTCOME_ABANDONED))
      do_due(&a);
  }
  check_backlog(&a, bn_clock_mono());
  (void)pthread_mutex_lock(&s->lock);
  s->gone = true;
  (void)pthread_cond_broadcast(&s->changed);
  (void)pthread_mutex_unlock(&s->lock);
  return NULL;
}

int bn_sampler_init(struct bn_sampler *s, const struct bn_parts *parts)
{
  pthread_condattr_t attr;

  memset(s, 0, sizeof *s);
  s->ended = calloc(parts->conf->threads, sizeof *s->ended);
  if (s->ended == NULL || pthread_condattr_init(&attr) != 0) {
    free(s->ended);
    return -1;
  }
  (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
  (void)pthread_mutex_init(&s->lock, NULL);
  (void)pthread_cond_init(&s->changed, &attr);
  (void)pthread_condattr_destroy(&attr);
  s->parts = parts;
  return 0;
}

void bn_sampler_done(struct bn_sampler *s)
{
  if (s->parts == NULL)
    return;
  free(s->ended);
  (void)pthread_cond_destroy(&s->changed);
  (void)pthread_mutex_destroy(&s->lock);
  s->parts = NULL;
}

int bn_sampler_start(struct bn_sampler *s, struct bn_err *err)
{
  const int rc = pthread_create(&s->thread, NULL, sampler_main, s);

  if (rc != 0)
    return bn_err_set(err, rc, "cannot start the reporting thread: %s", strerror(rc));
  s->made = true;
  return 0;
}

/* It stays alive until it has been told to stop. */
void bn_sampler_wake(struct bn_sampler *s)
{
  (void)pthread_mutex_lock(&s->lock);
  if (!s->stop)
    bn_stop_wake(s->thread);
  (void)pthread_mutex_unlock(&s->lock);
}

/* With the lock.  A hook may take its time, but not once the run has been abandoned. */
static bool await_end(struct bn_sampler *s)
{
  uint64_t until_ns = never;

  while (!s->gone && bn_clock_mono() < until_ns) {
    if (until_ns == never && bn_outcome_has(s->parts->outcome, BN_OUTCOME_ABANDONED))
      until_ns = bn_clock_mono() + farewell_ns;
    const uint64_t at_ns = least(until_ns, bn_clock_mono() + glance_ns);
    const struct timespec at = {(time_t)(at_ns / BN_NSEC_PER_SEC), (long)(at_ns % BN_NSEC_PER_SEC)};

    (void)pthread_cond_timedwait(&s->changed, &s->lock, &at);
  }
  return s->gone;
}

void bn_sampler_stop(struct bn_sampler *s)
{
  bool gone;

  if (!s->made)
    return;
  (void)pthread_mutex_lock(&s->lock);
  s->stop = true;
  bn_stop_wake(s->thread);
  gone = await_end(s);
  (void)pthread_mutex_unlock(&s->lock);
  if (gone) {
    (void)pthread_join(s->thread, NULL);
  } else {
    bn_outcome_set(s->parts->outcome, BN_OUTCOME_REPORTER_HANGS);
    bn_book_leave_reporter(s->parts->book);
  }
  s->made = false;
}
