/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread pool: each worker is in one state, and one call ends whatever they wait for. */
#include "cm.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/grace.h"
#include "engine/run.h"
#include "engine/threads.h"
#include "measure/stat.h"

enum { N = 6, ROUNDS = 3 };

/* The parts that a thread pool stands on. */
struct ground {
  struct bn_quota quota;
  struct bn_outcome outcome;
  struct bn_load load;
  struct bn_pacer pacer;
  struct bn_threads threads;
  struct bn_session session[N];
  _Atomic unsigned woken; /* workers whose wait ended without what they waited for */
  _Atomic unsigned met;   /* or with it */
  _Atomic unsigned told;  /* how often other hosts were waited for */
  pthread_t other[ROUNDS];
};

static struct ground *lay(void)
{
  struct ground *g = aligned_alloc(64, (sizeof *g + 63) / 64 * 64);
  struct bn_quota_plan plan = {.events = 100, .sessions = N};

  assert_non_null(g);
  memset(g, 0, sizeof *g);
  bn_outcome_init(&g->outcome);
  assert_int_equal(bn_load_init(&g->load, N, N, NULL, 0, NULL), 0);
  plan.stat = g->load.stats.stat;
  bn_quota_init(&g->quota, &plan);
  bn_pacer_init_rate(&g->pacer, 1, 1e-6);
  bn_threads_init(&g->threads, g->session, N, N, &g->outcome, &g->quota, &g->pacer);
  for (unsigned i = 0; i < N; i++) {
    g->session[i].state = g;
    g->session[i].id = i;
    atomic_store(&g->session[i].doing, "testing");
  }
  return g;
}

static void clear(struct ground *g)
{
  bn_threads_done(&g->threads);
  bn_pacer_done(&g->pacer);
  bn_quota_done(&g->quota);
  bn_load_done(&g->load);
  free(g);
}

static void spawn_until(struct ground *g, void *(*body)(void *), uint64_t until_ns)
{
  const struct bn_threads_plan plan = {.body = body, .until_ns = until_ns};
  struct bn_err err = {0};

  assert_int_equal(bn_threads_spawn(&g->threads, &plan, &err), 0);
}

static void spawn(struct ground *g, void *(*body)(void *))
{
  spawn_until(g, body, UINT64_MAX);
}

static const struct bn_times endless = {1, 1, UINT64_MAX};

/* Two sleep until an arrival, the others wait at the barrier, which needs all. */
static void *wait_for_ever(void *arg)
{
  struct bn_session *s = bn_worker_session(arg, 0);
  struct ground *g = s->state;
  bool met;

  bn_threads_enter_stage(&g->threads, s, BN_SESSION_READY);
  if (bn_threads_await_start_barrier(&g->threads, 1)) {
    met = s < &g->session[2]
              ? bn_pacer_sleep(&g->pacer, &g->quota.limit, bn_clock_mono() + 3600 * BN_NSEC_PER_SEC)
              : bn_threads_await_barrier(&g->threads);
    atomic_fetch_add(met ? &g->met : &g->woken, 1);
    bn_threads_note_looped(&g->threads, s, 5);
  }
  bn_threads_enter_stage(&g->threads, s, BN_SESSION_GONE);
  return NULL;
}

static void after_a_signal_no_more_are_started(void **state)
{
  struct ground *g = lay();

  (void)state;
  bn_threads_end(&g->threads, BN_CAUSE_SIGNAL, 15);
  spawn(g, wait_for_ever);
  assert_int_equal(g->threads.created, 0);
  assert_false(bn_threads_await_ready(&g->threads, UINT64_MAX));
  assert_true(bn_threads_await(&g->threads, UINT64_MAX));
  assert_int_equal(atomic_load(&g->woken) + atomic_load(&g->met), 0);
  bn_threads_join(&g->threads);
  clear(g);
}

