/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a run, on a simulated clock: whatever ends it, and whatever sessions do before and
   after, rates are of the span, and what did not end in it is told. */
#include "toyrun.h"

#include <signal.h>

#include "engine/stop.h"
#include "simrun.h"

static void same(double is, double should)
{
  if (is - should > 1e-9 * should || should - is > 1e-9 * should)
    fail_msg("%.9g instead of %.9g", is, should);
}

/* Closing its session is a thousand statements. */
static int busy_close(void *self, struct bn_session *s, struct bn_err *err)
{
  sim_sleep_ms(300);
  bn_stat_count(s->stat, BN_C_READ, 1000);
  return toy_session_close(self, s, err);
}

/* Each event reads two rows. */
static void statements_of_the_end_are_in_no_rate(void **state)
{
  struct bn_workload busy = toy_workload;
  struct bn_conf c = make_conf(2);
  struct toy t = {.sleep_us = 1000};

  (void)state;
  busy.session_close = busy_close;
  c.plan.events = 10;
  assert_int_equal(run_at_0(&c, &busy, &t), 0);
  assert_int_equal(seen.total.reads, 20 + 2000);
  same(seen.total.events_per_s, 2000);
  same(seen.total.reads_per_s, 4000);
  c.plan.events = 0;
  c.plan.time_ns = 100500000;
  assert_int_equal(run_at_0(&c, &busy, &t), 0);
  same(seen.total.reads_per_s, 400 / 0.1005);
}

/* The ticks of a run. */
static struct bn_view tick[64];
static size_t n_ticks;

static int note_tick(void *self, const struct bn_view *v, struct bn_err *err)
{
  (void)self;
  (void)err;
  assert_in_range(n_ticks, 0, 63);
  tick[n_ticks++] = *v;
  return 0;
}

static void run_with_ticks(const struct bn_conf *c, const struct bn_workload *ops, struct toy *t)
{
  static const struct bn_reporter ticking = {.name = "ticking", .tick = note_tick};

  n_ticks = 0;
  sim_begin();
  assert_int_equal(run_with(c, ops, t, &ticking), 0);
}

/* The last event of session 1 takes 30 s. */
static enum bn_next event_of_30s(void *self, struct bn_session *s)
{
  if (s->id == 1 && sim_s() > 9.9)
    sim_sleep_ms(30000);
  return toy_event(self, s);
}

static void rates_of_ticks_are_of_the_span(void **state)
{
  struct bn_workload w = toy_workload;
  struct bn_conf c = make_conf(2);
  struct toy t = {.sleep_us = 7000};

  (void)state;
  w.event = event_of_30s;
  c.plan.time_ns = 10 * BN_NSEC_PER_SEC;
  run_with_ticks(&c, &w, &t);
  assert_int_equal(n_ticks, 39);
  same(tick[18].at_s, 19);
  for (size_t i = 9; i < n_ticks; i++) {
    same(tick[i].span_s, 10);
    same(tick[i].events_per_s, seen.total.events_per_s);
    same(tick[i].reads_per_s, seen.total.reads_per_s);
  }
  /* Sessions close for 0.3 s after a span of 0.8 s. */
  t.sleep_us = 40000;
  w = toy_workload;
  w.session_close = busy_close;
  c.plan.time_ns = 0;
  c.plan.events = 40;
  run_with_ticks(&c, &w, &t);
  assert_int_equal(n_ticks, 1);
  same(tick[0].span_s, 0.8);
  same(tick[0].events_per_s, 50);
  same(tick[0].reads_per_s, 100);
  same(seen.total.reads_per_s, 100);
}

/* Sessions close for 0.3 s after a span of 0.8 s: the final report takes the place of the
   checkpoint at 1 s, and no interval comes after the one at 0.5 s. */
static void nothing_is_reported_while_sessions_close(void **state)
{
  struct bn_workload busy = toy_workload;
  struct bn_conf c = make_conf(2);
  struct toy t = {.sleep_us = 40000};

  (void)state;
  busy.session_close = busy_close;
  c.plan.events = 40;
  c.plan.interval_ns = BN_NSEC_PER_SEC / 2;
  c.plan.checkpoint_ns[0] = BN_NSEC_PER_SEC;
  c.plan.n_checkpoints = 1;
  assert_int_equal(run_at_0(&c, &busy, &t), 0);
  assert_int_equal(seen.checkpoints, 0);
  assert_int_equal(seen.intervals, 1);
  assert_int_equal(seen.total.events, 40);
  same(seen.total.events_per_s, 50);
}

