/* SPDX-License-Identifier: GPL-2.0-or-later */
/* String templates are filled uniformly, and the unique sequence is sysbench's, seeded and without
   repetition. */
#include "base/dist.h"

#include <pthread.h>
#include <stdbool.h>

#include "cm.h"
#include "goodness.h"

static void test_template(void **state)
{
  static const char fmt[] = "###-@@@@@@@@-#@#!";
  enum { LEN = sizeof fmt - 1, N = 50000 };
  uint64_t digit[LEN][10] = {{0}}, letter[LEN][26] = {{0}}, pair[100] = {0};
  double tenth[10], per_letter[26], hundredth[100];
  char out[LEN + 1];
  struct bn_rng r;

  (void)state;
  for (int i = 0; i < 10; i++)
    tenth[i] = 0.1;
  for (int i = 0; i < 100; i++)
    hundredth[i] = 0.01;
  for (int i = 0; i < 26; i++)
    per_letter[i] = 1.0 / 26;
  bn_rng_seed(&r, 24, BN_RNG_DATA, 0);
  out[LEN] = 'E';
  for (int n = 0; n < N; n++) {
    bn_dist_fill_template(&r, fmt, LEN, out);
    for (int i = 0; i < LEN; i++)
      if (fmt[i] == '#') {
        assert_in_range(out[i], '0', '9');
        digit[i][out[i] - '0']++;
      } else if (fmt[i] == '@') {
        assert_in_range(out[i], 'a', 'z');
        letter[i][out[i] - 'a']++;
      } else
        assert_int_equal(out[i], fmt[i]);
    pair[(out[1] - '0') * 10 + out[2] - '0']++;
  }
  assert_int_equal(out[LEN], 'E');
  for (int i = 0; i < LEN; i++) {
    if (fmt[i] == '#')
      assert_true(chi_square_z(10, tenth, digit[i]) < 4);
    if (fmt[i] == '@')
      assert_true(chi_square_z(26, per_letter, letter[i]) < 4);
  }
  assert_true(chi_square_z(100, hundredth, pair) < 4);
}

static void test_varchars(void **state)
{
  enum { KINDS = 'z' - '0' + 1, LEN = 13 };
  uint64_t count[LEN][KINDS] = {{0}};
  double p[KINDS];
  char out[LEN + 1];
  struct bn_rng r;

  (void)state;
  for (int i = 0; i < KINDS; i++)
    p[i] = 1.0 / KINDS;
  bn_rng_seed(&r, 25, BN_RNG_DATA, 0);
  out[LEN] = 'E';
  for (int n = 0; n < 30000; n++) {
    bn_dist_fill_varchars(&r, out, LEN);
    for (int i = 0; i < LEN; i++) {
      assert_in_range(out[i], '0', 'z');
      count[i][out[i] - '0']++;
    }
  }
  assert_int_equal(out[LEN], 'E');
  for (int i = 0; i < LEN; i++)
    assert_true(chi_square_z(KINDS, p, count[i]) < 4);
}

/* From the start sysbench always uses, the sequence is sysbench's. */
static void test_unique_formula(void **state)
{
  struct bn_unique u = {.index = 2165057043, .offset = 174191551};

  (void)state;
  assert_int_equal(bn_unique_next(&u), 2672933100);
  assert_int_equal(bn_unique_next(&u), 2916245674);
  assert_int_equal(bn_unique_next(&u), 2834291422);
  u = (struct bn_unique){.index = 4294967291 / 2}; /* where the halves meet: equal squares */
  assert_int_not_equal(bn_unique_next(&u), bn_unique_next(&u));
}

static int compare_u32(const void *a, const void *b)
{
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

  return (x > y) - (x < y);
}

enum { DRAWERS = 4, DRAWS = 100000 };

struct drawer {
  struct bn_unique *unique;
  uint32_t *out;
};

static void *draw_many(void *arg)
{
  const struct drawer *d = arg;

  for (int i = 0; i < DRAWS; i++)
    d->out[i] = bn_unique_next(d->unique);
  return NULL;
}