/* A worker counts once.  The last one ends the run, and before the start each one does. */
static void a_failure_ends_the_run_or_is_counted(void **state)
{
  (void)state;
  for (int goes_on = 0; goes_on < 2; goes_on++)
    for (int opened = 0; opened < 2; opened++) {
      struct ground *g = lay();
      const bool counts = goes_on && opened;

      g->threads.goes_on = goes_on != 0;
      if (opened)
        bn_outcome_set(&g->outcome, BN_OUTCOME_OPENED);
      assert_int_equal(bn_threads_fail(&g->threads, 2), counts);
      assert_false(bn_threads_fail(&g->threads, 2));
      assert_int_equal(bn_threads_count_failed(&g->threads), counts);
      assert_int_equal(bn_outcome_has(&g->outcome, BN_OUTCOME_FAILED), !counts);
      assert_int_equal(bn_outcome_status(&g->outcome), 1);
      for (unsigned i = 0; i < N; i++)
        (void)bn_threads_fail(&g->threads, i);
      assert_int_equal(bn_threads_count_failed(&g->threads), counts ? N : 0);
      assert_true(bn_outcome_has(&g->outcome, BN_OUTCOME_FAILED));
      clear(g);
    }
}

static void one_call_ends_every_wait(void **state)
{
  static const enum bn_cause causes[] = {BN_CAUSE_FAILED, BN_CAUSE_EXIT, BN_CAUSE_SIGNAL};
  static const int statuses[] = {1, 15, 128 + 15};

  (void)state;
  for (size_t i = 0; i < 3; i++) {
    struct ground *g = lay();
    struct bn_times times;

    spawn(g, wait_for_ever);
    assert_true(bn_threads_await_ready(&g->threads, UINT64_MAX));
    assert_false(bn_threads_get_times(&g->threads, &times));
    assert_true(bn_threads_open(&g->threads, &endless));
    assert_true(bn_threads_get_times(&g->threads, &times));
    (void)usleep(20000);
    assert_false(bn_threads_await(&g->threads, bn_clock_mono() + BN_NSEC_PER_MSEC));
    assert_int_equal(bn_threads_count_busy(&g->threads), N);
    bn_threads_end(&g->threads, causes[i], 15);
    assert_true(bn_threads_await(&g->threads, bn_clock_mono() + 8 * BN_NSEC_PER_SEC));
    assert_int_equal(atomic_load(&g->woken), N);
    assert_int_equal(bn_threads_count_gone(&g->threads), N);
    assert_int_equal(bn_threads_count_at_limit(&g->threads), 0);
    assert_int_equal(bn_outcome_status(&g->outcome), statuses[i]);
    assert_int_equal(bn_quota_claim(&g->quota.share[0], 1), BN_QUOTA_CLOSED);
    bn_threads_join(&g->threads);
    clear(g);
  }
}

/* Of an end that comes when there is nothing more to do, nothing is missing. */
static void *loop_once(void *arg)
{
  struct bn_session *s = bn_worker_session(arg, 0);
  struct ground *g = s->state;

  bn_threads_enter_stage(&g->threads, s, BN_SESSION_READY);
  if (bn_threads_await_start_barrier(&g->threads, 1))
    bn_threads_note_looped(&g->threads, s, 5);
  bn_threads_enter_stage(&g->threads, s, BN_SESSION_GONE);
  return NULL;
}

static void an_end_is_early_while_events_can_begin(void **state)
{
  static const struct bn_times past = {1, 1, 2};
  static const struct {
    void *(*body)(void *);
    const struct bn_times *times;
    bool early;
  } cases[] = {
      {wait_for_ever, &endless, true}, {wait_for_ever, &past, false}, {loop_once, &endless, false}};

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct ground *g = lay();

    spawn(g, cases[i].body);
    assert_true(bn_threads_await_ready(&g->threads, UINT64_MAX));
    assert_true(bn_threads_open(&g->threads, cases[i].times));
    if (cases[i].body == loop_once)
      assert_true(bn_threads_await(&g->threads, bn_clock_mono() + 8 * BN_NSEC_PER_SEC));
    assert_false(bn_outcome_has(&g->outcome, BN_OUTCOME_EARLY));
    bn_threads_end(&g->threads, BN_CAUSE_EXIT, 0);
    assert_int_equal(bn_outcome_has(&g->outcome, BN_OUTCOME_EARLY), cases[i].early);
    assert_true(bn_threads_await(&g->threads, bn_clock_mono() + 8 * BN_NSEC_PER_SEC));
    bn_threads_join(&g->threads);
    clear(g);
  }
}

