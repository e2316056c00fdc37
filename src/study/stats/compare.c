/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chooses the test for the values of a figure and draws the conclusion. */
#include "study/stats/compare.h"

#include <math.h>
#include <stdlib.h>

/* --- the sample ------------------------------------------------------------------------------- */

static bool all_positive(const double *x, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (!(x[i] > 0) || !isfinite(x[i]))
      return false;
  return true;
}

static double middle_of(const double *x, size_t n, bool geometric)
{
  double sum = 0;

  for (size_t i = 0; geometric && i < n; i++)
    sum += log(x[i]) / (double)n;
  return geometric ? exp(sum) : bn_stats_mean(x, n);
}

/* C (2n, n) orders are equally likely; the test can be positive from 1 / alpha of them on. */
static size_t least_of(bool paired, double alpha)
{
  double orders = 2;
  size_t n = 1;

  if (paired)
    return BN_COMPARE_PAIRS_MIN;
  for (; orders * alpha < 1; n++)
    orders *= 2.0 * (double)(2 * n + 1) / (double)(n + 1);
  return n;
}

static bool is_enough(const struct bn_compare_sample *s, double alpha)
{
  const size_t least = least_of(s->paired, alpha);

  return s->n_a >= least && s->n_b >= least;
}

/* How many times A a B has to be that is worse by `limit`. */
static double times_of(const struct bn_compare_sample *s, double limit)
{
  return s->better == BN_BETTER_MORE ? 1 - limit : 1 + limit;
}

/* Tests of whether B is larger and whether it is smaller, in terms of the figure. */
static void set_tests(const struct bn_compare_sample *s, double larger, double smaller,
                      struct bn_compare_found *f)
{
  f->better.p = s->better == BN_BETTER_MORE ? larger : smaller;
  f->worse.p = s->better == BN_BETTER_MORE ? smaller : larger;
}

/* --- pairs ------------------------------------------------------------------------------------ */

static void measure_pairs(const struct bn_compare_sample *s, const struct bn_compare_rules *rules,
                          struct bn_compare_found *f)
{
  const struct bn_pairs pairs = {s->a, s->b, s->a_s, s->b_s, s->n_a};
  const double limit = log(times_of(s, rules->limit));
  struct bn_estimate e;
  struct bn_interval i;

  bn_stats_paired(&pairs, &e);
  i = bn_stats_interval(&e, rules->alpha);
  f->method = BN_COMPARE_T;
  f->has_interval = true;
  f->ratio = exp(e.mean);
  f->interval = (struct bn_interval){exp(i.low), exp(i.high)};
  f->noise = e.noise;
  f->drift_per_s = e.drift_per_s;
  set_tests(s, bn_stats_above(&e, 0), 1 - bn_stats_above(&e, 0), f);
  f->beyond.p =
      s->better == BN_BETTER_MORE ? 1 - bn_stats_above(&e, limit) : bn_stats_above(&e, limit);
}

/* In how many pairs B is larger than `times` A, and in how many smaller. */
struct signs {
  size_t larger, smaller;
};

static struct signs signs_of(const struct bn_compare_sample *s, double times)
{
  struct signs n = {0, 0};

  for (size_t i = 0; i < s->n_a; i++) {
    n.larger += s->b[i] > times * s->a[i];
    n.smaller += s->b[i] < times * s->a[i];
  }
  return n;
}

static void measure_signs(const struct bn_compare_sample *s, const struct bn_compare_rules *rules,
                          struct bn_compare_found *f)
{
  const struct signs n = signs_of(s, 1), limit = signs_of(s, times_of(s, rules->limit));

  f->method = BN_COMPARE_SIGNS;
  set_tests(s, bn_stats_signs(n.larger, n.larger + n.smaller),
            bn_stats_signs(n.smaller, n.larger + n.smaller), f);
  f->beyond.p = bn_stats_signs(s->better == BN_BETTER_MORE ? limit.smaller : limit.larger,
                               limit.larger + limit.smaller);
}

/* --- ranks ------------------------------------------------------------------------------------ */

static void measure_shift(const struct bn_ranked *r, const struct bn_compare_rules *rules,
                          struct bn_compare_found *f)
{
  const double dev_a = bn_stats_deviation(r->a, r->n_a), dev_b = bn_stats_deviation(r->b, r->n_b);
  struct bn_interval i;

