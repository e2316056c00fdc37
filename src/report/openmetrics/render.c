/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Renders facts and a view as metrics, from a table of rows. */
#include "report/openmetrics/render.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/units.h"
#include "measure/event_kinds.h"
#include "measure/phases.h"

/* --- pieces of the text ----------------------------------------------------------------------- */

/* A family of metrics, whose samples follow its head. */
struct family {
  const char *name, *type;
  const char *unit; /* NULL: none */
  const char *help;
};

/* Adds the lines of type, unit and help, which come before the samples of a family. */
static void openmetrics_add_head(struct bn_buf *b, const struct family *f)
{
  (void)bn_buf_printf(b, "# TYPE %s %s\n", f->name, f->type);
  if (f->unit != NULL)
    (void)bn_buf_printf(b, "# UNIT %s %s\n", f->name, f->unit);
  (void)bn_buf_printf(b, "# HELP %s %s\n", f->name, f->help);
}

/* Adds the value of a sample, after its name, and ends the line. */
static void openmetrics_add_u64(struct bn_buf *b, uint64_t n)
{
  (void)bn_buf_printf(b, " %" PRIu64 "\n", n);
}

/* Adds the value of a sample, with all its digits, and ends the line. */
static void openmetrics_add_f64(struct bn_buf *b, double x)
{
  char digits[BN_UNITS_DIGITS];

  if (isnan(x))
    (void)bn_buf_str(b, " NaN\n");
  else if (isinf(x))
    (void)bn_buf_str(b, x > 0 ? " +Inf\n" : " -Inf\n");
  else
    (void)bn_buf_printf(b, " %s\n", bn_units_format_shortest(digits, x));
}

/* Adds a label.  *first tells whether it is the first one of the sample, and is set to false.  The
   caller adds "}" after the last one.  The text is escaped: it may come from a server or a file. */
static void openmetrics_add_label(struct bn_buf *b, bool *first, const char *name, const char *text)
{
  char *shown = bn_escape_new(text, "");

  (void)bn_buf_printf(b, "%s%s=\"", *first ? "{" : ",", name);
  for (const char *c = shown; *c != '\0'; c++) {
    if (*c == '"' || *c == '\\')
      (void)bn_buf_char(b, '\\');
    (void)bn_buf_char(b, *c);
  }
  (void)bn_buf_char(b, '"');
  free(shown);
  *first = false;
}

/* Adds the name of a sample, its family's name and a suffix, and one label.  label NULL: the sample
   has no label. */
static void openmetrics_add_name(struct bn_buf *b, const char *family, const char *suffix,
                                 const char *label, const char *label_value)
{
  bool first = true;

  (void)bn_buf_printf(b, "%s%s", family, suffix);
  if (label == NULL)
    return;
  openmetrics_add_label(b, &first, label, label_value);
  (void)bn_buf_char(b, '}');
}

static const char *openmetrics_suffix_of(const struct family *f)
{
  return strcmp(f->type, "counter") == 0 ? "_total" : "";
}

/* Adds a family with a single sample. */
static void openmetrics_add_gauge(struct bn_buf *b, const struct family *f, double x)
{
  openmetrics_add_head(b, f);
  (void)bn_buf_str(b, f->name);
  openmetrics_add_f64(b, x);
}

/* --- members of the view ---------------------------------------------------------------------- */

/* A row without `name` is another sample of the family above it. */
struct row {
  struct family family;
  const char *label; /* of the sample; NULL: none */
  const char *value; /* of the label; NULL: the name of the figure */
  size_t offset;     /* of its figure in struct bn_view */
};

#define OF(figure) .offset = offsetof(struct bn_view, figure)

