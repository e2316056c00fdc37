/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one watching thread: interval and checkpoint reports, warm-up, forced shutdown, time grace.
 */
#include <string.h>

#include "base/log.h"
#include "engine/run_internal.h"
#include "engine/stop.h"

/* What the sampler has to do when; all times CLOCK_MONOTONIC, UINT64_MAX: never. */
struct agenda {
  struct bn_run *run;
  bool measuring; /* the gate has opened */
  bool warming;
  uint64_t refit_ns, interval_ns, tick_ns, forced_ns, grace_ns;
  size_t checkpoint;      /* index of the next one */
  uint64_t last_progress; /* which renews the grace */
};

static const uint64_t never = UINT64_MAX;

/* For a reporter to come back from a call once the run has been abandoned. */
static const uint64_t farewell_ns = BN_NSEC_PER_SEC;

static uint64_t checkpoint_at(const struct agenda *a)
{
  const struct bn_conf *c = a->run->conf;

  return a->checkpoint < c->n_checkpoints ? a->run->measure_ns + c->checkpoint_ns[a->checkpoint]
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
  struct bn_run *run = a->run;
  const struct bn_conf *c = run->conf;

  a->measuring = true;
  a->warming = c->warmup_ns != 0;
  a->interval_ns = c->interval_ns != 0 ? run->measure_ns + c->interval_ns : never;
  a->tick_ns = bn_book_ticks(run->book) ? run->measure_ns + BN_NSEC_PER_SEC : never;
  a->forced_ns = c->forced ? run->deadline_ns + forced_after(c) : never;
  /* At 0 there is nothing to report yet. */
  while (a->checkpoint < c->n_checkpoints && c->checkpoint_ns[a->checkpoint] == 0)
    a->checkpoint++;
}

/* However long this thread is held up in it, no event begins meanwhile: otherwise short ones by the
   thousand would end between the baseline and the first ticket. */
static void end_warmup(struct agenda *a, uint64_t now)
{
  struct bn_run *run = a->run;
  const struct bn_snap *base;

  bn_admit_freeze(&run->admit);
  base = bn_book_baseline(run->book, now);
  for (unsigned i = 0; i < run->conf->threads; i++)
    run->warm_events[i] = base->session[i].events;
  bn_admit_thaw(&run->admit, run->warm_events);
  a->warming = false;
}

/* The first point after `now` on the grid; a late report skips what it missed. */
static uint64_t next_on_grid(uint64_t from, uint64_t step, uint64_t now)
{
  return now < from ? from : from + ((now - from) / step + 1) * step;
}

static void report_due(struct agenda *a, uint64_t now)
{
  struct bn_run *run = a->run;
  struct bn_moment m;

  if (now >= a->interval_ns) {
    m = bn_run_moment(run, now);
    bn_run_note(run, bn_book_interval(run->book, &m));
    a->interval_ns = next_on_grid(a->interval_ns, run->conf->interval_ns, now);
    /* Whoever prints it may have taken his time. */
    now = bn_clock_mono();
  }
  if (now >= checkpoint_at(a)) {
    m = bn_run_moment(run, now);
    bn_run_note(run, bn_book_checkpoint(run->book, &m));
    while (now >= checkpoint_at(a))
      a->checkpoint++;
  }
  if (now >= a->tick_ns) {
    m = bn_run_moment(run, now);
    bn_run_note(run, bn_book_tick(run->book, &m));
    a->tick_ns = next_on_grid(a->tick_ns, BN_NSEC_PER_SEC, now);
  }
}

static void check_backlog(const struct agenda *a, uint64_t now)
{
  struct bn_run *run = a->run;
  const uint64_t most = (uint64_t)run->conf->raw.rate_max_backlog;

  if (run->conf->raw.rate <= 0 || most == 0 || !a->measuring)
    return;
  if (bn_run_backlog(run, now, bn_admit_left(&run->admit)) > most) {
    (void)pthread_mutex_lock(&run->lock);
    run->over_backlog = true;
    (void)pthread_mutex_unlock(&run->lock);
    if (run->conf->policy->overload_passes)
      bn_log(BN_FATAL, "Event queue is full.");
  }
}

/* Hundreds of sessions that close their statements one after another are not stuck. */
uint64_t bn_run_progress(struct bn_run *run)
{
  const struct bn_statset *sets[] = {&run->stats, &run->side_stats};
  uint64_t n;
  unsigned i, k;

  (void)pthread_mutex_lock(&run->lock);
  n = run->gone;
  (void)pthread_mutex_unlock(&run->lock);
  for (k = 0; k < 2; k++)
    for (i = 0; i < sets[k]->n_sessions; i++) {
      const struct bn_stat *st = sets[k]->stat[i];

      n += bn_stat_get(&st->counter[BN_C_READ]) + bn_stat_get(&st->counter[BN_C_WRITE]) +
           bn_stat_get(&st->counter[BN_C_OTHER]) + bn_stat_get(&st->ended);
    }
  return n;
}

uint64_t bn_run_grace(const struct bn_run *run, uint64_t least_ns)
{
  /* Events without SQL are what statements are to the others; under --rate they include waiting. */
  const bool events = bn_run_kind(run) != BN_KIND_SQL && run->conf->raw.rate <= 0;
  uint64_t longest = 0;
  unsigned i;

  if (!run->conf->grace_auto)
    return run->conf->grace_ns;
  for (i = 0; i < run->conf->threads; i++) {
    const struct bn_stat *st = run->stats.stat[i];
    const uint64_t ns = bn_stat_get(events ? &st->max_ns : &st->longest_statement_ns);

    longest = ns > longest ? ns : longest;
  }
  return 3 * longest > least_ns ? 3 * longest : least_ns;
}

