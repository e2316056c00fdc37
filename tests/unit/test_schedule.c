/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The schedule of the reporting thread, on a clock of this test's own. */
#include "cm.h"

#include "base/clock.h"
#include "engine/schedule.h"

static const uint64_t second = BN_NSEC_PER_SEC;
static const uint64_t start = 1000 * BN_NSEC_PER_SEC;

static struct bn_schedule open_with(const struct bn_conf *c, bool ticks)
{
  struct bn_schedule a;
  const uint64_t measure = start + c->plan.warmup_ns;
  const struct bn_times times = {start, measure,
                                 c->plan.time_ns != 0 ? measure + c->plan.time_ns : UINT64_MAX};

  bn_schedule_init(&a, c, start);
  assert_false(bn_schedule_take_interval(&a, UINT64_MAX - 1));
  assert_false(bn_schedule_take_checkpoint(&a, UINT64_MAX - 1));
  bn_schedule_open(&a, &times, ticks);
  return a;
}

/* Does what is due, as often as something is, and sleeps exactly until then; `late` is how long an
   interval takes to be printed.  Returns the number of intervals. */
static unsigned live(struct bn_schedule *a, uint64_t until, uint64_t late, uint64_t *last)
{
  uint64_t now = start;
  unsigned n = 0;

  while ((now = bn_schedule_next_ns(a, now) > now ? bn_schedule_next_ns(a, now) : now) < until) {
    (void)bn_schedule_take_refit(a, now);
    (void)bn_schedule_take_warmup_end(a, now);
    if (bn_schedule_take_interval(a, now)) {
      *last = now;
      n++;
      now += late;
    }
  }
  return n;
}

static void intervals_keep_their_grid(void **state)
{
  const struct bn_conf c = {
      .plan = {.interval_ns = BN_NSEC_PER_SEC / 2, .warmup_ns = BN_NSEC_PER_SEC / 4}};
  struct bn_schedule a = open_with(&c, false);
  uint64_t last = 0;

  (void)state;
  assert_int_equal(live(&a, start + 10 * second, 0, &last), 19);
  assert_int_equal(last, start + second / 4 + 19 * second / 2);
  /* Each takes 0.7 s: of two points the second is missed. */
  a = open_with(&c, false);
  assert_int_equal(live(&a, start + 10 * second, second / 10 * 7, &last), 14);
  /* One that is very late skips what it missed. */
  a = open_with(&c, false);
  assert_true(bn_schedule_take_warmup_end(&a, start + second));
  assert_true(bn_schedule_take_interval(&a, start + 7 * second));
  assert_false(bn_schedule_take_interval(&a, start + 7 * second));
  assert_int_equal(a.interval_ns, start + second / 4 + 7 * second);
}

static void nothing_is_reported_in_the_warmup(void **state)
{
  struct bn_conf c = {.plan = {.interval_ns = BN_NSEC_PER_SEC, .warmup_ns = 5 * BN_NSEC_PER_SEC}};
  struct bn_schedule a;

  (void)state;
  c.plan.checkpoint_ns[0] = second;
  c.plan.n_checkpoints = 1;
  a = open_with(&c, true);
  assert_false(bn_schedule_take_warmup_end(&a, start + 5 * second - 1));
  assert_false(bn_schedule_take_interval(&a, start + 7 * second));
  assert_false(bn_schedule_take_checkpoint(&a, start + 7 * second));
  assert_false(bn_schedule_take_tick(&a, start + 7 * second));
  a.refit_ns = UINT64_MAX;
  assert_int_equal(bn_schedule_next_ns(&a, start), start + 5 * second);
  assert_true(bn_schedule_take_warmup_end(&a, start + 5 * second));
  assert_false(bn_schedule_take_warmup_end(&a, start + 5 * second));
  assert_true(bn_schedule_take_interval(&a, start + 6 * second));
  assert_true(bn_schedule_take_checkpoint(&a, start + 6 * second));
  assert_true(bn_schedule_take_tick(&a, start + 6 * second));
}

static void checkpoints_that_were_missed_are_one(void **state)
{
  struct bn_conf c = {.plan = {.time_ns = 20 * BN_NSEC_PER_SEC}};
  struct bn_schedule a;

  (void)state;
  for (unsigned i = 0; i < 4; i++)
    c.plan.checkpoint_ns[i] = i * second;
  c.plan.n_checkpoints = 4;
  a = open_with(&c, false);
  assert_false(bn_schedule_take_checkpoint(&a, start));
  assert_true(bn_schedule_take_checkpoint(&a, start + second));
  assert_false(bn_schedule_take_checkpoint(&a, start + second));
  assert_true(bn_schedule_take_checkpoint(&a, start + 9 * second));
  assert_false(bn_schedule_take_checkpoint(&a, start + 19 * second));
  a.refit_ns = UINT64_MAX;
  assert_int_equal(bn_schedule_next_ns(&a, start + 9 * second), start + 20 * second);
  assert_int_equal(bn_schedule_next_ns(&a, start + 20 * second), UINT64_MAX);
}