/* The names and texts of OpenMetrics are its own (lint: figure list). */
static const struct row rows[] = {
    {{"bench_events", "counter", NULL, "Events that have ended."}, OF(events)},
    {{"bench_transactions", "counter", NULL, "Transactions, or events if the test has none."},
     OF(transactions)},
    {{"bench_errors", "counter", NULL, "Statements that failed."}, OF(errors)},
    {{"bench_reconnects", "counter", NULL, "Connections that were made again."}, OF(reconnects)},
    {{"bench_retried_events", "counter", NULL, "Events that were repeated after an ignored error."},
     OF(retried_events)},
    {{"bench_retries", "counter", NULL, "Repetitions of events after an ignored error."},
     OF(retries)},
    {{"bench_failed_events", "counter", NULL, "Events that have failed after --db-max-tries."},
     OF(failed_events)},
    {{"bench_connection_wait_seconds", "counter", "seconds",
      "Time for which threads waited for new connections, summed over all threads."},
     OF(connection_wait_s)},
    {{"bench_failed_threads", "gauge", NULL, "Threads that failed while other threads continued."},
     OF(failed_threads)},
    {{"bench_queries", "counter", NULL, "Queries or requests by kind."}, "kind", "read", OF(reads)},
    {.label = "kind", .value = "write", OF(writes)},
    {.label = "kind", OF(other)},
    {{"bench_read_bytes", "counter", "bytes", "Bytes that were read."}, OF(bytes_read)},
    {{"bench_written_bytes", "counter", "bytes", "Bytes that were written."}, OF(bytes_written)},
    {{"bench_measured_seconds", "gauge", "seconds", "Time that the totals cover."}, OF(span_s)},
    {{"bench_setup_seconds", "gauge", "seconds", "Time until all threads were ready."},
     OF(setup_s)},
    {{"bench_grace_seconds", "gauge", "seconds", "Time for events in flight after the end."},
     OF(grace_s)},
    {{"bench_teardown_seconds", "gauge", "seconds",
      "Time from the last event to the last thread's end."},
     OF(teardown_s)},
    {{"bench_events_per_second", "gauge", NULL,
      "Events that ended in the measured time, per second."},
     OF(events_per_s)},
    {{"bench_transactions_per_second", "gauge", NULL, "Transactions per second of that time."},
     OF(transactions_per_s)},
    {{"bench_queries_per_second", "gauge", NULL, "Queries or requests per second of that time."},
     OF(queries_per_s)},
    {{"bench_events_in_grace", "gauge", NULL, "Events that ended in the grace."}, OF(in_grace)},
    {{"bench_events_unfinished", "gauge", NULL, "Events that began or were due, and did not end."},
     OF(unfinished)},
    {{"bench_oldest_event_seconds", "gauge", "seconds", "Age of the oldest unfinished event."},
     OF(oldest_s)},
    {{"bench_event_latency_min_seconds", "gauge", "seconds", "Least latency of an event."},
     OF(min_s)},
    {{"bench_event_latency_max_seconds", "gauge", "seconds",
      "Greatest latency of an event, or age of an unfinished one."},
     OF(max_s)},
    {{"bench_arrivals", "counter", NULL, "Events of --rate by state."}, "state", NULL, OF(due)},
    {.label = "state", OF(started)},
    {.label = "state", OF(dropped)},
    {.label = "state", OF(finished)},
    {{"bench_arrivals_waiting", "gauge", NULL, "Events of --rate that wait."}, OF(backlog)},
    {{"bench_outages", "counter", NULL, "Times of at least 1 s in which no event succeeded."},
     OF(outages)},
    {{"bench_longest_outage_seconds", "gauge", "seconds", "Length of the longest outage."},
     OF(longest_outage_s)},
};

/* Returns the figure at the offset of a row in struct bn_view.  There is always one. */
static const struct bn_view_field *openmetrics_figure_at(size_t offset)
{
  const struct bn_view_field *f = bn_view_fields;

  while (f->offset != offset)
    f++;
  return f;
}

/* Adds the sample of a row to its family.  figure: the one at the offset of the row. */
static void openmetrics_add_row(struct bn_buf *b, const struct family *family, const struct row *r,
                                const struct bn_view_field *figure, const struct bn_view *v)
{
  const char *label_value = r->value != NULL ? r->value : figure->name;

  openmetrics_add_name(b, family->name, openmetrics_suffix_of(family), r->label, label_value);
  if (figure->type == BN_VIEW_U64)
    openmetrics_add_u64(b, bn_view_u64(v, figure));
  else
    openmetrics_add_f64(b, bn_view_value(v, figure));
}