static void when_time_is_up_no_more_are_started(void **state)
{
  struct ground *g = lay();

  (void)state;
  spawn_until(g, wait_for_ever, bn_clock_mono());
  assert_int_equal(g->threads.created, 0);
  assert_false(bn_threads_await_ready(&g->threads, bn_clock_mono()));
  clear(g);
}

static void ended_before_the_gate_nothing_is_measured(void **state)
{
  struct ground *g = lay();

  (void)state;
  spawn(g, wait_for_ever);
  bn_threads_end(&g->threads, BN_CAUSE_SIGNAL, 2);
  assert_false(bn_threads_open(&g->threads, &endless));
  assert_false(bn_outcome_has(&g->outcome, BN_OUTCOME_OPENED));
  assert_true(bn_threads_await(&g->threads, bn_clock_mono() + 8 * BN_NSEC_PER_SEC));
  assert_int_equal(atomic_load(&g->woken) + atomic_load(&g->met), 0);
  bn_threads_join(&g->threads);
  clear(g);
}

/* The first one does not come: it has gone. */
static void *meet(void *arg)
{
  struct bn_session *s = bn_worker_session(arg, 0);
  struct ground *g = s->state;

  if (s != g->session)
    for (int i = 0; i < ROUNDS; i++)
      atomic_fetch_add(bn_threads_await_barrier(&g->threads) ? &g->met : &g->woken, 1);
  bn_threads_enter_stage(&g->threads, s, BN_SESSION_GONE);
  return NULL;
}

static void who_has_gone_is_not_waited_for(void **state)
{
  struct ground *g = lay();

  (void)state;
  spawn(g, meet);
  assert_true(bn_threads_await(&g->threads, UINT64_MAX) || atomic_load(&g->met) > 0);
  bn_threads_join(&g->threads);
  assert_int_equal(atomic_load(&g->met), ROUNDS * (N - 1));
  assert_int_equal(atomic_load(&g->woken), 0);
  clear(g);
}

/* The other hosts come later, each time. */
static void *come_later(void *arg)
{
  struct ground *g = arg;

  (void)usleep(2000);
  assert_int_equal(atomic_load(&g->met), (g->told - 1) * (N - 1));
  bn_threads_release_barrier(&g->threads);
  return NULL;
}

static void tell_others(void *of)
{
  struct ground *g = of;
  const unsigned round = g->told++;

  assert_in_range(round, 0, ROUNDS - 1);
  assert_int_equal(pthread_create(&g->other[round], NULL, come_later, g), 0);
}

static void sessions_of_other_hosts_are_waited_for(void **state)
{
  struct ground *g = lay();
  const struct bn_host_group host_group = {.sessions = N + 1, .of = g, .meet = tell_others};

  (void)state;
  g->threads.host_group = &host_group;
  bn_threads_release_barrier(&g->threads); /* nobody waits: it means nothing */
  spawn(g, meet);
  assert_true(bn_threads_await(&g->threads, UINT64_MAX));
  bn_threads_join(&g->threads);
  assert_int_equal(g->told, ROUNDS);
  for (unsigned i = 0; i < ROUNDS; i++)
    assert_int_equal(pthread_join(g->other[i], NULL), 0);
  assert_int_equal(atomic_load(&g->met), ROUNDS * (N - 1));
  clear(g);
}

