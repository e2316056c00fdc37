/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Collects the lines of each run, and prints the lines of all runs as one table. */
#include "report/reporters.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "base/units.h"
#include "measure/facts.h"
#include "measure/phases.h"
#include "measure/result.h"
#include "measure/view.h"
#include "report/command.h"
#include "report/output.h"

/* The kinds of lines in the order of the table.  The kinds from EVENT_KINDS to STATEMENTS are of
   parts of a run, with several lines for each part. */
enum line_kind {
  WORKLOAD,
  STARTED,
  COMMAND,
  PROGRAM,
  THREADS,
  RATE,
  DATABASE,
  CONNECTION,
  SERVER,
  DATA,
  STORED,
  HOST,
  MEMORY,
  SPAN,
  EVENTS,
  TRANSACTIONS,
  QUERIES,
  READ,
  WRITTEN,
  MOVED,
  LEAST,
  MEAN,
  PERCENTILE,
  MOST,
  ERRORS,
  RECONNECTS,
  RETRIES,
  FAILED,
  FAILED_THREADS,
  UNFINISHED,
  OUTAGES,
  MISSING_COMMITS,
  UNKNOWN_COMMITS,
  EVENT_KINDS,
  PHASES,
  STATEMENTS,
  STATUS
};

static const char *const labels[] = {
    [WORKLOAD] = "workload",
    [STARTED] = "date",
    [COMMAND] = "repeat",
    [PROGRAM] = "program",
    [THREADS] = "threads",
    [RATE] = "--rate (events/s)",
    [DATABASE] = "database",
    [CONNECTION] = "connection",
    [SERVER] = "server",
    [DATA] = "data",
    [STORED] = "stored",
    [HOST] = "host",
    [MEMORY] = "host memory (GiB)",
    [SPAN] = "time measured (s)",
    [EVENTS] = "events/s",
    [TRANSACTIONS] = "transactions/s",
    [QUERIES] = "queries/s",
    [READ] = "read (MiB/s)",
    [WRITTEN] = "written (MiB/s)",
    [MOVED] = "transferred (MiB/s)",
    [LEAST] = "latency min (ms)",
    [MEAN] = "latency avg (ms)",
    [MOST] = "latency max (ms)",
    [ERRORS] = "ignored errors",
    [RECONNECTS] = "reconnects",
    [RETRIES] = "retries",
    [FAILED] = "failed events",
    [FAILED_THREADS] = "failed threads",
    [UNFINISHED] = "unfinished events",
    [OUTAGES] = "outages of 1 s or more",
    [MISSING_COMMITS] = "missing commits",
    [UNKNOWN_COMMITS] = "commits of unknown outcome",
    [STATUS] = "exit status",
};

/* The part of a line of the whole run, and the order of a line that is the only one of its kind. */
enum { NO_PART = 0, NO_RANK = 0 };

struct line {
  enum line_kind kind;
  size_t part;  /* index in the names of the parts of all runs; NO_PART in a line of no part */
  double order; /* among the lines of a part: the rank of a percentile, or one of the enum below */
  char *value;  /* owned; escaped for Markdown */
};

/* The orders of the lines that are no percentiles: below 0, before all percentiles, or above 100,
   after them. */
enum {
  PER_S = -4,
  STARTED_PER_S,
  PERCENT_OF_ALL,
  AVERAGE,
  DROPPED_OF = 101,
  QUEUED_OF,
  RETRIES_OF,
  FAILURES_OF,
  RECOVERY
};

/* The values of one run. */
struct column {
  char *name;        /* owned; of its file */
  struct line *line; /* owned */
  size_t n;          /* lines */
};

struct markdown {
  struct bn_document document;
  const struct bn_facts *facts; /* of the present run; threads may still add to them */
  struct column *column;        /* owned */
  size_t n;                     /* columns: one for each run so far */
  char **part;                  /* owned names of parts, with the names of the first run first */
  size_t n_parts;
};

/* --- lines ------------------------------------------------------------------------------------ */

/* Adds a line of a kind that may have several: a line of a part, or of a percentile.  The line
   owns the value from now on. */
static void markdown_add_ordered(struct column *c, enum line_kind kind, size_t part, double order,
                                 char *value)
{
  c->line = bn_alloc_grow(c->line, c->n, sizeof *c->line);
  c->line[c->n++] = (struct line){.kind = kind, .part = part, .order = order, .value = value};
}