/* Adds the figures that the run measures.  The head of a family comes before its first sample,
   which need not be that of its first row; a family without samples has no head. */
static void openmetrics_add_rows(struct bn_buf *b, const struct bn_view *v)
{
  const struct family *family = &rows[0].family; /* of the present row */
  const struct family *last_headed = NULL;       /* the family with the last head */

  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const struct bn_view_field *figure = openmetrics_figure_at(rows[i].offset);

    if (rows[i].family.name != NULL)
      family = &rows[i].family;
    if (!bn_view_measures(v, figure))
      continue;
    if (last_headed != family)
      openmetrics_add_head(b, family);
    last_headed = family;
    openmetrics_add_row(b, family, &rows[i], figure, v);
  }
}

/* --- latencies -------------------------------------------------------------------------------- */

/* A summary to add: the quantiles, the sum and the count of latencies. */
struct summary {
  const char *family;
  const char *label, *label_value; /* NULL: the samples have no label but the quantile */
  const double *percentile_s;      /* by the view's ranks; NULL: not known */
  double sum_s;
  uint64_t count;
};

/* Adds a sample of a percentile.  Its label has the rank with 15 digits at most, as it was typed:
   percent / 100 is rounded, and its shortest form may have 17. */
static void openmetrics_add_quantile(struct bn_buf *b, const struct summary *s, double percent,
                                     double value)
{
  char digits[BN_UNITS_DIGITS];
  bool first = true;

  (void)snprintf(digits, sizeof digits, "%.15g", percent / 100);
  bn_units_restore_point(digits);
  (void)bn_buf_str(b, s->family);
  if (s->label != NULL)
    openmetrics_add_label(b, &first, s->label, s->label_value);
  openmetrics_add_label(b, &first, "quantile", digits);
  (void)bn_buf_char(b, '}');
  openmetrics_add_f64(b, value);
}

/* Adds the samples of a summary, without its head. */
static void openmetrics_add_summary(struct bn_buf *b, const struct summary *s,
                                    const struct bn_view *v)
{
  for (size_t i = 0; s->percentile_s != NULL && i < v->n_percents; i++)
    openmetrics_add_quantile(b, s, v->percents[i], s->percentile_s[i]);
  openmetrics_add_name(b, s->family, "_sum", s->label, s->label_value);
  openmetrics_add_f64(b, s->sum_s);
  openmetrics_add_name(b, s->family, "_count", s->label, s->label_value);
  openmetrics_add_u64(b, s->count);
}

/* Adds the samples of a timing of the view to the family of that name. */
static void openmetrics_add_timing(struct bn_buf *b, const struct bn_view *v, const char *family,
                                   const struct bn_timing *t, const char *label,
                                   const char *label_value)
{
  const struct summary s = {.family = family,
                            .label = label,
                            .label_value = label_value,
                            .percentile_s = t->percentile_s,
                            .sum_s = t->sum_s,
                            .count = t->count};

  openmetrics_add_summary(b, &s, v);
}

/* Adds the family of the latency of all events. */
static void openmetrics_add_latency(struct bn_buf *b, const struct bn_view *v)
{
  static const struct family f = {"bench_event_latency_seconds", "summary", "seconds",
                                  "Latency of events."};
  const struct summary s = {
      .family = f.name, .percentile_s = v->percentile_s, .sum_s = v->sum_s, .count = v->events};

  openmetrics_add_head(b, &f);
  openmetrics_add_summary(b, &s, v);
}

/* Adds the timings of the workload and of the script.  Each kind of events and each phase has a
   timing, in another family.  The lag, the last timing, is left out if no session has paused. */
