/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole runs of a tiny workload on a simulated clock: limits, reports and failures come when they
   are due, and every figure is exact. */
#include "toyrun.h"

#include <signal.h>
#include <stdlib.h>

#include "engine/arrivals.h"
#include "engine/outcome.h"
#include "engine/stop.h"
#include "simrun.h"

static int slow_session_close(void *self, struct bn_session *s, struct bn_err *err)
{
  sim_sleep_ms(300);
  return toy_session_close(self, s, err);
}

static void closing_is_no_part_of_the_span(void **state)
{
  struct bn_workload slow = toy_workload;
  struct bn_conf c = make_conf(2);
  struct toy t = {.sleep_us = 1000};

  (void)state;
  c.plan.events = 10;
  slow.session_close = slow_session_close;
  assert_int_equal(run_at_0(&c, &slow, &t), 0);
  assert_int_equal(seen.total.events, 10);
  same_s(seen.total.span_s, 0.005);
  same_s(seen.total.grace_s, 0);
  same_s(seen.total.teardown_s, 0.3);
  c.policy = &bn_policy_10;
  assert_int_equal(run_at_0(&c, &slow, &t), 0);
  same_s(seen.total.span_s, 0.305);
  slow.untimed_close = true;
  assert_int_equal(run_at_0(&c, &slow, &t), 0);
  same_s(seen.total.span_s, 0.005);
  same_s(sim_s(), 0.305);
  assert_int_equal(t.closes, 6);
}

/* 2 s of statements, as a script's own thread_run may execute them. */
static enum bn_next loop_without_events(void *self, struct bn_session *s)
{
  (void)self;
  for (int i = 0; i < 100; i++) {
    bn_stat_count(s->stat, BN_C_READ, 1);
    sim_sleep_ms(20);
  }
  return BN_FINISHED;
}

static enum bn_next second_event_stops(void *self, struct bn_session *s)
{
  return bn_stat_get(&s->stat->ended) == 0 ? BN_CONTINUE : loop_without_events(self, s);
}

/* Statements count although there was no event, or one that was dropped: their time does too. */
static void statements_without_an_event_have_their_span(void **state)
{
  struct bn_workload w[2] = {toy_workload, toy_workload};
  struct bn_conf c = make_conf(2);
  struct toy t = {0};

  (void)state;
  w[0].loop = loop_without_events;
  w[1].event = loop_without_events;
  for (int i = 0; i < 2; i++) {
    assert_int_equal(run_at_0(&c, &w[i], &t), i == 0 ? BN_STATUS_OK : BN_STATUS_EMPTY);
    assert_int_equal(seen.total.events, 0);
    assert_int_equal(seen.total.reads, 200);
    same_s(seen.total.span_s, 2);
    same_s(seen.total.grace_s, 0);
  }
  w[1].event = second_event_stops;
  c.plan.rate = 1000;
  c.raw.rate_max_backlog = 10000;
  (void)run_at_0(&c, &w[1], &t);
  assert_int_equal(seen.total.reads, 200);
  assert_true(seen.total.span_s > 2 && seen.total.span_s < 2.1);
}

/* An event that ends in the instant of a report belongs to the next interval: the reporting thread
   has slept for longer. */
static void time_limit_holds(void **state)
{
  static const uint64_t events[] = {198, 200, 200};
  struct bn_conf c = make_conf(2);
  struct toy t = {.sleep_us = 1000};

  (void)state;
  c.plan.time_ns = 300 * BN_NSEC_PER_MSEC;
  c.plan.interval_ns = 100 * BN_NSEC_PER_MSEC;
  assert_int_equal(run_at_0(&c, &toy_workload, &t), 0);
  same_s(seen.total.span_s, 0.3);
  assert_int_equal(seen.total.events, 600);
  same_s(seen.total.min_s, 0.001);
  same_s(seen.total.max_s, 0.001);
  assert_int_equal(seen.intervals, 3);
  for (unsigned i = 0; i < 3; i++) {
    same_s(seen.interval_at[i], 0.1 * (i + 1));
    assert_int_equal(seen.interval_events[i], events[i]);
    assert_int_equal(seen.interval_running[i], 2);
  }
}