/* The main thread may be late to stop the reporting thread: it still wakes for the third. */
static void no_checkpoint_is_due_after_the_end(void **state)
{
  struct bn_conf c = {.plan = {.time_ns = 20 * BN_NSEC_PER_SEC}};
  struct bn_schedule a;

  (void)state;
  for (unsigned i = 0; i < 3; i++)
    c.plan.checkpoint_ns[i] = (i + 1) * second;
  c.plan.n_checkpoints = 3;
  a = open_with(&c, true);
  assert_true(bn_schedule_take_checkpoint(&a, start + second));
  bn_schedule_drop_checkpoints(&a);
  /* The second was missed, the third would come later. */
  assert_false(bn_schedule_take_checkpoint(&a, start + 2 * second + second / 2));
  assert_false(bn_schedule_take_checkpoint(&a, start + 3 * second));
  assert_true(bn_schedule_take_tick(&a, start + 3 * second));
  a.refit_ns = UINT64_MAX;
  assert_int_equal(bn_schedule_next_ns(&a, start + 3 * second), start + 4 * second);
  /* Again is no more. */
  bn_schedule_drop_checkpoints(&a);
  assert_false(bn_schedule_take_checkpoint(&a, start + 99 * second));
}

static void shutdown_is_forced_once_and_not_at_once(void **state)
{
  struct bn_conf c = {.plan = {.time_ns = 10 * BN_NSEC_PER_SEC, .forced = true}};
  struct bn_schedule a = open_with(&c, false);

  (void)state;
  assert_false(bn_schedule_take_forced(&a, start + 10 * second + second / 5 - 1));
  assert_true(bn_schedule_take_forced(&a, start + 10 * second + second / 5));
  assert_false(bn_schedule_take_forced(&a, start + 99 * second));
  c.plan.forced_ns = 3 * second;
  a = open_with(&c, false);
  assert_false(bn_schedule_take_forced(&a, start + 13 * second - 1));
  assert_true(bn_schedule_take_forced(&a, start + 13 * second));
}

/* Two seconds; five in which only statements end. */
static void give_grace(struct bn_schedule *a, uint64_t after, uint64_t all, uint64_t ended)
{
  bn_schedule_give_grace(a, start + after, (struct bn_progress){all, ended}, 2 * second,
                         5 * second);
}

static void progress_renews_the_grace(void **state)
{
  const struct bn_conf c = {.plan = {.time_ns = 10 * BN_NSEC_PER_SEC}};
  struct bn_schedule a = open_with(&c, false);

  (void)state;
  assert_false(bn_schedule_take_out_of_grace(&a, start + 99 * second));
  give_grace(&a, 10 * second, 70, 7);
  give_grace(&a, 11 * second, 70, 7);
  assert_false(bn_schedule_take_out_of_grace(&a, start + 12 * second - 1));
  give_grace(&a, 12 * second - 1, 71, 7);
  assert_false(bn_schedule_take_out_of_grace(&a, start + 14 * second - 2));
  assert_true(bn_schedule_take_out_of_grace(&a, start + 14 * second - 1));
  assert_false(bn_schedule_take_out_of_grace(&a, start + 15 * second));
}

static void statements_alone_do_not_renew_it_for_ever(void **state)
{
  const struct bn_conf c = {.plan = {.time_ns = 10 * BN_NSEC_PER_SEC}};
  struct bn_schedule a = open_with(&c, false);

  (void)state;
  for (unsigned i = 0; i < 5; i++) {
    give_grace(&a, (10 + i) * second, 70 + i, 7);
    assert_false(bn_schedule_take_out_of_grace(&a, start + (10 + i) * second));
  }
  assert_false(bn_schedule_take_out_of_grace(&a, start + 15 * second - 1));
  give_grace(&a, 15 * second - 1, 75, 8);
  for (unsigned i = 15; i < 20; i++)
    give_grace(&a, i * second, 70 + i, 8);
  assert_false(bn_schedule_take_out_of_grace(&a, start + 20 * second - 2));
  assert_true(bn_schedule_take_out_of_grace(&a, start + 20 * second - 1));
}

BN_TESTS(schedule)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(intervals_keep_their_grid),
      cmocka_unit_test(nothing_is_reported_in_the_warmup),
      cmocka_unit_test(checkpoints_that_were_missed_are_one),
      cmocka_unit_test(no_checkpoint_is_due_after_the_end),
      cmocka_unit_test(shutdown_is_forced_once_and_not_at_once),
      cmocka_unit_test(progress_renews_the_grace),
      cmocka_unit_test(statements_alone_do_not_renew_it_for_ever),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
