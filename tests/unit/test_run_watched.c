/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The figures of what is watched, on a simulated clock: if the answer at the end of an interval or
   a checkpoint comes too late, and in a long run. */
#include "toyrun.h"
#include "toywatch.h"

#include "engine/stop.h"

/* Runs a load whose reading number late_read (0: none) answers too late. */
static void run_watched(const struct bn_conf *c, const struct bn_workload *ops, unsigned event_us,
                        const struct bn_watcher *watcher, unsigned late_read)
{
  const struct bn_watcher *const watchers[] = {watcher};
  const struct bn_report_use use = {.ops = &recorder, .out = stdout};
  struct toy t = {.sleep_us = event_us};
  const struct bn_run_setup setup = {.conf = c,
                                     .ops = ops,
                                     .self = &t,
                                     .reporters = &use,
                                     .n_reporters = 1,
                                     .watchers = watchers,
                                     .n_watchers = 1};
  struct bn_err err = {0};
  struct bn_run *run;

  toy_watch = (struct toy_watch){.late_read = late_read};
  memset(&seen, 0, sizeof seen);
  sim_begin();
  assert_int_equal(bn_run_new(&run, &setup, &err), 0);
  assert_int_equal(bn_run_execute(run), 0);
  bn_run_free(run);
}

/* Runs a load of 1 s whose first reading after the start answers too late. */
static void run_with_late_answer(const struct bn_conf *c)
{
  run_watched(c, &toy_workload, 7000, &toy_watcher, 2);
}

/* Figures per transaction are of the time since the reading before: of the transactions, too. */
static void an_interval_without_a_reading_counts_in_the_next(void **state)
{
  struct bn_conf c = make_conf(3);

  (void)state;
  c.plan.time_ns = BN_NSEC_PER_SEC;
  c.plan.interval_ns = BN_NSEC_PER_SEC / 4;
  run_with_late_answer(&c);
  assert_int_equal(seen.intervals, 4);
  assert_int_equal(seen.watched_intervals, 3);
  assert_int_equal(toy_watch.transactions[0], seen.interval_events[0] + seen.interval_events[1]);
  assert_int_equal(toy_watch.transactions[1], seen.interval_events[2]);
  assert_int_equal(toy_watch.transactions[3], seen.total.events - seen.total.in_grace);
}

static void a_checkpoint_without_a_reading_counts_in_the_total(void **state)
{
  struct bn_conf c = make_conf(3);

  (void)state;
  c.plan.time_ns = BN_NSEC_PER_SEC;
  c.plan.checkpoint_ns[0] = BN_NSEC_PER_SEC / 2;
  c.plan.n_checkpoints = 1;
  run_with_late_answer(&c);
  assert_int_equal(seen.checkpoints, 1);
  assert_int_equal(seen.watched_totals, 1);
  assert_int_equal(toy_watch.compared, 1);
  assert_int_equal(toy_watch.transactions[0],
                   seen.checkpoint_events[0] + seen.total.events - seen.total.in_grace);
}

static unsigned n_samples;

static void count_sample(void *self, uint64_t *counter)
{
  (void)self;
  (void)counter;
  n_samples++;
}

/* Without intervals, counters of 32 bits could wrap around between the start and the end: those of
   a watcher and those of a workload. */
static void counters_that_wrap_are_read_each_minute(void **state)
{
  struct bn_watcher wrapping = toy_watcher;
  struct bn_workload w = toy_workload;
  struct bn_conf c = make_conf(1);
  unsigned n_of_1s;

  (void)state;
  wrapping.wraps = true;
  w.sample = count_sample;
  c.plan.time_ns = BN_NSEC_PER_SEC;
  n_samples = 0;
  run_watched(&c, &w, 500000, &wrapping, 0);
  assert_int_equal(toy_watch.reads, 2);
  n_of_1s = n_samples;
  n_samples = 0;
  c.plan.time_ns = 190 * BN_NSEC_PER_SEC;
  run_watched(&c, &w, 500000, &wrapping, 0);
  assert_int_equal(toy_watch.reads, 2 + 3);
  assert_int_equal(toy_watch.compared, 1);
  assert_int_equal(n_samples, n_of_1s + 3);
  run_watched(&c, &w, 500000, &toy_watcher, 0);
  assert_int_equal(toy_watch.reads, 2);
}

BN_TESTS(run_watched)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_interval_without_a_reading_counts_in_the_next),
      cmocka_unit_test(a_checkpoint_without_a_reading_counts_in_the_total),
      cmocka_unit_test(counters_that_wrap_are_read_each_minute),
  };

  bn_stop_block_signals();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
