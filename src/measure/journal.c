/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Appends lines to the journal of a run, and reads them back. */
#include "measure/journal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "measure/json_write.h"
#include "measure/layout.h"

/* How the text of every journal begins. */
static const char beginning[] = "{\"format\":\"bench journal\"";

/* --- writing ---------------------------------------------------------------------------------- */

/* Writes a line to the file of a journal, with a newline in place of the final 0.  One call writes
   all of it, so that a process which is killed leaves whole lines.  If only a part is written, the
   journal ends there: readers skip a last line without a newline.  Returns 0, or -1 and err. */
static int journal_write_line(void *journal, char *line, size_t len, struct bn_err *err)
{
  struct bn_journal *j = journal;
  ssize_t written;
  int error;

  line[len++] = '\n';
  written = write(j->lock.fd, line, len);
  j->written |= written > 0;
  if (written == (ssize_t)len)
    return 0;
  error = written < 0 ? errno : ENOSPC; /* a part was written */
  return bn_err_set(err, error, "the journal '%s' ends early: %s", j->lock.path, strerror(error));
}

void bn_journal_open_sink(struct bn_journal *j, bn_journal_put *put, void *of)
{
  *j = (struct bn_journal){.put = put, .of = of, .brief = true, .lock.fd = -1};
}

int bn_journal_open(struct bn_journal *j, const char *path, struct bn_err *err)
{
  *j = (struct bn_journal){.put = journal_write_line, .of = j, .lock.fd = -1};
  j->ended = bn_lockfile_claim(&j->lock, path, err) != 0;
  return j->ended ? -1 : 0;
}

/* Writes a text as a line, and frees it.  Returns 0, or -1 and err. */
static int journal_put_text(struct bn_journal *j, char *text, size_t len, struct bn_err *err)
{
  const int rc = j->put(j->of, text, len, err);

  free(text);
  j->ended = rc != 0;
  return rc;
}

/* Returns the text of a value on one line, which the caller frees, and frees the value. */
static char *journal_print_line(struct bn_node *line, size_t *len)
{
  char *text = bn_node_print(line, 0 /* one line */, len);

  bn_node_free(line);
  return text;
}

/* Writes a value as a line, and frees it.  Returns 0, or -1 and err. */
static int journal_put_line(struct bn_journal *j, struct bn_node *line, struct bn_err *err)
{
  size_t len = 0;
  char *text = journal_print_line(line, &len);

  return journal_put_text(j, text, len, err);
}

/* Returns {key: value}, which owns the value. */
static struct bn_node *journal_line_of(const char *key, struct bn_node *value)
{
  struct bn_node *map = bn_node_map();

  bn_json_put(map, key, value);
  return map;
}

/* Begins the group of a journal: makes room for the histograms of its ticks, and returns its name
   and metrics, which the caller writes and frees. */
static struct bn_node *journal_begin_group(struct bn_journal *j, const char *name,
                                           const struct bn_metrics *m)
{
  struct bn_node *group = bn_node_map();

  bn_snap_init_for_metrics(&j->past, m, 0, true /* histograms */);
  bn_snap_init_for_metrics(&j->step, m, 0, true /* histograms */);
  bn_json_put(group, "name", bn_node_text(name));
  bn_json_put(group, "metrics", bn_store_metrics(m));
  return group;
}

int bn_journal_write_facts(struct bn_journal *j, const char *group, const struct bn_facts *f,
                           struct bn_err *err)
{
  struct bn_node *map;

  if (j->ended)
    return 0;
  map = bn_node_map();
  bn_json_put(map, "format", bn_node_utf8("bench journal"));
  bn_json_put(map, "version", bn_node_integer(BN_STORE_VERSION));
  bn_json_put(map, "facts", bn_store_facts(f));
  if (group != NULL)
    bn_json_put(map, "group", journal_begin_group(j, group, f->plan.metrics));
  return journal_put_line(j, map, err);
}

/* If a tick was made in the grace, after the end of the span, moves its time and that of its delta
   back to that end, where the total of a run ends too.  The counts stay as they are. */
static void journal_leave_out_grace(struct bn_view *tick, struct bn_snap *delta)
{
  const uint64_t span_ns = bn_view_seconds_to_ns(tick->span_s);
  const uint64_t grace_ns = span_ns > 0 ? bn_clock_between(span_ns, delta->span_ns) : 0;

  tick->at_s -= (double)grace_ns * 1e-9;
  delta->span_ns -= grace_ns;
  delta->at_ns -= grace_ns;
  delta->wall_ns -= grace_ns;
}

/* Returns the line of a view, which the caller frees. */
static char *journal_print_view(const struct bn_journal *j, const struct bn_view *v, size_t *len)
{
  if (j->brief)
    return bn_store_print_brief(v, len);
  return journal_print_line(journal_line_of(bn_layout_spans[v->span], bn_store_record(v)), len);
}

/* Returns the line of a tick, which the caller frees.  Its histograms have only the values since
   the previous tick, so this tick's are kept for the next one.  A line that is sent keeps the time
   at which the tick was made. */
