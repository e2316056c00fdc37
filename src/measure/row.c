/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Columns and their values, from facts and views. */
#include "measure/row.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "measure/event_kinds.h"
#include "measure/layout.h"
#include "measure/phases.h"

/* These stand for a count, a timing or a kind of events that the view does not have: their values
   are not known. */
static const struct bn_count no_count = {.count = UINT64_MAX, .per_s = HUGE_VAL};
static const struct bn_timing no_timing = {
    .count = UINT64_MAX, .avg_s = HUGE_VAL, .max_s = HUGE_VAL};
static const struct bn_event_kind no_kind = {.timing = &no_timing,
                                             .events = UINT64_MAX,
                                             .retries = UINT64_MAX,
                                             .failed_events = UINT64_MAX,
                                             .events_per_s = HUGE_VAL,
                                             .share = HUGE_VAL};

/* Returns one of the percentiles of the view, or of a timing of the view, or HUGE_VAL if it is not
   known.  A document may have other ranks in its views than in its plan.  percentile_s NULL: none
   is known, and the view may be NULL. */
static double row_percentile_of(const struct bn_view *v, const double *percentile_s, double percent)
{
  const size_t i = percentile_s != NULL ? bn_view_find_rank(v, percent) : 0;

  return percentile_s != NULL && i < v->n_percents ? percentile_s[i] : HUGE_VAL;
}

/* Returns whether there are columns for percentile i of the plan.  The plan of a document may have
   a rank twice, which gets its columns once, or a rank that is no number. */
static bool row_has_rank(const struct bn_plan *plan, size_t i)
{
  for (size_t earlier = 0; earlier < i; earlier++)
    if (plan->percents[earlier] == plan->percents[i])
      return false;
  return isfinite(plan->percents[i]);
}

const char *bn_row_name_rank(char name[BN_ROW_RANK], double percent)
{
  char digits[BN_UNITS_DIGITS];

  (void)snprintf(name, BN_ROW_RANK, "p%s_s", bn_units_format_shortest(digits, percent));
  return name;
}

void bn_row_done(struct bn_row *row)
{
  free(row->cell);
  *row = (struct bn_row){.n = 0};
}

/* Returns a new cell after the others.  It is not initialized, and valid until the next cell is
   added. */
static struct bn_cell *row_add_cell(struct bn_row *row)
{
  if (row->n == row->room) {
    row->room = 2 * row->room + 64; /* most rows have more than 64 cells */
    row->cell = bn_alloc_resize(row->cell, row->room, sizeof *row->cell);
  }
  return &row->cell[row->n++];
}

/* Returns a new cell of that name, whose value is unknown until it is set.  It is valid until the
   next cell is added. */
static struct bn_cell *row_add_unknown(struct bn_row *row, const char *name)
{
  struct bn_cell *c = row_add_cell(row);

  *c = (struct bn_cell){.type = BN_CELL_UNKNOWN};
  (void)snprintf(c->name, sizeof c->name, "%s", name);
  return c;
}

/* Sets a cell to a whole number.  UINT64_MAX: the number is not known. */
static void row_set_whole(struct bn_cell *c, uint64_t whole)
{
  c->type = whole != UINT64_MAX ? BN_CELL_WHOLE : BN_CELL_UNKNOWN;
  c->whole = whole;
}

/* Sets a cell to a real number.  HUGE_VAL or NaN: the number is not known. */
static void row_set_real(struct bn_cell *c, double real)
{
  c->type = isfinite(real) ? BN_CELL_REAL : BN_CELL_UNKNOWN;
  c->real = real;
}

/* Adds a cell with a time of day.  If it is 0 or UINT64_MAX, the cell stays unknown. */
static void row_add_time(struct bn_row *row, const char *name, uint64_t wall_ns)
{
  struct bn_cell *c = row_add_unknown(row, name);

  c->whole = wall_ns;
  if (wall_ns != 0 && wall_ns != UINT64_MAX)
    c->type = BN_CELL_TIME;
}

