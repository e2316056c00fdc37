/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies what pictures need out of results. */
#include "study/plot/plotrun.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

#define CURVE_STEP 0.004 /* decades between points of the curve, which are a pixel or two */

/* --- what was run ----------------------------------------------------------------------------- */

static void tell_threads(struct bn_buf *b, const struct bn_plan *p)
{
  (void)bn_buf_printf(b, "%u thread%s", p->threads, p->threads == 1 ? "" : "s");
}

static void tell_database(struct bn_buf *b, const struct bn_facts *f)
{
  const char *driver = bn_facts_find_text(f, "database", "driver"),
             *server = bn_facts_find_text(f, "database", "server_version"),
             *client = bn_facts_find_text(f, "database", "client_version");

  if (driver == NULL)
    return;
  (void)bn_buf_str(b, driver);
  if (server != NULL || client != NULL)
    (void)bn_buf_printf(b, " %s", server != NULL ? server : client);
}

static void tell_program(struct bn_buf *b, const struct bn_facts *f)
{
  const char *name = bn_facts_find_text(f, "program", "name"),
             *version = bn_facts_find_text(f, "program", "version");

  if (name != NULL && version != NULL)
    (void)bn_buf_printf(b, "%s %s", name, version);
}

static void tell_host(struct bn_buf *b, const struct bn_facts *f)
{
  const char *cpu = bn_facts_find_text(f, "host", "cpu_model");
  const struct bn_fact *n = bn_facts_find(f, "host", "processors_online");

  if (cpu == NULL)
    return;
  (void)bn_buf_str(b, cpu);
  if (n != NULL && n->type == BN_FACT_WHOLE)
    (void)bn_buf_printf(b, " (%lld processor%s)", (long long)n->whole, n->whole == 1 ? "" : "s");
}

static void tell_date(struct bn_buf *b, uint64_t wall_ns)
{
  const time_t s = (time_t)(wall_ns / BN_NSEC_PER_SEC);
  char date[32];
  struct tm tm;

  if (wall_ns > 0 && gmtime_r(&s, &tm) != NULL &&
      strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &tm) > 0)
    (void)bn_buf_str(b, date);
}

static void tell(struct bn_buf *b, const struct bn_result *r, enum bn_plot_tell what)
{
  const struct bn_facts *f = &r->facts;

  switch (what) {
  case BN_TELL_WORKLOAD:
    (void)bn_buf_str(b, r->n_groups > 0 && r->group[0].name != NULL ? r->group[0].name : "");
    break;
  case BN_TELL_DATABASE:
    tell_database(b, f);
    break;
  case BN_TELL_THREADS:
    tell_threads(b, &f->plan);
    break;
  case BN_TELL_RATE:
    if (f->plan.rate > 0)
      (void)bn_buf_printf(b, "%g events/s asked for", f->plan.rate);
    break;
  case BN_TELL_PROGRAM:
    tell_program(b, f);
    break;
  case BN_TELL_HOST:
    tell_host(b, f);
    break;
  case BN_TELL_DATE:
    tell_date(b, f->start_wall_ns);
    break;
  case BN_TELLS:
    break;
  }
}

static int copy_tells(struct bn_plotrun *run, const char *file, const struct bn_result *r)
{
  for (int i = 0; i < BN_TELLS; i++) {
    struct bn_buf b = {.max = 0};

    (void)bn_buf_str(&b, "");
    tell(&b, r, (enum bn_plot_tell)i);
    run->tell[i] = bn_buf_take(&b);
    if (run->tell[i] == NULL)
      return -1;
  }
  run->file = strdup(file);
  return run->file != NULL ? 0 : -1;
}

/* --- headings --------------------------------------------------------------------------------- */

static bool all_tell(const struct bn_plotrun *run, size_t n, int what)
{
  for (size_t i = 0; i < n; i++)
    if (run[i].tell[what][0] == '\0' || strcmp(run[i].tell[what], run[0].tell[what]) != 0)
      return false;
  return true;
}

