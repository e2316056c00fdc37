/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often the verdict on two sides is right: simulated runs whose noise has a coefficient of
   variation of 2.5 %, on a machine that gets 20 % slower or faster from the first run to the last.
   Seeds are fixed, so that the counts are those of every machine. */
#include "cm.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "study/stats/compare.h"

enum { PAIRS_MAX = 20, METRICS_MAX = 5, STUDIES = 2000, FALSE_ALARMS_MAX = 31 };
enum order { ALTERNATING, MIRRORED, RANDOM, ONE_AFTER_THE_OTHER };

static const struct bn_compare_rules rules = {.alpha = 0.01, .same = 0.05};

struct study {
  enum order order;
  double drift;    /* from the first run to the last: -0.2 */
  double slowdown; /* of B: 0.05 */
  size_t pairs, metrics;
};

/* The runs of both sides in the order of time, and their figures. */
struct runs {
  bool is_b[2 * PAIRS_MAX];
  double value[METRICS_MAX][2 * PAIRS_MAX];
};

static double normal(struct bn_rng *rng)
{
  const double u = 1 - bn_rng_double(rng);

  return sqrt(-2 * log(u)) * cos(2 * M_PI * bn_rng_double(rng));
}

static bool second_is_a(const struct study *s, struct bn_rng *rng, size_t pair)
{
  if (s->order == MIRRORED)
    return pair % 2 == 1;
  return s->order == RANDOM && bn_rng_below(rng, 2) == 1;
}

static void set_order(const struct study *s, struct bn_rng *rng, struct runs *r)
{
  for (size_t i = 0; i < s->pairs; i++) {
    r->is_b[2 * i] = second_is_a(s, rng, i);
    r->is_b[2 * i + 1] = !r->is_b[2 * i];
  }
  for (size_t i = 0; s->order == ONE_AFTER_THE_OTHER && i < 2 * s->pairs; i++)
    r->is_b[i] = i >= s->pairs;
}

static void simulate(const struct study *s, struct bn_rng *rng, struct runs *r)
{
  const size_t n = 2 * s->pairs;

  set_order(s, rng, r);
  for (size_t m = 0; m < s->metrics; m++)
    for (size_t i = 0; i < n; i++)
      r->value[m][i] = 1000 * (1 + s->drift * (double)i / (double)(n - 1)) *
                       (r->is_b[i] ? 1 - s->slowdown : 1) * (1 + 0.025 * normal(rng));
}

/* As a comparison of files does it. */
static void measure(const struct study *s, const struct runs *r, size_t metric,
                    const struct bn_compare_turn *turn, bool paired, struct bn_compare_found *out)
{
  double a[PAIRS_MAX], b[PAIRS_MAX], a_s[PAIRS_MAX], b_s[PAIRS_MAX];
  const struct bn_compare_sample sample = {a,        b,        a_s,    b_s,
                                           s->pairs, s->pairs, paired, BN_BETTER_MORE};
  size_t n_a = 0, n_b = 0;

  for (size_t i = 0; i < 2 * s->pairs; i++) {
    const double at_s = (double)(turn[i].start_wall_ns - turn[0].start_wall_ns) * 1e-9;

    if (turn[i].is_b) {
      b_s[n_b] = at_s;
      b[n_b++] = r->value[metric][turn[i].run];
    } else {
      a_s[n_a] = at_s;
      a[n_a++] = r->value[metric][turn[i].run];
    }
  }
  bn_compare_measure(&sample, &rules, out);
}

/* The least favourable verdict of all metrics, which are one family. */
static enum bn_compare_verdict verdict_on(const struct study *s, struct bn_rng *rng,
                                          bool stationary, bool *all)
{
  struct bn_compare_turn turn[2 * PAIRS_MAX];
  struct bn_compare_found found[METRICS_MAX];
  struct bn_test *worse[METRICS_MAX];
  enum bn_compare_verdict verdict = BN_COMPARE_UNKNOWN;
  struct runs r;
  bool interleaved;

  simulate(s, rng, &r);
  for (size_t i = 0; i < 2 * s->pairs; i++)
    turn[i] = (struct bn_compare_turn){1700000000000000000 + i * 60000000000, r.is_b[i], i};
  interleaved = bn_compare_interleaved(turn, 2 * s->pairs);
  *all = false;
  if (!interleaved && !stationary)
    return BN_COMPARE_UNKNOWN;
  for (size_t m = 0; m < s->metrics; m++) {
    measure(s, &r, m, turn, interleaved, &found[m]);
    worse[m] = &found[m].worse;
  }
  bn_stats_holm(worse, s->metrics);
  *all = true;
  for (size_t m = 0; m < s->metrics; m++) {
    const enum bn_compare_verdict v = bn_compare_judge(&found[m], &rules);

    *all &= v == BN_COMPARE_WORSE;
    if (m == 0 || v == BN_COMPARE_WORSE)
      verdict = v;
  }
  return verdict;
}