/* Adds the only line of a kind.  The line owns the value from now on. */
static void markdown_add_line(struct column *c, enum line_kind kind, char *value)
{
  markdown_add_ordered(c, kind, NO_PART, NO_RANK, value);
}

/* Returns a text in the form of a cell, which the caller frees. */
static char *markdown_escape(const char *text)
{
  /* Each byte of the escaped text may get a backslash. */
  const size_t size = 2 * (bn_escape(NULL, 0, text, "") + 1);
  char *cell = bn_alloc(1, size);

  bn_escape_markdown(cell, size, text);
  return cell;
}

static void markdown_add_u64(struct column *c, enum line_kind kind, uint64_t n)
{
  markdown_add_line(c, kind, bn_alloc_print("%" PRIu64, n));
}

/* Returns a number with that many decimals, in any locale, which the caller frees. */
static char *markdown_format_f64(double x, int decimals)
{
  char *value = bn_alloc_print("%.*f", decimals, x);

  bn_units_restore_point(value);
  return value;
}

static void markdown_add_f64(struct column *c, enum line_kind kind, double x, int decimals)
{
  markdown_add_line(c, kind, markdown_format_f64(x, decimals));
}

/* Returns a latency in milliseconds, which the caller frees.  A lower bound has "≥" before it; a
   latency beyond the range of the histogram is shown as ">" and the end of the range. */
static char *markdown_format_latency(double s, bool at_least)
{
  const bool is_beyond = !isfinite(s);
  const double ms = is_beyond ? BN_HIST_TOP_MS : s * 1e3;
  const char *bound = at_least ? "\u2265" : "";
  char *number = markdown_format_f64(ms, bn_units_count_decimals(ms, 2));
  char *value = bn_alloc_print("%s%s", is_beyond ? "\\>" : bound, number);

  free(number);
  return value;
}

/* Adds a latency of s seconds, or nothing if it is not known (NaN).  at_least: it is a lower bound.
   rank: 99 for p99, by which percentiles are ordered; NO_RANK in other lines. */
static void markdown_add_latency(struct column *c, enum line_kind kind, double rank, double s,
                                 bool at_least)
{
  if (!isnan(s))
    markdown_add_ordered(c, kind, NO_PART, rank, markdown_format_latency(s, at_least));
}

/* Adds a text unless it is empty, and frees it. */
static void markdown_add_text(struct column *c, enum line_kind kind, struct bn_buf *text)
{
  if (text->len > 0)
    markdown_add_line(c, kind, markdown_escape(text->data));
  bn_buf_done(text);
}

/* The section of a fact, and its key there. */
struct key {
  const char *section, *key;
};

/* Passes a list of keys as two arguments: the array and the number of its elements. */
#define KEYS(list) list, sizeof(list) / sizeof *(list)

/* Adds the texts of those of the n facts that are known, joined with ", "; no line if none is. */
static void markdown_add_facts(struct column *c, enum line_kind kind, const struct bn_facts *f,
                               const struct key *keys, size_t n)
{
  struct bn_buf joined = {.max = 0};

  for (size_t i = 0; i < n; i++) {
    const char *text = bn_facts_find_text(f, keys[i].section, keys[i].key);

    if (text != NULL && text[0] != '\0')
      (void)bn_buf_printf(&joined, "%s%s", joined.len > 0 ? ", " : "", text);
  }
  markdown_add_text(c, kind, &joined);
}

/* Adds the tables and their rows, if both are known. */
static void markdown_add_data(struct column *c, const struct bn_facts *f)
{
  const char *tables = bn_facts_find_text(f, "workload", "tables");
  const char *rows = bn_facts_find_text(f, "workload", "rows");
  struct bn_buf data = {.max = 0};

  if (tables == NULL || rows == NULL)
    return;
  (void)bn_buf_printf(&data, "%s table%s x %s rows", tables, strcmp(tables, "1") == 0 ? "" : "s",
                      rows);
  markdown_add_text(c, DATA, &data);
}

