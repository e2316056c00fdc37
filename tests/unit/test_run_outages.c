/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Outages on a simulated clock: each is found once and is as long as it was, whatever ends it. */
#include "engine/stop.h"
#include "simrun.h"

/* What is begun after 2 s ends at that time, or after the report. */
static enum bn_next hanging_event(void *self, struct bn_session *s)
{
  const double *until_s = self;
  const bool hangs = sim_s() >= 2;

  (void)s;
  while (hangs && sim_s() < *until_s && !atomic_load(&reported))
    sim_sleep_ms(10);
  return BN_CONTINUE;
}

/* The limit is at 5 s, when most threads wait for arrivals.  What hangs ends in the grace, or
   never. */
static void an_outage_may_last_to_the_end(void **state)
{
  static const struct bn_workload sql = {
      .name = "hanging", .kind = BN_KIND_SQL, .event = hanging_event};
  static const int status[] = {BN_STATUS_UNSERVED, BN_STATUS_TIMEOUT};
  double until_s[] = {6.5, 900}, first_s = 0;
  struct bn_conf c = make_conf(64);

  (void)state;
  c.plan.rate = 5;
  c.raw.rate_max_backlog = 1000;
  c.plan.time_ns = 5 * BN_NSEC_PER_SEC;
  (void)arrivals_until(5, 5, arrivals_until(5, 2, UINT64_MAX, &first_s), &first_s);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(run_at_0(&c, &sql, &until_s[i]), status[i]);
    assert_int_equal(seen.total.outages, 1);
    same_s(seen.total.longest_outage_s, 5 - first_s);
  }
}

/* What is begun from 2 s on is stuck until 4.5 s, and from 6 s on until 9 s.  Who came last ends
   first. */
static enum bn_next stuck_event(void *self, struct bn_session *s)
{
  const double at_s = sim_s(), since_s = at_s < 6 ? 2 : 6, until_s = at_s < 6 ? 4.5 : 9;

  (void)self;
  (void)s;
  if (at_s >= since_s && at_s < until_s)
    sim_sleep_ms((until_s - at_s) * 1001);
  return BN_CONTINUE;
}

/* Few sessions have not been in the first stall: in the second, events shorter than the session's
   longest are the first to end. */
static void a_short_event_may_end_an_outage(void **state)
{
  static const struct bn_workload sql = {
      .name = "stuck", .kind = BN_KIND_SQL, .event = stuck_event};
  struct bn_conf c = make_conf(64);
  double first_s = 0, last_s = 0;

  (void)state;
  c.plan.rate = 16;
  c.raw.rate_max_backlog = 1000;
  c.plan.time_ns = 20 * BN_NSEC_PER_SEC;
  (void)arrivals_until(16, 9, arrivals_until(16, 6, UINT64_MAX, &first_s), &first_s);
  (void)arrivals_until(16, 9, arrivals_until(16, 9, UINT64_MAX, &last_s) - 1, &last_s);
  assert_int_equal(run_at_0(&c, &sql, NULL), 0);
  assert_int_equal(seen.total.outages, 2);
  same_s(seen.total.longest_outage_s, 9 + (9 - last_s) / 1000 - first_s);
}

/* Events of 10 ms and pauses of 100 ms: the last event before the stall ends at 1.99 s, and the
   next one begins at 2.09 s, because nothing was in flight before. */
static enum bn_next stalled_event(void *self, struct bn_session *s)
{
  const double at_s = sim_s();

  if (at_s < 2 || at_s >= 4.5)
    return toy_event(self, s);
  sim_sleep_ms((4.5 - at_s) * 1000);
  return BN_CONTINUE;
}

static void an_outage_is_found_where_sessions_pause(void **state)
{
  struct bn_workload sql = toy_workload;
  struct bn_conf c = make_conf(8);
  struct toy t = {.sleep_us = 10000};

  (void)state;
  sql.kind = BN_KIND_SQL;
  sql.event = stalled_event;
  c.think = (struct bn_delay){BN_DELAY_UNIFORM, 100e6, 100e6};
  c.plan.time_ns = 6 * BN_NSEC_PER_SEC;
  assert_int_equal(run_at_0(&c, &sql, &t), 0);
  assert_int_equal(seen.total.outages, 1);
  same_s(seen.total.longest_outage_s, 4.5 - 2.09);
}

/* What is begun from 2 s on fails at 4.5 s. */
static enum bn_next event_that_fails_at_last(void *self, struct bn_session *s)
{
  const double at_s = sim_s();

  if (at_s < 2)
    return toy_event(self, s);
  sim_sleep_ms((4.5 - at_s) * 1000);
  return BN_FAILED;
}