/* Adds a cell with a text.  If it is NULL, the cell stays unknown. */
static void row_add_text(struct bn_row *row, const char *name, const char *text)
{
  struct bn_cell *c = row_add_unknown(row, name);

  if (text == NULL)
    return;
  c->type = BN_CELL_TEXT;
  c->text = text;
}

/* --- figures ---------------------------------------------------------------------------------- */

/* Adds the column of a figure, which is unknown if the view (or NULL) does not measure it. */
static void row_add_figure(struct bn_row *row, const struct bn_view_field *f,
                           const struct bn_view *v)
{
  struct bn_cell *c = row_add_unknown(row, f->name);

  if (v == NULL || !bn_view_measures(v, f))
    return;
  if (f->type == BN_VIEW_U64)
    row_set_whole(c, bn_view_u64(v, f));
  else
    row_set_real(c, bn_view_value(v, f));
}

/* Adds the columns of all percentiles of the plan, also of those that the view (or NULL) lacks, so
   that all rows of a run have the same columns. */
static void row_add_percentiles(struct bn_row *row, const struct bn_plan *plan,
                                const struct bn_view *v)
{
  const double *percentile_s = v != NULL ? v->percentile_s : NULL;
  char name[BN_ROW_RANK];

  for (size_t i = 0; i < plan->n_percents; i++)
    if (row_has_rank(plan, i))
      row_set_real(row_add_unknown(row, bn_row_name_rank(name, plan->percents[i])),
                   row_percentile_of(v, percentile_s, plan->percents[i]));
}

/* --- what a script has declared --------------------------------------------------------------- */

/* Replaces all bytes but ASCII letters, digits and '.' by '_': a document may name a metric in any
   characters. */
static void row_clean_name(char *name)
{
  for (char *c = name; *c != '\0'; c++) {
    const bool is_letter_or_digit = isascii(*c) && isalnum((unsigned char)*c);

    if (!is_letter_or_digit && *c != '.')
      *c = '_';
  }
}

/* Adds a column of a metric of a script, "script_payments_per_s"; no other column begins with
   "script_".  A document may name a metric at any length, so the name is cut to 32 bytes: then
   every suffix fits. */
static struct bn_cell *row_add_script_cell(struct bn_row *row, const char *metric,
                                           const char *suffix)
{
  char column[sizeof row->cell[0].name];

  (void)snprintf(column, sizeof column, "script_%.32s%s", metric, suffix);
  row_clean_name(column);
  return row_add_unknown(row, column);
}

static void row_add_count(struct bn_row *row, const char *name, const struct bn_count *c)
{
  row_set_whole(row_add_script_cell(row, name, ""), c->count);
  row_set_real(row_add_script_cell(row, name, "_per_s"), c->per_s);
}

/* Adds the columns of a histogram of a script, whose timing t is one of the view (or NULL).
   with_ranks: also the columns of its percentiles, which intervals of documents do not have. */
static void row_add_timing(struct bn_row *row, const char *name, const struct bn_plan *plan,
                           const struct bn_view *v, const struct bn_timing *t, bool with_ranks)
{
  const size_t n_ranks = with_ranks ? plan->n_percents : 0;
  char suffix[BN_ROW_RANK + 1] = "_";

  row_set_whole(row_add_script_cell(row, name, "_count"), t->count);
  row_set_real(row_add_script_cell(row, name, "_avg_s"), t->avg_s);
  for (size_t i = 0; i < n_ranks; i++) {
    if (!row_has_rank(plan, i))
      continue;
    (void)bn_row_name_rank(suffix + 1, plan->percents[i]);
    row_set_real(row_add_script_cell(row, name, suffix),
                 row_percentile_of(v, t->percentile_s, plan->percents[i]));
  }
  row_set_real(row_add_script_cell(row, name, "_max_s"), t->max_s);
}