  f->ratio = exp(bn_stats_shift(r));
  f->has_interval = bn_stats_shift_interval(r, rules->alpha, &i);
  if (f->has_interval)
    f->interval = (struct bn_interval){exp(i.low), exp(i.high)};
  /* The efficiency of ranks is 3 / pi of that of t where the noise is normal. */
  f->noise = sqrt((dev_a * dev_a + dev_b * dev_b) * M_PI / 3);
}

static void measure_ranks(const struct bn_compare_sample *s, const struct bn_compare_rules *rules,
                          struct bn_compare_found *f)
{
  const struct bn_ranked larger = {s->a, s->b, s->n_a, s->n_b};
  const struct bn_ranked smaller = {s->b, s->a, s->n_b, s->n_a};

  f->method = BN_COMPARE_RANKS;
  bn_stats_sort(s->a, s->n_a);
  bn_stats_sort(s->b, s->n_b);
  set_tests(s, bn_stats_rank_above(&larger), bn_stats_rank_above(&smaller), f);
  for (size_t i = 0; f->has_ratio && i < s->n_a; i++)
    s->a[i] = log(s->a[i]);
  for (size_t i = 0; f->has_ratio && i < s->n_b; i++)
    s->b[i] = log(s->b[i]);
  if (f->has_ratio)
    measure_shift(&larger, rules, f);
  for (size_t i = 0; i < s->n_a; i++)
    s->a[i] = f->has_ratio ? s->a[i] + log(times_of(s, rules->limit))
                           : s->a[i] * times_of(s, rules->limit);
  f->beyond.p = bn_stats_rank_above(s->better == BN_BETTER_MORE ? &smaller : &larger);
}

/* --- both ------------------------------------------------------------------------------------- */

static bool are_alike(const struct bn_compare_sample *s)
{
  for (size_t i = 0; i < s->n_a; i++)
    if (s->a[i] < s->a[0] || s->a[i] > s->a[0])
      return false;
  for (size_t i = 0; i < s->n_b; i++)
    if (s->b[i] < s->a[0] || s->b[i] > s->a[0])
      return false;
  return true;
}

void bn_compare_measure(const struct bn_compare_sample *s, const struct bn_compare_rules *rules,
                        struct bn_compare_found *out)
{
  const bool logs = all_positive(s->a, s->n_a) && all_positive(s->b, s->n_b);

  *out = (struct bn_compare_found){
      .n_a = s->n_a, .n_b = s->n_b, .paired = s->paired, .has_ratio = logs};
  out->worse.p = out->better.p = out->beyond.p = 1;
  if (s->n_a > 0 && s->n_b > 0) {
    out->a = middle_of(s->a, s->n_a, logs);
    out->b = middle_of(s->b, s->n_b, logs);
    out->ratio = logs ? out->b / out->a : 0;
    out->all_equal = are_alike(s);
  }
  if (!s->paired && is_enough(s, rules->alpha))
    measure_ranks(s, rules, out);
  else if (s->paired && s->n_a >= 2 && logs)
    measure_pairs(s, rules, out);
  else if (is_enough(s, rules->alpha))
    measure_signs(s, rules, out);
  if (!is_enough(s, rules->alpha))
    out->method = BN_COMPARE_FEW;
  out->worse.adjusted = out->worse.p;
  out->better.adjusted = out->better.p;
  out->beyond.adjusted = out->beyond.p;
}

enum bn_compare_verdict bn_compare_judge(const struct bn_compare_found *f,
                                         const struct bn_compare_rules *rules)
{
  if (f->method == BN_COMPARE_FEW)
    return BN_COMPARE_UNKNOWN;
  if (f->worse.adjusted <= rules->alpha)
    return BN_COMPARE_WORSE;
  if (f->better.adjusted <= rules->alpha)
    return BN_COMPARE_BETTER;
  if (f->has_interval && f->interval.low >= 1 - rules->same && f->interval.high <= 1 + rules->same)
    return BN_COMPARE_SAME;
  return f->all_equal ? BN_COMPARE_EQUAL : BN_COMPARE_UNKNOWN;
}
