/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The human-readable report: header of a run, interval lines, checkpoint and final reports. */
#include "report/reporters.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "base/geohist.h"
#include "base/log.h"
#include "base/units.h"
#include "measure/assert.h"
#include "measure/facts.h"
#include "measure/view.h"
#include "report/output.h"
#include "report/text/form.h"
#include "report/text/parts.h"
#include "report/text/templates.h"

struct text {
  struct bn_output output;
  FILE *out;                    /* same as output.out */
  const struct bn_facts *facts; /* of the run */
  const struct bn_plan *plan;   /* the plan in the facts */
  const struct bn_dialect *dialect;
  double span_s;  /* span of the total */
  bool has_total; /* the run had a final report, which another reporter may have replaced */
  double stamp_s; /* time of the last checkpoint, which 0.5 prints with the next one */
};

/* Returns whether the report prints nothing, because of --verbosity. */
static bool text_is_quiet(const struct text *t)
{
  return t->plan->verbosity < BN_NOTICE;
}

/* Starts a report.  Prints first how often the last message of the log was repeated: a series of
   equal messages may go on across interval lines, but not across a report. */
static void text_begin_report(struct text *t)
{
  bn_log_settle();
  bn_output_begin(&t->output);
}

/* Prepares the state, and prints nothing yet.  Returns 0. */
static int text_open(void *self, const void *conf, const char *path, FILE *out, struct bn_err *err)
{
  struct text *t = self;

  (void)conf;
  (void)err;
  *t = (struct text){.out = out};
  bn_output_init(&t->output, out, path);
  /* The final report is wanted even if an earlier one could not be written. */
  t->output.may_have_gaps = true;
  return 0;
}

/* --- header ----------------------------------------------------------------------------------- */

/* Prints the heading: the options of the run, and the lines of its workload. */
static void text_begin(void *self, const struct bn_facts *f)
{
  struct text *t = self;

  t->facts = f;
  t->plan = &f->plan;
  t->dialect = bn_dialect_get(f->plan.version, f->plan.native);
  bn_output_begin(&t->output);
  if (!text_is_quiet(t)) {
    if (t->plan->native)
      bn_text_print_repetition(t->out, f);
    bn_text_print_plan(t->out, f, t->dialect);
    for (size_t i = 0; i < f->n_rows; i++)
      if (f->row[i].level <= t->plan->verbosity)
        (void)fputs(f->row[i].text, t->out);
  }
  bn_output_end(&t->output);
}

static void text_starting(void *self, const struct bn_facts *f)
{
  struct text *t = self;

  (void)f;
  if (text_is_quiet(t))
    return;
  bn_output_begin(&t->output);
  (void)fputs("Initializing worker threads...\n\n", t->out);
  bn_output_end(&t->output);
}

/* Prints the database, which is known once threads have connected, and that the load begins. */
static void text_started(void *self, const struct bn_facts *f)
{
  struct text *t = self;

  if (text_is_quiet(t))
    return;
  bn_output_begin(&t->output);
  if (t->plan->native)
    bn_text_print_database(t->out, f);
  (void)fputs("Threads started!\n\n", t->out);
  if (t->plan->warmup_ns > 0)
    (void)fprintf(t->out, "Warming up for %.15g seconds...\n\n",
                  (double)t->plan->warmup_ns / (double)BN_NSEC_PER_SEC);
  bn_output_end(&t->output);
}

/* --- reports ---------------------------------------------------------------------------------- */

/* Prints the time at which a line of the report begins, in seconds since the measurement began. */
static void text_print_stamp(const struct text *t, double at_s, int decimals)
{
  const struct bn_dialect *d = t->dialect;
  const int width = d->stamp_width + (decimals > 0 ? decimals + 1 /* the point */ : 0);

  (void)fprintf(t->out, "%s%*.*f%s", d->stamp_open, width, decimals, at_s, d->stamp_close);
}

/* Prints a line for each watcher that watched something, if that is asked for (--watch-lines). */
static void text_print_watch_lines(const struct text *t, const struct bn_view *v)
{
  struct bn_buf line = {.max = 0};

  if (!t->plan->native || !t->plan->watch_lines)
    return;
  for (size_t i = 0; i < BN_TEXT_WATCHED_LINES; i++) {
    bn_buf_clear(&line);
    if (!bn_text_add_watched_line(v, i, &line))
      continue;
    text_print_stamp(t, v->at_s, t->plan->interval_decimals);
    (void)fprintf(t->out, "%s\n", line.data);
  }
  bn_buf_done(&line);
}