/* Adds columns for all metrics of the script, so that all rows of a run have the same columns: the
   values are unknown if the view (or NULL) lacks a metric. */
static void row_add_script_metrics(struct bn_row *row, const struct bn_plan *plan,
                                   const struct bn_view *v, bool with_ranks)
{
  const struct bn_metrics *m = plan->metrics;
  size_t next = 0; /* the index of the next count of the view */

  if (m == NULL)
    return;
  for (size_t i = 0; i < m->n_counters; i++) {
    if (m->counter[i].kind != BN_SCRIPT_COUNTER)
      continue;

    const bool is_known = v != NULL && next < v->n_counts;

    row_add_count(row, m->counter[i].name, is_known ? &v->counts[next] : &no_count);
    next++;
  }
  for (size_t i = BN_H_FIXED; i < m->n_hists; i++) {
    const size_t timing = i - BN_H_FIXED;
    const bool is_known = v != NULL && timing < v->n_timings;

    if (m->hist[i].kind == BN_SCRIPT_HISTOGRAM)
      row_add_timing(row, m->hist[i].name, plan, v, is_known ? &v->timings[timing] : &no_timing,
                     with_ranks);
  }
}

/* --- parts of a run --------------------------------------------------------------------------- */

/* Adds a column of a part, "p99_s@event:payment". */
static struct bn_cell *row_add_part_cell(struct bn_row *row, const char *figure, const char *part)
{
  char column[sizeof row->cell[0].name];

  (void)snprintf(column, sizeof column, "%s@%s", figure, part);
  return row_add_unknown(row, column);
}

/* Adds the columns of the average, the percentiles and the maximum of a part, whose timing t is one
   of the view (or NULL). */
static void row_add_part_times(struct bn_row *row, const char *part, const struct bn_plan *plan,
                               const struct bn_view *v, const struct bn_timing *t)
{
  char figure[BN_ROW_RANK];

  row_set_real(row_add_part_cell(row, "avg_s", part), t->avg_s);
  for (size_t i = 0; i < plan->n_percents; i++)
    if (row_has_rank(plan, i))
      row_set_real(row_add_part_cell(row, bn_row_name_rank(figure, plan->percents[i]), part),
                   row_percentile_of(v, t->percentile_s, plan->percents[i]));
  row_set_real(row_add_part_cell(row, "max_s", part), t->max_s);
}

/* Adds the columns of a kind of events or a group of the view (or NULL), as "event:payment" or
   "group:reads".  A document may name a kind at any length and in any characters, so the name is
   cut and cleaned. */
static void row_add_kind(struct bn_row *row, const char *name, const struct bn_plan *plan,
                         const struct bn_view *v, const struct bn_event_kind *k)
{
  const char *prefix = bn_event_kinds_is_group(name) ? BN_GROUP_PART : BN_EVENT_PART;
  char clean_name[BN_GROUP_NAME + 1], part[BN_PART_NAME + 1];

  (void)snprintf(clean_name, sizeof clean_name, "%s", bn_event_kinds_bare_name(name));
  row_clean_name(clean_name);
  (void)snprintf(part, sizeof part, "%s%s", prefix, clean_name);
  row_set_whole(row_add_part_cell(row, "events", part), k->events);
  row_set_real(row_add_part_cell(row, "share", part), k->share);
  row_set_real(row_add_part_cell(row, "events_per_s", part), k->events_per_s);
  row_set_whole(row_add_part_cell(row, "retries", part), k->retries);
  row_set_whole(row_add_part_cell(row, "failed_events", part), k->failed_events);
  row_add_part_times(row, part, plan, v, k->timing);
}

/* Adds columns for all kinds of events of the plan, which the view has in the same order, so that
   all rows of a run have the same columns.  Values of a kind that the view lacks are unknown; v
   NULL: it lacks all. */
