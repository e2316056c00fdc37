/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Draws the points of a sweep. */
#include "study/plot/plotsweep.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/near.h"
#include "base/units.h"
#include "study/figure.h"
#include "study/points.h"
#include "study/stats/stats.h"
#include "study/stats/usl.h"

enum { LINES_MAX = 28 }; /* that colours and dashes tell apart */

struct place {
  double x;
  size_t point, line;
};

struct sweep {
  const struct bn_result *const *result;
  size_t n;
  struct bn_points points;
  size_t x;                  /* number of the option on the x axis; SIZE_MAX: nothing was varied */
  bool numbers;              /* its values are some */
  bool *apart;               /* owned; of each option, whether lines differ by it */
  struct place *place;       /* owned; of each point, in the order of x */
  size_t of_line[LINES_MAX]; /* a point of each line */
  size_t n_lines;
  double *value; /* owned; room for a figure of all repeats */
};

static const char *value_of(const struct sweep *s, size_t point, size_t option)
{
  return s->points.value[point * s->points.n_options + option];
}

/* --- the x axis ------------------------------------------------------------------------------- */

static bool has_numbers(const struct sweep *s, size_t option)
{
  double number;

  for (size_t i = 0; i < s->points.n; i++)
    if (bn_units_number(value_of(s, i, option), &number) != 0)
      return false;
  return true;
}

static size_t count_values(const struct sweep *s, size_t option)
{
  size_t n = 0;

  for (size_t i = 0; i < s->points.n; i++) {
    size_t k = 0;

    while (strcmp(value_of(s, k, option), value_of(s, i, option)) != 0)
      k++;
    n += k == i;
  }
  return n;
}

static void choose_x(struct sweep *s)
{
  size_t most = 0;

  s->x = SIZE_MAX;
  for (size_t o = 0; o < s->points.n_options; o++) {
    const bool numbers = has_numbers(s, o);
    const size_t values = count_values(s, o);

    if (numbers < s->numbers || (numbers == s->numbers && values <= most))
      continue;
    s->x = o;
    s->numbers = numbers;
    most = values;
  }
}

/* An option that follows from that on the x axis makes no further lines. */
static bool follows(const struct sweep *s, size_t option)
{
  for (size_t i = 0; i < s->points.n; i++)
    for (size_t k = 0; k < i; k++)
      if (strcmp(value_of(s, i, s->x), value_of(s, k, s->x)) == 0 &&
          strcmp(value_of(s, i, option), value_of(s, k, option)) != 0)
        return false;
  return true;
}

static bool same_line(const struct sweep *s, size_t a, size_t b)
{
  for (size_t o = 0; o < s->points.n_options; o++)
    if (s->apart[o] && strcmp(value_of(s, a, o), value_of(s, b, o)) != 0)
      return false;
  return true;
}

static int find_lines(struct sweep *s, struct bn_err *err)
{
  for (size_t o = 0; o < s->points.n_options; o++)
    s->apart[o] = o != s->x && !follows(s, o);
  for (size_t i = 0; i < s->points.n; i++) {
    size_t line = 0;

    while (line < s->n_lines && !same_line(s, s->of_line[line], i))
      line++;
    if (line == LINES_MAX)
      return bn_err_set(err, E2BIG,
                        "the results differ in so many options that the picture would have more "
                        "than %d lines; name fewer results",
                        LINES_MAX);
    if (line == s->n_lines)
      s->of_line[s->n_lines++] = i;
    s->place[i] = (struct place){.point = i, .line = line};
  }
  return 0;
}

static int compare_places(const void *a, const void *b)
{
  const struct place *p = a, *q = b;

  return (p->x > q->x) - (p->x < q->x);
}

/* Texts stand in the order in which they come. */
static double place_of(const struct sweep *s, const struct bn_chart *c, size_t point)
{
  double at = (double)c->n_marks + 1;

  if (s->x == SIZE_MAX)
    return 1;
  if (s->numbers) {
    (void)bn_units_number(value_of(s, point, s->x), &at);
    return at;
  }
  for (size_t i = 0; i < c->n_marks; i++)
    if (strcmp(c->mark[i].text, value_of(s, point, s->x)) == 0)
      return c->mark[i].at;
  return at;
}

static bool is_marked(const struct bn_chart *c, double at)
{
  for (size_t i = 0; i < c->n_marks; i++)
    if (c->mark[i].at >= at && c->mark[i].at <= at)
      return true;
  return false;
}

static int compare_marks(const void *a, const void *b)
{
  const struct bn_chart_mark *p = a, *q = b;

  return (p->at > q->at) - (p->at < q->at);
}