/* Prints a line for each kind of events, if that is asked for. */
static void text_print_kind_lines(const struct text *t, const struct bn_view *v)
{
  if (!t->plan->kind_lines)
    return;
  for (size_t k = 0; k < v->n_event_kinds; k++) {
    text_print_stamp(t, v->at_s, t->plan->interval_decimals);
    bn_text_print_event_kind(t->out, v, &v->event_kinds[k]);
  }
}

/* Prints the lines of an interval.  0.5 has none for some kinds of tests, and a script's hook may
   print them instead. */
static int text_interval(void *self, const struct bn_view *v, struct bn_err *err)
{
  struct text *t = self;
  const char *line = t->dialect->interval[v->kind], *queue = t->dialect->queue[v->kind];
  struct bn_form f;

  (void)err;
  if (text_is_quiet(t) || v->replaced || line == NULL)
    return 0;
  bn_form_init(&f, v, t->plan->native);
  bn_output_begin(&t->output);
  text_print_stamp(t, v->at_s, t->plan->interval_decimals);
  bn_form_print(&f, line, t->out);
  if (v->paced && queue != NULL) {
    text_print_stamp(t, v->at_s, t->plan->interval_decimals);
    bn_form_print(&f, queue, t->out);
  }
  if (v->lines != NULL)
    (void)fputs(v->lines, t->out);
  text_print_kind_lines(t, v);
  text_print_watch_lines(t, v);
  bn_output_end(&t->output);
  return 0;
}

/* Prints the histogram of latencies in the form of the reference versions (--histogram). */
static void text_print_histogram(const struct text *t, const struct bn_view *v)
{
  struct bn_geohist g;

  if (bn_geohist_init(&g, BN_GEOHIST_SIZE, BN_GEOHIST_MIN_MS, BN_GEOHIST_MAX_MS) != 0)
    bn_alloc_fail();
  bn_geohist_add_hist(&g, v->latency);
  bn_geohist_print(&g, t->plan->native, t->out);
  bn_geohist_done(&g);
}

/* Prints a line for each percentile of the view, or of the current timing, by ascending ranks. */
static void text_print_rank_lines(const struct text *t, struct bn_form *f)
{
  const struct bn_text_ranks ranks = bn_text_sort_ranks(f->view);

  for (size_t i = 0; i < ranks.n; i++) {
    bn_form_set_rank(f, ranks.at[i]);
    bn_form_print(f, t->dialect->closing[f->view->kind]->rank, t->out);
  }
}

/* Prints the latency of the events with its percentiles, or that there are none.  0.5 has no lines
   of percentiles for a run without events. */
static void text_print_event_latency(const struct text *t, struct bn_form *f)
{
  const struct bn_closing *c = t->dialect->closing[f->view->kind];

  bn_form_print(f, c->latency, t->out);
  if (f->view->n_percents == 0)
    bn_form_print(f, c->no_ranks, t->out);
  if (f->view->events > 0 || !c->rank_needs_events)
    text_print_rank_lines(t, f);
  bn_form_print(f, c->tail, t->out);
}

/* Prints the figures of each session, with --debug and --verbosity=5.  1.1 has none for fileio. */
static void text_print_sessions(const struct text *t, struct bn_form *f)
{
  const struct bn_view *v = f->view;
  const bool is_wanted = t->plan->debug && t->plan->verbosity >= BN_DEBUG;

  if (!is_wanted || v->sessions == NULL || t->dialect->closing[v->kind]->no_sessions)
    return;
  (void)fputs("DEBUG: Verbose per-thread statistics:\n\n", t->out);
  for (size_t i = 0; i < v->n_sessions; i++) {
    f->session = &v->sessions[i];
    bn_form_print(f, t->dialect->session, t->out);
  }
  (void)fputs("\n", t->out);
}

/* Prints a time of --db-debug.  An unknown time is "-", in dialects 0. */
static void text_print_debug_time(const struct text *t, const char *label, double s)
{
  (void)fprintf(t->out, "DEBUG: %-40s", label);
  if (!t->plan->native)
    (void)fprintf(t->out, "%.4fs\n", isnan(s) ? 0 : s);
  else if (isnan(s))
    (void)fputs("-\n", t->out);
  else
    (void)fprintf(t->out, "%.*fs\n", bn_units_count_decimals(s, 4), s);
}