struct counts {
  size_t of[BN_COMPARE_EQUAL + 1];
  size_t all_worse;
};

static struct counts count(const struct study *s, size_t studies, bool stationary)
{
  struct counts c;
  struct bn_rng rng;

  memset(&c, 0, sizeof c);
  bn_rng_seed(&rng, 20261122, BN_RNG_WORKLOAD, (uint64_t)s->order);
  for (size_t i = 0; i < studies; i++) {
    bool all;

    c.of[verdict_on(s, &rng, stationary, &all)]++;
    c.all_worse += all;
  }
  print_message("order %d, drift %+.0f %%, %zu pairs, %zu metrics: of %zu %zu worse, %zu better, "
                "%zu same, %zu cannot tell; all metrics worse: %zu\n",
                (int)s->order, 100 * s->drift, s->pairs, s->metrics, studies,
                c.of[BN_COMPARE_WORSE], c.of[BN_COMPARE_BETTER], c.of[BN_COMPARE_SAME],
                c.of[BN_COMPARE_UNKNOWN], c.all_worse);
  return c;
}

static void equal_sides_are_rarely_called_worse(void **state)
{
  static const enum order orders[] = {ALTERNATING, MIRRORED, RANDOM};
  static const double drifts[] = {-0.2, 0, 0.2};

  (void)state;
  for (size_t i = 0; i < 3; i++)
    for (size_t k = 0; k < 3; k++)
      for (size_t pairs = 5; pairs <= 12; pairs += 7) {
        const struct study s = {orders[i], drifts[k], 0, pairs, 1};
        const struct counts c = count(&s, STUDIES, false);

        /* 20 are expected. */
        assert_in_range(c.of[BN_COMPARE_WORSE], 0, pairs == 12 ? FALSE_ALARMS_MAX : 40);
        assert_in_range(c.of[BN_COMPARE_BETTER], 0, pairs == 12 ? FALSE_ALARMS_MAX : 40);
      }
}

static void five_equal_metrics_are_one_family(void **state)
{
  const struct study s = {RANDOM, -0.2, 0, 15, 5};

  (void)state;
  assert_in_range(count(&s, STUDIES, false).of[BN_COMPARE_WORSE], 0, FALSE_ALARMS_MAX);
}

static void a_slowdown_of_5_percent_is_found(void **state)
{
  static const enum order orders[] = {ALTERNATING, MIRRORED, RANDOM};

  (void)state;
  for (size_t i = 0; i < 3; i++)
    for (int sign = -1; sign <= 1; sign += 2) {
      const struct study one = {orders[i], 0.2 * sign, 0.05, 12, 1};
      const struct study five = {orders[i], 0.2 * sign, 0.05, 15, 5};

      assert_in_range(count(&one, 500, false).of[BN_COMPARE_WORSE], 450, 500);
      assert_in_range(count(&five, 500, false).all_worse, 450, 500);
    }
}

static void sides_one_after_the_other_are_not_compared(void **state)
{
  const struct study down = {ONE_AFTER_THE_OTHER, -0.2, 0, 12, 1};
  const struct study still = {ONE_AFTER_THE_OTHER, 0, 0, 12, 1};
  const struct study slow = {ONE_AFTER_THE_OTHER, 0, 0.05, 12, 1};

  (void)state;
  assert_int_equal(count(&down, STUDIES, false).of[BN_COMPARE_UNKNOWN], STUDIES);
  /* Whoever assumes that nothing drifts is right here, and wrong there. */
  assert_in_range(count(&still, STUDIES, true).of[BN_COMPARE_WORSE], 0, FALSE_ALARMS_MAX);
  assert_in_range(count(&slow, 500, true).of[BN_COMPARE_WORSE], 450, 500);
  assert_in_range(count(&down, 500, true).of[BN_COMPARE_WORSE], 450, 500);
}

BN_TESTS(compare_simulation)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_sides_are_rarely_called_worse),
      cmocka_unit_test(five_equal_metrics_are_one_family),
      cmocka_unit_test(a_slowdown_of_5_percent_is_found),
      cmocka_unit_test(sides_one_after_the_other_are_not_compared),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
