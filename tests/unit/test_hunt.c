/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The search finds the highest rate of a simulated M/M/1 queue that keeps a percentile, which has a
   closed form: the time in the queue is exponential with the rate mu - lambda (Kleinrock 1975,
   "Queueing Systems" 1, 5.2), so p99 < T holds up to mu - ln(100) / T.  With an argument N it tries
   N seeds and prints what it found. */
#include "cm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "study/batch.h"
#include "study/hunt.h"

static unsigned seeds = 20;

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

    if (getenv("TRACE"))
      printf("  %d %.1f %.0fs dec %d holds %d score %.3f longer %.2f\n", h.next.purpose,
             h.next.value, h.next.time_s, f.decision, f.holds, f.score, f.longer);
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

  for (unsigned seed = 1; seed <= seeds; seed++) {
    struct queue q = {.mu = mu, .limit_s = log(100) / (mu - truth)};

    bn_rng_seed(&q.rng, seed, BN_RNG_WORKLOAD, (uint64_t)(utilization * 100));
    search(&q, truth, &t);
  }
  printf("mu %.0f/s, utilization %.2f, T %.3f ms: %u of %u within 5 %%, found %u; off at most "
         "%.1f %%; probes: mean %.1f, most %u; %.0f s\n",
         mu, utilization, 1e3 * log(100) / (mu - truth), t.within, t.n, t.found, 100 * t.worst,
         t.probes / t.n, t.probes_most, t.time_s / t.n);
  if (seeds == 20)
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
  check(20000, 0.6);
}

static void high_utilization(void **state)
{
  (void)state;
  check(20000, 0.9);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(low_utilization),
                                     cmocka_unit_test(middle_utilization),
                                     cmocka_unit_test(high_utilization)};

  if (argc > 1)
    seeds = (unsigned)strtoul(argv[1], NULL, 10);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