static int set_x(struct bn_chart *c, struct sweep *s)
{
  char threads[32], name[64] = "threads";

  if (s->x != SIZE_MAX)
    bn_near_dash(name, sizeof name, s->points.option[s->x]);
  (void)snprintf(threads, sizeof threads, "%u", s->result[0]->facts.plan.threads);
  c->x = s->numbers ? BN_CHART_NUMBER : BN_CHART_NAME;
  (void)snprintf(c->x_title, sizeof c->x_title, "%s", name);
  for (size_t i = 0; i < s->points.n; i++) {
    s->place[i].x = place_of(s, c, i);
    if (!is_marked(c, s->place[i].x) &&
        bn_chart_mark(c, s->place[i].x, s->x != SIZE_MAX ? value_of(s, i, s->x) : threads) != 0)
      return -1;
  }
  qsort(c->mark, c->n_marks, sizeof *c->mark, compare_marks);
  qsort(s->place, s->points.n, sizeof *s->place, compare_places);
  return 0;
}

/* --- figures ---------------------------------------------------------------------------------- */

/* Of the repeats of a point that have the figure; returns how many there are. */
static size_t summarize(struct sweep *s, const struct bn_figure_name *f, size_t point,
                        struct bn_chart_point *out)
{
  size_t n = 0;

  for (size_t i = 0; i < s->n; i++)
    if (s->points.of[i] == point && bn_figure_find(f, s->result[i], &s->value[n]) &&
        isfinite(s->value[n]))
      n++;
  if (n == 0)
    return 0;
  bn_stats_sort(s->value, n);
  out->low = s->value[0];
  out->high = s->value[n - 1];
  out->y = bn_stats_median(s->value, n);
  return n;
}

static bool any_has(const struct sweep *s, const struct bn_figure_name *f)
{
  double value;

  for (size_t i = 0; i < s->n; i++)
    if (bn_figure_find(f, s->result[i], &value))
      return true;
  return false;
}

static int draw_line(struct sweep *s, struct bn_chart_panel *p, const struct bn_figure_name *f,
                     size_t line, const char *name, unsigned colour)
{
  struct bn_chart_series *to = bn_chart_series(p, name, BN_CHART_BARS, colour);

  for (size_t i = 0; to != NULL && i < s->points.n; i++) {
    struct bn_chart_point at = {.x = s->place[i].x};

    if (s->place[i].line == line && summarize(s, f, s->place[i].point, &at) > 0 &&
        bn_chart_point(to, &at) != 0)
      return -1;
  }
  return to != NULL ? 0 : -1;
}

/* "table-size=1000, test=oltp_insert"; nothing if there is one line only. */
static int name_line(const struct sweep *s, size_t line, struct bn_buf *out)
{
  char name[64];

  (void)bn_buf_str(out, "");
  for (size_t o = 0; s->n_lines > 1 && o < s->points.n_options; o++)
    if (s->apart[o]) {
      bn_near_dash(name, sizeof name, s->points.option[o]);
      (void)bn_buf_printf(out, "%s%s=%s", out->len > 0 ? ", " : "", name,
                          value_of(s, s->of_line[line], o));
    }
  return out->failed ? -1 : 0;
}

static int draw_lines(struct sweep *s, struct bn_chart_panel *p, const struct bn_figure_name *f)
{
  int rc = 0;

  for (size_t i = 0; rc == 0 && i < s->n_lines; i++) {
    struct bn_buf name = {.max = 0};

    rc = name_line(s, i, &name);
    if (rc == 0)
      rc = draw_line(s, p, f, i, name.data, (unsigned)i);
    bn_buf_done(&name);
  }
  return rc;
}

/* --- the fit ---------------------------------------------------------------------------------- */

/* By the law of study/stats/usl.h. */
static double rate_of(const struct bn_usl *u, double n)
{
  return u->gamma.value * n / (1 + u->alpha.value * (n - 1) + u->beta.value * n * (n - 1));
}

/* From the first number of threads of a line to the last. */
static int draw_fit(struct bn_chart_panel *p, unsigned colour, double first, double last,
                    const struct bn_usl *usl)
{
  enum { POINTS = 200 };
  struct bn_chart_series *to = bn_chart_series(p, "", BN_CHART_FIT, colour);

  for (int i = 0; to != NULL && i <= POINTS; i++) {
    const double x = first * pow(last / first, (double)i / POINTS);

    if (bn_chart_point(to, &(struct bn_chart_point){.x = x, .y = rate_of(usl, x)}) != 0)
      return -1;
  }
  return to != NULL ? 0 : -1;
}

/* The medians of one line of rates.  1: they have a fit, which is drawn as the line between them;
   0: they have none; -1. */
