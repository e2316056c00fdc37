/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cuts a series where the energy statistic is largest, and tests the cut by permutations. */
#include "study/stats/edivisive.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

/* So many permutations are looked at together, which the compiler makes vectors of. */
enum { LANES = 8, LEAST = BN_EDIVISIVE_LEAST, PERMUTATIONS = BN_EDIVISIVE_PERMUTATIONS };

/* Memory for segments of up to n values; owned. */
struct work {
  double (*value)[LANES]; /* the segment, in an order for each lane */
  double (*right)[LANES]; /* [i]: the sum of the distances within the right part that begins at i */
  double (*left)[LANES];  /* [m]: that within the first m values, over m - 1 */
  double *inverse;        /* [k]: 1 / (k - 1) */
};

static void forget(struct work *w)
{
  free(w->value);
  free(w->right);
  free(w->left);
  free(w->inverse);
}

static int prepare(struct work *w, size_t n)
{
  w->value = calloc(n + 1, sizeof *w->value);
  w->right = calloc(n + 1, sizeof *w->right);
  w->left = calloc(n + 1, sizeof *w->left);
  w->inverse = calloc(n + 1, sizeof *w->inverse);
  if (w->value == NULL || w->right == NULL || w->left == NULL || w->inverse == NULL)
    return -1;
  for (size_t k = 2; k <= n; k++)
    w->inverse[k] = 1 / (double)(k - 1);
  return 0;
}

/* --- the statistic ----------------------------------------------------------------------------

   Of a left part with m values and a right part with k values, with the sums of distances L within
   the left part, R within the right part and T within both together, the statistic of the paper is

     mk/(m+k) (2(T-L-R)/(mk) - 2L/(m(m-1)) - 2R/(k(k-1))) = 2/(m+k) (T - (m+k-1) (L/(m-1) +
   R/(k-1)))

   so that the best of the cuts of m + k values has the least L/(m-1) + R/(k-1). */

static double statistic(double total, double least, size_t n)
{
  return 2 / (double)n * (total - (double)(n - 1) * least);
}

/* Lengthens the right parts that begin before value i by that value.  Those from LEAST to `last`
   are long enough for a cut there: the least sum of each lane.  The compiler makes vectors of loops
   over local arrays, and keeps these in registers. */
static void lengthen(const struct work *w, size_t i, size_t last, double least_out[LANES])
{
  const double(*value)[LANES] = w->value, (*left)[LANES] = w->left;
  double(*right)[LANES] = w->right;
  double own[LANES], sum[LANES] = {0}, least[LANES];

  for (size_t l = 0; l < LANES; l++) {
    own[l] = value[i][l];
    least[l] = INFINITY;
  }
  for (size_t at = i; at-- > 0;) {
    const double inverse = w->inverse[i + 1 - at];
    double within[LANES];

    for (size_t l = 0; l < LANES; l++) {
      sum[l] += fabs(value[at][l] - own[l]);
      within[l] = right[at][l] + sum[l];
    }
    memcpy(right[at], within, sizeof within);
    if (at < LEAST || at > last)
      continue;
    for (size_t l = 0; l < LANES; l++) {
      const double both = left[at][l] + within[l] * inverse;

      least[l] = both < least[l] ? both : least[l];
    }
  }
  memcpy(least_out, least, sizeof least);
}

/* The largest statistic of each lane, of all cuts, and all ends of the right part: a change that
   was taken back later is to be seen too.  *end: that of the first lane. */
static void find_strongest(struct work *w, size_t n, double out[LANES], size_t *end)
{
  memset(w->right, 0, n * sizeof *w->right);
  memset(out, 0, LANES * sizeof *out);
  for (size_t i = 0; i < n; i++) {
    double least[LANES];

    lengthen(w, i, i + 1 >= 2 * LEAST ? i + 1 - LEAST : 0, least);
    for (size_t l = 0; l < LANES; l++) {
      const double s = statistic(w->right[0][l], least[l], i + 1);

      w->left[i + 1][l] = w->right[0][l] * w->inverse[i + 1];
      if (s > out[l] && l == 0)
        *end = i + 1;
      out[l] = s > out[l] ? s : out[l];
    }
  }
}