/* Returns the timing of a metric of the workload, or NULL if the run does not have it.  A
   histogram of a script that has the same name is passed over. */
static const struct bn_timing *text_find_timing(const struct bn_view *v, const char *metric)
{
  for (size_t i = 0; i < v->n_timings; i++)
    if (!v->timings[i].of_script && strcmp(v->timings[i].name, metric) == 0)
      return &v->timings[i];
  return NULL;
}

/* Prints the times of a metric under a title; nothing if the run does not have the metric. */
static void text_print_debug_timing(const struct text *t, const struct bn_view *v,
                                    const char *metric, const char *title)
{
  const struct bn_timing *timing = text_find_timing(v, metric);

  if (timing == NULL)
    return;
  (void)fputs(title, t->out);
  text_print_debug_time(t, "    min:", timing->min_s);
  text_print_debug_time(t, "    avg:", timing->avg_s);
  text_print_debug_time(t, "    max:", timing->max_s);
  text_print_debug_time(t, "  total:", timing->sum_s);
}

/* Prints the times that --db-debug measures, at --verbosity=5. */
static void text_print_debug_timings(const struct text *t, const struct bn_view *v)
{
  if (t->plan->verbosity < BN_DEBUG)
    return;
  text_print_debug_timing(t, v, "sql_execute", "DEBUG: \nDEBUG: Query execution statistics:\n");
  text_print_debug_timing(t, v, "sql_fetch", "DEBUG: Results fetching statistics:\n");
}

/* Looks up a counter by name.  Returns false if the run lacks it or its value is unknown. */
static bool text_find_count(const struct bn_view *v, const char *counter, uint64_t *value)
{
  const struct bn_metrics *m = &v->delta->metrics;
  const size_t i = bn_metrics_find_counter(m, counter);

  if (i == m->n_counters || v->counter[i] == BN_ABSENT)
    return false;
  *value = v->counter[i];
  return true;
}

/* Prints the counters of rows, unless one of them is not known. */
static void text_print_rows(const struct text *t, const struct bn_view *v)
{
  static const char *const names[] = {"rows_read", "rows_inserted", "rows_updated", "rows_deleted"};
  enum { COUNTERS = sizeof names / sizeof *names };
  uint64_t rows[COUNTERS];

  if (!t->plan->native || v->kind != BN_KIND_SQL)
    return;
  for (size_t i = 0; i < COUNTERS; i++)
    if (!text_find_count(v, names[i], &rows[i]))
      return;
  (void)fputs("    rows read/inserted/updated/deleted:  ", t->out);
  for (size_t i = 0; i < COUNTERS; i++)
    (void)fprintf(t->out, "%" PRIu64 "%s", rows[i], i + 1 < COUNTERS ? "/" : "\n");
}

/* Prints the part of the reads that --db-read-hosts served. */
static void text_print_read_hosts(const struct text *t, const struct bn_view *v)
{
  uint64_t reads;

  if (t->plan->native && text_find_count(v, "read_host_reads", &reads))
    (void)fprintf(t->out, "    %-36s %" PRIu64 "\n", "reads by read servers:", reads);
}

/* Returns the *n labelled counts of that name; none, and NULL, if an older document lacks them. */
static const struct bn_label *text_find_labels(const struct bn_snap *s, const char *metric,
                                               size_t *n)
{
  for (size_t i = 0; i < s->metrics.n_labelled; i++)
    if (strcmp(s->metrics.labelled[i].name, metric) == 0) {
      *n = s->n_labels[i];
      return s->label[i];
    }
  *n = 0;
  return NULL;
}

/* Returns the sum of the labelled counts of that name. */
static uint64_t text_sum_labels(const struct bn_snap *s, const char *metric)
{
  size_t n;
  const struct bn_label *label = text_find_labels(s, metric, &n);
  uint64_t sum = 0;

  for (size_t i = 0; i < n; i++)
    sum += label[i].n;
  return sum;
}

/* Prints the count of each server that has one.  prefix: the words before the name of the server,
   such as "lost by ". */
