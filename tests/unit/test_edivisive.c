/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Change points of simulated series: a shift of 5 % is found, and where; a series without one, or
   with one value far off, has none.  The seeds are fixed. */
#include "cm.h"

#include <math.h>

#include "base/rng.h"
#include "study/stats/edivisive.h"

#ifndef __has_feature
#define __has_feature(x) 0
#endif
/* Sanitizers make this ten to twenty times slower. */
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer) ||                             \
    defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
enum { SERIES = 10, MANY = 200 };
#else
enum { SERIES = 50, MANY = 2000 };
#endif

enum { MOST = 150 };

struct series {
  double value[MOST];
  size_t n;
  struct bn_rng rng;
};

static double gauss(struct bn_rng *rng)
{
  const double r = sqrt(-2 * log(1 - bn_rng_double(rng)));

  return r * cos(2 * M_PI * bn_rng_double(rng));
}

static size_t between(struct bn_rng *rng, size_t low, size_t high)
{
  return low + (size_t)bn_rng_below(rng, high - low + 1);
}

/* Values of mean 1000 with that coefficient of variation. */
static void make(struct series *s, uint64_t seed, uint64_t id, size_t n, double noise)
{
  bn_rng_seed(&s->rng, seed, BN_RNG_DATA, id);
  s->n = n;
  for (size_t i = 0; i < n; i++)
    s->value[i] = 1000 * (1 + noise * gauss(&s->rng));
}

static void scale(struct series *s, size_t from, size_t to, double by)
{
  for (size_t i = from; i < to; i++)
    s->value[i] *= by;
}

static size_t find(const struct series *s, struct bn_change change[MOST])
{
  size_t n;

  assert_int_equal(bn_edivisive(s->value, s->n, change, &n), 0);
  return n;
}

/* 80 to 120 runs with a shift of 5 %, up or down, between 30 % and 70 %; the distance of the change
   point nearest to it. */
static size_t distance(uint64_t seed, uint64_t id, double noise)
{
  struct bn_change change[MOST];
  struct series s;
  size_t at, n, nearest = MOST;

  make(&s, seed, id, 80 + id % 41, noise);
  at = between(&s.rng, s.n * 3 / 10, s.n * 7 / 10);
  scale(&s, at, s.n, id % 2 == 0 ? 0.95 : 1.05);
  n = find(&s, change);
  for (size_t i = 0; i < n; i++) {
    const size_t off = change[i].at > at ? change[i].at - at : at - change[i].at;

    nearest = off < nearest ? off : nearest;
    assert_true(change[i].p > 0 && change[i].p <= BN_EDIVISIVE_LEVEL);
  }
  return nearest;
}

static void a_shift_is_found(void **state)
{
  unsigned within_1 = 0, within_5 = 0;

  (void)state;
  for (uint64_t id = 0; id < SERIES; id++) {
    const size_t off = distance(1, id, 0.02);

    within_1 += off <= 1;
    within_5 += off <= 5;
  }
  print_message("noise of 2 %%: %u within 1, %u within 5, of %u\n", within_1, within_5, SERIES);
  assert_int_equal(within_5, SERIES);
  assert_true(within_1 * 50 >= SERIES * 43);
}

static void with_less_noise_it_is_found_exactly(void **state)
{
  unsigned within_1 = 0;

  (void)state;
  for (uint64_t id = 0; id < SERIES; id++)
    within_1 += distance(2, id, 0.01) <= 1;
  assert_int_equal(within_1, SERIES);
}

static void nothing_is_found_where_nothing_is(void **state)
{
  struct bn_change change[MOST];
  struct series s;

  (void)state;
  for (uint64_t id = 0; id < SERIES; id++) {
    make(&s, 3, id, 80 + id % 41, 0.02);
    assert_int_equal(find(&s, change), 0);
  }
}

/* At the level of 0.001, 2 of 2000 are expected, and 9 are one chance in 4000. */
static void the_level_is_kept(void **state)
{
  struct bn_change change[MOST];
  unsigned found = 0;
  struct series s;

  (void)state;
  for (uint64_t id = 0; id < MANY; id++) {
    make(&s, 4, id, 24, 0.02);
    found += find(&s, change) > 0;
  }
  print_message("%u of %u series of 24 values\n", found, MANY);
  assert_true(found <= 8);
}

/* Wherever it is, also as the first or last value. */
static void a_lone_spike_is_none(void **state)
{
  struct bn_change change[MOST];
  struct series s;

  (void)state;
  for (uint64_t id = 0; id < SERIES; id++) {
    const size_t n = 80 + id % 41, at = id < 4 ? id : id < 8 ? n + 3 - id : n * id / SERIES;

    make(&s, 5, id, n, 0.02);
    scale(&s, at, at + 1, id % 2 == 0 ? 0.8 : 1.2);
    assert_int_equal(find(&s, change), 0);
  }
}

