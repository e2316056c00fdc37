/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The generator is xoroshiro128+, streams are uniform from their first number, and streams of
   different seeds, purposes or ids have nothing in common. */
#include "base/rng.h"

#include <math.h>

#include "cm.h"
#include "goodness.h"

static void test_published_algorithm(void **state)
{
  static const uint64_t expected[] = {
      UINT64_C(0x3),
      UINT64_C(0x8000300000c003),
      UINT64_C(0x118406038000363),
      UINT64_C(0xa080fe5030c4c366),
      UINT64_C(0x3ae0e84f181c8404),
      UINT64_C(0x390283917940944),
  };
  struct bn_rng r = {.s = {1, 2}};

  (void)state;
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
    assert_int_equal(bn_rng_next(&r), expected[i]);
}

/* From a second implementation: a change here changes what every recorded seed means. */
static void test_seeding_stays(void **state)
{
  static const uint64_t expected[3][3] = {
      {UINT64_C(0xd42f4e6224906665), UINT64_C(0xd112b15440ce4a6), UINT64_C(0xe8566b3330cf99be)},
      {UINT64_C(0xd00d2bfec6c5b5b0), UINT64_C(0x605d4d184599bd3f), UINT64_C(0x1d98866583c46a7c)},
      {UINT64_C(0xa66698ff74840eb3), UINT64_C(0x71dc48df062da10b), UINT64_C(0xa59b07924515a6ba)}};

  (void)state;
  for (uint64_t id = 0; id < 3; id++) {
    struct bn_rng r;

    bn_rng_seed(&r, 42, BN_RNG_WORKLOAD, id);
    for (int i = 0; i < 3; i++)
      assert_int_equal(bn_rng_next(&r), expected[id][i]);
  }
}

enum { STREAMS = 20000 };

/* The n-th number of many streams that differ in one input only; n = 0 is where sysbench failed. */
static void check_across_streams(int skipped, int varies)
{
  static double u[STREAMS];

  for (uint64_t i = 0; i < STREAMS; i++) {
    struct bn_rng r;

    bn_rng_seed(&r, varies == 0 ? i : 1, BN_RNG_WORKLOAD, varies == 1 ? i : 7);
    for (int k = 0; k < skipped; k++)
      (void)bn_rng_next(&r);
    u[i] = bn_rng_double(&r);
    assert_true(u[i] >= 0 && u[i] < 1);
  }
  assert_true(ks_of_uniform(u, STREAMS) < 2.3);
}

static void test_early_numbers_are_uniform(void **state)
{
  (void)state;
  for (int skipped = 0; skipped < 3; skipped++)
    for (int varies = 0; varies < 2; varies++)
      check_across_streams(skipped, varies);
}

/* Each bit of the first number is set in half the streams: 5 sigma of 20,000. */
static void test_first_bits_are_balanced(void **state)
{
  unsigned ones[64] = {0};

  (void)state;
  for (uint64_t id = 0; id < STREAMS; id++) {
    struct bn_rng r;

    bn_rng_seed(&r, 3, BN_RNG_WORKLOAD, id);
    for (uint64_t x = bn_rng_next(&r), b = 0; b < 64; b++)
      ones[b] += (unsigned)(x >> b & 1);
  }
  for (int b = 0; b < 64; b++)
    assert_in_range(ones[b], STREAMS / 2 - 354, STREAMS / 2 + 354);
}

static double correlation(struct bn_rng *a, struct bn_rng *b)
{
  enum { N = 20000 };
  double sum = 0;

  for (int i = 0; i < N; i++)
    sum += (bn_rng_double(a) - 0.5) * (bn_rng_double(b) - 0.5);
  return sum * 12 / sqrt(N); /* a standard normal deviate */
}

static void test_streams_are_independent(void **state)
{
  double sum = 0;
  int n = 0;

  (void)state;
  for (int purpose = BN_RNG_WORKLOAD; purpose <= BN_RNG_DATA; purpose++)
    for (uint64_t id = 0; id < 4; id++)
      for (int other = purpose; other <= BN_RNG_DATA; other++) {
        struct bn_rng a, b;

        bn_rng_seed(&a, 5, (enum bn_rng_purpose)purpose, id);
        bn_rng_seed(&b, 5, (enum bn_rng_purpose)other, id + (other == purpose));
        const double z = correlation(&a, &b);

        assert_true(fabs(z) < 4.5);
        sum += z * z;
        n++;
      }
  assert_int_equal(n, 60);
  assert_true(sum > 25 && sum < 110); /* chi-square, 60 degrees of freedom */
}

static void test_no_state_is_all_zero(void **state)
{
  (void)state;
  for (uint64_t seed = 0; seed < 100; seed++) {
    struct bn_rng r;

    bn_rng_seed(&r, seed - 50, BN_RNG_WORKLOAD, 0);
    assert_true(r.s[0] != 0 && r.s[1] != 0);
  }
}

static void check_below(uint64_t n, size_t cells)
{
  struct bn_rng r;
  uint64_t count[16] = {0};
  double p[16];

  bn_rng_seed(&r, n, BN_RNG_DATA, 0);
  for (int i = 0; i < 200000; i++) {
    const uint64_t x = bn_rng_below(&r, n);

    assert_true(x < n);
    count[(size_t)((long double)x / (long double)n * (long double)cells)]++;
  }
  for (size_t i = 0; i < cells; i++)
    p[i] = 1 / (double)cells;
  assert_true(chi_square_z(cells, p, count) < 4);
}

static void test_below_has_no_bias(void **state)
{
  struct bn_rng r;

  (void)state;
  bn_rng_seed(&r, 1, BN_RNG_DATA, 0);
  for (int i = 0; i < 100; i++)
    assert_int_equal(bn_rng_below(&r, 1), 0);
  check_below(2, 2);
  check_below(3, 3);
  check_below(10, 10);
  check_below(16, 16);
  check_below(UINT64_C(3) << 62, 12); /* a quarter of the numbers is rejected */
  check_below(UINT64_MAX, 16);
}

static void test_entropy_differs(void **state)
{
  const uint64_t a = bn_rng_entropy(), b = bn_rng_entropy(), c = bn_rng_entropy();

  (void)state;
  assert_true(a != b && b != c && a != c);
  assert_true((a | b | c) >> 32 != 0);
}

BN_TESTS(rng)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_published_algorithm),
      cmocka_unit_test(test_seeding_stays),
      cmocka_unit_test(test_early_numbers_are_uniform),
      cmocka_unit_test(test_first_bits_are_balanced),
      cmocka_unit_test(test_streams_are_independent),
      cmocka_unit_test(test_no_state_is_all_zero),
      cmocka_unit_test(test_below_has_no_bias),
      cmocka_unit_test(test_entropy_differs),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
