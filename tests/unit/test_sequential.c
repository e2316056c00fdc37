/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The boundary of sequential tests: against published values, and by simulated studies. */
#include "cm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "study/stats/sequential.h"
#include "study/stats/student.h"

enum { STUDIES = 2000 };
/* 1 % of 2,000 studies are 20; more than 31 happen by chance once in 128 tests. */
enum { FALSE_AT_MOST = 31 };

static void near(double got, double want, double error)
{
  if (!(fabs(got - want) <= error))
    fail_msg("%.10g, not %.10g", got, want);
}

/* Five equal steps, 2.5 % one-sided, the spending of Lan and DeMets (1983) of the type of O'Brien
   and Fleming, and of the type of Pocock.  The programs gsDesign and rpact print these numbers. */
static void the_boundary_is_the_published_one(void **state)
{
  static const unsigned pairs[] = {1, 2, 3, 4, 5};
  static const double fleming[] = {4.8769, 3.3569, 2.6803, 2.2898, 2.0310};
  static const double pocock[] = {2.4380, 2.4268, 2.4101, 2.3966, 2.3859};
  double spent[5], level[5];

  (void)state;
  for (size_t k = 0; k < 5; k++)
    spent[k] = 2 * bn_normal_cdf(-bn_normal_quantile(1 - 0.0125) / sqrt(pairs[k] / 5.0));
  bn_sequential_levels(spent, pairs, 5, level);
  for (size_t k = 0; k < 5; k++)
    near(-bn_normal_quantile(level[k]), fleming[k], 2e-4);
  for (size_t k = 0; k < 5; k++)
    spent[k] = 0.025 * log(1 + (M_E - 1) * pairs[k] / 5.0);
  bn_sequential_levels(spent, pairs, 5, level);
  for (size_t k = 0; k < 5; k++)
    near(-bn_normal_quantile(level[k]), pocock[k], 2e-4);
}

static double normal(struct bn_rng *rng)
{
  return sqrt(-2 * log1p(-bn_rng_double(rng))) * cos(2 * M_PI * bn_rng_double(rng));
}

/* A machine on which runs differ by `noise` and get slower by `drift` over a study, and a side B
   that is `slower`. */
struct machine {
  double noise, drift, slower;
};

struct count {
  unsigned same, worse, better, unknown, unsteady;
  double pairs; /* of all studies together */
};

struct values {
  double of[3][BN_LOOKS_PAIRS]; /* A, B and the other A */
};

static void measure_round(const struct machine *m, struct bn_rng *rng, unsigned round,
                          struct values *v)
{
  unsigned place[3] = {0, 1, 2};

  for (unsigned i = 2; i > 0; i--) {
    const uint64_t k = bn_rng_below(rng, i + 1);
    const unsigned other = place[k];

    place[k] = place[i];
    place[i] = other;
  }
  for (unsigned i = 0; i < 3; i++)
    v->of[i][round] = (1 + m->noise * normal(rng)) * (i == 1 ? 1 - m->slower : 1) *
                      (1 - m->drift * (3 * round + place[i]) / (3 * BN_LOOKS_PAIRS));
}

static void simulate(const struct machine *m, const double *level, struct bn_rng *rng,
                     struct count *count)
{
  struct values v;
  struct bn_look l = {.steady = true};
  unsigned n = 0;

  for (unsigned k = 0; k < BN_LOOKS && l.steady && l.verdict == BN_COMPARE_UNKNOWN; k++) {
    for (; n < bn_looks_pairs[k]; n++)
      measure_round(m, rng, n, &v);
    l = bn_look_at(&(struct bn_look_values){v.of[0], v.of[1], v.of[2], BN_BETTER_MORE, 0.05}, n,
                   level[k]);
  }
  count->pairs += n;
  count->unsteady += !l.steady;
  count->same += l.steady && l.verdict == BN_COMPARE_SAME;
  count->worse += l.steady && l.verdict == BN_COMPARE_WORSE;
  count->better += l.steady && l.verdict == BN_COMPARE_BETTER;
  count->unknown += l.steady && l.verdict == BN_COMPARE_UNKNOWN;
}

static struct count studies(struct machine m)
{
  struct bn_rng rng;
  double level[BN_LOOKS];
  struct count c = {0};

