/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What real threads count, exactly, in whatever order they come: the events of a run, also across
   the end of the warm-up.  What runs do when is tested in test_run.c, on a simulated clock. */
#include "toyrun.h"

#include <unistd.h>

#include "engine/stop.h"

static void event_budget_is_exact(void **state)
{
  static const unsigned threads[] = {1, 4, 70};
  size_t i;

  (void)state;
  for (i = 0; i < 3; i++) {
    struct bn_conf c = make_conf(threads[i]);
    struct toy t = {0};

    c.plan.events = 100003;
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

static void warmup_is_not_counted(void **state)
{
  struct bn_conf c = make_conf(1);
  struct toy t = {.sleep_us = 0};

  (void)state;
  c.plan.warmup_ns = 50 * BN_NSEC_PER_MSEC;
  c.plan.events = 50000;
  for (int i = 0; i < 5; i++) {
    /* Short events: many end between the end of the warm-up and its baseline. */
    assert_int_equal(run_it(&c, &toy_workload, &t), 0);
    assert_int_equal(seen.total.events, 50000);
  }
}

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
  c.plan.warmup_ns = 20 * BN_NSEC_PER_MSEC;
  c.plan.events = 1000;
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
  c.plan.warmup_ns = 20 * BN_NSEC_PER_MSEC;
  c.plan.events = 1000;
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

static void slow_baseline_counts_no_event_twice(void **state)
{
  struct bn_conf c = make_conf(2);
  struct bn_workload slow = toy_workload;
  struct toy t = {.sleep_us = 0};

  (void)state;
  slow.sample = slow_sample;
  c.plan.warmup_ns = 20 * BN_NSEC_PER_MSEC;
  c.plan.events = 1000;
  assert_int_equal(run_it(&c, &slow, &t), 0);
  assert_int_equal(seen.total.events, 1000);
}

static void an_amount_is_exact_after_a_slow_baseline(void **state)
{
  struct bn_conf c = make_conf(2);
  struct bn_workload amount = toy_workload;
  struct toy t = {0};

  (void)state;
  amount.loop = loop_of_amount;
  amount.sample = slow_sample;
  amount.fixed_amount = true;
  c.plan.warmup_ns = 20 * BN_NSEC_PER_MSEC;
  assert_int_equal(run_it(&c, &amount, &t), 0);
  assert_int_equal(seen.total.events, 200);
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
  c.plan.rate = 1000;
  c.plan.events = 20;
  assert_int_equal(run_it(&c, &lagging, &t), 0);
  assert_int_equal(seen.total.events, 20);
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

static _Atomic unsigned errors_told;

/* With an error that no event before had. */
static enum bn_next erring_event(void *self, struct bn_session *s)
{
  char code[16];

  (void)self;
  bn_clock_sleep_until(bn_clock_mono() + BN_NSEC_PER_MSEC);
  (void)snprintf(code, sizeof code, "%u", atomic_fetch_add(&errors_told, 1));
  s->services->fact(s->services->of, "error_messages", code, "x");
  return BN_CONTINUE;
}

static size_t count_errors(const struct bn_view *v)
{
  size_t n = 0;

  assert_non_null(v->error_facts);
  for (size_t i = 0; i < v->error_facts->n_facts; i++)
    n += strcmp(v->error_facts->fact[i].text, "x") == 0;
  return n;
}

/* Reads the facts before and after many others have come. */
static int read_errors(void *self, const struct bn_view *v, struct bn_err *err)
{
  const size_t n = count_errors(v);
  const unsigned told = atomic_load(&errors_told);
  const uint64_t until_ns = bn_clock_mono() + BN_NSEC_PER_SEC; /* the run may be over */

  (void)self;
  (void)err;
  assert_in_range(n, v->span == BN_VIEW_TOTAL, told); /* a slow machine: no event yet */
  seen.checkpoints++;
  while (v->span == BN_VIEW_CHECKPOINT && atomic_load(&errors_told) < told + 100 &&
         bn_clock_mono() < until_ns)
    assert_int_equal(count_errors(v), n);
  assert_int_equal(count_errors(v), n);
  return 0;
}

/* It may hang, and then the view is printed as it is. */
static int add_lines(void *self, const struct bn_view *v, struct bn_buf *lines, struct bn_err *err)
{
  (void)self;
  (void)lines;
  (void)err;
  if (v->span != BN_VIEW_INTERVAL)
    (void)count_errors(v); /* fails without the facts */
  return 0;
}

static void errors_of_a_view_stay_as_they_are(void **state)
{
  static const struct bn_reporter reader = {
      .name = "reader", .checkpoint = read_errors, .total = read_errors, .add = add_lines};
  const struct bn_workload erring = {.name = "erring", .event = erring_event};
  struct bn_conf c = make_conf(4);

  (void)state;
  atomic_store(&errors_told, 0);
  c.plan.time_ns = 300 * BN_NSEC_PER_MSEC;
  c.plan.n_checkpoints = 1;
  c.plan.checkpoint_ns[0] = 20 * BN_NSEC_PER_MSEC;
  assert_int_equal(run_with(&c, &erring, NULL, &reader), 0);
  assert_int_equal(seen.checkpoints, 3);
}

BN_TESTS(run_edges)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(event_budget_is_exact),
      cmocka_unit_test(warmup_is_not_counted),
      cmocka_unit_test(what_was_in_flight_after_the_warmup_is_one_of_the_events),
      cmocka_unit_test(sessions_that_left_in_the_warmup_keep_no_event),
      cmocka_unit_test(slow_baseline_counts_no_event_twice),
      cmocka_unit_test(an_amount_is_exact_after_a_slow_baseline),
      cmocka_unit_test(arrivals_are_not_missed_by_a_clock_that_lags),
      cmocka_unit_test(parallel_commands_meet_and_fail),
      cmocka_unit_test(errors_of_a_view_stay_as_they_are),
  };

  bn_stop_block_signals();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