/* A minute with everything, which takes no time. */
static void a_minute_is_exact(void **state)
{
  struct bn_conf c = make_conf(4);
  struct toy t = {.sleep_us = 7000};

  (void)state;
  c.plan.warmup_ns = 10 * BN_NSEC_PER_SEC;
  c.plan.time_ns = 60 * BN_NSEC_PER_SEC;
  c.plan.interval_ns = BN_NSEC_PER_SEC;
  c.plan.checkpoint_ns[0] = 20 * BN_NSEC_PER_SEC;
  c.plan.n_checkpoints = 1;
  assert_int_equal(run_at_0(&c, &toy_workload, &t), 0);
  /* Event k of a thread ends at 7 k ms: 1429 begin in the warm-up, 4285 end before the checkpoint,
     10000 at the limit. */
  assert_int_equal(seen.intervals, 60);
  same_s(seen.interval_at[59], 60);
  assert_int_equal(seen.checkpoints, 1);
  same_s(seen.checkpoint_at[0], 20);
  assert_int_equal(seen.checkpoint_events[0], 4 * (4285 - 1429));
  assert_int_equal(seen.total.events, 4 * (10000 - 4285));
  same_s(seen.total.span_s, 40);
  same_s(seen.total.at_s, 60);
  same_s(sim_s(), 70);
}

/* The one at the limit leaves the final report its time. */
static void checkpoints_split_the_run(void **state)
{
  struct bn_conf c = make_conf(2);
  struct toy t = {.sleep_us = 700};

  (void)state;
  c.plan.time_ns = 300 * BN_NSEC_PER_MSEC;
  c.plan.checkpoint_ns[0] = 100 * BN_NSEC_PER_MSEC;
  c.plan.checkpoint_ns[1] = 200 * BN_NSEC_PER_MSEC;
  c.plan.checkpoint_ns[2] = 300 * BN_NSEC_PER_MSEC;
  c.plan.n_checkpoints = 3;
  assert_int_equal(run_at_0(&c, &toy_workload, &t), 0);
  assert_int_equal(seen.checkpoints, 2);
  same_s(seen.checkpoint_at[0], 0.1);
  same_s(seen.checkpoint_at[1], 0.2);
  assert_int_equal(seen.checkpoint_events[0], 284);
  assert_int_equal(seen.checkpoint_events[1], 286);
  assert_int_equal(seen.total.events, 288);
  same_s(seen.total.span_s, 0.1);
  same_s(seen.total.at_s, 0.3);
}

/* 50 events fit in the warm-up; the next one begins as it ends, and counts. */
static void warmup_is_not_counted(void **state)
{
  struct bn_conf c = make_conf(1);
  struct toy t = {.sleep_us = 1000};

  (void)state;
  c.plan.warmup_ns = 50 * BN_NSEC_PER_MSEC;
  c.plan.events = 100;
  assert_int_equal(run_at_0(&c, &toy_workload, &t), 0);
  assert_int_equal(seen.total.events, 100);
  same_s(seen.total.span_s, 0.1);
  same_s(sim_s(), 0.15);
}

/* At 0 in session 1: session 0 ends the event that it has begun, session 2 begins none. */
static void failing_event_keeps_the_report(void **state)
{
  struct bn_conf c = make_conf(3);
  struct toy t = {.sleep_us = 200, .fail_event = 2};

  (void)state;
  c.plan.time_ns = 10 * BN_NSEC_PER_SEC;
  assert_int_equal(run_at_0(&c, &toy_workload, &t), BN_STATUS_FAILED);
  assert_int_equal(seen.totals, 1);
  assert_int_equal(t.closes, 3);
  assert_int_equal(seen.total.events, 1);
  assert_int_equal(seen.total.in_grace, 1);
  same_s(seen.total.span_s, 1e-9); /* none */
  same_s(seen.total.grace_s, 0.0002);
}

