/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What runs count at their edges: after the warm-up, at arrivals, and when limits pass. */
#include "toyrun.h"

#include "engine/stop.h"

enum { DEPTH = 8 };

/* Up to DEPTH events in flight in each session, the oldest of which ends first. */
static enum bn_next deep_loop(void *self, struct bn_session *s)
{
  struct bn_tick tick[DEPTH];
  size_t first = 0, n = 0;

  (void)self;
  for (;;) {
    if (n == DEPTH) {
      bn_event_end(s, &tick[first]);
      first = (first + 1) % DEPTH;
      n--;
    }
    if (!bn_event_more(s))
      break;
    bn_event_start_now(s, &tick[(first + n) % DEPTH]);
    n++;
  }
  for (; n > 0; n--) {
    bn_event_end(s, &tick[first]);
    first = (first + 1) % DEPTH;
  }
  return BN_FINISHED;
}

/* Session 0 has nothing to do. */
static enum bn_next loop_but_first(void *self, struct bn_session *s)
{
  return s->id == 0 ? BN_FINISHED : deep_loop(self, s);
}

static void what_was_in_flight_after_the_warmup_is_one_of_the_events(void **state)
{
  struct bn_conf c = make_conf(2);
  struct bn_workload deep = toy_workload;
  struct toy t = {0};

  (void)state;
  deep.loop = deep_loop;
  c.warmup_ns = 20 * BN_NSEC_PER_MSEC;
  c.events = 1000;
  assert_int_equal(run_it(&c, &deep, &t), 0);
  assert_int_equal(seen.total.events, 1000);
}

static void sessions_that_left_in_the_warmup_keep_no_event(void **state)
{
  struct bn_conf c = make_conf(3);
  struct bn_workload lazy = toy_workload;
  struct toy t = {0};

  (void)state;
  lazy.loop = loop_but_first;
  c.warmup_ns = 20 * BN_NSEC_PER_MSEC;
  c.events = 1000;
  assert_int_equal(run_it(&c, &lazy, &t), 0);
  assert_int_equal(seen.total.events, 1000);
}

static enum bn_next loop_of_amount(void *self, struct bn_session *s)
{
  struct bn_tick tick;

  (void)self;
  while (s->services->counted_events(s) < 100 && bn_event_begin(s, &tick))
    bn_event_end(s, &tick);
  return BN_FINISHED;
}

/* The reporting thread may be held up in the middle of the baseline. */
static void slow_sample(void *self, uint64_t *counter)
{
  (void)self;
  (void)counter;
  (void)usleep(20000);
}

static void an_amount_is_exact_after_a_slow_baseline(void **state)
{
  struct bn_conf c = make_conf(2);
  struct bn_workload amount = toy_workload;
  struct toy t = {0};

  (void)state;
  amount.loop = loop_of_amount;
  amount.sample = slow_sample;
  amount.own_amount = true;
  c.warmup_ns = 20 * BN_NSEC_PER_MSEC;
  assert_int_equal(run_it(&c, &amount, &t), 0);
  assert_int_equal(seen.total.events, 200);
  assert_true(seen.total.max_s < 5);
}

/* Session 2 begins when the others have left, which find in the second event that there is no more
   to do. */
static enum bn_next loop_of_one(void *self, struct bn_session *s)
{
  struct toy *t = self;
  struct bn_tick tick;

  while (s->id == 2 && __atomic_load_n(&t->closes, __ATOMIC_RELAXED) < 2)
    (void)usleep(1000);
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
  c.events = 3;
  assert_int_equal(run_it(&c, &one, &t), 0);
  assert_int_equal(seen.total.events, 3);
}

/* The TSC may be a little behind the clock by which threads wait. */
static enum bn_next lagging_event(void *self, struct bn_session *s)
{
  (void)self;
  s->clock.fit.base_ns -= s->clock.fit.horizon != 0 ? BN_NSEC_PER_MSEC : 0;
  return BN_CONTINUE;
}

static void arrivals_are_not_missed_by_a_clock_that_lags(void **state)
{
  struct bn_conf c = make_conf(1);
  struct bn_workload lagging = toy_workload;
  struct toy t = {0};

  (void)state;
  lagging.event = lagging_event;
  c.raw.clock = BN_CLOCK_TSC;
  c.raw.rate = 1000;
  c.events = 20;
  assert_int_equal(run_it(&c, &lagging, &t), 0);
  assert_int_equal(seen.total.events, 20);
}

