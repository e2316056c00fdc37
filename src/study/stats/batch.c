/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Intervals of batch means for ratios. */
#include "study/stats/batch.h"

#include <math.h>

#include "study/stats/student.h"

/* 95 % on both sides; what finds neighbours alike. */
static const double one_sided = 0.975, alike = 0.95;

static struct bn_batch sum_of(const struct bn_batch *batch, size_t n)
{
  struct bn_batch sum = {0, 0};

  for (size_t i = 0; i < n; i++) {
    sum.num += batch[i].num;
    sum.den += batch[i].den;
  }
  return sum;
}

/* How many remain when each `by` neighbours become one; the last that fill none join the one
   before. */
static size_t join(const struct bn_batch *from, size_t n, size_t by, struct bn_batch *to)
{
  const size_t joined = n / by;

  for (size_t k = 0; k < joined; k++)
    to[k] = sum_of(from + k * by, k + 1 < joined ? by : n - k * by);
  return joined;
}

static double residual(const struct bn_batch *b, double ratio)
{
  return b->num - ratio * b->den;
}

static double sum_of_squares(const struct bn_batch *batch, size_t n, double ratio)
{
  double sum = 0;

  for (size_t i = 0; i < n; i++)
    sum += residual(&batch[i], ratio) * residual(&batch[i], ratio);
  return sum;
}

/* Von Neumann's ratio, as a normal deviate of mean 0 if neighbours are independent. */
static bool neighbours_are_alike(const struct bn_batch *batch, size_t n, double ratio)
{
  const double squares = sum_of_squares(batch, n, ratio), k = (double)n;
  double steps = 0;

  for (size_t i = 1; i < n; i++) {
    const double step = residual(&batch[i], ratio) - residual(&batch[i - 1], ratio);

    steps += step * step;
  }
  return squares > 0 &&
         1 - steps / (2 * squares) > bn_normal_quantile(alike) * sqrt((k - 2) / (k * k - 1));
}

static bool is_right(double value, const struct bn_bound *limit)
{
  return limit->below ? value <= limit->at : value >= limit->at;
}

static void decide(struct bn_judged *j, const struct bn_bound *limit)
{
  const double distance = fabs(j->value - limit->at);
  const double reach = bn_student_quantile(one_sided, (double)j->batches - 1) * j->error;

  if (distance > reach || j->error == 0)
    j->decision = j->holds ? BN_HOLDS : BN_VIOLATED;
  else
    j->longer = distance > 0 ? (reach / distance) * (reach / distance) : HUGE_VAL;
}

/* Of the sum. */
static double variance_of(const struct bn_batch *batch, size_t n, double den, double ratio,
                          const struct bn_bound *limit)
{
  const double seen = (double)n / (double)(n - 1) * sum_of_squares(batch, n, ratio);
  const double independent = ratio * (1 - ratio) * den;
  const double at_limit = limit->at * (1 - limit->at) * den;

  if (!limit->share)
    return seen;
  /* A share of none or all is refuted by one event. */
  if (at_limit <= 0)
    return 0;
  return fmax(1, independent > 0 ? seen / independent : 1) * fmax(independent, at_limit);
}

void bn_batch_judge(const struct bn_batch *batch, size_t n, const struct bn_bound *limit,
                    struct bn_judged *out)
{
  const struct bn_batch sum = sum_of(batch, n);
  struct bn_batch joined[BN_BATCHES_MAX];

  *out = (struct bn_judged){.events = sum.den, .batches = n, .longer = 1};
  if (sum.den <= 0)
    return;
  out->value = sum.num / sum.den;
  out->holds = is_right(out->value, limit);
  if (n < BN_BATCHES_MIN)
    return;
  n = join(batch, n, (n + BN_BATCHES_MAX - 1) / BN_BATCHES_MAX, joined);
  while (n >= 2 * BN_BATCHES_MIN && neighbours_are_alike(joined, n, out->value))
    n = join(joined, n, 2, joined);
  out->batches = n;
  out->error = sqrt(variance_of(joined, n, sum.den, out->value, limit)) / sum.den;
  decide(out, limit);
}

double bn_batch_score(const struct bn_judged *j, const struct bn_bound *limit)
{
  /* Half an event more than there are, so that none has a logarithm. */
  const double value = (j->value * j->events + 0.5) / (j->events + 1);

  if (!limit->share || limit->at <= 0 || limit->at >= 1)
    return NAN;
  return limit->below ? log(value / limit->at) : log((1 - value) / (1 - limit->at));
}
