/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --threads-profile: each session is active from one crossing of its level to the next, and as many
   are as the curve says. */
#include <math.h>

#include "cm.h"
#include "engine/active.h"

static struct bn_profile profile;

static void read_profile(const char *text, double lead_s)
{
  char wrong[BN_PROFILE_WRONG];

  bn_profile_done(&profile);
  if (bn_profile_parse(text, BN_PROFILE_THREADS, lead_s, &profile, wrong) != 0)
    fail_msg("%s: %s", text, wrong);
}

static void expect_span(unsigned session, double at_s, double from_s, double until_s)
{
  const struct bn_active_span span = bn_active_find(&profile, session, at_s);

  if (!(fabs(span.from_s - from_s) < 1e-9) && !(isinf(from_s) && isinf(span.from_s)))
    fail_msg("session %u at %g s: from %.12g instead of %g", session, at_s, span.from_s, from_s);
  if (!(fabs(span.until_s - until_s) < 1e-9) && !(isinf(until_s) && isinf(span.until_s)))
    fail_msg("session %u at %g s: until %.12g instead of %g", session, at_s, span.until_s, until_s);
}

static void jumps_begin_and_end_times(void **state)
{
  (void)state;
  read_profile("hold:2/3s; hold:5/2s; hold:1/4s; hold:2/1s", 0);
  expect_span(0, 0, 0, HUGE_VAL);
  expect_span(1, 0, 0, 5);
  expect_span(1, 4, 4, 5);
  expect_span(1, 5, 9, HUGE_VAL);
  expect_span(1, 100, 100, HUGE_VAL);
  expect_span(4, 0, 3, 5);
  expect_span(4, 5, HUGE_VAL, HUGE_VAL);
  expect_span(5, 0, HUGE_VAL, HUGE_VAL);
}

/* Session k begins when the ramp is at k + 1/2. */
static void ramps_cross_between_whole_numbers(void **state)
{
  (void)state;
  read_profile("ramp:0..10/10s; ramp:10..0/5s", 0);
  for (unsigned k = 0; k < 10; k++) {
    expect_span(k, 0, k + 0.5, 15 - (k + 0.5) / 2);
    expect_span(k, 10, 10, 15 - (k + 0.5) / 2);
    expect_span(k, 15, HUGE_VAL, HUGE_VAL);
  }
}

static void the_warm_up_has_the_first_number(void **state)
{
  (void)state;
  read_profile("hold:3/1s; hold:4/1s", 2);
  expect_span(2, 0, 0, HUGE_VAL);
  expect_span(3, 0, 3, HUGE_VAL);
  assert_int_equal(bn_active_count(&profile, 1), 3);
}

/* At each time, the sessions that are active are as many as are wanted. */
static void as_many_are_active_as_are_wanted(void **state)
{
  (void)state;
  read_profile("ramp:1..64/6s; hold:64/2s; step:8..64+8/3s; sine:32+-20/5s for 10s; "
               "burst:50/1s every 3s for 9s; hold:7/2s",
               0);
  for (double at_s = 0.0003; at_s < 60; at_s += 0.01) {
    unsigned active = 0;

    for (unsigned k = 0; k < 64; k++)
      active += bn_active_find(&profile, k, at_s).from_s <= at_s;
    assert_int_equal(active, bn_active_count(&profile, at_s));
  }
  assert_int_equal(bn_active_count(&profile, 7), 64);
  assert_int_equal(bn_active_count(&profile, 9.5), 8);
  assert_int_equal(bn_active_count(&profile, 30.5), 56 + 8);
  assert_int_equal(bn_active_count(&profile, 32 + 1.25), 52);
  assert_int_equal(bn_active_count(&profile, 1000), 7);
}

static int end_tests(void **state)
{
  (void)state;
  bn_profile_done(&profile);
  return 0;
}

BN_TESTS(active)
{
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(jumps_begin_and_end_times),
      cmocka_unit_test(ramps_cross_between_whole_numbers),
      cmocka_unit_test(the_warm_up_has_the_first_number),
      cmocka_unit_test(as_many_are_active_as_are_wanted),
  };

  return cmocka_run_group_tests(tests, NULL, end_tests);
}
