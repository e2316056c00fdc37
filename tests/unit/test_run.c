/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole runs of tiny workloads: limits stay exact, failures keep the report, statuses tell the
 * truth. */
#include "toyrun.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/log.h"
#include "engine/stop.h"

/* On the grid of intervals, late ones left out: at least the one at the end. */
static void check_intervals(double step_s)
{
  assert_in_range(seen.intervals, 1, (size_t)(seen.total.at_s / step_s * 1.0001));
}

static void event_budget_is_exact(void **state)
{
  static const unsigned threads[] = {1, 4, 70};
  size_t i;

  (void)state;
  for (i = 0; i < 3; i++) {
    struct bn_conf c = make_conf(threads[i]);
    struct toy t = {0};

    c.events = 100003;
    assert_int_equal(run_it(&c, &toy_workload, &t), 0);
    assert_int_equal(seen.totals, 1);
    assert_int_equal(seen.total.events, 100003);
    assert_int_equal(t.closes, threads[i]);
    assert_true(seen.total.min_s > 0 && seen.total.min_s <= seen.total.avg_s);
    assert_true(seen.total.avg_s <= seen.total.max_s);
    assert_true(seen.pct >= seen.total.min_s && seen.pct <= seen.total.max_s);
    assert_true(seen.total.fair_events_avg * threads[i] > 100002.999);
    assert_true(seen.total.fair_events_avg * threads[i] < 100003.001);
  }
}

static int slow_session_close(void *self, struct bn_session *s, struct bn_err *err)
{
  (void)usleep(300000);
  return toy_session_close(self, s, err);
}

static void closing_is_measured_unless_it_is_not_to_be(void **state)
{
  struct bn_workload slow = toy_workload;
  struct bn_conf c = make_conf(2);
  struct toy t = {0};

  (void)state;
  c.events = 10;
  slow.session_close = slow_session_close;
  assert_int_equal(run_it(&c, &slow, &t), 0);
  assert_true(seen.total.span_s >= 0.3);
  slow.untimed_close = true;
  assert_int_equal(run_it(&c, &slow, &t), 0);
  assert_true(seen.total.span_s > 0 && seen.total.span_s < 0.3);
  assert_int_equal(t.closes, 4);
}

static void time_limit_holds(void **state)
{
  struct bn_conf c = make_conf(2);
  struct toy t = {.sleep_us = 1000};

  (void)state;
  c.time_ns = 300 * BN_NSEC_PER_MSEC;
  c.interval_ns = 100 * BN_NSEC_PER_MSEC;
  assert_int_equal(run_it(&c, &toy_workload, &t), 0);
  assert_true(seen.total.span_s >= 0.3 && seen.total.span_s < 5);
  assert_in_range(seen.total.events, 1, (uint64_t)(seen.total.span_s * 2000) + 2);
  /* A late report skips what it missed, but the one at the end always comes, and all sessions ran
   * until then. */
  check_intervals(0.1);
  assert_true(seen.interval_at[seen.intervals - 1] >= 0.3);
  assert_int_equal(seen.interval_running[seen.intervals - 1], 2);
}

static void checkpoints_split_the_run(void **state)
{
  struct bn_conf c = make_conf(2);
  struct toy t = {.sleep_us = 500};
  uint64_t sum;

  (void)state;
  c.time_ns = 300 * BN_NSEC_PER_MSEC;
  c.checkpoint_ns[0] = 100 * BN_NSEC_PER_MSEC;
  c.checkpoint_ns[1] = 200 * BN_NSEC_PER_MSEC;
  c.n_checkpoints = 2;
  assert_int_equal(run_it(&c, &toy_workload, &t), 0);
  assert_in_range(seen.checkpoints, 1, 2);
  assert_true(seen.checkpoint_at[0] >= 0.1);
  sum = seen.checkpoint_events[0] + seen.checkpoint_events[1] + seen.total.events;
  assert_true(sum > 0);
  assert_true(seen.total.span_s < seen.total.at_s && seen.total.at_s >= 0.3);
}

static void warmup_is_not_counted(void **state)
{
  struct bn_conf c = make_conf(1);
  struct toy t = {.sleep_us = 0};

  (void)state;
  c.warmup_ns = 50 * BN_NSEC_PER_MSEC;
  c.events = 50000;
  for (int i = 0; i < 5; i++) {
    /* Short events: many end between the end of the warm-up and its baseline. */
    assert_int_equal(run_it(&c, &toy_workload, &t), 0);
    assert_int_equal(seen.total.events, 50000);
    assert_true(seen.total.span_s < 5);
  }
}