static void each_of_several_changes_is_found(void **state)
{
  struct bn_change change[MOST];
  struct series s;

  (void)state;
  for (uint64_t id = 0; id < 5; id++) {
    make(&s, 6, id, 120, 0.01);
    scale(&s, 30, 120, 0.95);
    scale(&s, 55, 120, 0.94);
    scale(&s, 100, 120, 1.08);
    assert_int_equal(find(&s, change), 3);
    assert_in_range(change[0].at, 29, 31);
    assert_in_range(change[1].at, 54, 56);
    assert_in_range(change[2].at, 99, 101);
  }
}

/* The means of both halves are almost the same. */
static void a_change_that_was_taken_back_is_found(void **state)
{
  struct bn_change change[MOST];
  struct series s;

  (void)state;
  for (uint64_t id = 0; id < 10; id++) {
    make(&s, 7, id, 100, 0.01);
    scale(&s, 45, 57, 0.95);
    assert_int_equal(find(&s, change), 2);
    assert_in_range(change[0].at, 44, 46);
    assert_in_range(change[1].at, 56, 58);
  }
}

/* Of 12 values, 2 of 924 choices of six are as far apart as in order; of 16, 2 of 12870 of eight.
 */
static void a_change_needs_sixteen_values(void **state)
{
  struct bn_change change[MOST];
  struct series s;

  (void)state;
  for (uint64_t id = 0; id < 10; id++) {
    make(&s, 10, id, 12, 0.01);
    scale(&s, 6, 12, 0.8);
    assert_int_equal(find(&s, change), 0);
    make(&s, 10, id, 16, 0.01);
    scale(&s, 8, 16, 0.8);
    assert_int_equal(find(&s, change), 1);
    assert_int_equal(change[0].at, 8);
  }
}

/* Sums of all distances, as the paper writes them. */
static double by_definition(const struct series *s, size_t m)
{
  const double n = (double)s->n, a = (double)m, b = n - a;
  double between_parts = 0, first = 0, second = 0;

  for (size_t i = 0; i < s->n; i++)
    for (size_t k = i + 1; k < s->n; k++) {
      const double d = fabs(s->value[i] - s->value[k]);

      if (k < m)
        first += d;
      else if (i >= m)
        second += d;
      else
        between_parts += d;
    }
  return a * b / n *
         (2 / (a * b) * between_parts - first / (a * (a - 1) / 2) - second / (b * (b - 1) / 2));
}

static void a_cut_is_where_the_statistic_is_largest(void **state)
{
  struct bn_change change[MOST];
  struct series s;

  (void)state;
  for (uint64_t id = 0; id < 10; id++) {
    size_t best = BN_EDIVISIVE_LEAST;

    make(&s, 8, id, 60, 0.02);
    scale(&s, 20 + id, 60, 1.06);
    for (size_t at = BN_EDIVISIVE_LEAST; at + BN_EDIVISIVE_LEAST <= s.n; at++)
      if (by_definition(&s, at) > by_definition(&s, best))
        best = at;
    assert_int_equal(find(&s, change), 1);
    assert_int_equal(change[0].at, best);
  }
}

static void few_or_equal_values_have_none(void **state)
{
  struct bn_change change[MOST];
  struct series s;

  (void)state;
  for (size_t n = 0; n < 2 * BN_EDIVISIVE_LEAST; n++) {
    make(&s, 9, n, n, 0);
    scale(&s, n / 2, n, 2);
    assert_int_equal(find(&s, change), 0);
  }
  make(&s, 9, 100, 100, 0);
  assert_int_equal(find(&s, change), 0);
  scale(&s, 40, 100, 1.0001);
  assert_int_equal(find(&s, change), 1);
  assert_int_equal(change[0].at, 40);
  scale(&s, 0, 100, 0);
  assert_int_equal(find(&s, change), 0);
}

BN_TESTS(edivisive)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_shift_is_found),
      cmocka_unit_test(with_less_noise_it_is_found_exactly),
      cmocka_unit_test(nothing_is_found_where_nothing_is),
      cmocka_unit_test(the_level_is_kept),
      cmocka_unit_test(a_lone_spike_is_none),
      cmocka_unit_test(each_of_several_changes_is_found),
      cmocka_unit_test(a_change_that_was_taken_back_is_found),
      cmocka_unit_test(a_change_needs_sixteen_values),
      cmocka_unit_test(a_cut_is_where_the_statistic_is_largest),
      cmocka_unit_test(few_or_equal_values_have_none),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