static void row_add_event_kinds(struct bn_row *row, const struct bn_plan *plan,
                                const struct bn_view *v)
{
  const struct bn_metrics *m = plan->metrics;
  struct bn_event_kind_rows rows;

  if (m == NULL)
    return;
  for (size_t k = 0; bn_event_kinds_find_rows(m, k, &rows); k++) {
    const bool is_known = v != NULL && k < v->n_event_kinds;

    row_add_kind(row, bn_event_kinds_name(m->hist[rows.hist].name), plan, v,
                 is_known ? &v->event_kinds[k] : &no_kind);
  }
}

/* Adds a column of a phase for each number in a struct whose layout is l.  from: the struct; NULL:
   no value is known. */
static void row_add_part_members(struct bn_row *row, const char *part, const struct bn_layout *l,
                                 const void *from)
{
  for (; l->name != NULL; l++) {
    double value = HUGE_VAL;

    if (from != NULL)
      (void)bn_layout_get_number(l, from, l->name, &value);
    if (l->type == BN_LAY_WHOLE) /* HUGE_VAL and NaN, which are not known, are not below 2^64 */
      row_set_whole(row_add_part_cell(row, l->name, part),
                    value < 0x1p64 ? (uint64_t)value : UINT64_MAX);
    else if (l->type == BN_LAY_REAL)
      row_set_real(row_add_part_cell(row, l->name, part), value);
  }
}

/* Adds the columns of phase k of the view (or NULL); names count from 1 on, "phase:1".  phase NULL:
   its values are not known. */
static void row_add_phase(struct bn_row *row, size_t k, const struct bn_plan *plan,
                          const struct bn_view *v, const struct bn_phase_view *phase)
{
  const struct bn_timing *t = phase != NULL ? phase->timing : &no_timing;
  char part[sizeof BN_PHASE_PART + 20 /* digits */];

  (void)snprintf(part, sizeof part, BN_PHASE_PART "%zu", k + 1);
  row_add_part_members(row, part, bn_layout_phase, phase);
  row_add_part_members(row, part, bn_layout_ages, phase != NULL ? phase->timing : NULL);
  row_set_whole(row_add_part_cell(row, "count", part), t->count);
  row_add_part_times(row, part, plan, v, t);
}

/* Adds columns for all phases of the plan; the values are unknown if the view (or NULL) lacks a
   phase. */
static void row_add_phases(struct bn_row *row, const struct bn_plan *plan, const struct bn_view *v)
{
  const size_t n = plan->metrics != NULL ? bn_phases_count(plan->metrics) : 0;

  for (size_t k = 0; k < n; k++) {
    const bool is_known = v != NULL && k < v->n_phases;

    row_add_phase(row, k, plan, v, is_known ? &v->phases[k] : NULL);
  }
}

/* --- reports ---------------------------------------------------------------------------------- */

void bn_row_set_interval(struct bn_row *row, const struct bn_plan *plan, const struct bn_view *v)
{
  row->n = 0;
  row_add_time(row, "time", v != NULL ? v->delta->wall_ns : 0);
  for (const struct bn_view_field *f = bn_view_fields; f->name != NULL; f++) {
    /* Such a figure is known only in a total that tells the parts of the run apart. */
    if ((f->traits & BN_FIGURE_PARTS) != 0)
      continue;
    row_add_figure(row, f, v);
    if (f->offset == offsetof(struct bn_view, span_s)) /* "running", no figure, comes after it */
      row_set_whole(row_add_unknown(row, "running"), v != NULL ? v->running : UINT64_MAX);
  }
  row_add_percentiles(row, plan, v);
  row_add_script_metrics(row, plan, v, false /* percentiles */);
  row_add_event_kinds(row, plan, v);
}

void bn_row_set_total(struct bn_row *row, const struct bn_plan *plan, const struct bn_view *v)
{
  row->n = 0;
  for (const struct bn_view_field *f = bn_view_fields; f->name != NULL; f++)
    row_add_figure(row, f, v);
  row_add_percentiles(row, plan, v);
  row_add_script_metrics(row, plan, v, true /* percentiles */);
  row_add_event_kinds(row, plan, v);
  row_add_phases(row, plan, v);
}