/* The reporting thread may be held up in the middle of the baseline. */
static void slow_sample(void *self, uint64_t *counter)
{
  (void)self;
  (void)counter;
  (void)usleep(20000);
}

static void slow_baseline_counts_no_event_twice(void **state)
{
  struct bn_conf c = make_conf(2);
  struct bn_workload slow = toy_workload;
  struct toy t = {.sleep_us = 0};

  (void)state;
  slow.sample = slow_sample;
  c.warmup_ns = 20 * BN_NSEC_PER_MSEC;
  c.events = 1000;
  assert_int_equal(run_it(&c, &slow, &t), 0);
  assert_int_equal(seen.total.events, 1000);
  assert_true(seen.total.max_s < 5);
}

static void failing_event_keeps_the_report(void **state)
{
  struct bn_conf c = make_conf(3);
  struct toy t = {.sleep_us = 200, .fail_event = 2};

  (void)state;
  c.time_ns = 10 * BN_NSEC_PER_SEC;
  assert_int_equal(run_it(&c, &toy_workload, &t), BN_STATUS_FAILED);
  assert_int_equal(seen.totals, 1);
  assert_int_equal(t.closes, 3);
  assert_true(seen.total.span_s < 8);
}

static void failing_start_has_no_report(void **state)
{
  struct bn_conf c = make_conf(5);
  struct toy t = {.fail_open = 3};

  (void)state;
  assert_int_equal(run_it(&c, &toy_workload, &t), BN_STATUS_FAILED);
  assert_int_equal(seen.totals, 0);
  assert_int_equal(t.closes, 5);
}

static void *kill_soon(void *arg)
{
  (void)usleep(150000);
  (void)kill(getpid(), (int)(intptr_t)arg);
  return NULL;
}

static void signal_ends_in_order(void **state)
{
  struct bn_conf c = make_conf(2);
  struct toy t = {.sleep_us = 1000};
  pthread_t killer;

  (void)state;
  assert_int_equal(pthread_create(&killer, NULL, kill_soon, (void *)(intptr_t)SIGTERM), 0);
  assert_int_equal(run_it(&c, &toy_workload, &t), 128 + SIGTERM);
  (void)pthread_join(killer, NULL);
  assert_int_equal(seen.totals, 1);
  assert_true(seen.total.events > 0);
  assert_true(seen.total.span_s > 0.1 && seen.total.span_s < 8);
}

/* Lasts until the report has come. */
static enum bn_next endless_event(void *self, struct bn_session *s)
{
  (void)self;
  (void)s;
  while (!atomic_load(&reported))
    (void)usleep(1000);
  return BN_CONTINUE;
}

static void forced_shutdown_reports_unfinished(void **state)
{
  struct bn_conf c = make_conf(4);
  struct bn_workload endless = toy_workload;
  struct toy t = {0};

  (void)state;
  endless.event = endless_event;
  c.time_ns = 100 * BN_NSEC_PER_MSEC;
  c.forced = true;
  assert_int_equal(run_it(&c, &endless, &t), BN_STATUS_TIMEOUT);
  assert_int_equal(seen.totals, 1);
  assert_in_range(seen.total.unfinished, 1, 4); /* 4 unless a thread began after the limit */
  assert_int_equal(seen.total.events, 0);
}

static void threads_stop_before_they_are_forced(void **state)
{
  struct bn_conf c = make_conf(4);
  struct toy t = {0};

  (void)state;
  c.time_ns = 100 * BN_NSEC_PER_MSEC;
  c.forced = true;
  for (unsigned late = 0; run_it(&c, &toy_workload, &t) != 0; late++)
    assert_in_range(late, 0, 20); /* on a busy machine, but not every time */
}

static void rate_is_delivered(void **state)
{
  struct bn_conf c = make_conf(8);
  struct toy t = {0};

  (void)state;
  c.raw.rate = 5000;
  c.raw.rate_max_backlog = 131072;
  c.time_ns = 500 * BN_NSEC_PER_MSEC;
  assert_int_equal(run_it(&c, &toy_workload, &t), 0);
  /* Poisson: 2,500 with standard deviation 50 */
  assert_in_range(seen.total.events + seen.total.backlog, 2250, 2750);
  assert_true(seen.total.span_s < 5);
}

