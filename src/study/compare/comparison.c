/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pairs the runs of each point, tests each figure, and adjusts the tests of each family. */
#include "study/compare/comparison.h"

#include <errno.h>
#include <stdlib.h>

/* The runs of a point, in pairs or not. */
struct lineup {
  const struct bn_side_run **a, **b; /* that count */
  size_t n_a, n_b;
  bool paired, one_order;
  double *value_a, *value_b, *at_a, *at_b; /* room for one figure of each run */
  struct bn_compare_turn *turn;
};

struct making {
  const struct bn_side *a, *b;
  const struct bn_points *points;
  const struct bn_side_figures *figures;
  const struct bn_comparison_rules *rules;
};

static int allocate(struct lineup *l, size_t n_a, size_t n_b)
{
  *l = (struct lineup){
      .a = calloc(n_a + 1, sizeof(struct bn_side_run *)),
      .b = calloc(n_b + 1, sizeof(struct bn_side_run *)),
      .value_a = calloc(n_a + 1, sizeof(double)),
      .value_b = calloc(n_b + 1, sizeof(double)),
      .at_a = calloc(n_a + 1, sizeof(double)),
      .at_b = calloc(n_b + 1, sizeof(double)),
      .turn = calloc(n_a + n_b + 1, sizeof(struct bn_compare_turn)),
  };
  return l->a != NULL && l->b != NULL && l->value_a != NULL && l->value_b != NULL &&
                 l->at_a != NULL && l->at_b != NULL && l->turn != NULL
             ? 0
             : -1;
}

static void release(struct lineup *l)
{
  free(l->a);
  free(l->b);
  free(l->value_a);
  free(l->value_b);
  free(l->at_a);
  free(l->at_b);
  free(l->turn);
}

/* Runs that are left out keep their turn, so that the others keep their partners. */
static void line_up_pairs(const struct making *m, struct lineup *l, size_t n)
{
  size_t a_first = 0;

  for (size_t i = 0; i < n; i += 2) {
    const bool b_first = l->turn[i].is_b;
    const struct bn_side_run *a = &m->a->run[l->turn[b_first ? i + 1 : i].run];
    const struct bn_side_run *b = &m->b->run[l->turn[b_first ? i : i + 1].run];

    if (a->left_out != NULL || b->left_out != NULL)
      continue;
    l->a[l->n_a++] = a;
    l->b[l->n_b++] = b;
    a_first += !b_first;
  }
  l->one_order = a_first == 0 || a_first == l->n_a;
}

/* Both have the room that all runs together need, so that no point needs more. */
static size_t take_turns(const struct making *m, size_t point, struct lineup *l)
{
  size_t n = 0;

  for (size_t i = 0; i < m->a->n; i++)
    if (m->points->of[i] == point)
      l->turn[n++] = (struct bn_compare_turn){m->a->run[i].result.facts.start_wall_ns, false, i};
  for (size_t i = 0; i < m->b->n; i++)
    if (m->points->of[m->a->n + i] == point)
      l->turn[n++] = (struct bn_compare_turn){m->b->run[i].result.facts.start_wall_ns, true, i};
  return n;
}

static void line_up(const struct making *m, size_t point, struct lineup *l)
{
  const size_t n = take_turns(m, point, l);

  l->n_a = l->n_b = 0;
  l->one_order = false;
  l->paired = bn_compare_interleaved(l->turn, n);
  if (l->paired) {
    line_up_pairs(m, l, n);
    return;
  }
  for (size_t i = 0; i < n; i++) {
    const struct bn_side_run *r = &(l->turn[i].is_b ? m->b : m->a)->run[l->turn[i].run];

    if (r->left_out == NULL && l->turn[i].is_b)
      l->b[l->n_b++] = r;
    else if (r->left_out == NULL)
      l->a[l->n_a++] = r;
  }
}

static double seconds_since(const struct bn_side_run *r, const struct bn_side_run *first)
{
  return (double)(int64_t)(r->result.facts.start_wall_ns - first->result.facts.start_wall_ns) *
         1e-9;
}

/* The values of one figure, of pairs only where both have it. */
static struct bn_compare_sample sample_of(const struct lineup *l,
                                          const struct bn_side_figures *figures, size_t figure)
{
  struct bn_compare_sample s = {.a = l->value_a,
                                .b = l->value_b,
                                .paired = l->paired,
                                .better = figures->name[figure].better};

  if (l->paired) {
    s.a_s = l->at_a;
    s.b_s = l->at_b;
  }
  for (size_t i = 0; i < l->n_a; i++)
    if (l->a[i]->measured[figure] && (!l->paired || l->b[i]->measured[figure])) {
      l->at_a[s.n_a] = seconds_since(l->a[i], l->a[0]);
      l->value_a[s.n_a++] = l->a[i]->value[figure];
    }
  for (size_t i = 0; i < l->n_b; i++)
    if (l->b[i]->measured[figure] && (!l->paired || l->a[i]->measured[figure])) {
      l->at_b[s.n_b] = seconds_since(l->b[i], l->paired ? l->a[0] : l->b[0]);
      l->value_b[s.n_b++] = l->b[i]->value[figure];
    }
  return s;
}

static void measure_row(const struct making *m, const struct lineup *l, size_t figure,
                        struct bn_comparison_row *row)
{
  const struct bn_compare_rules rules = {m->rules->alpha, m->rules->same, m->rules->limit[figure]};
  const struct bn_compare_sample s = sample_of(l, m->figures, figure);

