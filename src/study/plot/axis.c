/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ranges, units and marks of axes. */
#include "study/plot/axis.h"

#include <math.h>
#include <stdio.h>

#define LOG_FROM 20.0 /* a latency axis that spans more is logarithmic */

struct span {
  double least, most; /* least: of those above 0; 0: there are none */
};

struct unit {
  double size;
  const char *suffix;
};

static void widen(struct span *s, double v)
{
  if (!isfinite(v) || v <= 0)
    return;
  if (s->least <= 0 || v < s->least)
    s->least = v;
  if (v > s->most)
    s->most = v;
}

static struct span span_of(const struct bn_chart_panel *p)
{
  struct span s = {0};

  for (size_t i = 0; i < p->n; i++)
    for (size_t k = 0; k < p->series[i].n; k++) {
      const struct bn_chart_point *at = &p->series[i].point[k];

      widen(&s, at->y);
      if (p->series[i].look == BN_CHART_BARS || p->series[i].look == BN_CHART_SPOTS) {
        widen(&s, at->low);
        widen(&s, at->high);
      }
    }
  return s;
}

/* The largest unit that is not larger than the value, of a list that ends with the smallest. */
static struct unit unit_of(const struct unit *u, double value)
{
  while (u->size > value && u[1].suffix != NULL)
    u++;
  return *u;
}

static const struct unit times[] = {
    {1, " s"}, {1e-3, " ms"}, {1e-6, " µs"}, {1e-9, " ns"}, {0, NULL}};
static const struct unit plain_times[] = {
    {1, " s"}, {1e-3, " ms"}, {1e-6, " us"}, {1e-9, " ns"}, {0, NULL}};
static const struct unit counts[] = {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {0, NULL}};

static void add_mark(struct bn_axis *a, double at, const char *text)
{
  if (a->n_marks == BN_AXIS_MARKS)
    return;
  a->mark[a->n_marks].at = at;
  (void)snprintf(a->mark[a->n_marks++].text, sizeof a->mark->text, "%s", text);
}

static void mark_number(struct bn_axis *a, double at, const struct unit *u)
{
  char text[sizeof a->mark->text];

  if (at > 0)
    (void)snprintf(text, sizeof text, "%g%s", at / u->size, u->suffix);
  else
    (void)snprintf(text, sizeof text, "0");
  add_mark(a, at, text);
}

static void mark_time(struct bn_axis *a, double seconds, bool plain)
{
  /* 0.001 may be a little less than that after a product. */
  const struct unit u = unit_of(plain ? plain_times : times, seconds * (1 + 1e-9));

  mark_number(a, seconds, &u);
}

/* From one of 1, 2 and 5 times a power of ten to another; there is a mark at each, or at powers of
   ten only. */
static void mark_decades(struct bn_axis *a, const struct span *s, bool plain)
{
  static const double digits[] = {1, 2, 5, 10};
  const int first = (int)floor(log10(s->least)), last = (int)floor(log10(s->most));
  const bool all = !plain && s->most / s->least < 1000;

  for (int e = first; e <= last; e++)
    for (size_t i = 0; i < 3; i++) {
      const double at = digits[i] * pow(10, e), next = digits[i + 1] * pow(10, e);

      if (next <= s->least || at >= s->most)
        continue;
      if (a->low <= 0)
        a->low = at;
      a->high = next;
      if (all || i == 0)
        mark_time(a, at, plain);
    }
  if (all || fabs(log10(a->high) - round(log10(a->high))) < 1e-9)
    mark_time(a, a->high, plain);
}

/* The least of 1, 2, 2.5 and 5 times a power of ten by which at most `most` steps reach the value.
 */
static double step_to(double value, int most)
{
  static const double digits[] = {1, 2, 2.5, 5, 10};
  const double power = pow(10, floor(log10(value / most)));
  size_t i = 0;

  while (i + 1 < sizeof digits / sizeof digits[0] && digits[i] * power * most < value)
    i++;
  return digits[i] * power;
}

/* From 0 on, in one unit. */
static void mark_steps(struct bn_axis *a, double most, const struct unit *units, bool plain)
{
  const double step = step_to(most, plain ? 4 : 6);
  const int n = (int)ceil(most / step - 1e-9);
  const struct unit u = unit_of(units, n * step * (1 + 1e-9));

  for (int i = 0; i <= n; i++)
    mark_number(a, i * step, &u);
  a->high = n * step;
}

