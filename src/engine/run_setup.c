/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Allocates and frees a run: sessions, workers, statistics, snapshots, clock. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/log.h"
#include "engine/run_internal.h"

enum { CACHE_LINE = 64, SIDE_SESSIONS = 2 };

static size_t round_up(size_t n)
{
  return (n + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

/* A command draws the same numbers every time unless a seed is given, so that a prepared data set
 * can be made again. */
static uint64_t stream_seed(const struct bn_conf *conf, bool command)
{
  return command && !conf->seed_given ? 0 : conf->seed;
}

void bn_run_seed(struct bn_run *run, bool command)
{
  const unsigned n = run->conf->threads;
  unsigned i;

  run->seed = stream_seed(run->conf, command);
  for (i = 0; i < n; i++)
    bn_rng_seed(&run->sessions[i].rng, run->seed, command ? BN_RNG_DATA : BN_RNG_WORKLOAD, i);
  bn_rng_seed(&run->sessions[n].rng, run->seed, command ? BN_RNG_DATA : BN_RNG_COMMAND, 0);
  bn_rng_seed(&run->sessions[n + 1].rng, run->seed, BN_RNG_COMMAND, 1);
  bn_unique_init(&run->unique, run->seed);
}

/* A session with SQLite has a database, its log, its index and its journal open. */
void bn_run_allow_files(const struct bn_run *run)
{
  enum { OF_SESSION = 4, OTHERS = 256 };
  const rlim_t wanted = (rlim_t)run->conf->threads * OF_SESSION + OTHERS;
  struct rlimit limit;

  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
    return;
  limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

static int allocate_sessions(struct bn_run *run)
{
  const unsigned n = run->conf->threads, all = n + SIDE_SESSIONS;
  const size_t size = round_up(run->ops->session_size);
  unsigned i;

  run->sessions = aligned_alloc(CACHE_LINE, round_up(sizeof(struct bn_session) * all));
  run->workers = calloc(all, sizeof *run->workers);
  run->warm_events = calloc(n, sizeof *run->warm_events);
  if (run->sessions == NULL || run->workers == NULL || run->warm_events == NULL)
    return -1;
  memset(run->sessions, 0, sizeof(struct bn_session) * all);
  if (size > 0) {
    run->session_state = aligned_alloc(CACHE_LINE, size * all);
    if (run->session_state == NULL)
      return -1;
    memset(run->session_state, 0, size * all);
  }
  for (i = 0; i < all; i++) {
    struct bn_session *s = &run->sessions[i];

    s->id = i < n ? i : i == n ? 0 : n;
    s->limit = &run->admit.limit;
    s->seat = &run->admit.seat[i];
    s->pacer = run->pacer_made ? &run->pacer : NULL;
    s->services = &run->services;
    s->stat = i < n ? run->stats.stat[i] : run->side_stats.stat[i - n];
    s->state = size > 0 ? (char *)run->session_state + size * i : NULL;
    bn_clock_reader_init(&s->clock, &run->clock);
    atomic_store_explicit(&s->doing, "starting", memory_order_relaxed);
    run->workers[i].run = run;
    run->workers[i].session = s;
  }
  return 0;
}

static int allocate_measuring(struct bn_run *run, const struct bn_run_setup *setup)
{
  const struct bn_book_setup book = {.conf = setup->conf,
                                     .ops = setup->ops,
                                     .stats = &run->stats,
                                     .reports = setup->reports,
                                     .n_reports = setup->n_reports};

  if (bn_statset_init(&run->stats, run->conf->threads, run->ops->metrics) != 0 ||
      bn_statset_init(&run->side_stats, SIDE_SESSIONS, run->ops->metrics) != 0)
    return -1;
  return bn_book_new(&run->book, &book);
}

static int make_sync(struct bn_run *run)
{
  pthread_condattr_t attr;
  int rc;

  if (pthread_condattr_init(&attr) != 0)
    return -1;
  rc = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
  if (rc == 0)
    rc = pthread_mutex_init(&run->lock, NULL);
  if (rc == 0)
    rc = pthread_cond_init(&run->changed, &attr);
  (void)pthread_condattr_destroy(&attr);
  run->sync_made = rc == 0;
  if (rc == 0)
    rc = bn_gate_init(&run->gate, run->conf->threads);
  run->gate_made = rc == 0;
  return rc == 0 ? 0 : -1;
}

static int make_pacer(struct bn_run *run)
{
  if (run->conf->raw.rate <= 0)
    return 0;
  run->pacer_made = bn_pacer_init_rate(&run->pacer, run->conf->seed, run->conf->raw.rate) == 0;
  return run->pacer_made ? 0 : -1;
}

/* In sysbench 1.1 the event that each session has in flight when the warm-up ends comes on top. */
static int make_admit(struct bn_run *run)
{
  const struct bn_conf *c = run->conf;
  const struct bn_admit_plan plan = {.events = run->ops->own_amount ? 0 : c->events,
                                     .sessions = c->threads,
                                     .others = SIDE_SESSIONS,
                                     .warmup = c->warmup_ns != 0,
                                     .one_by_one = c->raw.rate > 0,
                                     .one_more = c->policy->warmup_event_is_extra,
                                     .stat = run->stats.stat};

  return bn_admit_init(&run->admit, &plan);
}

int bn_run_new(struct bn_run **out, const struct bn_run_setup *setup, struct bn_err *err)
{
  struct bn_run *run = aligned_alloc(CACHE_LINE, round_up(sizeof *run));

  *out = NULL;
  if (run == NULL)
    return bn_err_set(err, 0, "out of memory");
  memset(run, 0, sizeof *run);
  run->conf = setup->conf;
  run->ops = setup->ops;
  run->self = setup->self;
  run->workload_conf = setup->workload_conf;
  if (run->self == NULL && run->ops->open == NULL)
    run->self = (void *)(uintptr_t)setup->workload_conf;
  bn_clock_init(&run->clock, (enum bn_clock_choice)run->conf->raw.clock);
  if (allocate_measuring(run, setup) != 0 || make_admit(run) != 0 || make_pacer(run) != 0 ||
      allocate_sessions(run) != 0 || make_sync(run) != 0) {
    bn_run_free(run);
    return bn_err_set(err, 0, "out of memory for %u threads", setup->conf->threads);
  }
  bn_run_bind_services(run);
  bn_run_seed(run, true);
  *out = run;
  return 0;
}

void bn_run_know(struct bn_run *run, struct bn_facts *facts)
{
  bn_facts_text(facts, "clock", "source", bn_clock_name(&run->clock));
  bn_book_know(run->book, facts);
}

void bn_run_free(struct bn_run *run)
{
  if (run == NULL)
    return;
  bn_book_free(run->book);
  free(run->sessions);
  free(run->session_state);
  free(run->workers);
  free(run->warm_events);
  bn_statset_done(&run->stats);
  bn_statset_done(&run->side_stats);
  bn_admit_done(&run->admit);
  if (run->pacer_made)
    bn_pacer_done(&run->pacer);
  if (run->gate_made)
    bn_gate_done(&run->gate);
  if (run->sync_made) {
    (void)pthread_cond_destroy(&run->changed);
    (void)pthread_mutex_destroy(&run->lock);
  }
  free(run);
}
