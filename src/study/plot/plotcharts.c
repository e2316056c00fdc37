/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Charts over time and over quantiles. */
#include "study/plot/plotcharts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

static int out_of_memory(struct bn_err *err)
{
  return bn_err_set(err, ENOMEM, "out of memory");
}

/* "median", "p99.9", "maximum". */
static void name_rank(char *out, size_t size, double rank)
{
  char digits[BN_UNITS_DIGITS];

  if (rank >= 100)
    (void)snprintf(out, size, "maximum");
  else if (rank <= 50)
    (void)snprintf(out, size, "median");
  else
    (void)snprintf(out, size, "p%s", bn_units_shortest(digits, rank));
}

/* --- names of runs ---------------------------------------------------------------------------- */

static const char *base_of(const char *file)
{
  const char *slash = strrchr(file, '/');

  return slash != NULL ? slash + 1 : file;
}

/* The name of the file without ".json", with its folder if another file has the same name.  A run
   alone has none. */
static void name_run(char *out, size_t size, const struct bn_plotrun *run, size_t n, size_t i)
{
  const char *name = base_of(run[i].file), *end;

  out[0] = '\0';
  if (n == 1)
    return;
  for (size_t k = 0; k < n; k++)
    if (k != i && strcmp(base_of(run[k].file), base_of(run[i].file)) == 0)
      name = run[i].file;
  end = strrchr(name, '.');
  if (end == NULL || end == name || strcmp(end, ".json") != 0)
    end = name + strlen(name);
  (void)snprintf(out, size, "%.*s", (int)(end - name), name);
}

/* --- over time -------------------------------------------------------------------------------- */

static int draw_rates(struct bn_chart *c, const struct bn_plotrun *run, size_t n)
{
  struct bn_chart_panel *p;
  char name[512];
  bool sql = true;

  for (size_t i = 0; i < n; i++)
    sql = sql && run[i].sql;
  p = bn_chart_panel(c, sql ? "Throughput (transactions/s)" : "Throughput (events/s)",
                     BN_CHART_PER_S);
  for (size_t i = 0; i < n; i++) {
    struct bn_chart_series *s;

    name_run(name, sizeof name, run, n, i);
    s = bn_chart_series(p, name, BN_CHART_LINE, (unsigned)i);
    for (size_t k = 0; s != NULL && k < run[i].n_intervals; k++) {
      const struct bn_plot_interval *at = &run[i].interval[k];
      const struct bn_chart_point point = {.x = at->at_s,
                                           .y = sql ? at->transactions_per_s : at->events_per_s};

      if (bn_chart_point(s, &point) != 0)
        return -1;
    }
    if (s == NULL)
      return -1;
  }
  return 0;
}

static int draw_latency(struct bn_chart_panel *p, const char *name, unsigned colour,
                        const struct bn_plotrun *run, size_t rank)
{
  struct bn_chart_series *s = bn_chart_series(p, name, BN_CHART_LINE, colour);

  for (size_t k = 0; s != NULL && k < run->n_intervals; k++) {
    const struct bn_plot_interval *at = &run->interval[k];
    const struct bn_chart_point point = {.x = at->at_s, .y = at->latency_s[rank]};

    if (bn_chart_point(s, &point) != 0)
      return -1;
  }
  return s != NULL ? 0 : -1;
}

/* The maximum is on top, as in the picture. */
static int draw_ranks(struct bn_chart *c, const struct bn_plotrun *run)
{
  static const unsigned colours[BN_PLOT_RANKS] = {2, 0, 3, 4, 4};
  enum { VERMILLION = 1 };
  struct bn_chart_panel *p = bn_chart_panel(c, "Latency", BN_CHART_SECONDS);
  char name[64];

  for (size_t i = run->n_ranks; i-- > 0;) {
    name_rank(name, sizeof name, run->rank[i]);
    if (draw_latency(p, name, i + 1 < run->n_ranks ? colours[i] : VERMILLION, run, i) != 0)
      return -1;
  }
  return 0;
}

static size_t rank_of(const struct bn_plotrun *run, double rank)
{
  for (size_t i = 0; i < run->n_ranks; i++)
    if (run->rank[i] >= rank && run->rank[i] <= rank)
      return i;
  return SIZE_MAX;
}

/* The first of those that people ask for that all runs know; the maximum is known to all. */
static double common_rank(const struct bn_plotrun *run, size_t n)
{
  static const double asked[] = {99, 95, 99.9, 90};

  for (size_t k = 0; k < sizeof asked / sizeof asked[0]; k++) {
    bool all = true;

    for (size_t i = 0; i < n; i++)
      all = all && rank_of(&run[i], asked[k]) != SIZE_MAX;
    if (all)
      return asked[k];
  }
  return 100;
}

static int draw_common_rank(struct bn_chart *c, const struct bn_plotrun *run, size_t n)
{
  const double rank = common_rank(run, n);
  struct bn_chart_panel *p;
  char name[512];

  name_rank(name, sizeof name, rank);
  p = bn_chart_panel(c, "", BN_CHART_SECONDS);
  (void)snprintf(p->title, sizeof p->title, "Latency, %.64s", name);
  for (size_t i = 0; i < n; i++) {
    name_run(name, sizeof name, run, n, i);
    if (draw_latency(p, name, (unsigned)i, &run[i], rank_of(&run[i], rank)) != 0)
      return -1;
  }
  return 0;
}

int bn_plotcharts_time(struct bn_chart *c, const struct bn_plotrun *run, size_t n,
                       struct bn_err *err)
{
  for (size_t i = 0; i < n; i++)
    if (run[i].n_intervals == 0)
      return bn_err_set(err, EINVAL,
                        "'%s' has no intervals to draw over time; make the result with "
                        "--report-interval=1",
                        run[i].file);
  c->x = BN_CHART_TIME;
  (void)snprintf(c->x_title, sizeof c->x_title, "Time");
  bn_plotrun_headings(c, run, n);
  if (draw_rates(c, run, n) != 0 ||
      (n == 1 ? draw_ranks(c, run) : draw_common_rank(c, run, n)) != 0)
    return out_of_memory(err);
  return 0;
}

/* --- over quantiles --------------------------------------------------------------------------- */

int bn_plotcharts_latency(struct bn_chart *c, const struct bn_plotrun *run, size_t n,
                          struct bn_err *err)
{
  struct bn_chart_panel *p = bn_chart_panel(c, "Latency", BN_CHART_SECONDS);
  char name[512];

  c->x = BN_CHART_RANK;
  (void)snprintf(c->x_title, sizeof c->x_title, "Percentile");
  bn_plotrun_headings(c, run, n);
  for (size_t i = 0; i < n; i++) {
    struct bn_chart_series *s;

    if (run[i].curve.n == 0)
      return bn_err_set(err, EINVAL,
                        "'%s' has no latency histogram: the run measured no event, or had "
                        "--report-bins=none",
                        run[i].file);
    name_run(name, sizeof name, run, n, i);
    s = bn_chart_series(p, name, BN_CHART_STEPS, (unsigned)i);
    for (size_t k = 0; s != NULL && k < run[i].curve.n; k++)
      if (bn_chart_point(s, &run[i].curve.point[k]) != 0)
        return out_of_memory(err);
    if (s == NULL)
      return out_of_memory(err);
  }
  return 0;
}