static void failing_start_has_no_report(void **state)
{
  struct bn_conf c = make_conf(5);
  struct toy t = {.fail_open = 3};

  (void)state;
  assert_int_equal(run_at_0(&c, &toy_workload, &t), BN_STATUS_FAILED);
  assert_int_equal(seen.totals, 0);
  assert_int_equal(t.closes, 5);
  same_s(sim_s(), 0);
}

static unsigned verified, forgotten;

static int note_verify(void *self, struct bn_session *main, struct bn_err *err)
{
  (void)self;
  (void)main;
  (void)err;
  verified++;
  return 0;
}

static void note_forget(void *self, struct bn_session *main)
{
  (void)self;
  (void)main;
  forgotten++;
}

/* The sessions may have made it before the start was given up. */
static void what_is_verified_is_forgotten_if_the_start_fails(void **state)
{
  struct bn_workload ops = toy_workload;
  struct bn_conf c = make_conf(2);
  struct toy t = {.fail_open = 2};

  (void)state;
  ops.verify = note_verify;
  ops.forget = note_forget;
  c.plan.events = 10;
  assert_int_equal(run_at_0(&c, &ops, &t), BN_STATUS_FAILED);
  assert_true(verified == 0 && forgotten == 1);
  t.fail_open = 0;
  assert_int_equal(run_at_0(&c, &ops, &t), 0);
  assert_true(verified == 1 && forgotten == 1);
}

static void signal_ends_in_order(void **state)
{
  struct bn_conf c = make_conf(2);
  struct toy t = {.sleep_us = 1000};

  (void)state;
  sim_begin();
  sim_send_at(0.1505, SIGTERM);
  assert_int_equal(run_it(&c, &toy_workload, &t), 128 + SIGTERM);
  assert_int_equal(seen.totals, 1);
  assert_int_equal(seen.total.events, 302);
  assert_int_equal(seen.total.in_grace, 2);
  assert_true(seen.total.events_per_s == 300 / seen.total.span_s);
  same_s(seen.total.span_s, 0.1505);
  same_s(seen.total.grace_s, 0.0005);
}

static void slow_started(void *self, const struct bn_facts *facts)
{
  (void)self;
  (void)facts;
  sim_sleep_ms(500);
}

/* While a reporter is told that all sessions are open: nothing has been measured, and no total
   says so. */
static void signal_before_the_gate_has_no_report(void **state)
{
  static const struct bn_reporter starting = {.name = "starting", .started = slow_started};
  struct bn_conf c = make_conf(2);
  struct toy t = {.sleep_us = 1000};

  (void)state;
  sim_begin();
  sim_send_at(0.2, SIGTERM);
  assert_int_equal(run_with(&c, &toy_workload, &t, &starting), 128 + SIGTERM);
  assert_int_equal(seen.totals, 0);
  assert_int_equal(t.closes, 2);
  same_s(sim_s(), 0.5);
}

/* Lasts until the report has come. */
static enum bn_next endless_event(void *self, struct bn_session *s)
{
  (void)self;
  (void)s;
  while (!atomic_load(&reported))
    sim_sleep_ms(1);
  return BN_CONTINUE;
}

static void forced_shutdown_reports_unfinished(void **state)
{
  struct bn_conf c = make_conf(4);
  struct bn_workload endless = toy_workload;
  struct toy t = {0};

  (void)state;
  endless.event = endless_event;
  c.plan.time_ns = 100 * BN_NSEC_PER_MSEC;
  c.plan.forced = true;
  assert_int_equal(run_at_0(&c, &endless, &t), BN_STATUS_TIMEOUT);
  assert_int_equal(seen.totals, 1);
  assert_int_equal(seen.total.unfinished, 4);
  assert_int_equal(seen.total.events, 0);
  same_s(seen.total.span_s, 0.1);
  same_s(seen.total.grace_s, 0.2); /* the time to stop by themselves */
  same_s(seen.total.oldest_s, 0.3);
  same_s(seen.total.max_s, 0.3);
  assert_true(seen.total.max_at_least);
  same_s(sim_s(), 0.3);
}

