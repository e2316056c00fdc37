/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints a comparison as tables. */
#include "study/compare/verdicts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "study/columns.h"

enum { CELL = 80, COLUMNS = 7, MORE_MAX = 100000 };

/* Where the text goes. */
struct page {
  struct bn_buf *out;
  bool markdown;
};

/* --- values ----------------------------------------------------------------------------------- */

/* Four significant digits. */
static void show_value(char out[CELL], double x)
{
  int decimals = 3;

  if (!isfinite(x)) {
    (void)snprintf(out, CELL, "beyond");
    return;
  }
  for (double y = fabs(x); y >= 10 && decimals > 0; y /= 10)
    decimals--;
  for (double y = fabs(x); y > 0 && y < 1 && decimals < 9; y *= 10)
    decimals++;
  if (fabs(x) < 1e12)
    (void)snprintf(out, CELL, "%.*f", fabs(x) > 0 ? decimals : 0, x);
  else
    (void)snprintf(out, CELL, "%.4g", x);
  bn_units_point(out);
}

/* A ratio as a difference in percent; at most "+1234". */
static void show_percent(char out[CELL], double ratio)
{
  const double x = 100 * (ratio - 1);

  (void)snprintf(out, CELL, fabs(x) < 10 ? "%+.2f" : fabs(x) < 100 ? "%+.1f" : "%+.4g", x);
  bn_units_point(out);
}

/* Percent as typed: 5, 2.5 */
static void show_share(char out[CELL], double share)
{
  (void)snprintf(out, CELL, "%.4g", 100 * share);
  bn_units_point(out);
}

/* --- words ------------------------------------------------------------------------------------ */

static void say_unknown(const struct bn_comparison_point *p, const struct bn_comparison_row *row,
                        char *out, size_t size)
{
  const bool paired = p->how == BN_COMPARISON_PAIRED;
  const bool one = row->more == 1;
  const char *least = row->found.noise > 0 || !row->found.has_ratio ? "" : "at least ";

  if (p->how == BN_COMPARISON_APART)
    (void)snprintf(out, size, "cannot tell: the runs do not alternate");
  else if (row->more >= MORE_MAX)
    (void)snprintf(out, size, "cannot tell: too much noise");
  else if (paired)
    (void)snprintf(out, size, "cannot tell: needs %s%zu more pair%s", least, row->more,
                   one ? "" : "s");
  else
    (void)snprintf(out, size, "cannot tell: needs %s%zu more run%s of each side", least, row->more,
                   one ? "" : "s");
}

const char *bn_verdicts_say(const struct bn_verdicts *v, const struct bn_comparison_point *p,
                            const struct bn_comparison_row *row, char *out, size_t size)
{
  static const char *const words[] = {"", "better", "worse", "", "equal"};
  char same[CELL];

  if (!row->measured)
    (void)snprintf(out, size, "not measured");
  else if (p->how == BN_COMPARISON_APART || row->verdict == BN_COMPARE_UNKNOWN)
    say_unknown(p, row, out, size);
  else if (row->verdict != BN_COMPARE_SAME)
    (void)snprintf(out, size, "%s", words[row->verdict]);
  else {
    show_share(same, v->rules->same);
    (void)snprintf(out, size, "same within %s %%", same);
  }
  return out;
}

/* Text of others, in the form of the page. */
static void add_foreign(struct page *p, const char *text)
{
  bn_columns_text(p->out, text, p->markdown);
}

/* The options of a point, escaped for a terminal.  false: there is one point only. */
static bool add_point(struct page *p, const struct bn_verdicts *v, size_t point)
{
  struct bn_buf name = {.max = 0};
  bool named;

  bn_points_name(v->points, point, &name);
  named = name.len > 0;
  if (named && p->markdown)
    add_foreign(p, name.data);
  else if (named)
    (void)bn_buf_str(p->out, name.data);
  p->out->failed |= name.failed;
  bn_buf_done(&name);
  return named;
}

/* --- what is compared ------------------------------------------------------------------------- */

static size_t count_left_out(const struct bn_side *s)
{
  size_t n = 0;

  for (size_t i = 0; i < s->n; i++)
    n += s->run[i].left_out != NULL;
  return n;
}