/* However many more arrive while the last ones are executed. */
static void arrivals_beyond_the_events_are_no_overload(void **state)
{
  struct bn_conf c = make_conf(1);
  struct toy t = {.sleep_us = 20000};

  (void)state;
  c.raw.rate = 1e6;
  c.raw.rate_max_backlog = 100;
  c.events = 5;
  assert_int_equal(run_it(&c, &toy_workload, &t), 0);
  assert_int_equal(seen.total.events, 5);
}

/* Ends the run and takes its time. */
static enum bn_next leaving_event(void *self, struct bn_session *s)
{
  (void)self;
  (void)s->services->leave(s->services->of, 0);
  (void)usleep(900000);
  return BN_CONTINUE;
}

static void arrivals_end_with_the_run(void **state)
{
  struct bn_conf c = make_conf(1);
  struct bn_workload leaving = toy_workload;
  struct toy t = {0};

  (void)state;
  leaving.event = leaving_event;
  c.raw.rate = 1e6;
  c.raw.rate_max_backlog = 800000;
  assert_int_equal(run_it(&c, &leaving, &t), 0);
  assert_int_equal(seen.total.events, 1);
  assert_true(seen.total.backlog < 800000);
}

static int note_interval_slowly(void *self, const struct bn_view *v, struct bn_err *err)
{
  (void)usleep(500000);
  return note_interval(self, v, err);
}

static _Atomic bool checked; /* the checkpoint has come */

static int note_checkpoint_and_say_so(void *self, const struct bn_view *v, struct bn_err *err)
{
  const int rc = note_checkpoint(self, v, err);

  atomic_store(&checked, true);
  return rc;
}

/* None is taken once the last worker has left. */
static enum bn_next event_until_checked(void *self, struct bn_session *s)
{
  (void)toy_event(self, s);
  return atomic_load(&checked) ? BN_FINISHED : BN_CONTINUE;
}

static const struct bn_reporter slow_recorder = {.name = "slow record",
                                                 .interval = note_interval_slowly,
                                                 .checkpoint = note_checkpoint_and_say_so,
                                                 .total = note_total};

/* Its rates divide by the time in which its events were counted. */
static void checkpoint_after_a_slow_interval_has_its_own_time(void **state)
{
  struct bn_conf c = make_conf(1);
  struct bn_workload patient = toy_workload;
  struct toy t = {.sleep_us = 1000};

  (void)state;
  patient.event = event_until_checked;
  c.interval_ns = c.checkpoint_ns[0] = 100 * BN_NSEC_PER_MSEC;
  c.n_checkpoints = 1;
  c.time_ns = 60 * BN_NSEC_PER_SEC;
  atomic_store(&checked, false);
  assert_int_equal(run_with(&c, &patient, &t, &slow_recorder), 0);
  assert_int_equal(seen.checkpoints, 1);
  assert_true(seen.checkpoint_at[0] >= seen.interval_at[0] + 0.2);
}

static void nobody_is_shut_down_who_has_left(void **state)
{
  struct bn_conf c = make_conf(2);
  struct toy t = {.sleep_us = 1000};

  (void)state;
  c.interval_ns = 50 * BN_NSEC_PER_MSEC;
  c.time_ns = 100 * BN_NSEC_PER_MSEC;
  c.forced = true;
  c.forced_ns = 300 * BN_NSEC_PER_MSEC;
  assert_int_equal(run_with(&c, &toy_workload, &t, &slow_recorder), 0);
  assert_int_equal(seen.totals, 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_was_in_flight_after_the_warmup_is_one_of_the_events),
      cmocka_unit_test(sessions_that_left_in_the_warmup_keep_no_event),
      cmocka_unit_test(an_amount_is_exact_after_a_slow_baseline),
      cmocka_unit_test(what_is_not_counted_is_left_to_others),
      cmocka_unit_test(arrivals_are_not_missed_by_a_clock_that_lags),
      cmocka_unit_test(arrivals_beyond_the_events_are_no_overload),
      cmocka_unit_test(arrivals_end_with_the_run),
      cmocka_unit_test(checkpoint_after_a_slow_interval_has_its_own_time),
      cmocka_unit_test(nobody_is_shut_down_who_has_left),
  };

  bn_stop_block_signals();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