static void text_print_server_counts(const struct text *t, const struct bn_snap *s,
                                     const char *metric, const char *prefix)
{
  char name[2 * BN_LABEL_LEN], label[sizeof name + 20 /* for the prefix */];
  size_t n;
  const struct bn_label *server = text_find_labels(s, metric, &n);

  for (size_t i = 0; i < n; i++) {
    if (server[i].n == 0)
      continue;
    (void)bn_escape(name, sizeof name, server[i].name, "");
    (void)snprintf(label, sizeof label, "%s%s:", prefix, name);
    (void)fprintf(t->out, "    %-36s %" PRIu64 "\n", label, server[i].n);
  }
}

/* Prints which servers lost connections, on which servers the sessions went on, and how long
   threads waited for them; nothing in a run that lost no connection. */
static void text_print_servers(const struct text *t, const struct bn_view *v)
{
  const struct bn_snap *s = v->delta;
  const bool lost_none = v->connection_wait_s <= 0 && text_sum_labels(s, "losses_by_server") == 0;

  if (!t->plan->native || lost_none)
    return;
  (void)fputs("\nConnections:\n", t->out);
  text_print_server_counts(t, s, "losses_by_server", "lost by ");
  text_print_server_counts(t, s, "reconnects_by_server", "reconnected to ");
  (void)fprintf(t->out, "    %-36s %.3f s\n", "wait of all threads:", v->connection_wait_s);
}

/* Prints the counts of --verify-commits, which checks the commits at the end of the run. */
static void text_print_commits(const struct text *t, const struct bn_view *v)
{
  uint64_t stored;

  if (v->span != BN_VIEW_TOTAL || !text_find_count(v, "unknown_commits_stored", &stored))
    return;
  (void)fprintf(t->out, "\nCommits (--verify-commits):\n    %-36s %" PRIu64 "\n",
                "acknowledged:", v->acknowledged_commits);
  (void)fprintf(t->out, "    %-36s %" PRIu64 "\n", "missing:", v->missing_commits);
  (void)fprintf(t->out, "    %-36s %" PRIu64, "outcome unknown:", v->unknown_commits);
  if (stored > 0)
    (void)fprintf(t->out, " (%" PRIu64 " stored)", stored);
  (void)fputs("\n", t->out);
}

/* Prints the figures of the workload that have a text for it, in sysbench's form: with two
   decimals, and an empty line after each.  A text is escaped, and cut if it is long, because a
   document may have any. */
static void text_print_figures(const struct text *t, const struct bn_view *v)
{
  char shown[256];

  for (size_t i = 0; i < v->n_figures; i++)
    if (v->figures[i].text != NULL) {
      (void)bn_escape(shown, sizeof shown, v->figures[i].text, "");
      (void)fprintf(t->out, "%s: %.2f\n\n", shown, v->figures[i].value);
    }
}

/* Prints one of the times of --rate, "queueing" or "service"; nothing if no event has it. */
static void text_print_rate_timing(const struct text *t, const struct bn_view *v,
                                   const char *metric, const char *title)
{
  const struct bn_timing *timing = text_find_timing(v, metric);

  if (timing != NULL && timing->count > 0)
    bn_form_print_times(title, (double[]){timing->avg_s, timing->max_s}, 2, t->out);
}

/* Prints by how much threads woke up late, if the 99th percentile of that is more than a tenth of
   the median latency.  If either is not known, it is NaN, and nothing is printed. */
static void text_print_lag(const struct text *t, const struct bn_view *v)
{
  if (v->lag_p99_s > v->median_s / 10)
    bn_form_print_times("wake-up lag (ms, 50th/99th/max):",
                        (double[]){v->lag_p50_s, v->lag_p99_s, v->lag_max_s}, 3, t->out);
}

static void text_print_arrivals(const struct text *t, const struct bn_form *f)
{
  bn_form_print(f, bn_template_arrivals, t->out);
  if (f->view->warmup_backlog > 0)
    bn_form_print(f, bn_template_warmup_backlog, t->out);
  text_print_rate_timing(t, f->view, "queueing", "queueing time (ms, avg/max):");
  text_print_rate_timing(t, f->view, "service", "service time (ms, avg/max):");
}

