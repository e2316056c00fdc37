/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The search finds the highest rate of a simulated M/M/1 queue that keeps a percentile, which has a
   closed form: the time in the queue is exponential with the rate mu - lambda (Kleinrock 1975,
   "Queueing Systems" 1, 5.2), so p99 < T holds up to mu - ln(100) / T. */
#include "cm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "study/search/hunt.h"
#include "study/stats/batch.h"

enum { SEEDS = 20 };

/* --- the queue -------------------------------------------------------------------------------- */

struct queue {
  double mu, limit_s;
  struct bn_rng rng;
};

static double exponential(struct queue *q, double rate)
{
  return -log1p(-bn_rng_double(&q->rng)) / rate;
}

/* Lindley 1952: the time in the queue of the next customer follows from that of the last. */
static void simulate(struct queue *q, double lambda, double warmup_s, double time_s,
                     struct bn_batch batch[BN_BATCHES_MAX])
{
  double at_s = 0, stay_s = exponential(q, q->mu);

  for (size_t i = 0; i < BN_BATCHES_MAX; i++)
    batch[i] = (struct bn_batch){0, 0};
  for (;;) {
    const double gap_s = exponential(q, lambda);
    size_t i;

    at_s += gap_s;
    if (at_s >= warmup_s + time_s)
      return;
    stay_s = fmax(stay_s - gap_s, 0) + exponential(q, q->mu);
    if (at_s < warmup_s)
      continue;
    i = (size_t)((at_s - warmup_s) / time_s * BN_BATCHES_MAX);
    batch[i].den++;
    batch[i].num += stay_s >= q->limit_s;
  }
}

static struct bn_hunt_found probe(struct queue *q, const struct bn_hunt_probe *p)
{
  static const struct bn_bound limit = {.at = 0.01, .below = true, .share = true};
  struct bn_batch batch[BN_BATCHES_MAX];
  struct bn_judged j;

  if (p->purpose == BN_PROBE_CAPACITY)
    return (struct bn_hunt_found){.value = q->mu, .score = log(1 / limit.at)};
  simulate(q, p->value, 2, p->time_s, batch);
  bn_batch_judge(batch, BN_BATCHES_MAX, &limit, &j);
  return (struct bn_hunt_found){p->value, j.decision, j.holds, bn_batch_score(&j, &limit),
                                j.longer};
}

/* --- the searches ----------------------------------------------------------------------------- */

struct tally {
  unsigned n, found, within, probes_most;
  double worst, probes, time_s;
};

static void search(struct queue *q, double truth, struct tally *t)
{
  static const struct bn_hunt_plan plan = {
      .precision = 0.03, .time_s = 10, .most_s = 60, .probes = 12};
  struct bn_hunt h;
  double off;

  bn_hunt_begin(&h, &plan);
  while (h.state == BN_HUNT_RUNS) {
    const struct bn_hunt_found f = probe(q, &h.next);

    t->time_s += h.next.time_s;
    bn_hunt_tell(&h, &f);
  }
  off = h.answer / truth - 1;
  t->n++;
  t->found += h.state == BN_HUNT_FOUND;
  t->within += h.state == BN_HUNT_FOUND && fabs(off) <= 0.05;
  t->worst = fmax(t->worst, fabs(off));
  t->probes += (double)h.n;
  t->probes_most = h.n > t->probes_most ? (unsigned)h.n : t->probes_most;
}

static void check(double mu, double utilization)
{
  const double truth = mu * utilization;
  struct tally t = {.n = 0};

  for (unsigned seed = 1; seed <= SEEDS; seed++) {
    struct queue q = {.mu = mu, .limit_s = log(100) / (mu - truth)};

    bn_rng_seed(&q.rng, seed, BN_RNG_WORKLOAD, (uint64_t)(utilization * 100));
    search(&q, truth, &t);
  }
  printf("mu %.0f/s, utilization %.2f, T %.3f ms: %u of %u within 5 %%, found %u; off at most "
         "%.1f %%; probes: mean %.1f, most %u; %.0f s\n",
         mu, utilization, 1e3 * log(100) / (mu - truth), t.within, t.n, t.found, 100 * t.worst,
         t.probes / t.n, t.probes_most, t.time_s / t.n);
  assert_int_equal(t.within, t.n);
}

static void low_utilization(void **state)
{
  (void)state;
  check(20000, 0.3);
}

static void middle_utilization(void **state)
{
  (void)state;
  check(8000, 0.6);
}

static void high_utilization(void **state)
{
  (void)state;
  check(5000, 0.9);
}

/* --- a goal that is kept up to a known value -------------------------------------------------- */

/* Without noise and without scores. */
static struct bn_hunt_found oracle(const struct bn_hunt_probe *p, double limit)
{
  const bool holds = p->value <= limit;

  return (struct bn_hunt_found){p->value, holds ? BN_HOLDS : BN_VIOLATED, holds, (double)NAN, 1};
}

static struct bn_hunt ask(const struct bn_hunt_plan *plan, double capacity, double limit)
{
  struct bn_hunt h;