void bn_row_append(struct bn_row *row, const struct bn_row *more)
{
  for (size_t i = 0; i < more->n; i++)
    *row_add_cell(row) = more->cell[i];
}

/* --- the run ---------------------------------------------------------------------------------- */

static void row_add_seconds(struct bn_row *row, const char *name, uint64_t ns)
{
  row_set_real(row_add_unknown(row, name), (double)ns / (double)BN_NSEC_PER_SEC);
}

static void row_add_plan(struct bn_row *row, const struct bn_plan *p)
{
  row_set_whole(row_add_unknown(row, "threads"), p->threads);
  row_add_seconds(row, "time_limit_s", p->time_ns);
  row_set_whole(row_add_unknown(row, "event_limit"), p->events);
  row_add_seconds(row, "warmup_s", p->warmup_ns);
  row_set_real(row_add_unknown(row, "rate"), p->rate);
  row_set_whole(row_add_unknown(row, "seed"), p->seed);
}

void bn_row_set_run(struct bn_row *row, const struct bn_facts *f, const struct bn_end *end)
{
  static const struct {
    const char *name, *section, *key;
  } texts[] = {{"workload", "workload", "name"},
               {"driver", "database", "driver"},
               {"server_version", "database", "server_version"},
               {"client_version", "database", "client_version"},
               {"tables", "workload", "tables"},
               {"table_rows", "workload", "rows"},
               {"host", "host", "name"},
               {"bench_version", "program", "version"},
               {"dialect", "program", "dialect"}};

  row->n = 0;
  row_add_time(row, "time", f != NULL ? f->start_wall_ns : 0);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    row_add_text(row, texts[i].name,
                 f != NULL ? bn_facts_find_text(f, texts[i].section, texts[i].key) : NULL);
  row_add_plan(row, f != NULL ? &f->plan : &(struct bn_plan){.threads = 0});
  /* The status of a run that was killed is not known.  A negative status becomes a large number
     that is less than UINT64_MAX. */
  row_set_whole(row_add_unknown(row, "status"),
                end != NULL && !end->partial ? (uint64_t)(unsigned)end->status : UINT64_MAX);
}

/* --- texts ------------------------------------------------------------------------------------ */

/* Prints a time of day as "2026-11-28T15:04:05.678", or "" if it has no date. */
static void row_print_time(char digits[BN_CELL_DIGITS], uint64_t wall_ns)
{
  const time_t s = (time_t)(wall_ns / BN_NSEC_PER_SEC);
  const unsigned ms = (unsigned)(wall_ns % BN_NSEC_PER_SEC / BN_NSEC_PER_MSEC);
  char date[BN_CELL_DIGITS - 8]; /* leaves room for ".678" */
  struct tm tm;

  digits[0] = '\0';
  if (gmtime_r(&s, &tm) != NULL && strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm) > 0)
    (void)snprintf(digits, BN_CELL_DIGITS, "%s.%03u", date, ms);
}

const char *bn_cell_print(const struct bn_cell *c, char digits[BN_CELL_DIGITS])
{
  digits[0] = '\0';
  switch (c->type) {
  case BN_CELL_WHOLE:
    (void)snprintf(digits, BN_CELL_DIGITS, "%" PRIu64, c->whole);
    break;
  case BN_CELL_REAL:
    (void)bn_units_format_shortest(digits, c->real);
    if (strpbrk(digits, ".e") == NULL)
      memcpy(digits + strlen(digits), ".0", sizeof ".0");
    break;
  case BN_CELL_TIME:
    row_print_time(digits, c->whole);
    break;
  case BN_CELL_UNKNOWN:
  case BN_CELL_TEXT:
    break;
  }
  return digits;
}