  bn_looks_levels(level);
  bn_rng_seed(&rng, 15, BN_RNG_STUDY, 0);
  for (unsigned i = 0; i < STUDIES; i++)
    simulate(&m, level, &rng, &c);
  print_message(
      "noise %.1f %%, drift %.0f %%, B %+.1f %%: same %u, worse %u, better %u, unknown %u, "
      "unsteady %u; %.1f pairs\n",
      100 * m.noise, 100 * m.drift, -100 * m.slower, c.same, c.worse, c.better, c.unknown,
      c.unsteady, c.pairs / STUDIES);
  return c;
}

static void equal_sides_are_not_worse(void **state)
{
  /* The last one is never the same, so that all of the error is there to be seen. */
  static const struct machine machines[] = {
      {.noise = 0.025}, {.noise = 0.025, .drift = 0.2}, {.noise = 0.1}};

  (void)state;
  for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
    const struct count c = studies(machines[i]);

    assert_true(c.worse <= FALSE_AT_MOST);
    assert_true(c.better <= FALSE_AT_MOST);
    assert_true(c.unsteady <= 2 * FALSE_AT_MOST);
  }
  assert_true(studies(machines[1]).same > STUDIES * 9 / 10);
}

/* At the edge of what counts as the same. */
static void a_difference_of_5_percent_is_not_the_same(void **state)
{
  static const struct machine machines[] = {{.noise = 0.025, .slower = 0.05},
                                            {.noise = 0.025, .slower = -0.05},
                                            {.noise = 0.025, .slower = 0.05, .drift = 0.2},
                                            {.noise = 0.01, .slower = 0.05}};

  (void)state;
  for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
    assert_true(studies(machines[i]).same <= FALSE_AT_MOST);
}

static void a_slower_side_is_found(void **state)
{
  struct count c;

  (void)state;
  c = studies((struct machine){.noise = 0.025, .drift = 0.2, .slower = 0.05});
  assert_true(c.worse > STUDIES * 9 / 10 && c.pairs < 14.0 * STUDIES);
  c = studies((struct machine){.noise = 0.025, .drift = 0.2, .slower = 0.1});
  assert_true(c.worse > STUDIES * 9 / 10 && c.pairs < 9.0 * STUDIES);
  c = studies((struct machine){.noise = 0.025, .drift = 0.2, .slower = -0.1});
  assert_true(c.better > STUDIES * 9 / 10);
}

/* Eight pairs. */
static struct bn_look look(const double *a, const double *b, const double *again,
                           enum bn_better better)
{
  double copy[3][8];

  memcpy(copy[0], a, sizeof copy[0]);
  memcpy(copy[1], b, sizeof copy[1]);
  memcpy(copy[2], again, sizeof copy[2]);
  return bn_look_at(&(struct bn_look_values){copy[0], copy[1], copy[2], better, 0.05}, 8, 0.001);
}

static void figures_are_judged_by_what_is_better(void **state)
{
  static const double one[8] = {1, 1, 1, 1, 1, 1, 1, 1}, two[8] = {2, 2, 2, 2, 2, 2, 2, 2};
  static const double noisy[8] = {1.02, 0.98, 1.01, 0.99, 1, 1.02, 0.97, 1.01};
  struct bn_look l;

  (void)state;
  l = look(one, one, one, BN_BETTER_MORE);
  assert_true(l.steady && l.verdict == BN_COMPARE_SAME);
  l = look(one, two, one, BN_BETTER_MORE);
  assert_true(l.steady && l.verdict == BN_COMPARE_BETTER);
  near(l.b.a, 1, 1e-12);
  near(l.b.b, 2, 1e-12);
  near(l.b.ratio, 2, 1e-12);
  assert_int_equal(look(one, two, one, BN_BETTER_LESS).verdict, BN_COMPARE_WORSE);
  assert_int_equal(look(two, one, two, BN_BETTER_MORE).verdict, BN_COMPARE_WORSE);
  assert_false(look(one, one, two, BN_BETTER_MORE).steady);
  /* Seven degrees of freedom: t is 4.7853 at 0.1 %. */
  l = look(one, noisy, one, BN_BETTER_MORE);
  near(l.b.noise, 0.0185897, 1e-6);
  near(log(l.b.interval.high / l.b.ratio), 4.7853 * 0.0185897 / sqrt(8), 1e-6);
  assert_int_equal(l.verdict, BN_COMPARE_SAME);
}

BN_TESTS(sequential)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_boundary_is_the_published_one),
      cmocka_unit_test(equal_sides_are_not_worse),
      cmocka_unit_test(a_difference_of_5_percent_is_not_the_same),
      cmocka_unit_test(a_slower_side_is_found),
      cmocka_unit_test(figures_are_judged_by_what_is_better),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