/* Adds all texts of a section as "name=value", joined with ", ". */
static void markdown_add_section(struct column *c, enum line_kind kind, const struct bn_facts *f,
                                 const char *section)
{
  struct bn_buf joined = {.max = 0};

  for (size_t i = 0; i < f->n_facts; i++) {
    const struct bn_fact *fact = &f->fact[i];

    if (strcmp(fact->section, section) == 0 && fact->type == BN_FACT_TEXT)
      (void)bn_buf_printf(&joined, "%s%s=%s", joined.len > 0 ? ", " : "", fact->key, fact->text);
  }
  markdown_add_text(c, kind, &joined);
}

/* Adds the command that repeats the run; none if it is not known. */
static void markdown_add_command(struct column *c, const struct bn_facts *f)
{
  struct bn_buf command = {.max = 0};

  (void)bn_command_append(f, &command);
  markdown_add_text(c, COMMAND, &command);
}

/* Adds the memory of the host, if it is known. */
static void markdown_add_memory(struct column *c, const struct bn_facts *f)
{
  static const double gib = 1 << 30;
  const struct bn_fact *memory = bn_facts_find(f, "host", "memory_bytes");

  if (memory != NULL && memory->type == BN_FACT_WHOLE)
    markdown_add_f64(c, MEMORY, (double)memory->whole / gib, 1);
}

/* Adds the database and how it was reached.  A database without a server, such as SQLite, has the
   version of its library and no connection. */
static void markdown_add_database(struct column *c, const struct bn_facts *f)
{
  static const struct key server[] = {{"database", "driver"}, {"database", "server_version"}},
                          library[] = {{"database", "driver"}, {"database", "client_version"}},
                          connection[] = {{"database", "transport"},
                                          {"database", "encryption"},
                                          {"database", "protocol"},
                                          {"database", "compression"},
                                          {"database", "parameters"}};

  if (bn_facts_find(f, "database", "server_version") == NULL) {
    markdown_add_facts(c, DATABASE, f, KEYS(library));
    return;
  }
  markdown_add_facts(c, DATABASE, f, KEYS(server));
  markdown_add_facts(c, CONNECTION, f, KEYS(connection));
}

/* Adds the lines about what the run was and where it ran. */
static void markdown_add_run(struct column *c, const struct bn_facts *f)
{
  static const struct key workload[] = {{"workload", "name"}}, started[] = {{"process", "started"}},
                          program[] = {{"program", "name"}, {"program", "version"}},
                          host[] = {{"host", "cpu_model"}, {"host", "kernel"}, {"host", "name"}};

  markdown_add_facts(c, WORKLOAD, f, KEYS(workload));
  markdown_add_facts(c, STARTED, f, KEYS(started));
  markdown_add_command(c, f);
  markdown_add_facts(c, PROGRAM, f, KEYS(program));
  markdown_add_database(c, f);
  markdown_add_section(c, SERVER, f, "server");
  markdown_add_data(c, f);
  markdown_add_section(c, STORED, f, "data");
  markdown_add_facts(c, HOST, f, KEYS(host));
  markdown_add_memory(c, f);
  markdown_add_u64(c, THREADS, f->plan.threads);
  if (f->plan.rate > 0)
    markdown_add_f64(c, RATE, f->plan.rate, 2);
}

static void markdown_add_rates(struct column *c, const struct bn_view *v)
{
  static const double mib = 1 << 20;

  markdown_add_f64(c, EVENTS, v->events_per_s, 2);
  if (v->kind == BN_KIND_SQL) {
    markdown_add_f64(c, TRANSACTIONS, v->transactions_per_s, 2);
    markdown_add_f64(c, QUERIES, v->queries_per_s, 2);
  } else if (v->kind == BN_KIND_FILEIO) {
    markdown_add_f64(c, READ, v->bytes_read_per_s / mib, 2);
    markdown_add_f64(c, WRITTEN, v->bytes_written_per_s / mib, 2);
  } else if (v->kind == BN_KIND_MEMORY) {
    markdown_add_f64(c, MOVED, v->bytes_touched_per_s / mib, 2);
  }
}

static void markdown_add_latencies(struct column *c, const struct bn_view *v)
{
  markdown_add_latency(c, LEAST, NO_RANK, v->min_s, false /* at_least */);
  markdown_add_latency(c, MEAN, NO_RANK, v->avg_s, false /* at_least */);
  for (size_t i = 0; i < v->n_percents; i++)
    markdown_add_latency(c, PERCENTILE, v->percents[i], v->percentile_s[i], bn_view_at_least(v, i));
  markdown_add_latency(c, MOST, NO_RANK, v->max_s, v->max_at_least);
}

