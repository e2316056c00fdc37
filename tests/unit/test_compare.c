/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Verdicts on figures of two sides: which test is chosen, and what follows from it. */
#include "cm.h"

#include <math.h>
#include <string.h>

#include "study/stats/compare.h"

enum { N_MAX = 12 };

static const struct bn_compare_rules rules = {.alpha = 0.01, .same = 0.05};

/* Pairs whose ratio is `ratio`, give or take `noise`. */
struct values {
  double a[N_MAX], b[N_MAX];
};

static void make(struct values *v, size_t n, double ratio, double noise)
{
  for (size_t i = 0; i < n; i++) {
    v->a[i] = 1000 + (double)(i * 7 % 5);
    v->b[i] = v->a[i] * ratio * (i % 2 == 0 ? 1 + noise : 1 / (1 + noise));
  }
}

static struct bn_compare_found measured(struct values *v, size_t n, bool paired,
                                        enum bn_better better)
{
  const struct bn_compare_sample s = {v->a, v->b, NULL, NULL, n, n, paired, better};
  struct bn_compare_found f;

  bn_compare_measure(&s, &rules, &f);
  return f;
}

static void check(size_t n, double ratio, double noise, enum bn_better better,
                  enum bn_compare_verdict want)
{
  struct values v;
  struct bn_compare_found f;

  make(&v, n, ratio, noise);
  f = measured(&v, n, true, better);
  assert_int_equal(f.method, n < BN_COMPARE_PAIRS_MIN ? BN_COMPARE_FEW : BN_COMPARE_T);
  assert_int_equal(bn_compare_judge(&f, &rules), want);
}

static void pairs_have_a_verdict(void **state)
{
  (void)state;
  check(8, 0.9, 0.01, BN_BETTER_MORE, BN_COMPARE_WORSE);
  check(8, 0.9, 0.01, BN_BETTER_LESS, BN_COMPARE_BETTER);
  check(8, 1.1, 0.01, BN_BETTER_MORE, BN_COMPARE_BETTER);
  check(8, 1.1, 0.01, BN_BETTER_LESS, BN_COMPARE_WORSE);
  check(8, 1, 0.01, BN_BETTER_MORE, BN_COMPARE_SAME);
  check(8, 1, 0.1, BN_BETTER_MORE, BN_COMPARE_UNKNOWN);
  check(3, 0.5, 0.01, BN_BETTER_MORE, BN_COMPARE_UNKNOWN);
}

/* What comes from one bucket of a histogram in every run is not exact. */
static void pairs_without_noise_have_some(void **state)
{
  struct values v;
  struct bn_compare_found f;

  (void)state;
  make(&v, 4, 0.9997, 0);
  f = measured(&v, 4, true, BN_BETTER_MORE);
  assert_true(f.noise > 3.9e-4 && f.noise < 4.1e-4);
  assert_int_equal(bn_compare_judge(&f, &rules), BN_COMPARE_SAME);
}

static void a_limit_is_to_be_exceeded(void **state)
{
  struct bn_compare_rules some = rules;
  struct bn_compare_found f;
  struct values v;
  struct bn_compare_sample s = {v.a, v.b, NULL, NULL, 8, 8, true, BN_BETTER_MORE};

  (void)state;
  some.limit = 0.03;
  make(&v, 8, 0.965, 0.01);
  bn_compare_measure(&s, &some, &f);
  assert_true(f.worse.p < 0.001 && f.beyond.p > 0.01 && f.beyond.p < 0.5);
  make(&v, 8, 0.94, 0.01);
  bn_compare_measure(&s, &some, &f);
  assert_true(f.beyond.p < 0.001);
  s.better = BN_BETTER_LESS;
  make(&v, 8, 1.035, 0.01);
  bn_compare_measure(&s, &some, &f);
  assert_true(f.worse.p < 0.001 && f.beyond.p > 0.01 && f.beyond.p < 0.5);
  make(&v, 8, 1.06, 0.01);
  bn_compare_measure(&s, &some, &f);
  assert_true(f.beyond.p < 0.001);
  s.paired = false;
  make(&v, 8, 1.035, 0.01);
  bn_compare_measure(&s, &some, &f);
  assert_true(f.worse.p < 0.001 && f.beyond.p > 0.01);
  make(&v, 8, 1.06, 0.01);
  bn_compare_measure(&s, &some, &f);
  assert_true(f.beyond.p < 0.001);
}