/* The next arrival is after the limit, but the run lasts as long as it was asked to. */
static void idle_workers_stay_until_the_limit(void **state)
{
  struct bn_conf c = make_conf(2);
  struct toy t = {0};

  (void)state;
  c.raw.rate = 0.01;
  c.time_ns = 300 * BN_NSEC_PER_MSEC;
  c.interval_ns = 150 * BN_NSEC_PER_MSEC;
  assert_int_equal(run_it(&c, &toy_workload, &t), 0);
  assert_int_equal(seen.total.events, 0);
  assert_true(seen.total.span_s >= 0.3);
  check_intervals(0.15);
}

static void overload_is_told(void **state)
{
  struct bn_conf c = make_conf(1);
  struct toy t = {.sleep_us = 10000};

  (void)state;
  c.raw.rate = 10000;
  c.raw.rate_max_backlog = 1000;
  c.time_ns = 300 * BN_NSEC_PER_MSEC;
  assert_int_equal(run_it(&c, &toy_workload, &t), BN_STATUS_FAILED);
  assert_true(seen.total.backlog > 2000);
  assert_true(seen.total.max_s > 0.2); /* waiting counts */
}

/* 0.5 counts from the start when the test has no checkpoint reports. */
static void checkpoints_follow_the_dialect(void **state)
{
  struct bn_conf c = make_conf(1);
  struct toy t = {.sleep_us = 1000};

  (void)state;
  c.raw.debug = true;
  c.n_checkpoints = 1;
  c.checkpoint_ns[0] = 50 * BN_NSEC_PER_MSEC;
  c.time_ns = 150 * BN_NSEC_PER_MSEC;
  assert_int_equal(run_it(&c, &toy_workload, &t), 0);
  assert_int_equal(seen.checkpoints, 1);
  assert_int_equal(seen.checkpoint_sessions, 1);
  assert_true(seen.total.span_s < seen.total.at_s - 0.0499);
  c.policy = &bn_policy_05;
  assert_int_equal(run_it(&c, &toy_workload, &t), 0);
  assert_int_equal(seen.checkpoints, 0);
  assert_true(seen.total.span_s >= 0.15);
}

struct many {
  unsigned fail;
  unsigned after, before; /* sessions past and before the barrier */
};

static int meet(void *self, struct bn_session *s, const char *name, struct bn_err *err)
{
  struct many *m = self;

  (void)name;
  __atomic_fetch_add(&m->before, 1, __ATOMIC_RELAXED);
  if (m->fail == s->id + 1)
    return bn_err_set(err, 0, "session %u fails", s->id);
  if (!s->services->barrier(s))
    return bn_err_set(err, 0, "another session failed");
  if (__atomic_load_n(&m->before, __ATOMIC_RELAXED) != 16)
    return bn_err_set(err, 0, "the barrier opened early");
  __atomic_fetch_add(&m->after, 1, __ATOMIC_RELAXED);
  return 0;
}

static int command_with(unsigned fail, unsigned *after)
{
  const struct bn_command command = {.name = "meet", .parallel = true, .run = meet};
  struct bn_conf c = make_conf(16);
  struct many m = {.fail = fail};
  const struct bn_run_setup setup = {.conf = &c, .ops = &toy_workload, .self = &m};
  struct bn_err err = {0};
  struct bn_run *run;
  int status;

  assert_int_equal(bn_run_new(&run, &setup, &err), 0);
  status = bn_run_command(run, &command);
  bn_run_free(run);
  *after = m.after;
  return status;
}

static void parallel_commands_meet_and_fail(void **state)
{
  unsigned after;

  (void)state;
  assert_int_equal(command_with(0, &after), 0);
  assert_int_equal(after, 16);
  assert_int_equal(command_with(7, &after), BN_STATUS_FAILED);
  assert_int_equal(after, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(event_budget_is_exact),
      cmocka_unit_test(closing_is_measured_unless_it_is_not_to_be),
      cmocka_unit_test(time_limit_holds),
      cmocka_unit_test(checkpoints_split_the_run),
      cmocka_unit_test(warmup_is_not_counted),
      cmocka_unit_test(slow_baseline_counts_no_event_twice),
      cmocka_unit_test(failing_event_keeps_the_report),
      cmocka_unit_test(failing_start_has_no_report),
      cmocka_unit_test(signal_ends_in_order),
      cmocka_unit_test(rate_is_delivered),
      cmocka_unit_test(idle_workers_stay_until_the_limit),
      cmocka_unit_test(checkpoints_follow_the_dialect),
      cmocka_unit_test(overload_is_told),
      cmocka_unit_test(parallel_commands_meet_and_fail),
      cmocka_unit_test(forced_shutdown_reports_unfinished),
      cmocka_unit_test(threads_stop_before_they_are_forced),
  };

  bn_stop_block_signals();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