static void a_failure_may_end_an_outage(void **state)
{
  static const double rate[] = {0, 20};
  struct bn_workload sql = toy_workload;
  struct bn_conf c = make_conf(60);
  struct toy t[] = {{.sleep_us = 10000}, {0}};
  double first_s[2] = {2, 0};

  (void)state;
  sql.kind = BN_KIND_SQL;
  sql.event = event_that_fails_at_last;
  c.raw.rate_max_backlog = 1000;
  (void)arrivals_until(20, 5, arrivals_until(20, 2, UINT64_MAX, &first_s[1]), &first_s[1]);
  for (int i = 0; i < 2; i++) {
    c.plan.rate = rate[i];
    assert_int_equal(run_at_0(&c, &sql, &t[i]), BN_STATUS_FAILED);
    assert_int_equal(seen.total.outages, 1);
    same_s(seen.total.longest_outage_s, 4.5 - first_s[i]);
  }
}

/* One ends every 100 ms; for 3 s those are events that were due in the warm-up. */
static void the_queue_of_the_warmup_is_no_outage(void **state)
{
  struct bn_workload sql = toy_workload;
  struct bn_conf c = make_conf(1);
  struct toy t = {.sleep_us = 100000};

  (void)state;
  sql.kind = BN_KIND_SQL;
  c.plan.rate = 18;
  c.raw.rate_max_backlog = 1000;
  c.plan.warmup_ns = 4 * BN_NSEC_PER_SEC;
  c.plan.time_ns = 6 * BN_NSEC_PER_SEC;
  assert_int_equal(run_at_0(&c, &sql, &t), BN_STATUS_UNSERVED);
  assert_in_range(seen.total.events, 1, 40);
  assert_int_equal(seen.total.outages, 0);
}

/* What is begun between 3 s and 7 s ends at 7 s. */
static enum bn_next event_of_the_warmup(void *self, struct bn_session *s)
{
  const double at_s = sim_s();

  if (at_s < 3 || at_s >= 7)
    return toy_event(self, s);
  sim_sleep_ms((7 - at_s) * 1000);
  return BN_CONTINUE;
}

static void an_outage_of_the_warmup_may_go_on(void **state)
{
  static const double rate[] = {0, 20};
  struct bn_workload sql = toy_workload;
  struct bn_conf c = make_conf(8);
  struct toy t = {.sleep_us = 10000};

  (void)state;
  sql.kind = BN_KIND_SQL;
  sql.event = event_of_the_warmup;
  c.raw.rate_max_backlog = 1000;
  c.plan.warmup_ns = 4 * BN_NSEC_PER_SEC;
  c.plan.time_ns = 6 * BN_NSEC_PER_SEC;
  for (int i = 0; i < 2; i++) {
    c.plan.rate = rate[i];
    assert_int_equal(run_at_0(&c, &sql, &t), 0);
    assert_int_equal(seen.total.outages, 1);
    same_s(seen.total.longest_outage_s, 7 - 4);
  }
}

/* A server that refuses whatever is begun between 2 s and 8 s, at once; then it answers, or the run
   is over. */
static enum bn_next refusing_loop(void *self, struct bn_session *s)
{
  struct bn_tick tick = {0, 0};

  (void)self;
  while (bn_event_more(s)) {
    const double at_s = sim_s();

    bn_event_start(s, &tick);
    sim_sleep_ms(100);
    if (at_s >= 2 && at_s < 7.95)
      bn_event_fail(s, &tick);
    else
      bn_event_end(s, &tick);
  }
  return BN_FINISHED;
}

static void events_that_are_given_up_are_no_commits(void **state)
{
  static const uint64_t time_s[] = {10, 6};
  static const double longest_s[] = {6 + 0.1, 4};
  struct bn_workload sql = toy_workload;
  struct bn_conf c = make_conf(8);
  struct toy t = {0};

  (void)state;
  sql.kind = BN_KIND_SQL;
  sql.event = NULL;
  sql.loop = refusing_loop;
  for (int i = 0; i < 2; i++) {
    c.plan.time_ns = time_s[i] * BN_NSEC_PER_SEC;
    assert_int_equal(run_at_0(&c, &sql, &t), 0);
    assert_int_equal(seen.total.outages, 1);
    same_s(seen.total.longest_outage_s, longest_s[i]);
  }
}

BN_TESTS(run_outages)
{
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_outage_may_last_to_the_end),
      cmocka_unit_test(a_short_event_may_end_an_outage),
      cmocka_unit_test(an_outage_is_found_where_sessions_pause),
      cmocka_unit_test(a_failure_may_end_an_outage),
      cmocka_unit_test(the_queue_of_the_warmup_is_no_outage),
      cmocka_unit_test(an_outage_of_the_warmup_may_go_on),
      cmocka_unit_test(events_that_are_given_up_are_no_commits),
  };

  bn_stop_block_signals();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
