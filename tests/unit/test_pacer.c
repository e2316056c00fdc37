/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrivals are Poisson, reproducible, follow ramps, and the replay counts what was due. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "engine/pacer.h"

enum { N = 200000 };

static int compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

static void gaps_are_exponential(void **state)
{
  const struct bn_pacer_phase phase = {1000, 1000, 0};
  struct bn_arrivals a;
  double *gap = calloc(N, sizeof *gap), last = 0, sum = 0, sq = 0, ks = 0;
  size_t i;

  (void)state;
  assert_non_null(gap);
  bn_arrivals_init(&a, 7, &phase, 1);
  for (i = 0; i < N; i++) {
    const double at = bn_arrivals_next(&a);

    assert_true(at > last);
    gap[i] = at - last;
    sum += gap[i];
    sq += gap[i] * gap[i];
    last = at;
  }
  assert_true(fabs(sum / N * 1000 - 1) < 0.01);
  assert_true(fabs(sqrt(sq / N - sum / N * sum / N) * 1000 - 1) < 0.01);
  qsort(gap, N, sizeof *gap, compare);
  for (i = 0; i < N; i++)
    ks = fmax(ks, fabs((1 - exp(-gap[i] * 1000)) - ((double)i + 0.5) / N));
  assert_true(ks < 1.63 / sqrt(N)); /* Kolmogorov-Smirnov, 1 % */
  free(gap);
}

static void ramps_follow_the_cumulative_rate(void **state)
{
  /* 10 s from 100/s to 300/s, 5 s at 300/s, then 50/s: 2,000, 1,500 and 50 a second */
  const struct bn_pacer_phase phases[] = {{100, 300, 10}, {300, 300, 5}, {50, 50, 0}};
  struct bn_arrivals a;
  unsigned in_first = 0, first_half = 0, in_second = 0, after = 0, i, runs;
  const unsigned repeats = 50;

  (void)state;
  for (runs = 0; runs < repeats; runs++) {
    bn_arrivals_init(&a, 100 + runs, phases, 3);
    for (i = 0; i < 5000; i++) {
      const double at = bn_arrivals_next(&a);

      first_half += at < 5;
      in_first += at < 10;
      in_second += at >= 10 && at < 15;
      after += at >= 15 && at < 25;
    }
  }
  assert_in_range(first_half, repeats * 750 - 1000, repeats * 750 + 1000);
  assert_in_range(in_first, repeats * 2000 - 1500, repeats * 2000 + 1500);
  assert_in_range(in_second, repeats * 1500 - 1200, repeats * 1500 + 1200);
  assert_in_range(after, repeats * 500 - 800, repeats * 500 + 800);
}

static void replay_counts_what_was_due(void **state)
{
  const struct bn_pacer_phase phase = {500, 500, 0};
  struct bn_pacer p, q;
  uint64_t at = 0, claimed = 0;

  (void)state;
  assert_int_equal(bn_pacer_init(&p, 3, &phase, 1), 0);
  assert_int_equal(bn_pacer_init(&q, 3, &phase, 1), 0);
  bn_pacer_start(&p, 1000);
  bn_pacer_start(&q, 1000);
  while (at < 2000000000) {
    at = bn_pacer_claim(&p);
    assert_int_equal(at, bn_pacer_claim(&q)); /* a pure function of the seed */
    claimed++;
    assert_int_equal(bn_pacer_passed(&p, at), claimed);
  }
  bn_pacer_done(&p);
  bn_pacer_done(&q);
}

/* A rate that nobody can serve must not keep whoever counts the backlog from the report. */
static void hopeless_rates_are_estimated(void **state)
{
  const struct bn_pacer_phase phase = {1e12, 1e12, 0};
  struct bn_pacer p;
  uint64_t at = 0, passed, last = 0;

  (void)state;
  assert_int_equal(bn_pacer_init(&p, 3, &phase, 1), 0);
  bn_pacer_start(&p, 1000);
  for (at = 1000; at < UINT64_C(100000000000); at += UINT64_C(999999999)) {
    const double wanted = (double)(at - 1000) * 1e3;

    passed = bn_pacer_passed(&p, at);
    assert_true(passed >= last);
    assert_true(fabs((double)passed - wanted) <= 2000 + wanted * 1e-3); /* times are whole ns */
    last = passed;
  }
  bn_pacer_done(&p);
}

