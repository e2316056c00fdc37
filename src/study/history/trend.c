/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes one metric of each run, has it cut, and describes the segments. */
#include "study/history/trend.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/stats/stats.h"

static int take_values(struct bn_trend *t, size_t index, const struct bn_series *s)
{
  t->run = calloc(s->n + 1, sizeof *t->run);
  t->value = calloc(s->n + 1, sizeof *t->value);
  t->change = calloc(s->n + 1, sizeof *t->change);
  if (t->run == NULL || t->value == NULL || t->change == NULL)
    return -1;
  for (size_t i = 0; i < s->n; i++) {
    const double value = s->run[i].value[index];

    if (i + BN_TREND_RUNS < s->n) {
      t->too_old++;
    } else if (isnan(value)) {
      t->unmeasured++;
    } else {
      t->run[t->n] = &s->run[i];
      t->value[t->n++] = value;
    }
  }
  return 0;
}

/* sorted: memory for the values. */
static void describe(struct bn_segment *s, const double *value, double *sorted)
{
  double sum = 0, squares = 0;

  memcpy(sorted, value + s->start, s->n * sizeof *sorted);
  bn_stats_sort(sorted, s->n);
  s->median = bn_stats_median(sorted, s->n);
  for (size_t i = 0; i < s->n; i++)
    sum += sorted[i];
  for (size_t i = 0; i < s->n; i++) {
    const double off = sorted[i] - sum / (double)s->n;

    squares += off * off;
  }
  /* The mean of equal values may be rounded. */
  s->deviation = sorted[0] < sorted[s->n - 1] ? sqrt(squares / (double)(s->n - 1)) : 0;
}

static int describe_all(struct bn_trend *t)
{
  double *sorted = calloc(t->n + 1, sizeof *sorted);

  t->segment = calloc(t->n_changes + 1, sizeof *t->segment);
  for (size_t i = 0; sorted != NULL && t->segment != NULL && i <= t->n_changes && t->n > 0; i++) {
    struct bn_segment *s = &t->segment[i];

    s->start = i > 0 ? t->change[i - 1].at : 0;
    s->n = (i < t->n_changes ? t->change[i].at : t->n) - s->start;
    describe(s, t->value, sorted);
  }
  free(sorted);
  return sorted != NULL && t->segment != NULL ? 0 : -1;
}

int bn_trend_find(struct bn_trend *t, const struct bn_figure_name *metric, size_t index,
                  const struct bn_series *s, struct bn_err *err)
{
  *t = (struct bn_trend){.metric = metric};
  if (take_values(t, index, s) != 0 ||
      bn_edivisive(t->value, t->n, t->change, &t->n_changes) != 0 || describe_all(t) != 0)
    return bn_err_set(err, ENOMEM, "out of memory");
  return 0;
}

void bn_trend_done(struct bn_trend *t)
{
  free(t->run);
  free(t->value);
  free(t->change);
  free(t->segment);
}

enum bn_turn bn_trend_turn(const struct bn_trend *t, size_t i)
{
  const double before = t->segment[i].median, after = t->segment[i + 1].median;

  if (t->metric->better == BN_BETTER_NEITHER || !(before < after || after < before))
    return BN_TURN_OTHER;
  return (t->metric->better == BN_BETTER_MORE) == (before < after) ? BN_TURN_BETTER : BN_TURN_WORSE;
}

bool bn_trend_is_regression(const struct bn_trend *t, size_t runs)
{
  return t->n_changes > 0 && bn_trend_turn(t, t->n_changes - 1) == BN_TURN_WORSE &&
         t->n - t->change[t->n_changes - 1].at <= runs;
}