/* Prints how the time was spent, and the events at the edges of the run; nothing in dialects. */
static void text_print_edges(const struct text *t, const struct bn_form *f)
{
  const struct bn_view *v = f->view;

  if (!t->plan->native)
    return;
  if (v->failed_threads > 0)
    bn_form_print(f, bn_template_failed_threads, t->out);
  if (v->in_grace > 0)
    bn_form_print(f, bn_template_grace, t->out);
  if (v->unfinished > 0) {
    bn_form_print(f, bn_template_unfinished, t->out);
    if (v->oldest_s > 0) /* older documents lack it */
      bn_form_print(f, bn_template_oldest, t->out);
    (void)fputs("\n", t->out);
  }
  if (v->outages > 0)
    bn_form_print(f, bn_template_outages, t->out);
  if (bn_view_has_parts(v))
    bn_form_print(f, bn_template_times, t->out);
  if (v->due > 0)
    text_print_arrivals(t, f);
  if (!v->paced || v->due > 0) /* with --rate, the lag is a line of the arrivals */
    text_print_lag(t, v);
}

/* Prints a timing under that name, with its percentiles, which a document may lack.  Prints nothing
   in a dialect without such texts.  The timing stays the current one of the form, but without
   a name. */
static void text_print_timing(const struct text *t, struct bn_form *f,
                              const struct bn_timing *timing, const char *name)
{
  if (t->dialect->timing == NULL)
    return;
  f->timing = timing;
  f->timing_name = name;
  bn_form_print(f, t->dialect->timing, t->out);
  if (timing->percentile_s != NULL)
    text_print_rank_lines(t, f);
  f->timing_name = NULL; /* it is the caller's */
}

/* Prints the latency of each kind of request that has occurred. */
static void text_print_request_timings(const struct text *t, struct bn_form *f)
{
  static const struct {
    const char *metric, *name;
  } kinds[] = {{"read_latency", "reads"}, {"write_latency", "writes"}, {"fsync_latency", "fsyncs"}};

  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    const struct bn_timing *timing = text_find_timing(f->view, kinds[i].metric);

    if (timing != NULL && timing->count > 0)
      text_print_timing(t, f, timing, kinds[i].name);
  }
}

/* Prints a counter that a script has declared, with its unit unless that is "1". */
static void text_print_count(const struct text *t, const struct bn_count *c)
{
  char name[64], unit[64], label[sizeof name + sizeof unit + 4 /* for " ():" */];

  (void)bn_escape(name, sizeof name, c->name, "");
  (void)bn_escape(unit, sizeof unit, c->unit, "");
  if (strcmp(unit, "1") == 0)
    (void)snprintf(label, sizeof label, "%s:", name);
  else
    (void)snprintf(label, sizeof label, "%s (%s):", name, unit);
  (void)fprintf(t->out, "    %-36s %-6" PRIu64 " (%.2f per sec.)\n", label, c->count, c->per_s);
}

/* Prints the counters that a script has declared.  A counter whose name begins with '_' is left
   out, because it is for programs that read the document. */
static void text_print_counts(const struct text *t, const struct bn_view *v)
{
  size_t n_printed = 0;

  for (size_t i = 0; i < v->n_counts; i++) {
    if (v->counts[i].name[0] == '_')
      continue;
    if (n_printed++ == 0)
      (void)fputs("\nCounters of the script:\n", t->out);
    text_print_count(t, &v->counts[i]);
  }
}

static void text_print_script_metrics(const struct text *t, struct bn_form *f)
{
  const struct bn_view *v = f->view;
  char name[64];

  text_print_counts(t, v);
  for (size_t i = 0; i < v->n_timings; i++) {
    if (!v->timings[i].of_script || v->timings[i].count == 0)
      continue;
    (void)bn_escape(name, sizeof name, v->timings[i].name, "");
    text_print_timing(t, f, &v->timings[i], name);
  }
}

/* Prints a line for each --assert: its text, the measured value and the outcome.  The values are in
   a column, except after a text that is longer than the column before them. */
static void text_print_verdicts(const struct text *t, const struct bn_view *v)
{
  static const size_t label_width = 35;
  char shown[64];

  if (v->span != BN_VIEW_TOTAL || t->facts->n_verdicts == 0)
    return;
  (void)fputs("Assertions:\n", t->out);
  for (size_t i = 0; i < t->facts->n_verdicts; i++) {
    const struct bn_verdict *verdict = &t->facts->verdict[i];
    const size_t len = strlen(verdict->text);
    const int padding = len < label_width ? (int)(label_width - len) : 0;
    const char *outcome = verdict->found.holds ? "ok" : "FAILED";

    (void)fprintf(t->out, "    %s:%*s %s %s%s\n", verdict->text, padding, "",
                  bn_assert_format(verdict, shown, sizeof shown), outcome,
                  verdict->found.ended_run ? " (ended the run)" : "");
  }
  (void)fputs("\n", t->out);
}