static void threads_stop_before_they_are_forced(void **state)
{
  struct bn_conf c = make_conf(4);
  struct toy t = {.sleep_us = 299000};

  (void)state;
  c.plan.time_ns = 100 * BN_NSEC_PER_MSEC;
  c.plan.forced = true;
  assert_int_equal(run_at_0(&c, &toy_workload, &t), 0);
  same_s(seen.total.span_s, 0.1);
  same_s(seen.total.grace_s, 0.199);
  assert_true(seen.total.in_grace == 4 && seen.total.events_per_s == 0);
  t.sleep_us = 301000;
  assert_int_equal(run_at_0(&c, &toy_workload, &t), BN_STATUS_TIMEOUT);
  same_s(seen.total.span_s, 0.1);
  same_s(seen.total.grace_s, 0.2);
}

static void rate_is_delivered(void **state)
{
  struct bn_conf c = make_conf(8);
  struct toy t = {0};
  double at_s;

  (void)state;
  c.plan.rate = 5000;
  c.raw.rate_max_backlog = 131072;
  c.plan.time_ns = 500 * BN_NSEC_PER_MSEC;
  assert_int_equal(run_at_0(&c, &toy_workload, &t), 0);
  assert_int_equal(seen.total.events, arrivals_until(5000, 0.5, 0, &at_s));
  assert_in_range(seen.total.events, 2400, 2600); /* Poisson: 2,500 with standard deviation 50 */
  assert_int_equal(seen.total.backlog, 0);
  same_s(seen.total.max_s, 0);
  same_s(seen.total.span_s, 0.5);
}

/* 50 arrivals from 5 ms on; and of 1.5/s the first at a third of a second, and the second when the
   time is up, which does not count. */
static void constant_gaps_fill_the_time(void **state)
{
  struct bn_conf c = make_conf(8);
  struct toy t = {0};

  (void)state;
  c.raw.arrivals = BN_GAPS_CONSTANT;
  c.raw.rate_max_backlog = 1000;
  c.plan.rate = 100;
  c.plan.time_ns = 500 * BN_NSEC_PER_MSEC;
  assert_int_equal(run_at_0(&c, &toy_workload, &t), 0);
  assert_int_equal(seen.total.due, 50);
  assert_int_equal(seen.total.finished, 50);
  c.plan.rate = 1.5;
  c.plan.time_ns = BN_NSEC_PER_SEC;
  assert_int_equal(run_at_0(&c, &toy_workload, &t), 0);
  assert_int_equal(seen.total.due, 1);
  assert_int_equal(seen.total.finished, 1);
}

/* A run of a profile: 20 arrivals in the warm-up, then 30 of a ramp and 5 at its last rate of
   10/s. */
static void a_profile_is_run(void **state)
{
  struct bn_conf c = make_conf(8);
  struct toy t = {0};
  char wrong[BN_PROFILE_WRONG];

  (void)state;
  assert_int_equal(bn_profile_parse("ramp:20..10/2s", BN_PROFILE_RATE, 1, &c.profile, wrong), 0);
  c.raw.arrivals = BN_GAPS_CONSTANT;
  c.plan.rate = 15;
  c.plan.warmup_ns = BN_NSEC_PER_SEC;
  c.plan.time_ns = 2500 * BN_NSEC_PER_MSEC;
  assert_int_equal(run_at_0(&c, &toy_workload, &t), 0);
  assert_int_equal(seen.total.due, 35);
  assert_int_equal(seen.total.finished, 35);
  bn_conf_done(&c);
}

/* Each thread does an event of 10 ms and pauses for 90 ms. */
static void a_thread_pauses_after_its_events(void **state)
{
  struct bn_conf c = make_conf(4);
  struct toy t = {.sleep_us = 10000};

  (void)state;
  c.think = (struct bn_delay){BN_DELAY_UNIFORM, 90e6, 90e6};
  c.plan.time_ns = 10 * BN_NSEC_PER_SEC;
  assert_int_equal(run_at_0(&c, &toy_workload, &t), 0);
  assert_int_equal(seen.total.events, 400);
  same_s(seen.total.max_s, 0.01);
  same_s(seen.total.span_s, 10);
  same_s(seen.total.lag_max_s, 0);
}

