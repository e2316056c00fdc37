/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The offset of another clock is within its stated bound, whatever the delays of both ways are. */
#include "cm.h"

#include "base/rng.h"
#include "hosts/clock_sync.h"

#define SEC UINT64_C(1000000000)
#define MS  UINT64_C(1000000)

static int64_t distance(int64_t a, int64_t b)
{
  return a > b ? a - b : b - a;
}

static void one_exchange_gives_half_of_its_round_trip(void **state)
{
  struct bn_clock_sync s = {0};
  struct bn_clock_sync_view v;

  (void)state;
  assert_false(bn_clock_sync_read(&s, 0, &v));
  assert_int_equal(bn_clock_sync_add(&s, 1000, 501500, 2000), 0);
  assert_true(bn_clock_sync_read(&s, 2000, &v));
  assert_int_equal(v.offset_ns, 500000);
  assert_int_equal(v.error_ns, 501); /* with the drift of 1 us, rounded up */
  assert_int_equal(bn_clock_sync_to_there(&v, 7), 500007);
  assert_int_equal(bn_clock_sync_to_here(&v, 500007), 7);
}

static void the_bound_widens_with_time(void **state)
{
  struct bn_clock_sync s = {0};
  struct bn_clock_sync_view v;

  (void)state;
  assert_int_equal(bn_clock_sync_add(&s, 1000, 501500, 2000), 0);
  assert_true(bn_clock_sync_read(&s, 2000 + SEC, &v));
  assert_int_equal(v.offset_ns, 500000);
  assert_int_equal(v.error_ns, 501 + 200000);
}

static void the_shortest_round_trip_decides(void **state)
{
  struct bn_clock_sync s = {0};
  struct bn_clock_sync_view v;

  (void)state;
  assert_int_equal(bn_clock_sync_add(&s, 0, 9 * MS, 10 * MS),
                   0); /* nearly all of it on the way there */
  assert_int_equal(bn_clock_sync_add(&s, 10 * MS, 10 * MS + 100, 10 * MS + 200), 0);
  assert_int_equal(bn_clock_sync_add(&s, 11 * MS, 12 * MS, 30 * MS), 0);
  assert_true(bn_clock_sync_read(&s, 30 * MS, &v));
  assert_true(distance(v.offset_ns, 0) <= 1);
  assert_in_range(v.error_ns, 100, 100 + 4 * 1000 + 10); /* aged by 20 ms */
  assert_int_equal(s.best_trip_ns, 200);
}

static void a_clock_before_ours_has_a_negative_offset(void **state)
{
  struct bn_clock_sync s = {0};
  struct bn_clock_sync_view v;

  (void)state;
  assert_int_equal(bn_clock_sync_add(&s, 5 * SEC, 100, 5 * SEC + 200), 0);
  assert_true(bn_clock_sync_read(&s, 5 * SEC + 200, &v));
  assert_true(v.offset_ns == -(int64_t)(5 * SEC));
  assert_true(bn_clock_sync_to_there(&v, 6 * SEC) == SEC);
  assert_true(bn_clock_sync_to_here(&v, SEC) == 6 * SEC);
}

static void impossible_times_are_refused(void **state)
{
  struct bn_clock_sync s = {0};
  struct bn_clock_sync_view v;

  (void)state;
  assert_int_equal(bn_clock_sync_add(&s, 2, 1, 1), -1);
  assert_int_equal(bn_clock_sync_add(&s, 1, UINT64_MAX, 2), -1);
  assert_int_equal(bn_clock_sync_add(&s, 1, 5, UINT64_MAX), -1);
  assert_false(bn_clock_sync_read(&s, 0, &v));
  assert_int_equal(bn_clock_sync_add(&s, 0, UINT64_C(1) << 62, 1), 0);
  assert_int_equal(bn_clock_sync_add(&s, 0, 0, UINT64_C(1) << 62), 0);
  assert_true(bn_clock_sync_read(&s, UINT64_MAX, &v));
}

/* Two hosts: the clock there runs faster by ppm, and each way takes least to most ns. */
struct world {
  struct bn_rng rng;
  double ppm;
  uint64_t out_least, out_most, back_least, back_most;
};