/* The clock is the test's: nothing waits. */
static void the_grace_follows_what_was_completed(void **state)
{
  struct ground *g = lay();
  const struct bn_policy own = {.dialect = NULL}, dialect = {.dialect = "1.0"};
  struct bn_conf conf = {.plan = {.threads = N}, .grace_auto = true, .policy = &own};
  const struct bn_workload ops = {.name = "toy", .kind = BN_KIND_SQL};
  const struct bn_run_setup setup = {.conf = &conf, .ops = &ops};
  struct bn_run_parts parts = {.conf = &conf, .load = &g->load, .threads = &g->threads};
  struct bn_progress before, after;

  (void)state;
  parts.reports = bn_reports_new(&setup, &g->load.stats, NULL);
  assert_true(bn_grace_is_limited(&parts));
  assert_int_equal(bn_grace_least_ns(&parts, false), 2 * BN_NSEC_PER_SEC);
  assert_int_equal(bn_grace_ns(&parts, 2000), 2000);
  atomic_store(&g->load.stats.stat[1]->longest_statement_ns, 700);
  atomic_store(&g->load.stats.stat[2]->longest_statement_ns, 500);
  atomic_store(&g->load.stats.stat[3]->max_ns, 1000);
  assert_int_equal(bn_grace_ns(&parts, 2000), 2100);
  bn_reports_set_kind(parts.reports, BN_KIND_PLAIN);
  assert_false(bn_grace_is_limited(&parts));
  parts.scripted = true;
  assert_true(bn_grace_is_limited(&parts));
  assert_int_equal(bn_grace_least_ns(&parts, false), 10 * BN_NSEC_PER_SEC);
  assert_int_equal(bn_grace_ns(&parts, 2000), 3000);
  conf.policy = &dialect;
  assert_int_equal(bn_grace_least_ns(&parts, false), 60 * BN_NSEC_PER_SEC);
  assert_int_equal(bn_grace_least_ns(&parts, true), 10 * BN_NSEC_PER_SEC);
  assert_false(bn_grace_is_limited(&parts));
  assert_true(bn_grace_longest_ns(&parts, 20) > UINT64_MAX / 5);
  conf.grace_auto = false;
  conf.grace_ns = 5;
  assert_true(bn_grace_is_limited(&parts));
  assert_int_equal(bn_grace_ns(&parts, 2000), 5);
  before = bn_grace_read_progress(&parts);
  bn_stat_count(g->load.side.stat[0], BN_C_OTHER, 2);
  bn_stat_bump(&g->load.stats.stat[5]->ended, 1);
  bn_threads_enter_stage(&g->threads, &g->session[4], BN_SESSION_GONE);
  after = bn_grace_read_progress(&parts);
  assert_int_equal(after.all, before.all + 4);
  assert_int_equal(after.ended, before.ended + 2);
  assert_int_equal(bn_grace_longest_ns(&parts, 20), 3000);
  assert_int_equal(bn_grace_longest_ns(&parts, 2000), 20000);
  bn_reports_free(parts.reports);
  clear(g);
}

/* Their latency begins when they were due. */
static void events_at_a_rate_last_as_long_as_their_service(void **state)
{
  struct bn_load load = {.stats = {.n_sessions = 0}};
  struct bn_stat *st;

  (void)state;
  assert_int_equal(bn_statset_init(&load.stats, 2, 2, NULL, BN_STAT_WAITING), 0);
  st = load.stats.stat[1];
  bn_stat_record(st, st->service_hist, 7000);
  atomic_store(&st->max_ns, 900000);
  assert_in_range(bn_load_find_longest_event(&load), 7000, 7070);
  bn_statset_done(&load.stats);
}

BN_TESTS(threads)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_call_ends_every_wait),
      cmocka_unit_test(an_end_is_early_while_events_can_begin),
      cmocka_unit_test(a_failure_ends_the_run_or_is_counted),
      cmocka_unit_test(after_a_signal_no_more_are_started),
      cmocka_unit_test(when_time_is_up_no_more_are_started),
      cmocka_unit_test(ended_before_the_gate_nothing_is_measured),
      cmocka_unit_test(who_has_gone_is_not_waited_for),
      cmocka_unit_test(sessions_of_other_hosts_are_waited_for),
      cmocka_unit_test(the_grace_follows_what_was_completed),
      cmocka_unit_test(events_at_a_rate_last_as_long_as_their_service),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