static void openmetrics_add_timings(struct bn_buf *b, const struct bn_view *v)
{
  static const struct family f = {"bench_timing_seconds", "summary", "seconds",
                                  "Further times that were measured, by name."};
  const bool leaves_out_lag = v->n_timings > 0 && bn_view_has_idle_lag(v);
  const size_t n = leaves_out_lag ? v->n_timings - 1 : v->n_timings;
  const size_t n_elsewhere = v->n_event_kinds + bn_phases_count(&v->delta->metrics);

  if (n > n_elsewhere)
    openmetrics_add_head(b, &f);
  for (size_t i = 0; i < n; i++) {
    const struct bn_timing *t = &v->timings[i];

    if (!t->of_kind && !t->of_phase)
      openmetrics_add_timing(b, v, f.name, t, "timing", t->name);
  }
}

/* --- parts of a run --------------------------------------------------------------------------- */

/* A family with a sample for each part of a run: a kind of events, a group or a phase. */
struct part_row {
  struct family family;
  size_t offset; /* of the value in the struct of the part */
  enum bn_view_type type;
};

#define U64_OF(part, member) offsetof(struct part, member), BN_VIEW_U64
#define F64_OF(part, member) offsetof(struct part, member), BN_VIEW_F64

/* The figures of a kind of events (lint: figure list). */
static const struct part_row kind_rows[] = {
    {{"bench_event_kind_events", "counter", NULL, "Events that have ended, by their kind."},
     U64_OF(bn_event_kind, events)},
    {{"bench_event_kind_retries", "counter", NULL, "Repetitions of events, by their kind."},
     U64_OF(bn_event_kind, retries)},
    {{"bench_event_kind_failed_events", "counter", NULL,
      "Events that have failed after --db-max-tries, by their kind."},
     U64_OF(bn_event_kind, failed_events)},
    {{"bench_event_kind_events_per_second", "gauge", NULL,
      "Events that ended in the measured time, per second, by their kind."},
     F64_OF(bn_event_kind, events_per_s)}};

/* The figures of a group (lint: figure list). */
static const struct part_row group_rows[] = {
    {{"bench_group_events", "counter", NULL, "Events that have ended, by their group."},
     U64_OF(bn_event_kind, events)},
    {{"bench_group_retries", "counter", NULL, "Repetitions of events, by their group."},
     U64_OF(bn_event_kind, retries)},
    {{"bench_group_failed_events", "counter", NULL,
      "Events that have failed after --db-max-tries, by their group."},
     U64_OF(bn_event_kind, failed_events)},
    {{"bench_group_events_per_second", "gauge", NULL,
      "Events that ended in the measured time, per second, by their group."},
     F64_OF(bn_event_kind, events_per_s)}};

/* The figures of a phase (lint: figure list). */
static const struct part_row phase_rows[] = {
    {{"bench_phase_due", "counter", NULL, "Events that became due, by the phase."},
     U64_OF(bn_phase_view, due)},
    {{"bench_phase_carried", "counter", NULL, "Events that waited when the phase began."},
     U64_OF(bn_phase_view, carried)},
    {{"bench_phase_started", "counter", NULL, "Events that began, by the phase."},
     U64_OF(bn_phase_view, started)},
    {{"bench_phase_dropped", "counter", NULL, "Events that were dropped, by the phase."},
     U64_OF(bn_phase_view, dropped)},
    {{"bench_phase_queued", "gauge", NULL, "Events that waited when the phase ended."},
     U64_OF(bn_phase_view, queued)},
    {{"bench_phase_retries", "counter", NULL, "Repetitions of events, by the phase."},
     U64_OF(bn_phase_view, retries)},
    {{"bench_phase_failed_events", "counter", NULL,
      "Events that have failed after --db-max-tries, by the phase."},
     U64_OF(bn_phase_view, failed_events)},
    {{"bench_phase_wanted_per_second", "gauge", NULL, "Mean of the rate of the phase."},
     F64_OF(bn_phase_view, wanted_per_s)},
    {{"bench_phase_wanted_threads", "gauge", NULL, "Mean number of active threads of the phase."},
     F64_OF(bn_phase_view, wanted_threads)},
    {{"bench_phase_started_per_second", "gauge", NULL, "Events that began, per second."},
     F64_OF(bn_phase_view, started_per_s)}};