/* Session 1 is in an event from the limit, at 10 s, until about 40 s.  The interval that the limit
   ends has both sessions, and the following ones have those that still run. */
static void sessions_that_have_left_run_in_no_later_interval(void **state)
{
  struct bn_workload w = toy_workload;
  struct bn_conf c = make_conf(2);
  struct toy t = {.sleep_us = 1000};

  (void)state;
  w.event = event_of_30s;
  c.plan.time_ns = 10 * BN_NSEC_PER_SEC;
  c.plan.interval_ns = 5 * BN_NSEC_PER_SEC;
  assert_int_equal(run_at_0(&c, &w, &t), 0);
  assert_true(seen.intervals >= 4);
  assert_int_equal(seen.interval_running[0], 2);
  assert_int_equal(seen.interval_running[1], 2);
  assert_int_equal(seen.interval_running[2], 1);
  assert_int_equal(seen.interval_running[3], 1);
}

static int long_interval(void *self, const struct bn_view *v, struct bn_err *err)
{
  (void)self;
  (void)v;
  (void)err;
  sim_sleep_ms(1500);
  return 0;
}

/* Nobody looks at the counters when the span ends. */
static void a_report_may_last_beyond_the_end(void **state)
{
  static const struct bn_reporter slow = {.name = "slow", .interval = long_interval};
  struct bn_workload busy = toy_workload;
  struct bn_conf c = make_conf(1);
  struct toy t = {.sleep_us = 1000};

  (void)state;
  busy.session_close = busy_close;
  c.plan.time_ns = 2 * BN_NSEC_PER_SEC;
  c.plan.interval_ns = BN_NSEC_PER_SEC;
  sim_begin();
  assert_int_equal(run_with(&c, &busy, &t, &slow), 0);
  assert_int_equal(seen.total.events, 2000);
  same(seen.total.reads_per_s, 2000);
}

static enum bn_next last_of_five(void *self, struct bn_session *s)
{
  (void)toy_event(self, s);
  return bn_stat_get(&s->stat->begun) > 5 ? BN_FINISHED : BN_CONTINUE;
}

/* The sixth takes its time and is not counted. */
static void the_time_of_a_stop_belongs_to_the_span(void **state)
{
  struct bn_workload five = toy_workload;
  struct bn_conf c = make_conf(1);
  struct toy t = {.sleep_us = 1000};

  (void)state;
  five.event = last_of_five;
  assert_int_equal(run_at_0(&c, &five, &t), 0);
  assert_int_equal(seen.total.events, 5);
  same(seen.total.span_s, 0.006);
  same(seen.total.reads_per_s, 12 / 0.006);
}

static enum bn_next loop_without_events(void *self, struct bn_session *s)
{
  (void)toy_event(self, s);
  return BN_CONTINUE;
}

static void a_loop_without_events_is_a_span(void **state)
{
  struct bn_workload none = toy_workload;
  struct bn_conf c = make_conf(2);
  struct toy t = {.sleep_us = 500000};

  (void)state;
  none.loop = loop_without_events;
  assert_int_equal(run_at_0(&c, &none, &t), 0);
  assert_int_equal(seen.total.events, 0);
  same(seen.total.span_s, 0.5);
  same(seen.total.reads_per_s, 8);
}

/* It ends by itself, and its sessions close when the warm-up would have been over. */
static void a_run_may_end_in_its_warmup(void **state)
{
  struct bn_workload five = toy_workload;
  struct bn_conf c = make_conf(1);
  struct toy t = {.sleep_us = 1000};

  (void)state;
  five.event = last_of_five;
  five.session_close = busy_close;
  c.plan.warmup_ns = 100 * BN_NSEC_PER_MSEC;
  assert_int_equal(run_at_0(&c, &five, &t), 0);
  assert_int_equal(seen.total.events, 5);
  same(seen.total.span_s, 0.006);
  same(seen.total.teardown_s, 0.3);
}

/* Until the report has come. */
static void hang(void)
{
  while (!atomic_load(&reported))
    sim_sleep_ms(1);
}

static int hanging_close(void *self, struct bn_session *s, struct bn_err *err)
{
  hang();
  return toy_session_close(self, s, err);
}