/* Three tickets for two threads: who gets none leaves at once, and the third event follows the
   pause. */
static void no_thread_pauses_without_a_ticket(void **state)
{
  struct bn_conf c = make_conf(2);
  struct toy t = {.sleep_us = 10000};

  (void)state;
  c.think = (struct bn_delay){BN_DELAY_UNIFORM, 90e6, 90e6};
  c.plan.events = 3;
  assert_int_equal(run_at_0(&c, &toy_workload, &t), 0);
  assert_int_equal(seen.total.events, 3);
  same_s(seen.total.span_s, 0.11);
  c.plan.events = 2;
  assert_int_equal(run_at_0(&c, &toy_workload, &t), 0);
  same_s(seen.total.span_s, 0.01);
}

/* A pause over the end of the warm-up belongs to no event, and each measured event has a ticket. */
static void a_pause_may_begin_in_the_warmup(void **state)
{
  struct bn_conf c = make_conf(2);
  struct toy t = {.sleep_us = 10000};

  (void)state;
  c.think = (struct bn_delay){BN_DELAY_UNIFORM, 290e6, 290e6};
  c.plan.warmup_ns = BN_NSEC_PER_SEC;
  c.plan.events = 10;
  assert_int_equal(run_at_0(&c, &toy_workload, &t), 0);
  assert_int_equal(seen.total.events, 10);
  same_s(seen.total.max_s, 0.01);
  same_s(seen.total.span_s, 1.41); /* the events of 1.2, 1.5, 1.8, 2.1 and 2.4 s */
}

static uint64_t wake_ups; /* that the final report knows of */

static int note_wake_ups(void *self, const struct bn_view *v, struct bn_err *err)
{
  (void)self;
  (void)err;
  assert_string_equal(v->timings[v->n_timings - 1].name, "wakeup_lag");
  wake_ups = v->timings[v->n_timings - 1].count;
  return 0;
}

/* The next arrival is after the limit, but the run lasts as long as it was asked to.  That nobody
   woke for an arrival is told: the wakes at the limit are none of those. */
static void idle_workers_stay_until_the_limit(void **state)
{
  static const struct bn_reporter waker = {.name = "wake-ups", .total = note_wake_ups};
  struct bn_conf c = make_conf(2);
  struct toy t = {0};

  (void)state;
  c.plan.rate = 0.01;
  c.plan.time_ns = 300 * BN_NSEC_PER_MSEC;
  c.plan.interval_ns = 150 * BN_NSEC_PER_MSEC;
  sim_begin();
  assert_int_equal(run_with(&c, &toy_workload, &t, &waker), 0);
  assert_int_equal(seen.total.events, 0);
  assert_int_equal(wake_ups, 0);
  same_s(seen.total.span_s, 0.3);
  assert_int_equal(seen.intervals, 2);
  same_s(seen.interval_at[1], 0.3);
}

/* 30 events of 10 ms begin before 0.3 s; of the last one, waiting counts. */
static void overload_is_told(void **state)
{
  struct bn_conf c = make_conf(1);
  struct toy t = {.sleep_us = 10000};
  double first_s = 0, last_s = 0;
  uint64_t due;

  (void)state;
  c.plan.rate = 10000;
  c.raw.rate_max_backlog = 1000;
  c.plan.time_ns = 300 * BN_NSEC_PER_MSEC;
  assert_int_equal(run_at_0(&c, &toy_workload, &t), BN_STATUS_FAILED);
  due = arrivals_until(10000, 0.3, 0, &first_s);
  (void)arrivals_until(10000, 0.3, 29, &last_s);
  assert_int_equal(seen.total.events, 30);
  assert_int_equal(seen.total.backlog, due - 30);
  assert_true(seen.total.max_s > first_s + 0.3 - last_s - 2e-9);
  assert_true(seen.total.max_s < first_s + 0.3 - last_s + 2e-9);
}