static void test_unique_never_repeats(void **state)
{
  static uint32_t drawn[DRAWERS * DRAWS];
  struct bn_unique u;
  struct drawer drawers[DRAWERS];
  pthread_t threads[DRAWERS];

  (void)state;
  bn_unique_init(&u, 26);
  for (int i = 0; i < DRAWERS; i++) {
    drawers[i] = (struct drawer){.unique = &u, .out = drawn + (ptrdiff_t)i * DRAWS};
    assert_int_equal(pthread_create(&threads[i], NULL, draw_many, &drawers[i]), 0);
  }
  for (int i = 0; i < DRAWERS; i++)
    assert_int_equal(pthread_join(threads[i], NULL), 0);
  qsort(drawn, DRAWERS * DRAWS, sizeof drawn[0], compare_u32);
  for (int i = 1; i < DRAWERS * DRAWS; i++)
    assert_true(drawn[i] != drawn[i - 1]);
}

static void test_unique_is_seeded(void **state)
{
  struct bn_unique a, b, same;

  (void)state;
  bn_unique_init(&a, 1);
  bn_unique_init(&b, 2);
  bn_unique_init(&same, 1);
  for (int i = 0; i < 3; i++) {
    const uint32_t x = bn_unique_next(&a);

    assert_int_equal(x, bn_unique_next(&same));
    assert_int_not_equal(x, bn_unique_next(&b));
  }
}

/* Two processes with one seed: the second goes on where the first comes after half of all. */
static void test_unique_is_divided(void **state)
{
  struct bn_unique a, b;

  (void)state;
  bn_unique_init(&a, 5);
  bn_unique_init(&b, 5);
  bn_unique_skip(&a, 0);
  bn_unique_skip(&b, 0.5);
  (void)bn_unique_next(&a);
  atomic_fetch_add(&a.index, (UINT32_C(1) << 31) - 1);
  assert_int_equal(bn_unique_next(&a), bn_unique_next(&b));
}

/* Without a seed, as in 0.5, the numbers up to a bound are those of 0.5: n * 2147483647 mod 100. */
static void test_unique_up_to_formula(void **state)
{
  struct bn_unique u;

  (void)state;
  bn_unique_init(&u, 0);
  for (uint64_t n = 1; n <= 250; n++)
    assert_int_equal(bn_unique_next_up_to(&u, 99), n * 47 % 100);
}

/* Checks that a part of the order of 0..last has no number twice. */
static void check_unique_up_to(uint64_t seed, uint64_t last)
{
  enum { MOST = 1000 };
  const uint64_t n = last < MOST ? last + 1 : MOST;
  uint64_t drawn[MOST];
  struct bn_unique u;

  bn_unique_init(&u, seed);
  for (uint64_t i = 0; i < n; i++) {
    drawn[i] = bn_unique_next_up_to(&u, last);
    assert_true(drawn[i] <= last);
    for (uint64_t k = 0; k < i; k++)
      assert_true(drawn[i] != drawn[k]);
  }
}

/* 2147483646: the range is the factor of 0.5, which would make each number 0. */
static void test_unique_up_to_never_repeats(void **state)
{
  static const uint64_t last[] = {0,          1,          99,         999,       2147483646,
                                  2147483647, 4294967293, UINT32_MAX, UINT64_MAX};

  (void)state;
  for (size_t i = 0; i < sizeof last / sizeof last[0]; i++)
    for (uint64_t seed = 0; seed < 3; seed++)
      check_unique_up_to(seed, last[i]);
}

/* Four hosts with one seed draw a quarter of the numbers each; another seed begins elsewhere. */
static void test_unique_up_to_is_seeded_and_divided(void **state)
{
  bool seen[1000] = {false};
  struct bn_unique u, one, two;

  (void)state;
  for (int host = 0; host < 4; host++) {
    bn_unique_init(&u, 5);
    bn_unique_skip(&u, host / 4.0);
    for (int i = 0; i < 250; i++) {
      bool *number = &seen[bn_unique_next_up_to(&u, 999)];

      assert_false(*number);
      *number = true;
    }
  }
  bn_unique_init(&one, 1);
  bn_unique_init(&two, 2);
  for (int i = 0; i < 3; i++)
    assert_int_not_equal(bn_unique_next_up_to(&one, UINT32_MAX),
                         bn_unique_next_up_to(&two, UINT32_MAX));
}

BN_TESTS(sequences)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_template),
      cmocka_unit_test(test_varchars),
      cmocka_unit_test(test_unique_formula),
      cmocka_unit_test(test_unique_never_repeats),
      cmocka_unit_test(test_unique_is_seeded),
      cmocka_unit_test(test_unique_is_divided),
      cmocka_unit_test(test_unique_up_to_formula),
      cmocka_unit_test(test_unique_up_to_never_repeats),
      cmocka_unit_test(test_unique_up_to_is_seeded_and_divided),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