static char *journal_print_tick(struct bn_journal *j, const struct bn_view *v, size_t *len)
{
  struct bn_view view = *v;
  char *text;

  bn_snap_copy(&j->step, v->delta);
  for (size_t i = 0; i < j->step.metrics.n_hists; i++)
    bn_hist_sub(j->step.hist[i], j->past.hist[i]);
  view.delta = &j->step;
  if (!j->brief)
    journal_leave_out_grace(&view, &j->step);
  text = journal_print_view(j, &view, len);
  bn_snap_copy(&j->past, v->delta);
  return text;
}

int bn_journal_write_view(struct bn_journal *j, const char *group, const struct bn_view *v,
                          struct bn_err *err)
{
  size_t len = 0;
  char *text;

  if (j->ended)
    return 0;
  if (j->past.metrics.n_counters == 0) {
    struct bn_node *head = journal_begin_group(j, group, &v->delta->metrics);

    if (journal_put_line(j, journal_line_of("group", head), err) != 0)
      return -1;
  }
  if (v->span == BN_VIEW_TICK)
    text = journal_print_tick(j, v, &len);
  else
    text = journal_print_view(j, v, &len);
  return journal_put_text(j, text, len, err);
}

void bn_journal_close(struct bn_journal *j, bool remove)
{
  enum bn_lockfile_end end = remove ? BN_LOCKFILE_REMOVE : BN_LOCKFILE_KEEP;

  if (!j->written) /* nothing was written: an older file gets its name back */
    end = BN_LOCKFILE_UNDO;
  bn_lockfile_release(&j->lock, end);
  bn_snap_done(&j->past);
  bn_snap_done(&j->step);
  memset(j, 0, sizeof *j);
  j->lock.fd = -1;
  j->ended = true;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* The state of reading a journal. */
struct reader {
  struct bn_result *out;
  struct bn_metrics metrics; /* owned; of the last group; empty if its line cannot be read */
  struct bn_err *err;        /* gets what is wrong with a line */
};

/* Begins a group of the result.  Returns 0, or -1 and r->err; then views are refused until the next
   group. */
static int journal_add_group(struct reader *r, const struct bn_node *group)
{
  const char *name = bn_node_get_text(bn_node_get(group, "name"));

  bn_metrics_done(&r->metrics);
  if (bn_store_read_metrics(bn_node_get(group, "metrics"), &r->metrics, r->err) != 0)
    return -1;
  if (bn_store_add_group(r->out, name, r->err) != NULL)
    return 0;
  bn_metrics_done(&r->metrics);
  return -1;
}

/* Marks in the end of the run that a script has replaced the reports of intervals, or the report of
   the total, whose place a tick takes. */
static void journal_mark_replaced(struct bn_end *end, const struct bn_view *v)
{
  if (v->span == BN_VIEW_INTERVAL)
    end->replaced_intervals |= v->replaced;
  else
    end->replaced_total |= v->replaced;
}

/* Returns how many events were in flight or waited at a tick, or UINT64_MAX if that is not known.
   In a dialect it is 0: dialects count unfinished events only at a forced shutdown. */
static uint64_t journal_count_unfinished(const struct bn_view *tick, bool native)
{
  const uint64_t bound = UINT64_MAX / 2; /* below it the sum fits; UINT64_MAX: not known */
  const uint64_t in_flight = tick->delta->unfinished, waiting = tick->paced ? tick->backlog : 0;

  if (!native)
    return 0;
  return in_flight < bound && waiting < bound ? in_flight + waiting : UINT64_MAX;
}

/* Replaces the total of a group by a copy of a tick. */
static void journal_set_total(struct bn_group *g, const struct bn_view *tick, bool native)
{
  struct bn_view total = *tick;

  total.span = BN_VIEW_TOTAL;
  total.unfinished = journal_count_unfinished(tick, native);
  bn_group_add_view(g, &total);
}

/* Makes a tick the total so far.  Its figures count from the beginning, but its histograms only
   from the tick before it, so the histograms of the total so far are added to them. */
static void journal_add_tick(struct bn_group *g, struct bn_record *tick, bool native)
{
  if (g->has_total)
    for (size_t i = 0; i < tick->delta.metrics.n_hists; i++)
      bn_hist_add(tick->delta.hist[i], g->total.delta.hist[i]);
  journal_set_total(g, &tick->view, native);
}

/* Adds a view to the last group of the result.  A tick replaces the total.  Returns 0, or -1 and
   r->err. */
static int journal_add_view(struct reader *r, const struct bn_node *node, enum bn_view_span span)
{
  struct bn_record record;
  int rc = 0;

  if (r->metrics.n_counters == 0)
    return bn_err_set(r->err, EINVAL, "it has figures before a \"group\"");
  if (bn_store_read_record(node, &r->metrics, span, &record, r->err) != 0)
    return -1;
  journal_mark_replaced(&r->out->end, &record.view);
  if (span == BN_VIEW_TICK)
    journal_add_tick(&r->out->group[r->out->n_groups - 1], &record, r->out->facts.plan.native);
  else
    rc = bn_store_add_view(r->out, &record.view, r->err);
  bn_record_done(&record);
  return rc;
}

/* Replaces the facts of the result: a run writes them again when it knows more of them.  Returns 0,
   or -1 and r->err. */
static int journal_set_facts(struct reader *r, const struct bn_node *line)
{
  const int64_t version = bn_node_get_integer(bn_node_get(line, "version"));
  struct bn_facts facts;

  if (version < 1 || version > BN_STORE_VERSION)
    return bn_err_set(r->err, EINVAL, "it has version %lld, this bench reads versions up to %d",
                      (long long)version, BN_STORE_VERSION);
  if (bn_store_read_facts(bn_node_get(line, "facts"), &facts, r->err) != 0)
    return -1;
  bn_facts_done(&r->out->facts);
  r->out->facts = facts;
  return 0;
}

/* Adds a line to the result.  Ignores a line of another kind, which a later version may have added.
   Returns 0, or -1 and r->err. */
static int journal_add_line(struct reader *r, const struct bn_node *line)
{
  static const enum bn_view_span spans[] = {BN_VIEW_INTERVAL, BN_VIEW_CHECKPOINT, BN_VIEW_TICK};
  const struct bn_node *group = bn_node_get(line, "group");

  if (bn_node_get(line, "format") != NULL)
    return journal_set_facts(r, line);
  if (group != NULL)
    return journal_add_group(r, group);
  for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
    const struct bn_node *view = bn_node_get(line, bn_layout_spans[spans[i]]);

    if (view != NULL)
      return journal_add_view(r, view, spans[i]);
  }
  return 0;
}