  row->figure = figure;
  row->measured = s.n_a > 0 && s.n_b > 0;
  bn_compare_measure(&s, &rules, &row->found);
  row->hidden = m->figures->implied[figure] && row->found.all_equal && !row->found.has_ratio;
}

static enum bn_comparison_how how_of(const struct making *m, const struct lineup *l)
{
  if (l->n_a == 0 || l->n_b == 0)
    return BN_COMPARISON_MISSING;
  if (l->paired)
    return BN_COMPARISON_PAIRED;
  return m->rules->stationary ? BN_COMPARISON_STATIONARY : BN_COMPARISON_APART;
}

static int measure_point(const struct making *m, size_t point, struct lineup *l,
                         struct bn_comparison_point *out)
{
  out->point = point;
  out->row = calloc(m->figures->n, sizeof *out->row);
  if (out->row == NULL)
    return -1;
  line_up(m, point, l);
  out->how = how_of(m, l);
  out->n_a = l->n_a;
  out->n_b = l->n_b;
  out->one_order = l->one_order;
  for (size_t i = 0; i < m->figures->n; i++)
    measure_row(m, l, i, &out->row[i]);
  return 0;
}

/* --- families --------------------------------------------------------------------------------- */

enum family { PRIMARY, SECONDARY, DECIDING };

static bool is_judged(const struct bn_comparison_point *p, const struct bn_comparison_row *row)
{
  return p->how <= BN_COMPARISON_STATIONARY && row->measured && !row->hidden;
}

static bool is_of(const struct bn_comparison_row *row, enum family family,
                  const struct bn_comparison_rules *rules)
{
  if (family == DECIDING)
    return rules->fails[row->figure];
  return (family == PRIMARY) == (row->figure == 0);
}

/* How many rows there are in the family; their tests go to `worse` and `better`. */
static size_t gather(struct bn_comparison *c, enum family family,
                     const struct bn_comparison_rules *rules, struct bn_test **worse,
                     struct bn_test **better)
{
  size_t n = 0;

  for (size_t i = 0; i < c->n; i++)
    for (size_t k = 0; k < c->n_figures; k++) {
      struct bn_comparison_row *row = &c->point[i].row[k];

      if (!is_judged(&c->point[i], row) || !is_of(row, family, rules))
        continue;
      worse[n] = family == DECIDING ? &row->found.beyond : &row->found.worse;
      better[n++] = &row->found.better;
    }
  return n;
}

static void judge(struct bn_comparison *c, const struct bn_comparison_rules *rules,
                  const size_t n_family[2])
{
  const struct bn_compare_rules each = {.alpha = rules->alpha, .same = rules->same};

  for (size_t i = 0; i < c->n; i++)
    for (size_t k = 0; k < c->n_figures; k++) {
      struct bn_comparison_row *row = &c->point[i].row[k];

      if (!is_judged(&c->point[i], row))
        continue;
      row->failing = rules->fails[k] && row->found.method != BN_COMPARE_FEW &&
                     row->found.beyond.adjusted <= rules->alpha;
      row->verdict = row->failing ? BN_COMPARE_WORSE : bn_compare_judge(&row->found, &each);
      if (row->verdict == BN_COMPARE_UNKNOWN)
        row->more = bn_compare_more(&row->found, &each, n_family[k > 0]);
      c->failing |= row->failing;
    }
}

static int adjust_and_judge(struct bn_comparison *c, const struct bn_comparison_rules *rules)
{
  const size_t most = c->n * c->n_figures + 1;
  struct bn_test **worse = calloc(most, sizeof *worse), **better = calloc(most, sizeof *better);
  const bool ready = worse != NULL && better != NULL;
  size_t n_family[2] = {0, 0};

  for (enum family f = PRIMARY; ready && f <= SECONDARY; f++) {
    n_family[f] = gather(c, f, rules, worse, better);
    bn_stats_holm(worse, n_family[f]);
    bn_stats_holm(better, n_family[f]);
  }
  if (ready) {
    bn_stats_holm(worse, gather(c, DECIDING, rules, worse, better));
    judge(c, rules, n_family);
  }
  free(worse);
  free(better);
  return ready ? 0 : -1;
}

int bn_comparison_make(const struct bn_side *a, const struct bn_side *b,
                       const struct bn_side_figures *figures, const struct bn_points *points,
                       const struct bn_comparison_rules *rules, struct bn_comparison *out,
                       struct bn_err *err)
{
  const struct making m = {a, b, points, figures, rules};
  struct lineup l;
  int rc = allocate(&l, a->n, b->n);

  *out = (struct bn_comparison){.point = calloc(points->n + 1, sizeof *out->point),
                                .n_figures = figures->n};
  if (out->point == NULL)
    rc = -1;
  for (size_t i = 0; rc == 0 && i < points->n; i++) {
    rc = measure_point(&m, i, &l, &out->point[i]);
    out->n++;
  }
  release(&l);
  if (rc == 0)
    rc = adjust_and_judge(out, rules);
  return rc == 0 ? 0 : bn_err_set(err, ENOMEM, "out of memory");
}

void bn_comparison_done(struct bn_comparison *c)
{
  for (size_t i = 0; i < c->n; i++)
    free(c->point[i].row);
  free(c->point);
}