/* A list of parts, all of one kind. */
struct parts {
  const char *label; /* of their samples: "kind", "group", "phase" */
  size_t n;
  struct part {
    const void *values; /* the struct that the offsets of rows are in */
    const struct bn_timing *timing;
    const char *name;             /* the value of the label */
    char number[BN_UNITS_DIGITS]; /* the name of a phase */
  } * part;                       /* owned */
};

/* Returns the kinds of events that a script names, or the groups.  The caller frees the list. */
static struct parts openmetrics_list_kinds(const struct bn_view *v, bool groups)
{
  struct parts parts = {.label = groups ? "group" : "kind",
                        .part = bn_alloc(v->n_event_kinds, sizeof *parts.part)};

  for (size_t i = 0; i < v->n_event_kinds; i++) {
    const struct bn_event_kind *k = &v->event_kinds[i];

    if (bn_event_kinds_is_group(k->name) == groups)
      parts.part[parts.n++] = (struct part){
          .values = k, .timing = k->timing, .name = bn_event_kinds_bare_name(k->name)};
  }
  return parts;
}

/* Returns the phases that began, which have their numbers from 1 on as names.  The caller frees the
   list. */
static struct parts openmetrics_list_phases(const struct bn_view *v)
{
  struct parts parts = {.label = "phase", .n = bn_phases_count_begun(v)};

  parts.part = bn_alloc(parts.n, sizeof *parts.part);
  for (size_t i = 0; i < parts.n; i++) {
    struct part *part = &parts.part[i];

    (void)snprintf(part->number, sizeof part->number, "%zu", i + 1);
    part->values = &v->phases[i];
    part->timing = v->phases[i].timing;
    part->name = part->number;
  }
  return parts;
}

/* Adds the sample of a part to the family of a row. */
static void openmetrics_add_member(struct bn_buf *b, const struct part_row *r, const char *label,
                                   const struct part *part)
{
  const void *value = (const char *)part->values + r->offset;

  openmetrics_add_name(b, r->family.name, openmetrics_suffix_of(&r->family), label, part->name);
  if (r->type == BN_VIEW_U64)
    openmetrics_add_u64(b, *(const uint64_t *)value);
  else
    openmetrics_add_f64(b, *(const double *)value);
}

/* Adds the families of n rows, each with the samples of all parts, of which there is at least one.
   All phases are of one profile, so the first tells which families they have: one of rates has a
   NaN for wanted_threads, one of threads for wanted_per_s. */
static void openmetrics_add_part_rows(struct bn_buf *b, const struct parts *parts,
                                      const struct part_row *row, size_t n)
{
  for (const struct part_row *r = row; r < row + n; r++) {
    const void *first = (const char *)parts->part[0].values + r->offset;

    if (r->type == BN_VIEW_F64 && isnan(*(const double *)first))
      continue;
    openmetrics_add_head(b, &r->family);
    for (size_t i = 0; i < parts->n; i++)
      openmetrics_add_member(b, r, parts->label, &parts->part[i]);
  }
}

/* Adds the family of the latencies of the parts. */
static void openmetrics_add_part_latencies(struct bn_buf *b, const struct bn_view *v,
                                           const struct parts *parts, const struct family *f)
{
  openmetrics_add_head(b, f);
  for (size_t i = 0; i < parts->n; i++)
    openmetrics_add_timing(b, v, f->name, parts->part[i].timing, parts->label, parts->part[i].name);
}

/* Adds the kinds of events and the groups, in families of their own: an event may be of both. */
static void openmetrics_add_event_kinds(struct bn_buf *b, const struct bn_view *v)
{
  static const struct family kind_latency = {"bench_event_kind_latency_seconds", "summary",
                                             "seconds", "Latency of events, by their kind."};
  static const struct family group_latency = {"bench_group_latency_seconds", "summary", "seconds",
                                              "Latency of events, by their group."};
  struct parts kinds = openmetrics_list_kinds(v, false /* groups */);
  struct parts groups = openmetrics_list_kinds(v, true /* groups */);

  if (kinds.n > 0) {
    openmetrics_add_part_rows(b, &kinds, kind_rows, sizeof kind_rows / sizeof *kind_rows);
    openmetrics_add_part_latencies(b, v, &kinds, &kind_latency);
  }
  if (groups.n > 0) {
    openmetrics_add_part_rows(b, &groups, group_rows, sizeof group_rows / sizeof *group_rows);
    openmetrics_add_part_latencies(b, v, &groups, &group_latency);
  }
  free(kinds.part);
  free(groups.part);
}