/* Returns the index of the name of a part in the names of all runs.  Adds the name if no run has
   had it. */
static size_t markdown_intern_part(struct markdown *m, const char *name)
{
  for (size_t i = 0; i < m->n_parts; i++)
    if (strcmp(m->part[i], name) == 0)
      return i;
  m->part = bn_alloc_resize(m->part, m->n_parts + 1, sizeof *m->part);
  m->part[m->n_parts] = bn_alloc_text(name);
  return m->n_parts++;
}

/* Adds the average and the percentiles of a part, as far as they are known: the average is that of
   events that have ended.  The percentiles of groups and phases count unfinished events, too; those
   of statements and of single kinds of events do not. */
static void markdown_add_part_times(struct column *c, enum line_kind kind, size_t part,
                                    const struct bn_view *v, const struct bn_timing *t)
{
  const bool has_events = t->count + t->unfinished > 0;

  if (t->count > 0)
    markdown_add_ordered(c, kind, part, AVERAGE,
                         markdown_format_latency(t->avg_s, false /* at_least */));
  if (!has_events || t->percentile_s == NULL)
    return;
  for (size_t i = 0; i < v->n_percents; i++)
    markdown_add_ordered(c, kind, part, v->percents[i],
                         markdown_format_latency(t->percentile_s[i], bn_timing_at_least(t, i)));
}

/* Adds a count of losses of a part, if there are any.  order: one of DROPPED_OF to FAILURES_OF. */
static void markdown_add_loss(struct column *c, enum line_kind kind, size_t part, double order,
                              uint64_t n)
{
  if (n > 0)
    markdown_add_ordered(c, kind, part, order, bn_alloc_print("%" PRIu64, n));
}

static void markdown_add_event_kind(struct markdown *m, struct column *c, const struct bn_view *v,
                                    const struct bn_event_kind *k)
{
  static const double percent = 100;
  const size_t part = markdown_intern_part(m, k->name);

  markdown_add_ordered(c, EVENT_KINDS, part, PER_S, markdown_format_f64(k->events_per_s, 2));
  if (!isnan(k->share))
    markdown_add_ordered(c, EVENT_KINDS, part, PERCENT_OF_ALL,
                         markdown_format_f64(k->share * percent, 1));
  markdown_add_part_times(c, EVENT_KINDS, part, v, k->timing);
  markdown_add_loss(c, EVENT_KINDS, part, RETRIES_OF, k->retries);
  markdown_add_loss(c, EVENT_KINDS, part, FAILURES_OF, k->failed_events);
}

/* Adds the lines of a phase that began.  They have the name of its timing, which has its number:
   two phases may have the same text. */
static void markdown_add_phase(struct markdown *m, struct column *c, const struct bn_view *v,
                               const struct bn_phase_view *p)
{
  const size_t part = markdown_intern_part(m, p->timing->name);
  char digits[BN_UNITS_DIGITS];

  markdown_add_ordered(c, PHASES, part, STARTED_PER_S, markdown_format_f64(p->started_per_s, 2));
  markdown_add_part_times(c, PHASES, part, v, p->timing);
  markdown_add_loss(c, PHASES, part, DROPPED_OF, p->dropped);
  markdown_add_loss(c, PHASES, part, QUEUED_OF, p->queued);
  markdown_add_loss(c, PHASES, part, RETRIES_OF, p->retries);
  markdown_add_loss(c, PHASES, part, FAILURES_OF, p->failed_events);
  if (p->recovery_s > 0)
    markdown_add_ordered(c, PHASES, part, RECOVERY,
                         bn_alloc_text(p->recovered ? bn_phases_print_recovery(p, digits) : "not"));
}

/* --- the table -------------------------------------------------------------------------------- */

/* Compares the positions of two lines in the table: negative, 0 or positive, as strcmp(3) does. */
static int markdown_compare(const struct line *a, const struct line *b)
{
  if (a->kind != b->kind)
    return a->kind < b->kind ? -1 : 1;
  if (a->part != b->part)
    return a->part < b->part ? -1 : 1;
  return (a->order > b->order) - (a->order < b->order);
}