/* 0.5 counts from the start when the test has no checkpoint reports. */
static void checkpoints_follow_the_dialect(void **state)
{
  struct bn_conf c = make_conf(1);
  struct toy t = {.sleep_us = 1000};

  (void)state;
  c.plan.debug = true;
  c.plan.n_checkpoints = 1;
  c.plan.checkpoint_ns[0] = 50 * BN_NSEC_PER_MSEC;
  c.plan.time_ns = 150 * BN_NSEC_PER_MSEC;
  assert_int_equal(run_at_0(&c, &toy_workload, &t), 0);
  assert_int_equal(seen.checkpoints, 1);
  assert_int_equal(seen.checkpoint_sessions, 1);
  same_s(seen.total.span_s, 0.1);
  assert_int_equal(seen.total.events, 101);
  c.policy = &bn_policy_05;
  assert_int_equal(run_at_0(&c, &toy_workload, &t), 0);
  assert_int_equal(seen.checkpoints, 0);
  same_s(seen.total.span_s, 0.15);
  assert_int_equal(seen.total.events, 150);
}

/* Session 2 begins when the others have left, which find in the second event that there is no more
   to do. */
static enum bn_next loop_of_one(void *self, struct bn_session *s)
{
  struct toy *t = self;
  struct bn_tick tick;

  while (s->id == 2 && __atomic_load_n(&t->closes, __ATOMIC_RELAXED) < 2)
    sim_sleep_ms(1);
  if (!bn_event_begin(s, &tick))
    return BN_FINISHED;
  bn_event_end(s, &tick);
  if (bn_event_begin(s, &tick))
    bn_event_drop(s, &tick);
  return BN_FINISHED;
}

static void what_is_not_counted_is_left_to_others(void **state)
{
  struct bn_conf c = make_conf(3);
  struct bn_workload one = toy_workload;
  struct toy t = {0};

  (void)state;
  one.loop = loop_of_one;
  c.plan.events = 3;
  assert_int_equal(run_at_0(&c, &one, &t), 0);
  assert_int_equal(seen.total.events, 3);
}

/* However many more arrive while the last ones are executed.  Reports of sysbench count them. */
static void arrivals_beyond_the_events_are_no_overload(void **state)
{
  struct bn_conf c = make_conf(1);
  struct toy t = {.sleep_us = 20000};

  (void)state;
  c.plan.rate = 1e6;
  c.raw.rate_max_backlog = 100;
  c.plan.events = 5;
  assert_int_equal(run_at_0(&c, &toy_workload, &t), 0);
  assert_int_equal(seen.total.events, 5);
  assert_int_equal(seen.total.backlog, 0);
  c.policy = &bn_policy_10;
  assert_int_equal(run_at_0(&c, &toy_workload, &t), 0);
  assert_int_equal(seen.total.events, 5);
  assert_in_range(seen.total.backlog, 99000, 101000); /* 0.1 s */
}

/* Ends the run and takes its time. */
static enum bn_next leaving_event(void *self, struct bn_session *s)
{
  (void)self;
  sim_sleep_ms(10);
  (void)s->services->leave(s->services->of, 0);
  sim_sleep_ms(900);
  return BN_CONTINUE;
}

/* 10 ms of them, less the one that began. */
static void arrivals_end_with_the_run(void **state)
{
  struct bn_conf c = make_conf(1);
  struct bn_workload leaving = toy_workload;
  struct toy t = {0};
  double first_s;

  (void)state;
  leaving.event = leaving_event;
  c.plan.rate = 1e6;
  c.raw.rate_max_backlog = 800000;
  assert_int_equal(run_at_0(&c, &leaving, &t), BN_STATUS_UNSERVED);
  assert_int_equal(seen.total.events, 1);
  assert_int_equal(seen.total.due, 1 + seen.total.backlog);
  (void)arrivals_until(1e6, 1, 0, &first_s);
  assert_int_equal(seen.total.backlog,
                   arrivals_until(1e6, first_s + 0.01, UINT64_MAX, &first_s) - 1);
}