/* Adds the times of recovery; a phase from which the run did not recover has no sample. */
static void openmetrics_add_recoveries(struct bn_buf *b, const struct bn_view *v,
                                       const struct parts *phases)
{
  static const struct part_row row = {
      {"bench_phase_recovery_seconds", "gauge", "seconds",
       "Time after the phase until the latency was that of before."},
      F64_OF(bn_phase_view, recovery_s)};

  openmetrics_add_head(b, &row.family);
  for (size_t i = 0; i < phases->n; i++)
    if (v->phases[i].recovered)
      openmetrics_add_member(b, &row, phases->label, &phases->part[i]);
}

static void openmetrics_add_phases(struct bn_buf *b, const struct bn_view *v)
{
  static const struct family latency = {"bench_phase_latency_seconds", "summary", "seconds",
                                        "Latency of the events that were due in the phase."};
  struct parts phases = openmetrics_list_phases(v);

  if (phases.n > 0) {
    openmetrics_add_part_rows(b, &phases, phase_rows, sizeof phase_rows / sizeof *phase_rows);
    openmetrics_add_recoveries(b, v, &phases);
    openmetrics_add_part_latencies(b, v, &phases, &latency);
  }
  free(phases.part);
}

/* --- lists ------------------------------------------------------------------------------------ */

/* Adds the errors by their codes, which are the first list of labelled counts (api/metric.h). */
static void openmetrics_add_errors(struct bn_buf *b, const struct bn_snap *s)
{
  static const struct family f = {"bench_errors_by_code", "counter", NULL,
                                  "Errors by the code of the server or driver."};

  if (s->metrics.n_labelled == 0 || s->n_labels[BN_L_ERRORS] == 0)
    return;
  openmetrics_add_head(b, &f);
  for (size_t i = 0; i < s->n_labels[BN_L_ERRORS]; i++) {
    openmetrics_add_name(b, f.name, "_total", "code", s->label[BN_L_ERRORS][i].name);
    openmetrics_add_u64(b, s->label[BN_L_ERRORS][i].n);
  }
}

/* The families of the workload's counters. */
enum counted { COUNTS, BYTES, SECONDS, N_COUNTED };

static const struct family counted_families[N_COUNTED] = {
    [COUNTS] = {"bench_workload_counts", "counter", NULL, "Counters of the workload, by name."},
    [BYTES] = {"bench_workload_bytes", "counter", "bytes",
               "Sizes that the workload counts, by name."},
    [SECONDS] = {"bench_workload_seconds", "counter", "seconds",
                 "Times that the workload counts, by name."}};

/* The units of counters that have a family.  Scripts choose their units: a counter of another unit
   is one of COUNTS, with its unit in a label. */
static const struct counter_unit {
  const char *name;
  double factor; /* converts to the unit of the family */
  enum counted family;
} counter_units[] = {{"bytes", 1, BYTES},
                     {"ns", 1e-9, SECONDS},
                     {"us", 1e-6, SECONDS},
                     {"ms", 1e-3, SECONDS},
                     {"s", 1, SECONDS}};

/* Returns the unit of a counter, or NULL if the unit has no family. */
static const struct counter_unit *openmetrics_find_unit(const struct bn_metric *m)
{
  for (size_t i = 0; i < sizeof counter_units / sizeof *counter_units; i++)
    if (strcmp(counter_units[i].name, m->unit) == 0)
      return &counter_units[i];
  return NULL;
}

/* Returns whether a family other than counted_families shows the counter.  All counters of kinds of
   events have such families.  A counter of the workload is shown by a row if the row's figure has
   its name ("retries"), or its name and "_s" ("connection_wait").  No row shows a counter of a
   script, although a figure may have its name. */
