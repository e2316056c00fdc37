/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A figure of batches is judged rightly: exact cases, and by simulation how often a run exactly at
   the limit is judged to be beside it, which should be 5 %. */
#include "cm.h"

#include <math.h>
#include <stdio.h>

#include "base/rng.h"
#include "study/stats/batch.h"

enum { RUNS = 2000 };

static const struct bn_bound one_percent = {.at = 0.01, .below = true, .share = true};

static struct bn_judged asserts(const struct bn_batch *batch, size_t n,
                                const struct bn_bound *bound)
{
  struct bn_judged j;

  bn_batch_judge(batch, n, bound, &j);
  return j;
}

static void few_events_decide_nothing(void **state)
{
  struct bn_batch batch[BN_BATCHES_MAX];
  struct bn_judged j;

  (void)state;
  for (size_t i = 0; i < BN_BATCHES_MAX; i++)
    batch[i] = (struct bn_batch){0, 10};
  /* None of 200 is slow, but of 200 with 1 % that would be so in one case of eight. */
  j = asserts(batch, BN_BATCHES_MAX, &one_percent);
  assert_int_equal(j.decision, BN_UNDECIDED);
  assert_true(j.holds && j.longer > 1 && j.longer < 4);
  for (size_t i = 0; i < BN_BATCHES_MAX; i++)
    batch[i].den = 50;
  assert_int_equal(asserts(batch, BN_BATCHES_MAX, &one_percent).decision, BN_HOLDS);
  assert_int_equal(asserts(batch, BN_BATCHES_MIN - 1, &one_percent).decision, BN_UNDECIDED);
  assert_int_equal(asserts(batch, 0, &one_percent).decision, BN_UNDECIDED);
}

static void a_share_of_none_is_refuted_by_one(void **state)
{
  const struct bn_bound none = {.at = 0, .below = true, .share = true};
  struct bn_batch batch[8] = {{0, 9}, {0, 9}, {0, 9}, {0, 9}, {0, 9}, {0, 9}, {0, 9}, {0, 9}};

  (void)state;
  assert_int_equal(asserts(batch, 8, &none).decision, BN_HOLDS);
  batch[3].num = 1;
  assert_int_equal(asserts(batch, 8, &none).decision, BN_VIOLATED);
}

/* The variance of a ratio of 10 batches, worked by hand: the residuals are +1 and -1, so that the
   standard error is sqrt(10 / 9 * 10) / 1000. */
static void the_error_is_that_of_a_ratio(void **state)
{
  const struct bn_bound mean = {.at = 0.5, .below = false};
  struct bn_batch batch[10];
  struct bn_judged j;

  (void)state;
  for (size_t i = 0; i < 10; i++)
    batch[i] = (struct bn_batch){50 + (i % 2 == 0 ? 1 : -1), 100};
  j = asserts(batch, 10, &mean);
  assert_true(fabs(j.value - 0.5) < 1e-12 && j.holds);
  assert_true(fabs(j.error - sqrt(100.0 / 9) / 1000) < 1e-12);
  assert_int_equal(j.batches, 10);
}

static void neighbours_that_are_alike_are_joined(void **state)
{
  const struct bn_bound mean = {.at = 0.9, .below = true};
  struct bn_batch batch[BN_BATCHES_MAX + 1];

  (void)state;
  for (size_t i = 0; i <= BN_BATCHES_MAX; i++)
    batch[i] = (struct bn_batch){(double)i, 100};
  assert_int_equal(asserts(batch, BN_BATCHES_MAX, &mean).batches, BN_BATCHES_MIN);
  /* One too many: they are joined in pairs, and the last joins the last pair. */
  assert_int_equal(asserts(batch, BN_BATCHES_MAX + 1, &mean).batches, BN_BATCHES_MIN);
}

static void the_score_is_the_logarithm_of_the_share(void **state)
{
  const struct bn_judged j = {.value = 0.02, .events = 1e12}, none = {.value = 0, .events = 499};
  const struct bn_bound mean = {.at = 0.01, .below = true};

  (void)state;
  assert_true(fabs(bn_batch_score(&j, &one_percent) - log(2)) < 1e-9);
  assert_true(fabs(bn_batch_score(&none, &one_percent) - log(0.1)) < 1e-12);
  assert_true(isnan(bn_batch_score(&j, &mean)));
}

/* --- by simulation ---------------------------------------------------------------------------- */

struct queue {
  struct bn_rng rng;
  double lambda, mu, limit_s, stay_s;
};

static double exponential(struct queue *q, double rate)
{
  return -log1p(-bn_rng_double(&q->rng)) / rate;
}

/* The customers of an M/M/1 queue that has run for a while (Lindley's equation); lambda 0: their
   times are independent. */
static bool is_slow(struct queue *q)
{
  if (q->lambda > 0)
    q->stay_s = fmax(q->stay_s - exponential(q, q->lambda), 0) + exponential(q, q->mu);
  else
    q->stay_s = exponential(q, q->mu);
  return q->stay_s >= q->limit_s;
}

/* How many of the runs, which are exactly at the limit, are judged to be beside it. */
static unsigned count_wrong(double utilization, unsigned events)
{
  struct queue q = {.lambda = utilization, .mu = 1, .limit_s = log(100) / (1 - utilization)};
  unsigned wrong = 0;

  for (unsigned run = 0; run < RUNS; run++) {
    struct bn_batch batch[BN_BATCHES_MAX] = {{0, 0}};

    bn_rng_seed(&q.rng, run, BN_RNG_WORKLOAD, (uint64_t)(utilization * 100));
    q.stay_s = 0;
    for (unsigned i = 0; i < events / 4; i++)
      (void)is_slow(&q);
    for (unsigned i = 0; i < events; i++) {
      struct bn_batch *b = &batch[i / (events / BN_BATCHES_MAX)];

      b->num += is_slow(&q);
      b->den++;
    }
    wrong += asserts(batch, BN_BATCHES_MAX, &one_percent).decision != BN_UNDECIDED;
  }
  printf("utilization %.2f, %u events: %u of %d judged to be beside the limit\n", utilization,
         events, wrong, RUNS);
  return wrong;
}

static void runs_at_the_limit_are_rarely_judged(void **state)
{
  (void)state;
  assert_in_range(count_wrong(0, 4000), 0, RUNS * 5 / 100);
  assert_in_range(count_wrong(0.3, 4000), 0, RUNS * 7 / 100);
  assert_in_range(count_wrong(0.6, 8000), 0, RUNS * 9 / 100);
  /* A few bursts of slow events are all that such a run has. */
  assert_in_range(count_wrong(0.9, 40000), 0, RUNS * 25 / 100);
}

BN_TESTS(batch)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(few_events_decide_nothing),
      cmocka_unit_test(a_share_of_none_is_refuted_by_one),
      cmocka_unit_test(the_error_is_that_of_a_ratio),
      cmocka_unit_test(neighbours_that_are_alike_are_joined),
      cmocka_unit_test(the_score_is_the_logarithm_of_the_share),
      cmocka_unit_test(runs_at_the_limit_are_rarely_judged),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