/* Five million arrivals in a pause are more than one call replays. */
static void the_count_is_exact_again_after_a_pause(void **state)
{
  const struct bn_pacer_phase phase = {1e6, 1e6, 0};
  const uint64_t end_ns = 1000 + 7 * BN_NSEC_PER_SEC;
  struct bn_pacer p;
  uint64_t claimed = 0, passed;

  (void)state;
  assert_int_equal(bn_pacer_init(&p, 3, &phase, 1), 0);
  bn_pacer_start(&p, 1000);
  assert_in_range(bn_pacer_passed(&p, 1000 + BN_NSEC_PER_SEC), 995000, 1005000);
  passed = bn_pacer_passed(&p, 1000 + 6 * BN_NSEC_PER_SEC);
  assert_in_range(passed, 5990000, 6010000);
  assert_true(bn_pacer_passed(&p, 1000 + 6 * BN_NSEC_PER_SEC) >= passed);
  while (bn_pacer_claim(&p) <= end_ns)
    claimed++;
  assert_int_equal(bn_pacer_passed(&p, end_ns), claimed);
  bn_pacer_done(&p);
}

static void distant_arrivals_never_come(void **state)
{
  static const double rates[] = {1e-9, 1e-300, 5e-324};
  size_t i;

  (void)state;
  for (i = 0; i < sizeof rates / sizeof rates[0]; i++) {
    const struct bn_pacer_phase phase = {rates[i], rates[i], 0};
    struct bn_pacer p;

    assert_int_equal(bn_pacer_init(&p, 3, &phase, 1), 0);
    bn_pacer_start(&p, 1000);
    assert_true(bn_pacer_claim(&p) > UINT64_C(1000000000000));
    assert_int_equal(bn_pacer_passed(&p, UINT64_C(1000000000000)), 0);
    bn_pacer_done(&p);
  }
}

/* due = started + dropped + queued, as far as there are tickets left. */
static void the_backlog_is_what_has_not_begun(void **state)
{
  (void)state;
  assert_int_equal(bn_pacer_queued(0, 0, UINT64_MAX), 0);
  assert_int_equal(bn_pacer_queued(100, 40, UINT64_MAX), 60);
  assert_int_equal(bn_pacer_queued(100, 40, 60), 60);
  assert_int_equal(bn_pacer_queued(100, 40, 7), 7);
  assert_int_equal(bn_pacer_queued(100, 40, 0), 0);
  assert_int_equal(bn_pacer_queued(40, 41, UINT64_MAX), 0); /* begun before the replay saw it */
}

/* Sleeping ends at the arrival, or at once when the limit is below it. */
static void sleep_ends_at_the_arrival_or_the_limit(void **state)
{
  struct bn_limit limit = {UINT64_MAX};
  struct bn_pacer p;
  uint64_t began;

  (void)state;
  assert_int_equal(bn_pacer_init_rate(&p, 7, 1000), 0);
  assert_int_equal(p.constant.start_rate, 1000);
  began = bn_clock_mono();
  assert_true(bn_pacer_sleep(&p, &limit, began + 5 * BN_NSEC_PER_MSEC));
  assert_true(bn_clock_mono() - began >= 5 * BN_NSEC_PER_MSEC);
  assert_true(bn_pacer_sleep(&p, &limit, began));
  atomic_store(&limit.until_ns, 0);
  bn_pacer_wake(&p);
  assert_false(bn_pacer_sleep(&p, &limit, began + 3600 * BN_NSEC_PER_SEC));
  bn_pacer_done(&p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gaps_are_exponential),
      cmocka_unit_test(ramps_follow_the_cumulative_rate),
      cmocka_unit_test(replay_counts_what_was_due),
      cmocka_unit_test(hopeless_rates_are_estimated),
      cmocka_unit_test(the_count_is_exact_again_after_a_pause),
      cmocka_unit_test(distant_arrivals_never_come),
      cmocka_unit_test(the_backlog_is_what_has_not_begun),
      cmocka_unit_test(sleep_ends_at_the_arrival_or_the_limit),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