void bn_axis_y(struct bn_axis *a, const struct bn_chart_panel *p, bool plain)
{
  const struct span s = span_of(p);

  *a = (struct bn_axis){.log = p->y == BN_CHART_SECONDS && s.most > LOG_FROM * s.least,
                        .high = 1,
                        .unit = 1,
                        .suffix = ""};
  if (a->log)
    mark_decades(a, &s, plain);
  else if (s.most > 0)
    mark_steps(a, s.most, p->y == BN_CHART_PER_S ? counts : plain ? plain_times : times, plain);
  else
    add_mark(a, 0, "0");
}

/* --- x ---------------------------------------------------------------------------------------- */

static double largest_x(const struct bn_chart *c)
{
  double most = 0;

  for (size_t i = 0; i < c->n_panels; i++)
    for (size_t k = 0; k < c->panel[i].n; k++) {
      const struct bn_chart_series *s = &c->panel[i].series[k];

      if (s->n > 0 && s->point[s->n - 1].x > most)
        most = s->point[s->n - 1].x;
    }
  return most;
}

/* Up to the last one that has its own mark. */
static void mark_ranks(struct bn_axis *a, double most)
{
  static const struct {
    double at;
    const char *text;
  } ranks[] = {{1, "0"},          {2, "50 %"},        {10, "90 %"},
               {1e2, "99 %"},     {1e3, "99.9 %"},    {1e4, "99.99 %"},
               {1e5, "99.999 %"}, {1e6, "99.9999 %"}, {1e7, "99.99999 %"}};

  a->log = true;
  a->low = 1;
  a->high = most > BN_CHART_RANK_LEAST ? most : BN_CHART_RANK_LEAST;
  for (size_t i = 0; i < sizeof ranks / sizeof ranks[0] && ranks[i].at <= a->high * 1.01; i++)
    add_mark(a, ranks[i].at, ranks[i].text);
}

static void set_time(struct bn_axis *a, double most)
{
  a->unit = most > 3 * 3600.0 ? 3600 : most > 600 ? 60 : 1;
  a->suffix = a->unit > 60 ? "h" : a->unit > 1 ? "min" : "s";
  a->high = most > 0 ? most / a->unit : 1;
}

static double place(const struct bn_axis *a, double x)
{
  return a->log ? log(x / a->low) / log(a->high / a->low) : (x - a->low) / (a->high - a->low);
}

/* Whether the marks would be crowded on an axis that is not logarithmic. */
static bool is_crowded(const struct bn_chart *c)
{
  const double all = c->mark[c->n_marks - 1].at - c->mark[0].at;

  for (size_t i = 1; i < c->n_marks; i++)
    if (c->mark[i].at - c->mark[i - 1].at < all / 16)
      return true;
  return false;
}

/* The marks of the chart that keep their distance, the last among them. */
static void thin_marks(struct bn_axis *a, const struct bn_chart *c, size_t most)
{
  const double least = 1.0 / (double)most, end = place(a, c->mark[c->n_marks - 1].at);
  double before = -1;

  for (size_t i = 0; i < c->n_marks; i++) {
    const double at = place(a, c->mark[i].at);

    if (i + 1 < c->n_marks && (at - before < least || end - at < least))
      continue;
    add_mark(a, c->mark[i].at, c->mark[i].text);
    before = at;
  }
}

static void set_values(struct bn_axis *a, const struct bn_chart *c, size_t most)
{
  const double first = c->mark[0].at, last = c->mark[c->n_marks - 1].at;

  if (c->x == BN_CHART_NUMBER && first > 0 && is_crowded(c)) {
    const double pad = pow(last / first, 0.03);

    a->log = true;
    a->low = first / pad;
    a->high = last * pad;
  } else {
    const double pad = last > first ? (last - first) * 0.03 : 1;

    a->low = first - pad;
    a->high = last + pad;
  }
  thin_marks(a, c, most < BN_AXIS_MARKS ? most : BN_AXIS_MARKS);
}

void bn_axis_x(struct bn_axis *a, const struct bn_chart *c, size_t most)
{
  *a = (struct bn_axis){.unit = 1, .suffix = ""};
  if (c->x == BN_CHART_TIME)
    set_time(a, largest_x(c));
  else if (c->x == BN_CHART_RANK)
    mark_ranks(a, largest_x(c));
  else if (c->n_marks > 0)
    set_values(a, c, most);
}
