/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The arrivals of the final report add up: due = started + dropped + queued. */
#include "cm.h"

#include <string.h>

#include "dialect/dialect.h"
#include "engine/arrivals.h"
#include "engine/run_state.h"
#include "measure/stat.h"

/* The parts that are asked at the end of a paced run, which was cut after three seconds. */
struct ground {
  struct bn_quota quota;
  struct bn_outcome outcome;
  struct bn_load load;
  struct bn_threads threads; /* of nobody */
  struct bn_pacer pacer;
  struct bn_outage outage;
  struct bn_conf conf;
  struct bn_run_parts parts;
  struct bn_hist *ages;
};

static const struct bn_times times = {1000, 1000 + BN_NSEC_PER_SEC, UINT64_MAX};
static const uint64_t end_ns = 1000 + 3 * BN_NSEC_PER_SEC;

static struct ground *lay(double rate)
{
  struct ground *g = aligned_alloc(64, (sizeof *g + 63) / 64 * 64);
  struct bn_quota_plan plan = {.sessions = 1, .by_start = true};

  assert_non_null(g);
  memset(g, 0, sizeof *g);
  g->conf.policy = &bn_policy_bench;
  g->conf.plan.threads = 1;
  assert_int_equal(pthread_mutex_init(&g->threads.lock, NULL), 0);
  bn_outcome_init(&g->outcome);
  bn_outcome_record_cut(&g->outcome, end_ns);
  bn_outcome_record_looped(&g->outcome, end_ns, end_ns + 1);
  assert_int_equal(bn_load_init(&g->load, 1, 1, NULL, BN_STAT_WARMUP | BN_STAT_WAITING, NULL), 0);
  g->load.stats.stat[0]->counts_from_ns = times.measure_ns;
  plan.stat = g->load.stats.stat;
  bn_quota_init(&g->quota, &plan);
  bn_pacer_init_rate(&g->pacer, 1, rate);
  bn_pacer_start(&g->pacer, times.start_ns);
  bn_outage_init(&g->outage, &g->load.stats);
  g->ages = bn_hist_new();
  assert_non_null(g->ages);
  g->parts = (struct bn_run_parts){.conf = &g->conf,
                                   .outcome = &g->outcome,
                                   .load = &g->load,
                                   .threads = &g->threads,
                                   .quota = &g->quota,
                                   .pacer = &g->pacer,
                                   .outage = &g->outage};
  return g;
}

static void clear(struct ground *g)
{
  bn_hist_free(g->ages);
  bn_outage_done(&g->outage);
  bn_pacer_done(&g->pacer);
  bn_quota_done(&g->quota);
  bn_load_done(&g->load);
  (void)pthread_mutex_destroy(&g->threads.lock);
  free(g);
}

/* Events that have begun and ended. */
static void serve(struct ground *g, uint64_t warm, uint64_t counted, uint64_t dropped)
{
  struct bn_stat *st = g->load.stats.stat[0];

  bn_stat_bump(&st->warm_events, warm);
  bn_stat_count(st, BN_C_EVENTS, counted);
  bn_stat_bump(&st->dropped, dropped);
  bn_stat_bump(&st->begun, warm + counted + dropped);
  bn_stat_bump(&st->ended, warm + counted + dropped);
}

static struct bn_run_state end_of(struct ground *g)
{
  bn_hist_clear(g->ages);
  return bn_run_state_end(&g->parts, &times, g->ages);
}

static void expect(const struct bn_run_state *m, uint64_t due, uint64_t queued,
                   uint64_t warmup_waiting)
{
  assert_int_equal(m->now_ns, end_ns);
  assert_int_equal(m->due, due);
  assert_int_equal(m->backlog, queued);
  assert_int_equal(m->warmup_waiting, warmup_waiting);
  assert_int_equal(bn_hist_count(m->ages), queued);
  assert_int_equal(m->oldest_ns > 0, queued > 0);
}

static void the_queue_is_what_is_due_and_has_not_begun(void **state)
{
  struct ground *g = lay(1000);
  const struct bn_pacer_due due = bn_pacer_count_due(&g->pacer, times.measure_ns, end_ns);
  struct bn_run_state m;

  (void)state;
  serve(g, due.warmup - 3, 0, 0);
  m = end_of(g);
  expect(&m, due.counted, due.counted, 3);
  assert_in_range(m.oldest_ns, 19 * BN_NSEC_PER_SEC / 10, 2 * BN_NSEC_PER_SEC);
  serve(g, 3, due.counted - 15, 5);
  m = end_of(g);
  expect(&m, due.counted, 10, 0);
  clear(g);
}

/* Events begin until the end of the run is known, which is after it. */
static void what_has_begun_was_due(void **state)
{
  struct ground *g = lay(1000);
  const struct bn_pacer_due due = bn_pacer_count_due(&g->pacer, times.measure_ns, end_ns);
  struct bn_run_state m;

  (void)state;
  serve(g, due.warmup, due.counted + 7, 0);
  m = end_of(g);
  expect(&m, due.counted + 7, 0, 0);
  clear(g);
}

/* The arrivals of a billion a second are not counted.  One standard deviation of those in the
   warm-up is 31,000. */
static void an_estimate_adds_up(void **state)
{
  const uint64_t rate = 1000000000, warmup = rate + 31000;
  struct ground *g = lay((double)rate);
  struct bn_run_state m;

  (void)state;
  serve(g, warmup, 700, 50);
  m = end_of(g);
  assert_in_range(m.backlog, 2 * rate - 40000, 2 * rate);
  expect(&m, 750 + m.backlog, m.backlog, 0);
  assert_in_range(m.oldest_ns, 19 * BN_NSEC_PER_SEC / 10, 2 * BN_NSEC_PER_SEC);
  clear(g);
}

BN_TESTS(run_state)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_queue_is_what_is_due_and_has_not_begun),
      cmocka_unit_test(what_has_begun_was_due),
      cmocka_unit_test(an_estimate_adds_up),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