static uint64_t grace(const struct bn_run *run)
{
  return bn_run_grace(run, 2 * BN_NSEC_PER_SEC);
}

/* Once nothing new may begin, what is in flight gets the grace; a statement that completes renews
   it.  Built-in tests and scripts without SQL have none unless the user sets one. */
static void watch_grace(struct agenda *a, uint64_t now)
{
  struct bn_run *run = a->run;
  uint64_t done;

  if (now < bn_stat_get(&run->admit.limit.until_ns) ||
      (run->conf->grace_auto && bn_run_kind(run) != BN_KIND_SQL))
    return;
  done = bn_run_progress(run);
  if (a->grace_ns == never || done != a->last_progress) {
    a->last_progress = done;
    a->grace_ns = now + grace(run);
  }
}

static unsigned count_busy(struct bn_run *run)
{
  unsigned n;

  (void)pthread_mutex_lock(&run->lock);
  n = run->conf->threads - run->gone;
  (void)pthread_mutex_unlock(&run->lock);
  return n;
}

static void use_up_grace(struct agenda *a)
{
  struct bn_run *run = a->run;

  bn_log_stderr(
      "the time grace of %.1f s is used up: %u thread(s) are still busy; the report comes "
      "without what they are doing",
      (double)grace(run) * 1e-9, count_busy(run));
  bn_run_interrupt_all(run);
  bn_run_abandon(run, BN_STATUS_TIMEOUT);
}

static void force_shutdown(struct agenda *a)
{
  bn_log(BN_FATAL, "The --max-time limit has expired, forcing shutdown...");
  bn_run_abandon(a->run, BN_STATUS_TIMEOUT);
}

static uint64_t next_wake(const struct agenda *a)
{
  uint64_t at = a->refit_ns;

  if (!a->measuring)
    return at;
  if (a->warming)
    return bn_least(at, a->run->measure_ns);
  at = bn_least(at, bn_least(bn_least(a->interval_ns, a->tick_ns), checkpoint_at(a)));
  at = bn_least(at, bn_least(a->forced_ns, a->grace_ns));
  return bn_least(at, a->run->deadline_ns > bn_clock_mono() ? a->run->deadline_ns : never);
}

static void do_due(struct agenda *a)
{
  struct bn_run *run = a->run;
  const uint64_t now = bn_clock_mono();

  if (now >= a->refit_ns) {
    bn_clock_refit(&run->clock);
    check_backlog(a, now);
    a->refit_ns = now + BN_NSEC_PER_SEC;
  }
  if (!a->measuring)
    return;
  if (a->warming && now >= run->measure_ns)
    end_warmup(a, now);
  if (!a->warming)
    report_due(a, now);
  watch_grace(a, now);
  /* A report may have held this up until there was nobody left. */
  if (count_busy(run) == 0)
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

static void *sampler_main(void *arg)
{
  struct agenda a;
  struct bn_run *run = arg;
  bool stop = false, opened, abandoned;

  memset(&a, 0, sizeof a);
  a.run = run;
  a.refit_ns = bn_clock_mono() + BN_NSEC_PER_SEC / 10;
  a.interval_ns = a.tick_ns = a.forced_ns = a.grace_ns = never;
  while (!stop) {
    bn_stop_sleep(next_wake(&a));
    (void)pthread_mutex_lock(&run->lock);
    stop = run->stop_sampler;
    opened = run->opened;
    abandoned = run->abandoned;
    (void)pthread_mutex_unlock(&run->lock);
    if (opened && !a.measuring)
      start_measuring(&a);
    if (!abandoned)
      do_due(&a);
  }
  check_backlog(&a, bn_clock_mono());
  (void)pthread_mutex_lock(&run->lock);
  run->sampler_gone = true;
  (void)pthread_cond_broadcast(&run->changed);
  (void)pthread_mutex_unlock(&run->lock);
  return NULL;
}

int bn_sampler_start(struct bn_run *run, struct bn_err *err)
{
  const int rc = pthread_create(&run->sampler, NULL, sampler_main, run);

  if (rc != 0)
    return bn_err_set(err, rc, "cannot start the reporting thread: %s", strerror(rc));
  run->sampler_made = true;
  return 0;
}

/* With the lock.  A hook may take its time, but not once the run has been abandoned. */
static bool await_end(struct bn_run *run)
{
  uint64_t until_ns = 0;
  int rc = 0;

  while (!run->sampler_gone && rc == 0) {
    if (!run->abandoned) {
      rc = pthread_cond_wait(&run->changed, &run->lock);
      continue;
    }
    if (until_ns == 0)
      until_ns = bn_clock_mono() + farewell_ns;
    const struct timespec at = {(time_t)(until_ns / BN_NSEC_PER_SEC),
                                (long)(until_ns % BN_NSEC_PER_SEC)};

    rc = pthread_cond_timedwait(&run->changed, &run->lock, &at);
  }
  return run->sampler_gone;
}

void bn_sampler_stop(struct bn_run *run)
{
  bool gone;

  if (!run->sampler_made)
    return;
  (void)pthread_mutex_lock(&run->lock);
  run->stop_sampler = true;
  bn_stop_wake(run->sampler);
  gone = await_end(run);
  run->sampler_left = !gone;
  if (!gone)
    bn_book_leave_reporter(run->book);
  (void)pthread_mutex_unlock(&run->lock);
  if (gone)
    (void)pthread_join(run->sampler, NULL);
  run->sampler_made = false;
}