static int fit_line(struct bn_chart_panel *p, size_t line)
{
  const struct bn_chart_series *s = &p->series[line];
  double *threads = calloc(2 * s->n + 1, sizeof *threads), *rate;
  struct bn_usl usl;
  size_t n = 0;
  int rc = -1;

  if (threads == NULL)
    return -1;
  rate = threads + s->n;
  for (size_t i = 0; i < s->n; i++)
    if (s->point[i].x >= 1) {
      threads[n] = s->point[i].x;
      rate[n++] = s->point[i].y;
    }
  if (!bn_usl_fit(threads, rate, n, &usl))
    rc = 0;
  else if (draw_fit(p, s->colour, threads[0], threads[n - 1], &usl) == 0)
    rc = 1;
  if (rc > 0)
    p->series[line].look = BN_CHART_SPOTS;
  free(threads);
  return rc;
}

/* Of rates over threads. */
static int draw_fits(struct sweep *s, struct bn_chart_panel *p)
{
  const size_t len = strlen(p->title);
  bool any = false;

  if (!s->numbers || strcmp(s->points.option[s->x], "threads") != 0)
    return 0;
  for (size_t i = 0; i < s->n_lines; i++) {
    const int rc = fit_line(p, i);

    if (rc < 0)
      return -1;
    any = any || rc > 0;
  }
  if (any)
    (void)snprintf(p->title + len, sizeof p->title - len, "; line: Universal Scalability Law");
  return 0;
}

/* --- the panels ------------------------------------------------------------------------------- */

static bool all_sql(const struct sweep *s)
{
  for (size_t i = 0; i < s->n; i++)
    if (s->result[i]->group[0].total.view.kind != BN_KIND_SQL)
      return false;
  return true;
}

static int draw_rates(struct bn_chart *c, struct sweep *s, const struct bn_figure_name *rate)
{
  struct bn_chart_panel *p = bn_chart_panel(
      c, all_sql(s) ? "Throughput (transactions/s)" : "Throughput (events/s)", BN_CHART_PER_S);

  return draw_lines(s, p, rate) == 0 ? draw_fits(s, p) : -1;
}

/* Of one line several percentiles, of several lines the highest. */
static int draw_latencies(struct bn_chart *c, struct sweep *s)
{
  static const struct {
    const char *name;
    unsigned colour;
  } figures[] = {{"p99", 1}, {"p95", 0}, {"median", 2}};
  struct bn_chart_panel *p = bn_chart_panel(c, "Latency", BN_CHART_SECONDS);

  for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
    struct bn_figure_name f;

    if (bn_figure_parse(&f, figures[i].name, NULL) != 0 || !any_has(s, &f))
      continue;
    if (s->n_lines > 1) {
      (void)snprintf(p->title, sizeof p->title, "Latency, %s", figures[i].name);
      return draw_lines(s, p, &f);
    }
    if (draw_line(s, p, &f, 0, figures[i].name, figures[i].colour) != 0)
      return -1;
  }
  return 0;
}

/* What a point is. */
static void tell_repeats(struct bn_chart *c, const struct sweep *s)
{
  const size_t len = strlen(c->x_title);
  size_t most = 0, least = SIZE_MAX;

  for (size_t i = 0; i < s->points.n; i++) {
    size_t n = 0;

    for (size_t k = 0; k < s->n; k++)
      n += s->points.of[k] == i;
    most = n > most ? n : most;
    least = n < least ? n : least;
  }
  if (most > 1)
    (void)snprintf(c->x_title + len, sizeof c->x_title - len,
                   " (median of %s%zu runs; bars: minimum to maximum)",
                   least < most ? "up to " : "", most);
}

static int draw(struct bn_chart *c, struct sweep *s, struct bn_err *err)
{
  struct bn_figure_name rate;

  s->apart = calloc(s->points.n_options + 1, sizeof *s->apart);
  s->place = calloc(s->points.n + 1, sizeof *s->place);
  s->value = calloc(s->n + 1, sizeof *s->value);
  if (s->apart == NULL || s->place == NULL || s->value == NULL)
    return bn_err_set(err, ENOMEM, "out of memory");
  choose_x(s);
  if (find_lines(s, err) != 0 || bn_figure_parse(&rate, "rate", err) != 0)
    return -1;
  if (set_x(c, s) != 0)
    return bn_err_set(err, ENOMEM, "out of memory");
  tell_repeats(c, s);
  if (draw_rates(c, s, &rate) != 0 || draw_latencies(c, s) != 0)
    return bn_err_set(err, ENOMEM, "out of memory");
  return 0;
}

int bn_plotsweep(struct bn_chart *c, const struct bn_result *const *result, size_t n,
                 struct bn_err *err)
{
  struct sweep s = {.result = result, .n = n};
  int rc = bn_points_find(result, NULL, n, &s.points, err);

  if (rc == 0)
    rc = draw(c, &s, err);
  bn_points_done(&s.points);
  free(s.apart);
  free(s.place);
  free(s.value);
  return rc;
}