/* Errors: none in A, some in B. */
static void zeros_are_compared_by_signs(void **state)
{
  struct values v;
  struct bn_compare_found f;

  (void)state;
  memset(&v, 0, sizeof v);
  f = measured(&v, 8, true, BN_BETTER_LESS);
  assert_int_equal(f.method, BN_COMPARE_SIGNS);
  assert_int_equal(bn_compare_judge(&f, &rules), BN_COMPARE_EQUAL);
  for (size_t i = 0; i < 8; i++)
    v.b[i] = 3;
  f = measured(&v, 8, true, BN_BETTER_LESS);
  assert_int_equal(bn_compare_judge(&f, &rules), BN_COMPARE_WORSE);
  assert_true(!f.has_ratio && f.a == 0 && f.b == 3);
  f = measured(&v, 6, true, BN_BETTER_LESS);
  assert_int_equal(bn_compare_judge(&f, &rules), BN_COMPARE_UNKNOWN);
  assert_int_equal(bn_compare_more(&f, &rules, 1), 1);
  f = measured(&v, 3, true, BN_BETTER_LESS);
  assert_int_equal(f.method, BN_COMPARE_FEW);
  assert_int_equal(bn_compare_more(&f, &rules, 1), 4);
}

static void what_is_not_paired_is_compared_by_ranks(void **state)
{
  struct values v;
  struct bn_compare_found f;

  (void)state;
  assert_int_equal(bn_compare_least(false, 0.01), 5);
  assert_int_equal(bn_compare_least(false, 0.002), 6);
  make(&v, 5, 0.9, 0.01);
  f = measured(&v, 5, false, BN_BETTER_MORE);
  assert_int_equal(f.method, BN_COMPARE_RANKS);
  assert_true(fabs(f.worse.p - 1.0 / 252) < 1e-12);
  assert_int_equal(bn_compare_judge(&f, &rules), BN_COMPARE_WORSE);
  make(&v, 8, 1, 0.01);
  f = measured(&v, 8, false, BN_BETTER_MORE);
  assert_true(f.has_interval && f.interval.low < 1 && f.interval.high > 1);
  assert_int_equal(bn_compare_judge(&f, &rules), BN_COMPARE_SAME);
  make(&v, 4, 0.5, 0.01);
  f = measured(&v, 4, false, BN_BETTER_MORE);
  assert_int_equal(bn_compare_judge(&f, &rules), BN_COMPARE_UNKNOWN);
  assert_int_equal(bn_compare_more(&f, &rules, 1), 1);
}

/* 0.1 of noise wants 96 pairs at -1 %; the family makes it more. */
static void more_pairs_are_counted_by_the_noise(void **state)
{
  const struct bn_compare_found f = {.n_a = 12,
                                     .n_b = 12,
                                     .paired = true,
                                     .has_ratio = true,
                                     .ratio = exp(-0.01),
                                     .noise = 0.1,
                                     .method = BN_COMPARE_T};
  const struct bn_compare_found one = {.n_a = 1, .n_b = 1, .paired = true, .has_ratio = true};

  (void)state;
  assert_int_equal(bn_compare_more(&f, &rules, 1), 96 - 12);
  assert_true(bn_compare_more(&f, &rules, 5) > 96 - 12);
  assert_int_equal(bn_compare_more(&one, &rules, 1), 3);
}

static bool interleaved(const char *order)
{
  struct bn_compare_turn turn[16];
  const size_t n = strlen(order);

  /* Given from the last to the first. */
  for (size_t i = 0; i < n; i++)
    turn[n - 1 - i] = (struct bn_compare_turn){1000 + i, order[i] == 'B', i};
  return bn_compare_interleaved(turn, n) && turn[0].run == 0 && turn[n - 1].run == n - 1;
}

static void pairs_follow_from_the_times(void **state)
{
  struct bn_compare_turn unknown[] = {{0, false, 0}, {5, true, 1}};

  (void)state;
  assert_true(interleaved("AB"));
  assert_true(interleaved("ABBAABBA"));
  assert_true(interleaved("BABABA"));
  assert_false(interleaved(""));
  assert_false(interleaved("A"));
  assert_false(interleaved("AABB"));
  assert_false(interleaved("ABAABB"));
  assert_false(interleaved("ABA"));
  assert_false(bn_compare_interleaved(unknown, 2));
}

BN_TESTS(compare)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pairs_have_a_verdict),
      cmocka_unit_test(pairs_without_noise_have_some),
      cmocka_unit_test(a_limit_is_to_be_exceeded),
      cmocka_unit_test(zeros_are_compared_by_signs),
      cmocka_unit_test(what_is_not_paired_is_compared_by_ranks),
      cmocka_unit_test(more_pairs_are_counted_by_the_noise),
      cmocka_unit_test(pairs_follow_from_the_times),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
