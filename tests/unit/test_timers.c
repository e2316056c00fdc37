/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Timers come out in the order of their times, whatever was set, moved and cleared before. */
#include "engine/timers.h"

#include "base/rng.h"
#include "cm.h"

enum { TIMERS = 500, STEPS = 20000 };

/* Against a list that is searched from one end to the other. */
static void they_come_in_order(void **state)
{
  static struct bn_timer timer[TIMERS];
  struct bn_timers heap = {NULL, 0, 0};
  struct bn_rng rng;
  uint64_t now = 0;

  (void)state;
  bn_rng_seed(&rng, 5, BN_RNG_PACER, 0);
  for (int step = 0; step < STEPS; step++) {
    struct bn_timer *t = &timer[bn_rng_next(&rng) % TIMERS], *due;
    uint64_t first = UINT64_MAX;

    switch (bn_rng_next(&rng) % 4) {
    case 0:
      bn_timers_clear(&heap, t);
      break;
    case 1:
      now += bn_rng_next(&rng) % 50;
      break;
    default:
      bn_timers_set(&heap, t, now + bn_rng_next(&rng) % 1000);
    }
    for (int i = 0; i < TIMERS; i++)
      if (timer[i].place != 0 && timer[i].at_ns < first)
        first = timer[i].at_ns;
    assert_int_equal(bn_timers_next_ns(&heap), first);
    due = bn_timers_take_due(&heap, now);
    if (first > now) {
      assert_null(due);
    } else {
      assert_int_equal(due->at_ns, first);
      assert_int_equal(due->place, 0);
    }
  }
  bn_timers_done(&heap);
}

BN_TESTS(timers)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(they_come_in_order)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