static void print_side(struct page *p, const struct bn_verdicts *v, size_t i)
{
  const struct bn_side *s = v->side[i];
  const size_t left_out = count_left_out(s);

  (void)bn_buf_printf(p->out, "%s%c: ", p->markdown ? "- " : "", (char)('A' + i));
  add_foreign(p, v->name[i]);
  (void)bn_buf_printf(p->out, " (%zu run%s)\n", s->n - left_out, s->n - left_out == 1 ? "" : "s");
  for (size_t k = 0; k < s->n; k++)
    if (s->run[k].left_out != NULL) {
      (void)bn_buf_printf(p->out, p->markdown ? "  - left out: " : "   left out: ");
      add_foreign(p, s->run[k].path);
      (void)bn_buf_printf(p->out, ": %s\n", s->run[k].left_out);
    }
}

/* --- tables ----------------------------------------------------------------------------------- */

struct table {
  char cell[BN_SIDE_FIGURES_MAX + 1][COLUMNS][CELL];
  size_t n;
};

static const bool is_left[COLUMNS] = {true, true, false, false, false, false, true};

static void fill_heading(struct table *t)
{
  static const char *const names[COLUMNS] = {"metric",     "unit",          "A",      "B",
                                             "difference", "98 % interval", "verdict"};

  for (size_t i = 0; i < COLUMNS; i++)
    (void)snprintf(t->cell[0][i], CELL, "%s", names[i]);
  t->n = 1;
}

static void fill_row(struct table *t, const struct bn_verdicts *v,
                     const struct bn_comparison_point *p, const struct bn_comparison_row *row)
{
  const struct bn_figure_name *name = &v->figures->name[row->figure];
  const struct bn_compare_found *f = &row->found;
  char(*cell)[CELL] = t->cell[t->n++];
  const char *unit;
  const double scale = bn_figure_scale(name, &unit);
  char low[CELL], high[CELL];

  memset(cell, 0, sizeof t->cell[0]);
  (void)snprintf(cell[0], CELL, "%.60s%s", name->text, row->figure > 0 ? " *" : "");
  (void)snprintf(cell[1], CELL, "%s", unit);
  (void)bn_verdicts_say(v, p, row, cell[6], CELL);
  if (!row->measured)
    return;
  show_value(cell[2], scale * f->a);
  show_value(cell[3], scale * f->b);
  if (f->has_ratio) {
    show_percent(low, f->ratio);
    (void)snprintf(cell[4], CELL, "%.20s %%", low);
  }
  if (f->has_interval && p->how != BN_COMPARISON_APART) {
    show_percent(low, f->interval.low);
    show_percent(high, f->interval.high);
    (void)snprintf(cell[5], CELL, "%.20s to %.20s %%", low, high);
  }
}

static bool is_empty(const struct table *t, size_t column)
{
  for (size_t i = 1; i < t->n; i++)
    if (t->cell[i][column][0] != '\0')
      return false;
  return true;
}

static int width_of(const struct table *t, size_t column)
{
  size_t width = 0;

  for (size_t i = 0; i < t->n; i++)
    if (strlen(t->cell[i][column]) > width)
      width = strlen(t->cell[i][column]);
  return (int)width;
}

static void print_text_table(struct page *p, const struct table *t)
{
  for (size_t i = 0; i < t->n; i++) {
    for (size_t k = 0; k < COLUMNS - 1; k++) {
      const int width = width_of(t, k);

      if (!is_empty(t, k))
        (void)bn_buf_printf(p->out, is_left[k] ? "  %-*s" : "  %*s", width, t->cell[i][k]);
    }
    (void)bn_buf_printf(p->out, "  %s\n", t->cell[i][COLUMNS - 1]);
  }
}

static void print_markdown_table(struct page *p, const struct table *t)
{
  for (size_t i = 0; i < t->n; i++) {
    for (size_t k = 0; k < COLUMNS; k++) {
      (void)bn_buf_str(p->out, "| ");
      add_foreign(p, t->cell[i][k]);
      (void)bn_buf_char(p->out, ' ');
    }
    (void)bn_buf_str(p->out, "|\n");
    for (size_t k = 0; i == 0 && k < COLUMNS; k++)
      (void)bn_buf_str(p->out, is_left[k] ? "|---" : "|---:");
    (void)bn_buf_str(p->out, i == 0 ? "|\n" : "");
  }
}

/* --- points ----------------------------------------------------------------------------------- */