/* Prints the counts of retries and failures, each if there are any; dialects have no such lines. */
static void text_print_losses(const struct text *t, const struct bn_form *f)
{
  const struct bn_view *v = f->view;

  if (!t->plan->native)
    return;
  if (v->retries > 0)
    bn_form_print(f, bn_template_retries, t->out);
  if (v->failed_events > 0)
    bn_form_print(f, bn_template_failed, t->out);
  if (v->fatal_errors > 0)
    bn_form_print(f, bn_template_fatal, t->out);
}

/* Prints the bytes that the memory test has transferred, 0 for a run without an event.  Prints
   nothing for --memory-oper=none, which counts blocks as touched but moves no bytes. */
static void text_print_transferred(const struct text *t, const struct bn_form *f)
{
  const struct bn_view *v = f->view;
  const bool has_no_events = v->bytes_touched_per_s <= 0;

  if (v->kind == BN_KIND_MEMORY && (v->bytes_moved > 0 || has_no_events))
    bn_form_print(f, t->dialect->transferred, t->out);
}

/* Prints the events that were in flight at the end: natively only with --forced-shutdown, because
   text_print_edges() has a line for the unfinished events of every run. */
static void text_print_in_flight(const struct text *t, const struct bn_form *f)
{
  const bool is_wanted = t->plan->forced || !t->plan->native;

  if (is_wanted && bn_form_count_in_flight(f) > 0)
    bn_form_print(f, "\nNumber of unfinished transactions on forced shutdown: {in_flight}\n",
                  t->out);
}

/* Prints the errors and failed threads with their first messages; dialects have no such part. */
static void text_print_errors(const struct text *t, const struct bn_view *v)
{
  const struct bn_facts *facts = v->error_facts != NULL ? v->error_facts : t->facts;

  if (t->plan->native) {
    bn_text_print_errors(t->out, facts, v);
    bn_text_print_failures(t->out, facts, v);
  }
}

/* Prints the lines above the latency: the figures of the workload, then those of every run. */
static void text_print_head(const struct text *t, const struct bn_form *f)
{
  const struct bn_view *v = f->view;
  const char *workload = t->dialect->workload[v->kind];

  if (workload != NULL)
    bn_form_print(f, workload, t->out);
  text_print_rows(t, v);
  text_print_read_hosts(t, v);
  text_print_losses(t, f);
  text_print_servers(t, v);
  text_print_commits(t, v);
  text_print_debug_timings(t, v);
  text_print_transferred(t, f);
  text_print_figures(t, v);
  text_print_in_flight(t, f);
  bn_form_print(f, t->dialect->closing[v->kind]->head, t->out);
  text_print_edges(t, f);
}

/* Prints the lines below the latency: further times, the fairness, and tables of parts. */
static void text_print_tail(const struct text *t, struct bn_form *f)
{
  const struct bn_view *v = f->view;

  text_print_request_timings(t, f);
  text_print_script_metrics(t, f);
  bn_form_print(f, t->dialect->closing[v->kind]->end, t->out);
  text_print_sessions(t, f);
  bn_text_print_event_kinds(t->out, v);
  bn_text_print_phases(t->out, v, NULL);
  bn_text_print_statements(t->out, v);
  text_print_errors(t, v);
  if (v->lines != NULL)
    (void)fprintf(t->out, "%s\n", v->lines);
  if (!t->plan->native) /* dialects have no place for what follows */
    return;
  bn_text_print_watched(v, t->out);
  text_print_verdicts(t, v);
}

/* Prints the common part of checkpoint and final reports.  Each callee decides if it prints. */
static void text_print_summary(const struct text *t, const struct bn_view *v)
{
  struct bn_form f;

  bn_form_init(&f, v, t->plan->native);
  text_print_head(t, &f);
  text_print_event_latency(t, &f);
  text_print_tail(t, &f);
}

/* Prints the report of a checkpoint.  Its first lines are also there if a script's hook prints the
   rest.  0.5 stamps it with the time of the checkpoint before it, the first one with 0. */
