/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints a history for people. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/units.h"
#include "study/columns.h"
#include "study/history/historyform.h"

/* Latencies are shown in milliseconds. */
static double scale_of(const struct bn_trend *t)
{
  static const double ms_per_s = 1e3;

  return strcmp(bn_figure_unit(t->metric), "s") == 0 ? ms_per_s : 1;
}

static const char *unit_of(const struct bn_trend *t)
{
  return strcmp(bn_figure_unit(t->metric), "s") == 0 ? "ms" : bn_figure_unit(t->metric);
}

double bn_history_difference(const struct bn_trend *t, size_t i)
{
  static const double percent = 100;
  const double before = t->segment[i].median;

  return before > 0 ? (t->segment[i + 1].median / before - 1) * percent : NAN;
}

static const char *turn_of(const struct bn_trend *t, size_t i)
{
  static const char *const names[] = {
      [BN_TURN_BETTER] = "better", [BN_TURN_WORSE] = "worse", [BN_TURN_OTHER] = ""};

  return names[bn_trend_turn(t, i)];
}

/* "+5.08 %" or "-". */
static const char *show_difference(char digits[BN_COLUMNS_DIGITS], const struct bn_trend *t,
                                   size_t i)
{
  const double difference = bn_history_difference(t, i);

  if (isnan(difference))
    return "-";
  (void)snprintf(digits, BN_COLUMNS_DIGITS, "%+.2f", difference);
  bn_units_point(digits);
  (void)strncat(digits, " %", BN_COLUMNS_DIGITS - strlen(digits) - 1);
  return digits;
}

/* Adds a text that quotes files. */
static void add_quoted(struct bn_buf *out, const char *text, bool markdown)
{
  const size_t size = 2 * (bn_escape(NULL, 0, text, "") + 1);
  char *shown = malloc(size);

  if (shown == NULL)
    out->failed = true;
  else if (markdown)
    bn_escape_markdown(shown, size, text);
  else
    (void)bn_escape(shown, size, text, "");
  (void)bn_buf_str(out, shown != NULL ? shown : "");
  free(shown);
}

void bn_history_tell(const struct bn_history *h, const struct bn_series *s,
                     const struct bn_trend *t, struct bn_buf *out)
{
  const size_t i = t->n_changes - 1;
  const struct bn_series_run *run = t->run[t->change[i].at];
  char difference[BN_COLUMNS_DIGITS], time[BN_COLUMNS_DIGITS];
  struct bn_buf name = {.max = 0};

  bn_series_name(&h->set, s, false, &name);
  (void)bn_buf_printf(out, "%s of %s is worse since %s UTC (%s): %s", t->metric->text,
                      name.data != NULL ? name.data : "", bn_columns_time(time, run->start_wall_ns),
                      run->path, show_difference(difference, t, i));
  bn_buf_done(&name);
}

static void add_change(struct bn_columns *c, const struct bn_trend *t, size_t i)
{
  const struct bn_segment *before = &t->segment[i], *after = &t->segment[i + 1];
  const struct bn_series_run *run = t->run[after->start];
  char digits[BN_COLUMNS_DIGITS];

  bn_columns_add(c, "%s", bn_columns_time(digits, run->start_wall_ns));
  bn_columns_add(c, "%zu+%zu", before->n, after->n);
  bn_columns_add(c, "%s", bn_columns_number(digits, before->median * scale_of(t)));
  bn_columns_add(c, "%s", bn_columns_number(digits, after->median * scale_of(t)));
  bn_columns_add(c, "%s", show_difference(digits, t, i));
  bn_columns_add(c, "%s", turn_of(t, i));
  (void)snprintf(digits, sizeof digits, "%.4f", t->change[i].p);
  bn_units_point(digits);
  bn_columns_add(c, "%s", digits);
  bn_columns_add(c, "%s", run->path);
}

static int print_changes(const struct bn_trend *t, bool markdown, struct bn_buf *out)
{
  static const char *const headings[] = {"since (UTC)", "runs",    "before", "after",
                                         "difference",  "verdict", "p",      "first run"};
  struct bn_columns c = {.align = "llrrrlrl"};
  int rc;

  for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
    bn_columns_add(&c, "%s", headings[i]);
  for (size_t i = 0; i < t->n_changes; i++)
    add_change(&c, t, i);
  (void)bn_buf_printf(out, ":\n%s", markdown ? "\n" : "");
  rc = bn_columns_print(&c, markdown, out);
  bn_columns_done(&c);
  return rc;
}