static void print_counts(struct page *p, const struct bn_comparison_point *at)
{
  if (at->how == BN_COMPARISON_PAIRED)
    (void)bn_buf_printf(p->out, "%zu pair%s", at->n_a, at->n_a == 1 ? "" : "s");
  else
    (void)bn_buf_printf(p->out, "%zu run%s of A, %zu of B", at->n_a, at->n_a == 1 ? "" : "s",
                        at->n_b);
  if (at->how == BN_COMPARISON_STATIONARY)
    (void)bn_buf_str(p->out, ", not alternating (--assume-stationary)");
  else if (at->how == BN_COMPARISON_APART)
    (void)bn_buf_str(p->out, ", not alternating");
  else if (at->how == BN_COMPARISON_MISSING)
    (void)bn_buf_str(p->out, ": nothing to compare");
}

static void print_point(struct page *p, const struct bn_verdicts *v,
                        const struct bn_comparison_point *at)
{
  struct table t;

  (void)bn_buf_str(p->out, p->markdown ? "\n**" : "\n");
  if (add_point(p, v, at->point))
    (void)bn_buf_str(p->out, ": ");
  print_counts(p, at);
  (void)bn_buf_str(p->out, p->markdown ? "**\n" : "\n");
  if (at->how == BN_COMPARISON_MISSING)
    return;
  fill_heading(&t);
  for (size_t i = 0; i < v->comparison->n_figures; i++)
    if (!at->row[i].hidden)
      fill_row(&t, v, at, &at->row[i]);
  (void)bn_buf_str(p->out, p->markdown ? "\n" : "");
  if (p->markdown)
    print_markdown_table(p, &t);
  else
    print_text_table(p, &t);
}

/* --- remarks ---------------------------------------------------------------------------------- */

static void print_failing(struct page *p, const struct bn_verdicts *v)
{
  const struct bn_comparison *c = v->comparison;

  for (size_t i = 0; i < c->n; i++)
    for (size_t k = 0; k < c->n_figures; k++) {
      char limit[CELL];

      if (!c->point[i].row[k].failing)
        continue;
      show_share(limit, v->rules->limit[k]);
      (void)bn_buf_str(p->out, "\nRegression: ");
      add_foreign(p, v->figures->name[k].text);
      (void)bn_buf_str(p->out, " is worse");
      if (v->rules->limit[k] > 0)
        (void)bn_buf_printf(p->out, " by more than %s %%", limit);
      if (c->n > 1)
        (void)bn_buf_str(p->out, " at ");
      (void)add_point(p, v, c->point[i].point);
      (void)bn_buf_char(p->out, '\n');
    }
}

static void remark(struct page *p, bool wanted, const char *text)
{
  if (wanted)
    (void)bn_buf_printf(p->out, "%s%s\n", p->markdown ? "\n" : "", text);
}

static void print_remarks(struct page *p, const struct bn_verdicts *v)
{
  const struct bn_comparison *c = v->comparison;
  bool apart = false, one_order = false, paced = false;

  for (size_t i = 0; i < c->n; i++) {
    apart |= c->point[i].how == BN_COMPARISON_APART;
    one_order |= c->point[i].how == BN_COMPARISON_PAIRED && c->point[i].one_order &&
                 c->point[i].n_a >= BN_COMPARE_PAIRS_MIN;
  }
  for (size_t i = 0; i < v->side[0]->n; i++)
    paced |= v->side[0]->run[i].result.facts.plan.rate > 0;
  (void)bn_buf_str(p->out, p->markdown ? "" : "\n");
  remark(p, paced && v->figures->name[0].is_rate,
         "The runs had a fixed rate (--rate), so their rates say little. Compare a latency, for\n"
         "example with --metric=p99.");
  remark(p, c->n_figures > 1,
         p->markdown ? "\\* secondary: adjusted for the number of secondary metrics (Holm)"
                     : "* secondary: adjusted for the number of secondary metrics (Holm)");
  remark(p, apart,
         "The runs do not alternate. Measure again in the order A B B A A B B A. If the\n"
         "machine was steady, --assume-stationary compares the runs as they are.");
  remark(p, one_order,
         "All pairs began with the same side. If the machine got slower or faster, but not\n"
         "steadily, that may look like a difference. Measure in the order A B B A A B B A.");
}

void bn_verdicts_print(const struct bn_verdicts *v, bool markdown, struct bn_buf *out)
{
  struct page p = {out, markdown};

  print_side(&p, v, 0);
  print_side(&p, v, 1);
  bn_differences_print(v->differences, markdown, out);
  for (size_t i = 0; i < v->comparison->n; i++)
    print_point(&p, v, &v->comparison->point[i]);
  print_remarks(&p, v);
  print_failing(&p, v);
}