static uint64_t delay(struct world *w, uint64_t least, uint64_t most)
{
  const double u = (double)(bn_rng_next(&w->rng) >> 11) * 0x1p-53;

  return least + (uint64_t)((double)(most - least) * u * u * u); /* often short, rarely long */
}

static int64_t true_offset(const struct world *w, uint64_t at)
{
  return (int64_t)(5 * SEC) + (int64_t)((double)at * w->ppm / 1e6);
}

static uint64_t exchange(struct world *w, struct bn_clock_sync *s, uint64_t at)
{
  const uint64_t there = at + delay(w, w->out_least, w->out_most);
  const uint64_t back = there + delay(w, w->back_least, w->back_most);

  assert_int_equal(bn_clock_sync_add(s, at, there + (uint64_t)true_offset(w, there), back), 0);
  return back;
}

/* Makes 20 exchanges, and then one each second for ten minutes.  Returns the greatest bound after
   the first 20. */
static uint64_t live(struct world *w, struct bn_clock_sync *s)
{
  struct bn_clock_sync_view v;
  uint64_t at = 3 * SEC, widest = 0;

  for (unsigned i = 0; i < 620; i++) {
    const uint64_t back = exchange(w, s, at);

    for (unsigned k = 0; k < 4; k++) { /* now, and until the next one */
      const uint64_t when = back + k * SEC / 4;

      assert_true(bn_clock_sync_read(s, when, &v));
      assert_true(distance(v.offset_ns, true_offset(w, when)) <= (int64_t)v.error_ns);
    }
    if (i >= 20 && v.error_ns > widest)
      widest = v.error_ns;
    at = i < 20 ? back + 5 * MS : at + SEC;
  }
  assert_int_equal(s->exchanges, 620);
  return widest;
}

static void the_truth_is_within_the_bound(void **state)
{
  static const struct {
    uint64_t out_least, out_most, back_least, back_most, widest;
  } ways[] = {
      {10000, 20000, 10000, 20000, 400000}, /* a switch; the drift of a second is most of it */
      {10 * MS, 11 * MS, 10 * MS, 11 * MS, 11 * MS},
      {0, 50 * MS, 0, 50 * MS, 60 * MS},
      {50 * MS, 51 * MS, 10000, 20000, 27 * MS}, /* all of the delay on one way */
      {10000, 20000, 50 * MS, 51 * MS, 27 * MS},
      {25 * MS, 400 * MS, 25 * MS, 400 * MS, 200 * MS}, /* lost packets are sent again */
  };

  (void)state;
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
    for (int ppm = -100; ppm <= 100; ppm += 50) {
      struct world w = {.ppm = ppm,
                        .out_least = ways[i].out_least,
                        .out_most = ways[i].out_most,
                        .back_least = ways[i].back_least,
                        .back_most = ways[i].back_most};
      struct bn_clock_sync s = {0};

      bn_rng_seed(&w.rng, 7, BN_RNG_WORKLOAD, i);
      assert_in_range(live(&w, &s), 1, ways[i].widest);
    }
}

static void a_clock_that_is_set_starts_anew(void **state)
{
  struct world w = {.ppm = 0, .out_least = 1000, .out_most = 2000, .back_least = 1000};
  struct bn_clock_sync s = {0};
  struct bn_clock_sync_view v;

  (void)state;
  w.back_most = w.out_most;
  bn_rng_seed(&w.rng, 1, BN_RNG_WORKLOAD, 0);
  (void)exchange(&w, &s, SEC);
  assert_int_equal(bn_clock_sync_add(&s, 2 * SEC, 2 * SEC + 1000, 2 * SEC + 2000),
                   0); /* 5 s back */
  assert_int_equal(s.exchanges, 1);
  assert_true(bn_clock_sync_read(&s, 2 * SEC + 2000, &v));
  assert_int_equal(v.offset_ns, 0);
  assert_int_equal(v.error_ns, 1001);
}

BN_TESTS(clock_sync)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_exchange_gives_half_of_its_round_trip),
      cmocka_unit_test(the_bound_widens_with_time),
      cmocka_unit_test(the_shortest_round_trip_decides),
      cmocka_unit_test(a_clock_before_ours_has_a_negative_offset),
      cmocka_unit_test(impossible_times_are_refused),
      cmocka_unit_test(the_truth_is_within_the_bound),
      cmocka_unit_test(a_clock_that_is_set_starts_anew),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