static void join(char *out, size_t size, const char *text)
{
  const size_t len = strlen(out);

  (void)snprintf(out + len, size - len, "%s%s", len > 0 ? ", " : "", text);
}

void bn_plotrun_headings(struct bn_chart *c, const struct bn_plotrun *run, size_t n)
{
  c->title[0] = c->note[0] = '\0';
  for (int i = 0; i < BN_TELLS; i++)
    if (n > 0 && all_tell(run, n, i))
      join(i < BN_TELL_PROGRAM ? c->title : c->note,
           i < BN_TELL_PROGRAM ? sizeof c->title : sizeof c->note, run[0].tell[i]);
  if (c->title[0] == '\0')
    (void)snprintf(c->title, sizeof c->title, "%zu results", n);
}

/* --- intervals -------------------------------------------------------------------------------- */

static bool same(double a, double b)
{
  return a >= b && a <= b;
}

/* Where the rank stands among the percentiles of the run; SIZE_MAX: it is none of them. */
static size_t find_rank(const double *percents, size_t n, double rank)
{
  for (size_t i = 0; i < n; i++)
    if (same(percents[i], rank))
      return i;
  return SIZE_MAX;
}

static int compare_ranks(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

static void add_rank(struct bn_plotrun *run, double rank)
{
  if (run->n_ranks < BN_PLOT_RANKS && rank > 50 && rank < 100 &&
      find_rank(run->rank, run->n_ranks, rank) == SIZE_MAX)
    run->rank[run->n_ranks++] = rank;
}

/* Between median and maximum, those that people ask for first.  packed: the histograms are there,
   so every percentile is known. */
static void choose_ranks(struct bn_plotrun *run, const struct bn_plan *p, bool packed)
{
  static const double asked[] = {99, 95, 99.9, 90};

  run->rank[run->n_ranks++] = 50;
  run->rank[run->n_ranks++] = 100;
  for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++)
    if (packed || find_rank(p->percents, p->n_percents, asked[i]) != SIZE_MAX)
      add_rank(run, asked[i]);
  for (size_t i = 0; i < p->n_percents; i++)
    add_rank(run, p->percents[i]);
  qsort(run->rank, run->n_ranks, sizeof run->rank[0], compare_ranks);
}

static const struct bn_hist_sparse *sparse_of(const struct bn_record *r)
{
  return r->delta.sparse != NULL ? &r->delta.sparse[BN_H_LATENCY] : NULL;
}

static double latency_of(const struct bn_record *r, const struct bn_hist *h, double rank,
                         bool nearest)
{
  const struct bn_view *v = &r->view;
  const size_t i = find_rank(v->percents, v->n_percents, rank);
  double s = NAN;

  if (v->events == 0)
    return NAN;
  if (i != SIZE_MAX)
    s = v->percentile_s[i];
  else if (same(rank, 50))
    s = v->median_s;
  else if (same(rank, 100))
    s = v->max_s;
  else if (h != NULL)
    s = bn_view_hist_s(h, rank, nearest);
  return isfinite(s) ? s : NAN;
}

/* h: a histogram for those of intervals; NULL: they have none. */
static void copy_interval(struct bn_plotrun *run, const struct bn_record *r, struct bn_hist *h,
                          bool nearest)
{
  struct bn_plot_interval *to = &run->interval[run->n_intervals++];
  const struct bn_hist_sparse *sparse = h != NULL ? sparse_of(r) : NULL;

  if (sparse != NULL) {
    bn_hist_clear(h);
    for (size_t i = 0; i < sparse->n; i++)
      bn_hist_put(h, sparse->bucket[i].lowest, sparse->bucket[i].count);
  }
  to->at_s = r->view.at_s;
  to->events_per_s = r->view.events_per_s;
  to->transactions_per_s = r->view.transactions_per_s;
  for (size_t i = 0; i < run->n_ranks; i++)
    to->latency_s[i] = latency_of(r, sparse != NULL ? h : NULL, run->rank[i], nearest);
}