static enum bn_next event_that_leaves_at_1s(void *self, struct bn_session *s)
{
  (void)self;
  sim_sleep_ms(10);
  if (sim_s() >= 1)
    (void)s->services->leave(s->services->of, 0);
  return BN_CONTINUE;
}

/* A run of 10 events/ms that one thread serves at 100/s, which is cut in its warm-up. */
static void check_cut_in_warmup(const struct bn_workload *ops, void *self, int status)
{
  struct bn_conf c = make_conf(1);
  FILE *const real = stderr;
  char *text = NULL;
  size_t len = 0;

  c.plan.rate = 10000;
  c.raw.rate_max_backlog = 100000;
  c.plan.warmup_ns = 5 * BN_NSEC_PER_SEC;
  c.plan.time_ns = BN_NSEC_PER_SEC;
  stderr = open_memstream(&text, &len);
  assert_non_null(stderr);
  const int is = run_it(&c, ops, self);

  (void)fclose(stderr);
  stderr = real;
  assert_int_equal(is, status);
  assert_int_equal(seen.totals, 1);
  assert_true(seen.total.backlog > 9000);
  assert_null(strstr(text, "--rate"));
  free(text);
}

/* No line about --rate, and no status: nothing has been measured. */
static void what_is_cut_in_the_warmup_is_no_overload(void **state)
{
  struct bn_workload leaving = toy_workload;
  struct toy t = {.sleep_us = 10000};

  (void)state;
  leaving.event = event_that_leaves_at_1s;
  sim_begin();
  check_cut_in_warmup(&leaving, &t, 0);
  sim_begin();
  sim_send_at(1, SIGINT);
  check_cut_in_warmup(&toy_workload, &t, 128 + SIGINT);
}
/* More than the final report replays at once: the reporting thread has replayed them every second,
   though it has no limit to watch.  The number was counted from the gaps; 105,300,000 are expected.
 */
static void arrivals_are_counted_while_they_come(void **state)
{
  const uint64_t due = 105304845;
  struct bn_conf c = make_conf(1);
  struct toy t = {.sleep_us = 100000};

  (void)state;
  c.plan.rate = 3.9e6;
  c.plan.time_ns = 27 * BN_NSEC_PER_SEC;
  assert_int_equal(run_at_0(&c, &toy_workload, &t), BN_STATUS_UNSERVED);
  assert_in_range(seen.total.due, due - 10, due + 10); /* rounding may differ */
  assert_int_equal(seen.total.started, 270);
  assert_int_equal(seen.total.backlog, seen.total.due - 270);
  assert_true(seen.total.max_at_least && seen.total.oldest_s > 26.99);
}

static int slow_interval(void *self, const struct bn_view *v, struct bn_err *err)
{
  (void)self;
  (void)v;
  (void)err;
  sim_sleep_ms(500);
  return 0;
}

static const struct bn_reporter slow_reporter = {.name = "slow", .interval = slow_interval};

/* Its rates divide by the time in which its events were counted. */
static void checkpoint_after_a_slow_interval_has_its_own_time(void **state)
{
  struct bn_conf c = make_conf(1);
  struct toy t = {.sleep_us = 1000};

  (void)state;
  c.plan.interval_ns = c.plan.checkpoint_ns[0] = 100 * BN_NSEC_PER_MSEC;
  c.plan.n_checkpoints = 1;
  c.plan.time_ns = BN_NSEC_PER_SEC;
  sim_begin();
  assert_int_equal(run_with(&c, &toy_workload, &t, &slow_reporter), 0);
  assert_int_equal(seen.checkpoints, 1);
  same_s(seen.interval_at[0], 0.1);
  same_s(seen.checkpoint_at[0], 0.6);
  assert_int_equal(seen.checkpoint_events[0], 599);
  /* None is taken once the last worker has left. */
  c.plan.time_ns = 400 * BN_NSEC_PER_MSEC;
  sim_begin();
  assert_int_equal(run_with(&c, &toy_workload, &t, &slow_reporter), 0);
  assert_int_equal(seen.checkpoints, 0);
  assert_int_equal(seen.total.events, 400);
}

