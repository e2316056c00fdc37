/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The figures of what is watched if the answer at the end of an interval or a checkpoint comes too
   late, on a simulated clock. */
#include "toyrun.h"
#include "toywatch.h"

#include "engine/stop.h"

/* Runs a load of 1 s whose first reading after the start answers too late. */
static void run_with_late_answer(const struct bn_conf *c)
{
  static const struct bn_watcher *const watchers[] = {&toy_watcher};
  const struct bn_report_use use = {.ops = &recorder, .out = stdout};
  struct toy t = {.sleep_us = 7000};
  const struct bn_run_setup setup = {.conf = c,
                                     .ops = &toy_workload,
                                     .self = &t,
                                     .reporters = &use,
                                     .n_reporters = 1,
                                     .watchers = watchers,
                                     .n_watchers = 1};
  struct bn_err err = {0};
  struct bn_run *run;

  toy_watch = (struct toy_watch){.late_read = 2};
  memset(&seen, 0, sizeof seen);
  sim_begin();
  assert_int_equal(bn_run_new(&run, &setup, &err), 0);
  assert_int_equal(bn_run_execute(run), 0);
  bn_run_free(run);
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

BN_TESTS(run_watched)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_interval_without_a_reading_counts_in_the_next),
      cmocka_unit_test(a_checkpoint_without_a_reading_counts_in_the_total),
  };

  bn_stop_block_signals();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