  bn_hunt_begin(&h, plan);
  while (h.state == BN_HUNT_RUNS) {
    struct bn_hunt_found f = oracle(&h.next, limit);

    if (h.next.purpose == BN_PROBE_CAPACITY)
      f = (struct bn_hunt_found){.value = capacity, .score = (double)NAN};
    assert_true(h.next.value <= plan->max || plan->max == 0);
    assert_true(h.next.value >= plan->min || h.next.purpose == BN_PROBE_CAPACITY);
    bn_hunt_tell(&h, &f);
  }
  return h;
}

static void a_known_limit_is_bracketed(void **state)
{
  const struct bn_hunt_plan plan = {.precision = 0.03, .time_s = 1, .most_s = 2, .probes = 16};

  (void)state;
  for (double limit = 10; limit < 1100; limit *= 1.07) {
    const struct bn_hunt h = ask(&plan, 1000, limit);

    assert_int_equal(h.state, BN_HUNT_FOUND);
    assert_true(h.answer <= limit && h.answer * 1.0301 >= limit);
    assert_true(h.failed > limit && h.failed <= h.answer * 1.0301);
  }
  assert_int_equal(ask(&plan, 1000, 7).state, BN_HUNT_NONE);
}

static void whole_numbers_are_exact(void **state)
{
  const struct bn_hunt_plan plan = {.min = 1,
                                    .max = 1000,
                                    .precision = 0.001,
                                    .whole = true,
                                    .time_s = 1,
                                    .most_s = 2,
                                    .probes = 24};

  (void)state;
  for (unsigned limit = 1; limit <= 1000; limit++)
    assert_true(ask(&plan, 0, limit).answer == limit);
  assert_int_equal(ask(&plan, 0, 0).state, BN_HUNT_NONE);
  assert_true(ask(&plan, 0, 5000).answer == 1000);
}

static void the_last_probes_confirm_what_is_known(void **state)
{
  const struct bn_hunt_plan plan = {.precision = 0.01, .time_s = 1, .most_s = 2, .probes = 5};
  const struct bn_hunt h = ask(&plan, 1000, 700);

  (void)state;
  assert_int_equal(h.state, BN_HUNT_FOUND);
  assert_int_equal(h.n, 4);
  assert_true(h.answer == 500 && h.failed > 700);
  /* All that was allowed went into finding something that holds. */
  assert_int_equal(ask(&plan, 1000, 9).state, BN_HUNT_SPENT);
}

/* The run that is to confirm the answer does not; neither does the one after it. */
static void what_is_not_confirmed_is_lowered(void **state)
{
  const struct bn_hunt_plan plan = {.precision = 0.04, .time_s = 1, .most_s = 8, .probes = 20};
  struct bn_hunt h;
  unsigned refused = 0;

  (void)state;
  bn_hunt_begin(&h, &plan);
  while (h.state == BN_HUNT_RUNS) {
    const bool capacity = h.next.purpose == BN_PROBE_CAPACITY;
    struct bn_hunt_found f = oracle(&h.next, 600);

    if (capacity)
      f = (struct bn_hunt_found){.value = 1000, .score = (double)NAN};
    if (h.next.purpose == BN_PROBE_CONFIRM) {
      assert_true(h.next.time_s == 8);
      if (refused++ < 2)
        f.decision = BN_VIOLATED;
    }
    bn_hunt_tell(&h, &f);
  }
  assert_int_equal(h.state, BN_HUNT_FOUND);
  assert_true(fabs(h.failed * 0.98 / h.answer - 1) < 1e-9);
}

/* A probe that decides nothing is repeated for longer, and those after it take as long. */
static void undecided_probes_are_repeated(void **state)
{
  const struct bn_hunt_plan plan = {.precision = 0.03, .time_s = 4, .most_s = 50, .probes = 20};
  struct bn_hunt h;

  (void)state;
  bn_hunt_begin(&h, &plan);
  bn_hunt_tell(&h, &(struct bn_hunt_found){.value = 1000, .score = (double)NAN});
  assert_true(h.next.value == 500 && h.next.time_s == 4);
  bn_hunt_tell(&h, &(struct bn_hunt_found){500, BN_UNDECIDED, true, (double)NAN, 3});
  assert_int_equal(h.next.purpose, BN_PROBE_LONGER);
  assert_true(h.next.value == 500 && h.next.time_s == 18);
  bn_hunt_tell(&h, &(struct bn_hunt_found){500, BN_UNDECIDED, true, (double)NAN, HUGE_VAL});
  assert_true(h.next.value == 500 && h.next.time_s == 50);
  bn_hunt_tell(&h, &(struct bn_hunt_found){500, BN_UNDECIDED, true, (double)NAN, HUGE_VAL});
  assert_int_equal(h.next.purpose, BN_PROBE_STEP);
  assert_true(h.next.value > 500 && h.next.time_s == 50 && h.held == 500);
}

BN_TESTS(hunt)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_known_limit_is_bracketed),
                                     cmocka_unit_test(whole_numbers_are_exact),
                                     cmocka_unit_test(the_last_probes_confirm_what_is_known),
                                     cmocka_unit_test(what_is_not_confirmed_is_lowered),
                                     cmocka_unit_test(undecided_probes_are_repeated),
                                     cmocka_unit_test(low_utilization),
                                     cmocka_unit_test(middle_utilization),
                                     cmocka_unit_test(high_utilization)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