/* The best cut of n values into two parts, of which the second ends with them. */
static size_t find_cut(struct work *w, const double *x, size_t n)
{
  double least = INFINITY, within = 0;
  size_t best = 0;

  w->left[0][0] = 0;
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < i; k++)
      within += fabs(x[k] - x[i]);
    w->left[i + 1][0] = within * w->inverse[i + 1];
  }
  within = 0;
  for (size_t at = n; at-- > LEAST;) {
    double both;

    for (size_t k = at + 1; k < n; k++)
      within += fabs(x[at] - x[k]);
    both = w->left[at][0] + within * w->inverse[n - at];
    if (n - at >= LEAST && both < least) {
      least = both;
      best = at;
    }
  }
  return best;
}

/* --- the test --------------------------------------------------------------------------------- */

static void shuffle(struct work *w, size_t n, size_t lane, struct bn_rng *rng)
{
  for (size_t i = n; i > 1; i--) {
    const size_t k = (size_t)bn_rng_below(rng, i);
    const double kept = w->value[k][lane];

    w->value[k][lane] = w->value[i - 1][lane];
    w->value[i - 1][lane] = kept;
  }
}

/* How probable so strong a cut is in the same values in any order.  Once that cannot be below the
   level any more, it ends. */
static double judge(struct work *w, size_t n, double strength, struct bn_rng *rng)
{
  unsigned done = 0, as_strong = 0;

  while (done < PERMUTATIONS && as_strong + 1 <= BN_EDIVISIVE_LEVEL * (PERMUTATIONS + 1)) {
    double found[LANES];
    size_t end;

    for (size_t l = 0; l < LANES; l++)
      shuffle(w, n, l, rng);
    find_strongest(w, n, found, &end);
    /* Sums of the same numbers in another order may differ in the last digits. */
    for (size_t l = 0; l < LANES && done < PERMUTATIONS; l++, done++)
      as_strong += found[l] >= strength * (1 - 1e-9);
  }
  return (as_strong + 1) / (done + 1.0);
}

/* false: the segment has no change that chance does not explain. */
static bool cut_segment(struct work *w, const double *x, size_t n, struct bn_rng *rng,
                        struct bn_change *out)
{
  double found[LANES];
  size_t end = 0;

  for (size_t i = 0; i < n; i++)
    for (size_t l = 0; l < LANES; l++)
      w->value[i][l] = x[i];
  find_strongest(w, n, found, &end);
  if (end == 0)
    return false;
  *out = (struct bn_change){find_cut(w, x, end), judge(w, n, found[0], rng)};
  return out->p <= BN_EDIVISIVE_LEVEL;
}

/* Cuts the first segment until it is whole, then the next. */
static size_t cut_all(struct work *w, const double *x, size_t n, struct bn_change *change)
{
  size_t n_changes = 0, i = 0, start = 0;
  struct bn_rng rng;

  bn_rng_seed(&rng, 1, BN_RNG_COMMAND, 0);
  while (start < n) {
    const size_t end = i < n_changes ? change[i].at : n;
    struct bn_change found;

    if (cut_segment(w, x + start, end - start, &rng, &found)) {
      memmove(&change[i + 1], &change[i], (n_changes++ - i) * sizeof *change);
      change[i] = (struct bn_change){start + found.at, found.p};
    } else {
      start = end;
      i++;
    }
  }
  return n_changes;
}

/* The first cut of a segment was found while the later ones were not known. */
static void place_anew(struct work *w, const double *x, size_t n, struct bn_change *change,
                       size_t n_changes)
{
  for (size_t i = 0; i < n_changes; i++) {
    const size_t start = i > 0 ? change[i - 1].at : 0;
    const size_t end = i + 1 < n_changes ? change[i + 1].at : n;

    change[i].at = start + find_cut(w, x + start, end - start);
  }
}

int bn_edivisive(const double *value, size_t n, struct bn_change *change, size_t *n_changes)
{
  struct work w;
  const int rc = prepare(&w, n);

  *n_changes = 0;
  if (rc == 0) {
    *n_changes = cut_all(&w, value, n, change);
    place_anew(&w, value, n, change, *n_changes);
  }
  forget(&w);
  return rc;
}