/* Returns the line of any column that comes next after `last` in the table, or NULL if there is
   none.  last NULL: returns the first line. */
static const struct line *markdown_next_line(const struct markdown *m, const struct line *last)
{
  const struct line *next = NULL;

  for (size_t i = 0; i < m->n; i++)
    for (size_t k = 0; k < m->column[i].n; k++) {
      const struct line *l = &m->column[i].line[k];
      const bool is_after_last = last == NULL || markdown_compare(l, last) > 0;
      const bool is_nearest = next == NULL || markdown_compare(l, next) < 0;

      if (is_after_last && is_nearest)
        next = l;
    }
  return next;
}

/* Returns the name of the figure in a line of a part, or NULL if the figure is a percentile. */
static const char *markdown_find_figure_name(const struct line *l)
{
  static const struct {
    double order;
    const char *name;
  } names[] = {{PER_S, "events/s"},
               {STARTED_PER_S, "started/s"},
               {PERCENT_OF_ALL, "share of events (%)"},
               {AVERAGE, "avg (ms)"},
               {DROPPED_OF, "dropped"},
               {QUEUED_OF, "queued at its end"},
               {RETRIES_OF, "retries"},
               {FAILURES_OF, "failed events"},
               {RECOVERY, "recovered after (s)"}};

  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (l->order == names[i].order)
      return names[i].name;
  return NULL;
}

/* Prints the first cell of a line: a label, or the names of a part and of its figure.  For the
   percentiles of the run, the name of the part is "latency". */
static void markdown_print_label(const struct markdown *m, const struct line *l, FILE *out)
{
  const bool is_of_part = l->kind == STATEMENTS || l->kind == EVENT_KINDS || l->kind == PHASES;
  const char *figure = markdown_find_figure_name(l);
  char digits[BN_UNITS_DIGITS], *name;

  if (!is_of_part && l->kind != PERCENTILE) {
    (void)fprintf(out, "| %s |", labels[l->kind]);
    return;
  }
  name = markdown_escape(is_of_part ? m->part[l->part] : "latency");
  if (figure != NULL)
    (void)fprintf(out, "| %s %s |", name, figure);
  else
    (void)fprintf(out, "| %s %sth percentile (ms) |", name,
                  bn_units_format_shortest(digits, l->order));
  free(name);
}

/* Returns the line of a column that belongs beside l in the table, or NULL. */
static const struct line *markdown_find_line(const struct column *c, const struct line *l)
{
  for (size_t i = 0; i < c->n; i++)
    if (markdown_compare(&c->line[i], l) == 0)
      return &c->line[i];
  return NULL;
}

/* Prints a line with the value of each column, which is empty in columns without the line. */
static void markdown_print_line(const struct markdown *m, const struct line *l, FILE *out)
{
  markdown_print_label(m, l, out);
  for (size_t i = 0; i < m->n; i++) {
    const struct line *in_column = markdown_find_line(&m->column[i], l);

    (void)fprintf(out, " %s |", in_column != NULL ? in_column->value : "");
  }
  (void)fputs("\n", out);
}

/* Prints the table of all columns.  A single run needs no name. */
static void markdown_print_table(const struct markdown *m, FILE *out)
{
  (void)fputs("| |", out);
  for (size_t i = 0; i < m->n; i++)
    (void)fprintf(out, " %s |", m->n > 1 ? m->column[i].name : "value");
  (void)fputs("\n|---|", out);
  for (size_t i = 0; i < m->n; i++)
    (void)fputs("---:|", out);
  (void)fputs("\n", out);
  for (const struct line *l = markdown_next_line(m, NULL); l != NULL; l = markdown_next_line(m, l))
    markdown_print_line(m, l, out);
}

/* --- the run ---------------------------------------------------------------------------------- */

static int markdown_open(void *self, const void *conf, const char *path, FILE *out,
                         struct bn_err *err)
{
  struct markdown *m = self;

  (void)conf;
  *m = (struct markdown){.facts = NULL};
  return bn_document_open(&m->document, "markdown", path, out, err);
}