static int copy_intervals(struct bn_plotrun *run, const struct bn_group *g,
                          const struct bn_plan *plan)
{
  const bool packed = g->n_intervals > 0 && sparse_of(&g->interval[0]) != NULL;
  struct bn_hist *h = packed ? bn_hist_new() : NULL;

  choose_ranks(run, plan, packed);
  run->interval = calloc(g->n_intervals + 1, sizeof *run->interval);
  if (run->interval != NULL && (h != NULL || !packed))
    for (size_t i = 0; i < g->n_intervals; i++)
      copy_interval(run, &g->interval[i], h, !plan->own);
  bn_hist_free(h);
  return run->interval != NULL && (h != NULL || !packed) ? 0 : -1;
}

/* --- the percentile curve --------------------------------------------------------------------- */

struct curve {
  struct bn_chart_series *to;
  const struct bn_view *v;
  double n, before; /* values in all, and of smaller buckets */
  double last_x, last_y;
  bool failed;
};

static void add_point(struct curve *c, double x, double y)
{
  const struct bn_chart_point at = {.x = x, .y = y};

  c->failed = c->failed || bn_chart_point(c->to, &at) != 0;
  c->last_x = x;
}

/* Quantiles above before / n, up to where the next bucket begins, have the value of this one. */
static void add_bucket(void *arg, uint64_t lowest, uint64_t highest, uint64_t count)
{
  struct curve *c = arg;
  const double x = c->n / (c->n - c->before), s = (double)highest * 1e-9;

  (void)lowest;
  c->before += (double)count;
  if (highest == UINT64_MAX)
    return;
  c->last_y = s > c->v->max_s ? c->v->max_s : s;
  if (c->to->n == 0 || log10(x / c->last_x) >= CURVE_STEP)
    add_point(c, x, c->last_y);
}

static int copy_curve(struct bn_plotrun *run, const struct bn_view *v)
{
  struct bn_hist *all = bn_hist_new();
  struct curve c = {.to = &run->curve, .v = v};

  if (all == NULL)
    return -1;
  bn_hist_add(all, v->latency);
  if (v->ages != NULL)
    bn_hist_add(all, v->ages);
  c.n = (double)bn_hist_count(all);
  bn_hist_each(all, add_bucket, &c);
  /* The last value holds for the rest; where there are few, as far as the axis goes. */
  if (run->curve.n > 0)
    add_point(&c, c.n > BN_CHART_RANK_LEAST ? c.n : BN_CHART_RANK_LEAST, c.last_y);
  bn_hist_free(all);
  return c.failed ? -1 : 0;
}

/* --- the whole -------------------------------------------------------------------------------- */

static bool is_sql(const struct bn_group *g)
{
  return (g->has_total ? g->total.view.kind : g->interval[0].view.kind) == BN_KIND_SQL;
}

int bn_plotrun_head(struct bn_plotrun *run, const char *file, const struct bn_result *r,
                    struct bn_err *err)
{
  *run = (struct bn_plotrun){.sql = false};
  return copy_tells(run, file, r) == 0 ? 0 : bn_err_set(err, ENOMEM, "out of memory");
}

int bn_plotrun_make(struct bn_plotrun *run, const char *file, const struct bn_result *r,
                    struct bn_err *err)
{
  const struct bn_group *g = r->n_groups > 0 ? &r->group[0] : NULL;
  int rc = bn_plotrun_head(run, file, r, err);

  if (rc != 0 || g == NULL || (!g->has_total && g->n_intervals == 0))
    return rc;
  run->sql = is_sql(g);
  rc = copy_intervals(run, g, &r->facts.plan);
  if (rc == 0 && g->has_total && g->total.view.latency != NULL)
    rc = copy_curve(run, &g->total.view);
  return rc == 0 ? 0 : bn_err_set(err, ENOMEM, "out of memory");
}

void bn_plotrun_done(struct bn_plotrun *run)
{
  free(run->file);
  for (int i = 0; i < BN_TELLS; i++)
    free(run->tell[i]);
  free(run->interval);
  free(run->curve.point);
}