static bool openmetrics_has_family(const struct bn_metric *m)
{
  const size_t len = strlen(m->name);

  if (m->kind == BN_SCRIPT_COUNTER)
    return false;
  if (m->kind != BN_COUNTER) /* it is one of a kind of events */
    return true;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const char *name = openmetrics_figure_at(rows[i].offset)->name;

    if (strncmp(name, m->name, len) == 0 && (name[len] == '\0' || strcmp(name + len, "_s") == 0))
      return true;
  }
  return false;
}

/* Returns the family to which the unit of a counter assigns it. */
static enum counted openmetrics_find_family(const struct bn_metric *m)
{
  const struct counter_unit *unit = openmetrics_find_unit(m);

  return unit != NULL ? unit->family : COUNTS;
}

/* Adds the sample of a counter.  A count that needs no conversion is added as the whole number that
   it is. */
static void openmetrics_add_counter(struct bn_buf *b, const struct bn_metric *m, uint64_t n)
{
  const struct counter_unit *unit = openmetrics_find_unit(m);
  bool first = true;

  (void)bn_buf_printf(b, "%s_total", counted_families[openmetrics_find_family(m)].name);
  openmetrics_add_label(b, &first, "counter", m->name);
  if (unit == NULL && strcmp(m->unit, "1") != 0)
    openmetrics_add_label(b, &first, "unit", m->unit);
  (void)bn_buf_char(b, '}');
  if (unit != NULL && unit->factor < 1)
    openmetrics_add_f64(b, (double)n * unit->factor);
  else
    openmetrics_add_u64(b, n);
}

/* Adds the known counters of the workload that no other family has to the families of their units.
   The samples are collected first, because a family without samples has no head. */
static void openmetrics_add_counters(struct bn_buf *b, const struct bn_view *v)
{
  const struct bn_metrics *m = &v->delta->metrics;
  struct bn_buf samples = {.max = 0};

  for (size_t k = 0; k < N_COUNTED; k++) {
    bn_buf_clear(&samples);
    for (size_t i = BN_C_FIXED; i < m->n_counters; i++)
      if (openmetrics_find_family(&m->counter[i]) == k && v->counter[i] != BN_ABSENT &&
          !openmetrics_has_family(&m->counter[i]))
        openmetrics_add_counter(&samples, &m->counter[i], v->counter[i]);
    if (samples.len == 0)
      continue;
    openmetrics_add_head(b, &counted_families[k]);
    (void)bn_buf_add(b, samples.data, samples.len);
  }
  bn_buf_done(&samples);
}

/* Adds each figure of the workload as a family of its own, with its name in the document, because
   their units differ.  A figure is left out if its name, which may come from a document, cannot be
   part of the name of a family. */
static void openmetrics_add_figures(struct bn_buf *b, const struct bn_view *v)
{
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
  char name[BN_LABEL_LEN]; /* of the family, made anew for each figure */
  const struct family f = {name, "gauge", NULL, "Figure of the workload."};

  for (size_t i = 0; i < v->n_figures; i++) {
    const char *key = v->figures[i].key;
    const int len = snprintf(name, sizeof name, "bench_workload_%s", key);

    if (key[strspn(key, letters)] == '\0' && (size_t)len < sizeof name)
      openmetrics_add_gauge(b, &f, v->figures[i].value);
  }
}

/* --- facts ------------------------------------------------------------------------------------ */

/* Adds a sample with the value 1 whose labels say what the run is, as far as it is known. */
static void openmetrics_add_info(struct bn_buf *b, const struct bn_facts *f)
{
  static const struct family info = {"bench_run_info", "gauge", NULL,
                                     "Test, server and version of the run."};
  static const struct {
    const char *label, *section, *key;
  } labels[] = {{"workload", "workload", "name"},
                {"driver", "database", "driver"},
                {"server_version", "database", "server_version"},
                {"version", "program", "version"},
                {"dialect", "program", "dialect"}};
  bool first = true;

  openmetrics_add_head(b, &info);
  (void)bn_buf_str(b, info.name);
  for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
    const char *text = bn_facts_find_text(f, labels[i].section, labels[i].key);

    if (text != NULL)
      openmetrics_add_label(b, &first, labels[i].label, text);
  }
  if (!first)
    (void)bn_buf_char(b, '}');
  openmetrics_add_u64(b, 1);
}