static int failing_tick(void *self, const struct bn_view *v, struct bn_err *err)
{
  (void)self;
  (void)v;
  return bn_err_set(err, 0, "a tick failed");
}

static unsigned instead;

static int note_instead(void *self, const struct bn_view *v, struct bn_err *err)
{
  (void)self;
  (void)v;
  (void)err;
  instead++;
  return 0;
}

/* What is printed instead of a final report is none of a tick's. */
static void a_tick_that_fails_prints_no_total(void **state)
{
  static const struct bn_reporter ticking = {.name = "ticking",
                                             .tick = failing_tick,
                                             .instead = note_instead,
                                             .replaces = BN_REPLACES_TOTAL};
  struct bn_conf c = make_conf(1);
  struct toy t = {.sleep_us = 1000};

  (void)state;
  instead = 0;
  c.plan.time_ns = 3 * BN_NSEC_PER_SEC;
  sim_begin();
  assert_int_equal(run_with(&c, &toy_workload, &t, &ticking), BN_STATUS_FAILED);
  assert_int_equal(seen.totals, 1);
  assert_int_equal(instead, 0);
}

/* At 0.4 s, when the shutdown would be forced, the reporting thread is held up by a reporter. */
static void nobody_is_shut_down_who_has_left(void **state)
{
  struct bn_conf c = make_conf(2);
  struct toy t = {.sleep_us = 1000};

  (void)state;
  c.plan.interval_ns = 50 * BN_NSEC_PER_MSEC;
  c.plan.time_ns = 100 * BN_NSEC_PER_MSEC;
  c.plan.forced = true;
  c.plan.forced_ns = 300 * BN_NSEC_PER_MSEC;
  sim_begin();
  assert_int_equal(run_with(&c, &toy_workload, &t, &slow_reporter), 0);
  assert_int_equal(seen.totals, 1);
  same_s(seen.total.span_s, 0.1);
  assert_int_equal(seen.total.events, 200);
}

BN_TESTS(run)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(closing_is_no_part_of_the_span),
      cmocka_unit_test(statements_without_an_event_have_their_span),
      cmocka_unit_test(time_limit_holds),
      cmocka_unit_test(a_minute_is_exact),
      cmocka_unit_test(checkpoints_split_the_run),
      cmocka_unit_test(warmup_is_not_counted),
      cmocka_unit_test(failing_event_keeps_the_report),
      cmocka_unit_test(failing_start_has_no_report),
      cmocka_unit_test(what_is_verified_is_forgotten_if_the_start_fails),
      cmocka_unit_test(signal_ends_in_order),
      cmocka_unit_test(signal_before_the_gate_has_no_report),
      cmocka_unit_test(rate_is_delivered),
      cmocka_unit_test(constant_gaps_fill_the_time),
      cmocka_unit_test(a_profile_is_run),
      cmocka_unit_test(a_thread_pauses_after_its_events),
      cmocka_unit_test(no_thread_pauses_without_a_ticket),
      cmocka_unit_test(a_pause_may_begin_in_the_warmup),
      cmocka_unit_test(idle_workers_stay_until_the_limit),
      cmocka_unit_test(checkpoints_follow_the_dialect),
      cmocka_unit_test(overload_is_told),
      cmocka_unit_test(what_is_not_counted_is_left_to_others),
      cmocka_unit_test(arrivals_beyond_the_events_are_no_overload),
      cmocka_unit_test(arrivals_end_with_the_run),
      cmocka_unit_test(what_is_cut_in_the_warmup_is_no_overload),
      cmocka_unit_test(arrivals_are_counted_while_they_come),
      cmocka_unit_test(checkpoint_after_a_slow_interval_has_its_own_time),
      cmocka_unit_test(a_tick_that_fails_prints_no_total),
      cmocka_unit_test(nobody_is_shut_down_who_has_left),
      cmocka_unit_test(forced_shutdown_reports_unfinished),
      cmocka_unit_test(threads_stop_before_they_are_forced),
  };

  bn_stop_block_signals();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