static int text_checkpoint(void *self, const struct bn_view *v, struct bn_err *err)
{
  struct text *t = self;

  (void)err;
  if (text_is_quiet(t))
    return 0;
  text_begin_report(t);
  text_print_stamp(t, t->plan->version == BN_V05 ? t->stamp_s : v->at_s, 0);
  t->stamp_s = v->at_s;
  (void)fputs("Checkpoint report:\n", t->out);
  if (!v->replaced)
    text_print_summary(t, v);
  bn_output_end(&t->output);
  return 0;
}

/* Prints the final report.  Its histogram is also there if a script's hook prints the rest. */
static int text_total(void *self, const struct bn_view *v, struct bn_err *err)
{
  struct text *t = self;

  (void)err;
  t->span_s = v->span_s;
  t->has_total = true;
  if (text_is_quiet(t))
    return 0;
  text_begin_report(t);
  /* A document may have no histograms. */
  if (t->plan->histogram && v->latency != NULL)
    text_print_histogram(t, v);
  if (!v->replaced)
    text_print_summary(t, v);
  bn_output_end(&t->output);
  return 0;
}

/* Prints the phases of each group, which may have a profile of its own; nothing without groups.  A
   group on one host is left out: the sum over its hosts, whose `host` is the group, has them. */
static void text_print_group_phases(const struct text *t, const struct bn_group *g, size_t n)
{
  char name[BN_ESCAPED * BN_GROUP_NAME + 1];

  if (!bn_facts_have_groups(t->facts))
    return;
  for (size_t i = 0; i < n; i++)
    if (g[i].has_total && g[i].member->group == NULL) {
      (void)bn_escape(name, sizeof name, g[i].member->host, "");
      bn_text_print_phases(t->out, &g[i].total.view, name);
    }
}

/* Prints what each host or group measured.  In a dialect these lines are logged, because its report
   has no place for them. */
static int text_members(void *self, const struct bn_group *g, size_t n, struct bn_err *err)
{
  struct text *t = self;

  (void)err;
  if (text_is_quiet(t))
    return 0;
  if (!t->plan->native) {
    bn_text_print_members(NULL, g, n, t->facts, t->span_s);
    return 0;
  }
  text_begin_report(t);
  bn_text_print_members(t->out, g, n, t->facts, t->span_s);
  text_print_group_phases(t, g, n);
  bn_text_print_watched_members(g, n, t->out);
  bn_output_end(&t->output);
  return 0;
}

/* Prints the report of a view in place of a script's hook that has failed. */
static int text_fill_in(void *self, const struct bn_view *v, struct bn_err *err)
{
  struct text *t = self;

  (void)err;
  if (text_is_quiet(t))
    return 0;
  text_begin_report(t);
  text_print_summary(t, v);
  bn_output_end(&t->output);
  return 0;
}

/* Prints the total of a run that is ended by force, with a state of its own (api/report.h). */
static void text_summary(const struct bn_facts *f, const struct bn_view *v, FILE *out)
{
  struct text t = {.out = out,
                   .facts = f,
                   .plan = &f->plan,
                   .dialect = bn_dialect_get(f->plan.version, f->plan.native)};

  if (!text_is_quiet(&t))
    text_print_summary(&t, v);
}

/* Ends the report with the warnings, which name what may spoil its figures.  The log does not print
   them if standard output and standard error go to one file, or if the result is a stored one. */
static int text_finish(void *self, const struct bn_end *end, struct bn_err *err)
{
  struct text *t = self;

  (void)end;
  (void)err;
  if (!t->has_total || !t->plan->native || text_is_quiet(t))
    return 0;
  bn_output_begin(&t->output);
  bn_text_print_warnings(t->out, t->facts);
  bn_output_end(&t->output);
  return 0;
}

static int text_close(void *self, struct bn_err *err)
{
  const struct text *t = self;

  return bn_output_check_written(&t->output, err);
}

const struct bn_reporter bn_reporter_text = {
    .name = "text",
    .state_size = sizeof(struct text),
    .open = text_open,
    .begin = text_begin,
    .starting = text_starting,
    .started = text_started,
    .interval = text_interval,
    .checkpoint = text_checkpoint,
    .total = text_total,
    .members = text_members,
    .instead = text_fill_in,
    .summary = text_summary,
    .finish = text_finish,
    .close = text_close,
};