/* It ends the run at once, but no event is cut. */
static void a_signal_while_sessions_close(void **state)
{
  struct bn_workload slow = toy_workload;
  struct bn_conf c = make_conf(2);
  struct toy t = {.sleep_us = 1000};

  (void)state;
  slow.session_close = hanging_close;
  c.plan.events = 10;
  sim_begin();
  sim_send_at(1, SIGINT);
  assert_int_equal(run_it(&c, &slow, &t), 128 + SIGINT);
  assert_int_equal(seen.total.events, 10);
  assert_int_equal(seen.total.unfinished, 0);
  same(seen.total.span_s, 0.005);
  same(seen.total.events_per_s, 2000);
  assert_true(seen.total.grace_s == 0);
  assert_true(seen.total.teardown_s > 0.99);
}

static enum bn_next hanging_event(void *self, struct bn_session *s)
{
  (void)self;
  (void)s;
  hang();
  return BN_CONTINUE;
}

/* The report is of the warm-up then. */
static void events_of_the_warmup_are_unfinished_in_it(void **state)
{
  struct bn_workload stuck = toy_workload;
  struct bn_conf c = make_conf(3);
  struct toy t = {0};

  (void)state;
  stuck.event = hanging_event;
  c.plan.warmup_ns = 60 * BN_NSEC_PER_SEC;
  sim_begin();
  sim_send_at(1, SIGINT);
  assert_int_equal(run_it(&c, &stuck, &t), 128 + SIGINT);
  assert_int_equal(seen.total.unfinished, 3);
  assert_true(seen.total.max_at_least && seen.total.max_s > 0.99);
}

/* 64 sessions, each of which could serve the arrivals that are not one for each of them. */
static void what_ends_in_the_grace_is_not_kept_up(void **state)
{
  struct bn_conf c = make_conf(64);
  struct toy t = {.sleep_us = 5000000};

  (void)state;
  c.plan.rate = 60;
  c.plan.time_ns = 2 * BN_NSEC_PER_SEC;
  c.grace_auto = false;
  c.grace_ns = 60 * BN_NSEC_PER_SEC;
  assert_int_equal(run_at_0(&c, &toy_workload, &t), BN_STATUS_UNSERVED);
  assert_true(seen.total.due > 64 && seen.total.finished == 0);
  /* 30 in service: when the span ends they are not done, and that is no overload. */
  t.sleep_us = 500000;
  c.plan.time_ns = 10 * BN_NSEC_PER_SEC;
  assert_int_equal(run_at_0(&c, &toy_workload, &t), 0);
  assert_true(seen.total.due - seen.total.finished > seen.total.due / 100);
}

static _Atomic bool verifying;

static enum bn_next event_until_verified(void *self, struct bn_session *s)
{
  (void)self;
  (void)s;
  while (!atomic_load(&verifying))
    sim_sleep_ms(10);
  return BN_CONTINUE;
}

/* Meanwhile a server that was frozen goes on. */
static int slow_verify(void *self, struct bn_session *main, struct bn_err *err)
{
  (void)self;
  (void)main;
  (void)err;
  atomic_store(&verifying, true);
  sim_sleep_ms(100);
  return 0;
}

static void what_ends_while_the_run_is_verified_is_unfinished(void **state)
{
  struct bn_workload w = toy_workload;
  struct bn_conf c = make_conf(3);
  struct toy t = {.sleep_us = 1000};

  (void)state;
  atomic_store(&verifying, false);
  w.event = event_until_verified;
  w.verify = slow_verify;
  w.kind = BN_KIND_SQL;
  c.plan.time_ns = BN_NSEC_PER_SEC;
  assert_int_equal(run_at_0(&c, &w, &t), BN_STATUS_TIMEOUT);
  assert_int_equal(seen.total.unfinished, 3);
  assert_int_equal(seen.total.events, 0);
}

BN_TESTS(run_ends)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(statements_of_the_end_are_in_no_rate),
      cmocka_unit_test(rates_of_ticks_are_of_the_span),
      cmocka_unit_test(nothing_is_reported_while_sessions_close),
      cmocka_unit_test(sessions_that_have_left_run_in_no_later_interval),
      cmocka_unit_test(a_report_may_last_beyond_the_end),
      cmocka_unit_test(the_time_of_a_stop_belongs_to_the_span),
      cmocka_unit_test(a_loop_without_events_is_a_span),
      cmocka_unit_test(a_run_may_end_in_its_warmup),
      cmocka_unit_test(what_ends_in_the_grace_is_not_kept_up),
      cmocka_unit_test(what_ends_while_the_run_is_verified_is_unfinished),
      /* These leave threads behind. */
      cmocka_unit_test(a_signal_while_sessions_close),
      cmocka_unit_test(events_of_the_warmup_are_unfinished_in_it),
  };

  bn_stop_block_signals();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