/* Computes the start of a run whose facts were written before it started.  The warm-up came first,
   then the span of the total; the total, which is the last tick, has the times of its end. */
static void journal_set_start(struct bn_result *r)
{
  const struct bn_view *total = bn_result_total(r);
  uint64_t run_ns; /* from the start to the last tick */

  if (total == NULL || r->facts.start_ns != 0)
    return;
  run_ns = r->facts.plan.warmup_ns + total->delta->span_ns;
  r->facts.start_ns = total->delta->at_ns - run_ns;
  r->facts.start_wall_ns = total->delta->wall_ns - run_ns;
}

/* Marks the run as killed, because a journal has no line about the end. */
static void journal_mark_cut(struct bn_end *end)
{
  end->partial = true;
  end->reason = BN_END_KILLED;
}

void bn_journal_complete_cut(struct bn_result *r, const char *group, const struct bn_view *tick)
{
  struct bn_snap delta = *tick->delta;
  struct bn_view total = *tick;

  total.delta = &delta;
  journal_leave_out_grace(&total, &delta);
  journal_mark_cut(&r->end);
  journal_set_total(bn_result_add_group(r, group), &total, r->facts.plan.native);
  journal_set_start(r);
}

bool bn_journal_is_journal(const char *text, size_t len)
{
  return len >= sizeof beginning - 1 && memcmp(text, beginning, sizeof beginning - 1) == 0;
}

/* Parses a line and adds it to the result.  Returns 0, or -1 and r->err; then it added nothing. */
static int journal_read_line(struct reader *r, const char *text, size_t len)
{
  struct bn_node *line = bn_node_parse(text, len, r->err);
  const int rc = line != NULL ? journal_add_line(r, line) : -1;

  bn_node_free(line);
  return rc;
}

/* Reads lines until none is left or one exceeds a bound (EFBIG); the result is what came before.
   Other lines that cannot be read are counted, but without the first nothing can be read.  The run
   counts as killed, because a journal has no line about its end. */
int bn_journal_read(struct bn_lines *lines, struct bn_stored *out, struct bn_err *err)
{
  struct bn_skipped_lines *skipped = &out->passed;
  struct bn_err why = {0}; /* what is wrong with a line */
  struct reader r = {.out = &out->result, .err = &why};
  size_t number = 0;
  int rc = 0, found;

  journal_mark_cut(&out->result.end);
  while (rc == 0 && skipped->bound == 0 && (found = bn_lines_next(lines, &why)) != 0) {
    number++;
    if (found > 0 && journal_read_line(&r, lines->line.data, lines->line.len) == 0)
      continue;
    if (number == 1) {
      rc = bn_err_set(err, why.code, "line 1 of the journal: %s", why.text);
    } else if (why.code == EFBIG) {
      skipped->bound = number;
      skipped->large = why;
    } else if (skipped->lines++ == 0) {
      skipped->first = number;
      skipped->why = why;
    }
  }
  bn_metrics_done(&r.metrics);
  journal_set_start(&out->result);
  if (rc == 0 && number == 0) /* bn_lines_next() returns only lines with a newline */
    rc = bn_err_set(err, EINVAL, "its first line has no end");
  return rc;
}