/* Adds a column for a run, which gets its lines from markdown_total() and markdown_finish(). */
static void markdown_begin(void *self, const struct bn_facts *f)
{
  struct markdown *m = self;
  const char *path = bn_facts_find_text(f, "document", "path");

  m->facts = f;
  m->column = bn_alloc_resize(m->column, m->n + 1, sizeof *m->column);
  m->column[m->n++] = (struct column){.name = markdown_escape(path != NULL ? path : "")};
}

/* Adds a line for each kind of loss that has occurred and whose count is known. */
static void markdown_add_losses(struct column *c, const struct bn_view *v)
{
  const struct {
    enum line_kind kind;
    uint64_t n;
  } losses[] = {{RECONNECTS, v->reconnects},
                {RETRIES, v->retries},
                {FAILED, v->failed_events},
                {FAILED_THREADS, v->failed_threads},
                {UNFINISHED, v->unfinished},
                {OUTAGES, v->outages},
                {MISSING_COMMITS, v->missing_commits},
                {UNKNOWN_COMMITS, v->unknown_commits}};

  for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
    if (losses[i].n > 0 && losses[i].n != BN_ABSENT)
      markdown_add_u64(c, losses[i].kind, losses[i].n);
}

/* Adds the figures of a total to the column of the present run. */
static int markdown_total(void *self, const struct bn_view *v, struct bn_err *err)
{
  struct markdown *m = self;
  struct column *c = &m->column[m->n - 1];

  (void)err;
  markdown_add_f64(c, SPAN, v->span_s, 2);
  markdown_add_rates(c, v);
  markdown_add_latencies(c, v);
  markdown_add_u64(c, ERRORS, v->errors);
  markdown_add_losses(c, v);
  for (size_t i = 0; i < v->n_event_kinds; i++)
    markdown_add_event_kind(m, c, v, &v->event_kinds[i]);
  for (size_t i = 0; i < bn_phases_count_begun(v); i++)
    markdown_add_phase(m, c, v, &v->phases[i]);
  for (size_t i = 0; i < v->n_statements; i++) {
    const struct bn_timing *t = &v->statements[i].timing;

    markdown_add_part_times(c, STATEMENTS, markdown_intern_part(m, t->name), v, t);
  }
  return 0;
}

/* Adds the facts, which are complete only now, because the version of a server may become known
   late.  Then adds the exit status if it is not 0, or the reason why a run has none. */
static int markdown_finish(void *self, const struct bn_end *end, struct bn_err *err)
{
  const struct markdown *m = self;
  struct column *c;

  (void)err;
  if (m->n == 0) /* no run began */
    return 0;
  c = &m->column[m->n - 1];
  markdown_add_run(c, m->facts);
  if (end->partial && end->status == 0)
    markdown_add_line(c, STATUS, bn_alloc_text("none: the run was killed, or had not ended"));
  else if (end->status != 0)
    markdown_add_u64(c, STATUS, (uint64_t)(unsigned)end->status);
  return 0;
}

/* Writes the document.  Returns 0, or -1 and err. */
static int markdown_write_table(const struct markdown *m, struct bn_err *err)
{
  char *text = NULL;
  size_t len = 0;
  FILE *out = bn_alloc_stream(&text, &len);
  int rc;

  markdown_print_table(m, out);
  bn_alloc_stream_close(out);
  rc = bn_document_write(&m->document, text, len, err);
  free(text);
  return rc;
}

static void markdown_free_column(struct column *c)
{
  for (size_t i = 0; i < c->n; i++)
    free(c->line[i].value);
  free(c->line);
  free(c->name);
}

/* Writes the table of all runs, unless no run began.  err NULL: the table is not complete, and is
   not written. */
static int markdown_close(void *self, struct bn_err *err)
{
  struct markdown *m = self;
  int rc = 0;

  if (err != NULL && m->n > 0)
    rc = markdown_write_table(m, err);
  for (size_t i = 0; i < m->n; i++)
    markdown_free_column(&m->column[i]);
  for (size_t i = 0; i < m->n_parts; i++)
    free(m->part[i]);
  free(m->column);
  free(m->part);
  return rc;
}

const struct bn_reporter bn_reporter_markdown = {
    .name = "markdown",
    .state_size = sizeof(struct markdown),
    .facts = true,
    .own_file = true,
    .joins = true,
    .for_programs = true,
    .open = markdown_open,
    .begin = markdown_begin,
    .total = markdown_total,
    .finish = markdown_finish,
    .close = markdown_close,
};