void bn_openmetrics_add_facts(struct bn_buf *b, const struct bn_facts *f)
{
  static const struct family threads = {"bench_threads", "gauge", NULL, "Threads of the run."};
  static const struct family start = {"bench_start_time_seconds", "gauge", "seconds",
                                      "When the run started, since 1970."};
  static const struct family end = {"bench_end_time_seconds", "gauge", "seconds",
                                    "When the measurement ended, since 1970."};

  openmetrics_add_info(b, f);
  openmetrics_add_gauge(b, &threads, f->plan.threads);
  if (f->start_wall_ns != 0)
    openmetrics_add_gauge(b, &start, (double)f->start_wall_ns / (double)BN_NSEC_PER_SEC);
  if (f->end_wall_ns != 0)
    openmetrics_add_gauge(b, &end, (double)f->end_wall_ns / (double)BN_NSEC_PER_SEC);
}

void bn_openmetrics_add_view(struct bn_buf *b, const struct bn_view *v)
{
  openmetrics_add_rows(b, v);
  openmetrics_add_latency(b, v);
  openmetrics_add_event_kinds(b, v);
  openmetrics_add_phases(b, v);
  openmetrics_add_timings(b, v);
  openmetrics_add_errors(b, v->delta);
  openmetrics_add_counters(b, v);
  openmetrics_add_figures(b, v);
}

static bool openmetrics_begins_with(const char *line, const char *words)
{
  return strncmp(line, words, strlen(words)) == 0;
}

/* Adds a line "# TYPE name type"; the name of a counter gets the suffix of its samples.  Returns
   whether the family is a counter. */
static bool openmetrics_add_type(struct bn_buf *out, const char *line, size_t len)
{
  static const char counter[] = " counter\n";
  const size_t counter_len = sizeof counter - 1;

  if (len < counter_len || memcmp(line + len - counter_len, counter, counter_len) != 0) {
    (void)bn_buf_add(out, line, len);
    return false;
  }
  (void)bn_buf_add(out, line, len - counter_len);
  (void)bn_buf_printf(out, "_total%s", counter);
  return true;
}

/* Adds the line "# HELP name text" of a counter, whose name gets the suffix of its samples. */
static void openmetrics_add_counter_help(struct bn_buf *out, const char *line, size_t len)
{
  const size_t to_name = strlen("# HELP ");
  const size_t to_text = to_name + strcspn(line + to_name, " ");

  (void)bn_buf_add(out, line, to_text);
  (void)bn_buf_str(out, "_total");
  (void)bn_buf_add(out, line + to_text, len - to_text);
}

/* The line "# HELP" of a family comes after "# TYPE", which says whether it is a counter. */
void bn_openmetrics_convert(struct bn_buf *out, const char *text)
{
  bool is_counter = false;
  size_t len;

  for (const char *line = text; *line != '\0'; line += len) {
    len = strcspn(line, "\n") + 1; /* with its newline, which the last line has too */
    if (openmetrics_begins_with(line, "# TYPE "))
      is_counter = openmetrics_add_type(out, line, len);
    else if (is_counter && openmetrics_begins_with(line, "# HELP "))
      openmetrics_add_counter_help(out, line, len);
    else if (!openmetrics_begins_with(line, "# UNIT ") && !openmetrics_begins_with(line, "# EOF"))
      (void)bn_buf_add(out, line, len);
  }
}

/* A run that was killed, or that still goes on, has no exit status. */
void bn_openmetrics_add_end(struct bn_buf *b, const struct bn_end *end)
{
  static const struct family status = {"bench_exit_status", "gauge", NULL,
                                       "Exit status of the run."};

  if (end != NULL && !end->partial)
    openmetrics_add_gauge(b, &status, end->status);
  (void)bn_buf_str(b, "# EOF\n");
}