/* What else was new in the first run of a segment. */
static void print_facts(const struct bn_trend *t, size_t i, bool markdown, struct bn_buf *out)
{
  const struct bn_series_run *after = t->run[t->change[i].at],
                             *before = t->run[t->change[i].at - 1];
  char time[BN_COLUMNS_DIGITS];

  for (size_t k = 0; k < BN_SERIES_FACTS; k++) {
    const char *was = before->fact[k], *is = after->fact[k];

    if (was == NULL || is == NULL || strcmp(was, is) == 0)
      continue;
    (void)bn_buf_printf(out, "%s%s: %s ", markdown ? "\n" : "  ",
                        bn_columns_time(time, after->start_wall_ns), bn_series_fact_names[k]);
    add_quoted(out, is, markdown);
    (void)bn_buf_str(out, ", before: ");
    add_quoted(out, was, markdown);
    (void)bn_buf_char(out, '\n');
  }
}

/* At the level of 0.001, a test of the permutations of fewer runs shows nothing but a clear break
   in the middle. */
enum { RUNS_FEW = 16 };

static void print_level(const struct bn_trend *t, struct bn_buf *out)
{
  static const double percent = 100;
  const struct bn_segment *s = &t->segment[0];
  char median[BN_COLUMNS_DIGITS], deviation[BN_COLUMNS_DIGITS];

  (void)bn_buf_printf(out, ": no change point%s; median %s",
                      s->n < RUNS_FEW ? " (about 16 runs are needed to find one)" : "",
                      bn_columns_number(median, s->median * scale_of(t)));
  if (s->median > 0 && s->n > 1)
    (void)bn_buf_printf(out, ", standard deviation %s %%",
                        bn_columns_number(deviation, s->deviation / s->median * percent));
  (void)bn_buf_char(out, '\n');
}

static int print_trend(const struct bn_trend *t, bool markdown, struct bn_buf *out)
{
  (void)bn_buf_char(out, '\n');
  add_quoted(out, t->metric->text, markdown);
  (void)bn_buf_printf(out, " (%s)", unit_of(t));
  if (t->unmeasured > 0)
    (void)bn_buf_printf(out, ", not measured in %zu run(s)", t->unmeasured);
  if (t->too_old > 0)
    (void)bn_buf_printf(out, ", without the oldest %zu run(s)", t->too_old);
  if (t->n == 0)
    (void)bn_buf_char(out, '\n');
  else if (t->n_changes == 0)
    print_level(t, out);
  else if (print_changes(t, markdown, out) != 0)
    return -1;
  for (size_t i = 0; i < t->n_changes; i++)
    print_facts(t, i, markdown, out);
  return 0;
}

static void print_series(const struct bn_history *h, const struct bn_series *s, bool markdown,
                         struct bn_buf *out)
{
  char first[BN_COLUMNS_DIGITS], last[BN_COLUMNS_DIGITS];
  struct bn_buf name = {.max = 0};

  bn_series_name(&h->set, s, false, &name);
  (void)bn_buf_str(out, markdown ? "### " : "");
  add_quoted(out, name.data != NULL ? name.data : "", markdown);
  (void)bn_buf_printf(out, ": %zu run%s, %s to %s UTC\n", s->n, s->n == 1 ? "" : "s",
                      bn_columns_time(first, s->run[0].start_wall_ns),
                      bn_columns_time(last, s->run[s->n - 1].start_wall_ns));
  bn_buf_done(&name);
}

int bn_history_print(const struct bn_history *h, bool markdown, struct bn_buf *out)
{
  for (size_t i = 0; i < h->set.n; i++) {
    (void)bn_buf_str(out, i > 0 ? "\n" : "");
    print_series(h, &h->set.series[i], markdown, out);
    for (size_t k = 0; k < h->set.n_metrics; k++)
      if (print_trend(&h->trend[i * h->set.n_metrics + k], markdown, out) != 0)
        return -1;
  }
  return out->failed ? -1 : 0;
}
