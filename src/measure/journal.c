/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Appends lines to the journal of a run, and reads them back. */
#include "measure/journal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/json_write.h"
#include "measure/layout.h"

/* How the text of every journal begins. */
static const char beginning[] = "{\"format\":\"bench journal\"";

/* --- writing ---------------------------------------------------------------------------------- */

/* Sets err to why the journal ends here.  Returns -1. */
static int journal_refuse_more(const struct bn_journal *j, int why, struct bn_err *err)
{
  if (j->lock.path == NULL)
    return bn_err_set(err, why, "the journal ends early: %s", strerror(why));
  return bn_err_set(err, why, "the journal '%s' ends early: %s", j->lock.path, strerror(why));
}

/* Puts a newline in the place of the final 0, and writes the line with one call.  If only a part of
   it is written, the journal ends there: readers pass over a line without an end.  Returns 0, or -1
   and err. */
static int journal_write_line(void *of, char *line, size_t len, struct bn_err *err)
{
  struct bn_journal *j = of;
  ssize_t written;

  line[len++] = '\n';
  written = write(j->lock.fd, line, len);
  j->written |= written > 0;
  if (written == (ssize_t)len)
    return 0;
  return journal_refuse_more(j, written < 0 ? errno : ENOSPC, err);
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

/* Writes a line and frees its text, which is NULL if there was no memory for it.  Returns 0, or -1
   and err. */
static int journal_put_text(struct bn_journal *j, char *text, size_t len, struct bn_err *err)
{
  int rc;

  if (text != NULL)
    rc = j->put(j->of, text, len, err);
  else
    rc = journal_refuse_more(j, ENOMEM, err);
  free(text);
  j->ended = rc != 0;
  return rc;
}

/* Returns the text of a value on one line, which the caller frees, or NULL without memory.  Frees
   the value, which may be NULL. */
static char *journal_print_line(struct bn_node *line, size_t *len)
{
  char *text = line != NULL ? bn_node_print(line, 0, len) : NULL;

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

/* Returns {key: value}, which owns the value, or NULL without memory. */
static struct bn_node *journal_line_of(const char *key, struct bn_node *value)
{
  struct bn_json_out p = {.failed = false};
  struct bn_node *map = bn_node_map();

  bn_json_put(&p, map, key, value);
  return bn_json_finish(&p, map);
}

/* Puts the members of the first line. */
static void journal_put_facts(struct bn_json_out *p, struct bn_node *map, const struct bn_facts *f)
{
  bn_json_put(p, map, "format", bn_node_utf8("bench journal"));
  bn_json_put(p, map, "version", bn_node_integer(BN_STORE_VERSION));
  bn_json_put(p, map, "facts", bn_store_facts(f));
}

int bn_journal_write_facts(struct bn_journal *j, const struct bn_facts *f, struct bn_err *err)
{
  struct bn_json_out p = {.failed = false};
  struct bn_node *map;

  if (j->ended)
    return 0;
  map = bn_node_map();
  journal_put_facts(&p, map, f);
  return journal_put_line(j, bn_json_finish(&p, map), err);
}

/* Returns the first line of a group, or NULL without memory, and makes room for the histograms of
   its ticks. */
static struct bn_node *journal_begin_group(struct bn_journal *j, const char *name,
                                           const struct bn_metrics *m)
{
  struct bn_json_out p = {.failed = false};
  struct bn_node *group = bn_node_map();

  bn_snap_init_for_metrics(&j->past, m, 0, true);
  bn_snap_init_for_metrics(&j->step, m, 0, true);
  j->has_group = true;
  bn_json_put(&p, group, "name", bn_node_text(name));
  bn_json_put(&p, group, "metrics", bn_store_metrics(m));
  return bn_json_finish(&p, group);
}

int bn_journal_write_head(struct bn_journal *j, const char *group, const struct bn_facts *f,
                          struct bn_err *err)
{
  struct bn_json_out p = {.failed = false};
  struct bn_node *map;

  if (j->ended)
    return 0;
  map = bn_node_map();
  journal_put_facts(&p, map, f);
  bn_json_put(&p, map, "group", journal_begin_group(j, group, f->plan.metrics));
  return journal_put_line(j, bn_json_finish(&p, map), err);
}

/* Sets the histograms of a snapshot to those of another one of the same metrics. */
static void journal_copy_hists(struct bn_snap *to, const struct bn_snap *from)
{
  for (size_t i = 0; i < to->metrics.n_hists; i++) {
    bn_hist_clear(to->hist[i]);
    bn_hist_add(to->hist[i], from->hist[i]);
  }
}

/* Returns the line of a view, which the caller frees, or NULL without memory. */
static char *journal_print_view(const struct bn_journal *j, const struct bn_view *v, size_t *len)
{
  if (j->brief)
    return bn_store_print_brief(v, len);
  return journal_print_line(journal_line_of(bn_layout_spans[v->span], bn_store_record(v)), len);
}

/* Returns the line of a tick with the difference of its histograms from those of the previous tick,
   which the caller frees, or NULL without memory. */
static char *journal_print_tick(struct bn_journal *j, const struct bn_view *v, size_t *len)
{
  struct bn_snap delta = *v->delta;
  struct bn_view view = *v;
  char *text;

  journal_copy_hists(&j->step, v->delta);
  for (size_t i = 0; i < j->step.metrics.n_hists; i++)
    bn_hist_sub(j->step.hist[i], j->past.hist[i]);
  delta.hist = j->step.hist;
  view.delta = &delta;
  text = journal_print_view(j, &view, len);
  journal_copy_hists(&j->past, v->delta);
  return text;
}

int bn_journal_write_view(struct bn_journal *j, const char *group, const struct bn_view *v,
                          struct bn_err *err)
{
  size_t len = 0;
  char *text;

  if (j->ended)
    return 0;
  if (!j->has_group) {
    struct bn_node *first = journal_begin_group(j, group, &v->delta->metrics);

    if (journal_put_line(j, journal_line_of("group", first), err) != 0)
      return -1;
  }
  text = v->span == BN_VIEW_TICK ? journal_print_tick(j, v, &len) : journal_print_view(j, v, &len);
  return journal_put_text(j, text, len, err);
}

void bn_journal_close(struct bn_journal *j, bool remove)
{
  enum bn_lockfile_end end = remove ? BN_LOCKFILE_REMOVE : BN_LOCKFILE_KEEP;

  if (!j->written)
    end = BN_LOCKFILE_UNDO;
  bn_lockfile_release(&j->lock, end);
  bn_snap_done(&j->past);
  bn_snap_done(&j->step);
  memset(j, 0, sizeof *j);
  j->lock.fd = -1;
  j->ended = true;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* The lines in the form of a document, so that what later versions have added is kept. */
struct kept {
  struct bn_node *document, *groups;
  struct bn_node *group, *intervals, *checkpoints, *total; /* of the last group; NULL: none */
  bool failed;                                             /* there was no memory */
  bool is_wanted;                                          /* else nothing is kept */
};

struct reader {
  struct bn_result *out;
  struct kept kept;
  struct bn_metrics metrics; /* owned; of the last group */
  bool in_group;             /* the line of the last group could be read */
  struct bn_err *err;
};

/* Returns a copy of a map, whose values both share, or NULL without memory. */
static struct bn_node *journal_copy_of(const struct bn_node *n)
{
  struct bn_node *map = bn_node_map();

  if (map != NULL && bn_node_complete(map, n) == 0)
    return map;
  bn_node_free(map);
  return NULL;
}

/* Frees a value, and puts another one in its place. */
static void journal_replace(struct bn_node **at, struct bn_node *with)
{
  bn_node_free(*at);
  *at = with;
}

/* Completes the last group, if there is one, and appends it to the groups of the document. */
static void journal_end_group(struct kept *k)
{
  if (k->group == NULL && k->intervals == NULL && k->checkpoints == NULL)
    return;
  k->failed |= bn_node_set(k->group, "intervals", k->intervals) != 0;
  k->failed |= bn_node_set(k->group, "checkpoints", k->checkpoints) != 0;
  k->failed |= k->total != NULL && bn_node_set(k->group, "total", k->total) != 0;
  k->failed |= bn_node_append(k->groups, k->group) != 0;
  k->group = k->intervals = k->checkpoints = k->total = NULL;
}

/* Ends the last group and begins another one. */
static void journal_keep_group(struct kept *k, const struct bn_node *n)
{
  journal_end_group(k);
  k->group = journal_copy_of(n);
  k->intervals = bn_node_list();
  k->checkpoints = bn_node_list();
  if (k->groups == NULL)
    k->groups = bn_node_list();
  k->failed |= k->group == NULL;
}

/* Keeps a view in the last group: a tick as its total. */
static void journal_keep_view(struct kept *k, const struct bn_node *n, enum bn_view_span span)
{
  struct bn_node *list = span == BN_VIEW_INTERVAL ? k->intervals : k->checkpoints;
  struct bn_node *copy = journal_copy_of(n);

  k->failed |= copy == NULL;
  if (span == BN_VIEW_TICK)
    journal_replace(&k->total, copy);
  else
    k->failed |= bn_node_append(list, copy) != 0;
}

/* Completes the document, and returns it.  Returns NULL if there was no memory, or nothing was to
   be kept. */
static struct bn_node *journal_document_of(struct kept *k)
{
  journal_end_group(k);
  if (k->groups != NULL)
    k->failed |= bn_node_set(k->document, "groups", k->groups) != 0;
  if (!k->failed)
    return k->document;
  bn_node_free(k->document);
  return NULL;
}

/* Begins a group of the result.  Returns 0, or -1 and r->err; then views are refused until the
   next group. */
static int journal_take_group(struct reader *r, const struct bn_node *n)
{
  struct bn_metrics metrics;

  r->in_group = false;
  if (bn_store_read_metrics(bn_node_get(n, "metrics"), &metrics, r->err) != 0)
    return -1;
  bn_metrics_done(&r->metrics);
  r->metrics = metrics;
  r->in_group =
      bn_store_add_group(r->out, bn_node_get_text(bn_node_get(n, "name")), r->err) != NULL;
  if (!r->in_group)
    return -1;
  if (r->kept.is_wanted)
    journal_keep_group(&r->kept, n);
  return 0;
}

/* Notes whether a script has replaced the reports of views like this one.  A tick stands for the
   total. */
static void journal_note_replaced(struct bn_end *end, const struct bn_view *v)
{
  if (v->span == BN_VIEW_INTERVAL)
    end->replaced_intervals |= v->replaced;
  else
    end->replaced_total |= v->replaced;
}

/* Returns how many events were in flight, or waited, at the last tick: their ends are not known.
   Returns UINT64_MAX if the number is not known, and 0 in a dialect, which counts such events only
   at a forced shutdown. */
static uint64_t journal_count_unfinished(const struct bn_view *tick, bool native)
{
  const uint64_t in_flight = tick->delta->unfinished, waiting = tick->paced ? tick->backlog : 0;

  if (!native)
    return 0;
  return in_flight < UINT64_MAX / 2 && waiting < UINT64_MAX / 2 ? in_flight + waiting : UINT64_MAX;
}

/* Makes a copy of a tick the total of a group. */
static void journal_keep_total(struct bn_group *g, const struct bn_view *tick, bool native)
{
  struct bn_view total = *tick;

  total.span = BN_VIEW_TOTAL;
  total.unfinished = journal_count_unfinished(tick, native);
  bn_group_add_view(g, &total);
}

/* Makes a tick the total so far.  Its figures are since the beginning, but its histograms since the
   tick before, so that those of the earlier ticks are added to them. */
static void journal_take_tick(struct bn_group *g, const struct bn_record *record, bool native)
{
  for (size_t i = 0; g->has_total && i < record->delta.metrics.n_hists; i++)
    bn_hist_add(record->delta.hist[i], g->total.delta.hist[i]);
  journal_keep_total(g, &record->view, native);
}

/* Adds a view to the last group of the result.  Returns 0, or -1 and r->err. */
static int journal_take_view(struct reader *r, const struct bn_node *n, enum bn_view_span span)
{
  struct bn_record record;
  struct bn_group *g = r->in_group ? &r->out->group[r->out->n_groups - 1] : NULL;
  int rc = 0;

  if (g == NULL)
    return bn_err_set(r->err, EINVAL, "it has figures before a \"group\"");
  if (bn_store_read_record(n, &r->metrics, span, &record, r->err) != 0)
    return -1;
  journal_note_replaced(&r->out->end, &record.view);
  if (span == BN_VIEW_TICK)
    journal_take_tick(g, &record, r->out->facts.plan.native);
  else
    rc = bn_store_add_view(r->out, &record.view, r->err);
  bn_record_done(&record);
  if (rc == 0 && r->kept.is_wanted)
    journal_keep_view(&r->kept, n, span);
  return rc;
}

/* Sets the facts of the result, which come again when more of them are known.  Returns 0, or -1 and
   r->err. */
static int journal_take_facts(struct reader *r, const struct bn_node *line)
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
  if (r->kept.is_wanted)
    journal_replace(&r->kept.document, journal_copy_of(line));
  return 0;
}

/* Adds what a line has to the result; ignores a line of a kind that a later version may have added.
   Returns 0, or -1 and r->err. */
static int journal_take_line(struct reader *r, const struct bn_node *line)
{
  static const enum bn_view_span spans[] = {BN_VIEW_INTERVAL, BN_VIEW_CHECKPOINT, BN_VIEW_TICK};
  const struct bn_node *group = bn_node_get(line, "group");

  if (bn_node_get(line, "format") != NULL)
    return journal_take_facts(r, line);
  if (group != NULL)
    return journal_take_group(r, group);
  for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
    const struct bn_node *n = bn_node_get(line, bn_layout_spans[spans[i]]);

    if (n != NULL)
      return journal_take_view(r, n, spans[i]);
  }
  return 0;
}

/* Sets the start of a run whose facts were written before it: it is earlier than the last tick by
   the span of the tick, which begins with the end of the warm-up, and by the warm-up. */
static void journal_find_start(struct bn_result *r)
{
  const struct bn_view *total = bn_result_total(r);
  uint64_t since_ns;

  if (total == NULL || r->facts.start_ns != 0)
    return;
  since_ns = total->delta->span_ns + r->facts.plan.warmup_ns;
  r->facts.start_ns = total->delta->at_ns - since_ns;
  r->facts.start_wall_ns = total->delta->wall_ns - since_ns;
}

/* Says that the run was cut, as that of every journal was. */
static void journal_mark_cut(struct bn_end *end)
{
  end->partial = true;
  end->reason = BN_END_KILLED;
}

void bn_journal_complete_cut(struct bn_result *r, const char *group, const struct bn_view *tick)
{
  journal_mark_cut(&r->end);
  journal_keep_total(bn_result_add_group(r, group), tick, r->facts.plan.native);
  journal_find_start(r);
}

bool bn_journal_is_journal(const char *text, size_t len)
{
  return len >= sizeof beginning - 1 && memcmp(text, beginning, sizeof beginning - 1) == 0;
}

/* Reads a line.  Returns 0, or -1 and r->err, with nothing of the line added to the result. */
static int journal_read_line(struct reader *r, const char *text, size_t len)
{
  struct bn_node *line = bn_node_parse(text, len, r->err);
  const int rc = line != NULL ? journal_take_line(r, line) : -1;

  bn_node_free(line);
  return rc;
}

/* Notes a line that cannot be read.  Returns 0 if the reading goes on behind it; 1 if it ends here,
   because a bound was exceeded; or -1 and err: nothing can be read without the first line or
   without memory. */
static int journal_pass_over(struct bn_skipped_lines *passed, size_t number,
                             const struct bn_err *why, struct bn_err *err)
{
  if (number == 1 || why->code == ENOMEM)
    return bn_err_set(err, why->code, "line %zu of the journal: %s", number, why->text);
  if (why->code == EFBIG) {
    passed->bound = number;
    passed->large = *why;
    return 1;
  }
  if (passed->lines++ == 0) {
    passed->first = number;
    passed->why = *why;
  }
  return 0;
}

/* Reads the next line and counts it in *number.  Returns as journal_pass_over(), and 1 at the
   end. */
static int journal_next_line(struct reader *r, struct bn_lines *lines,
                             struct bn_skipped_lines *passed, size_t *number, struct bn_err *err)
{
  const int rc = bn_lines_next(lines, r->err);

  if (rc == 0)
    return 1;
  ++*number;
  if (rc > 0 && journal_read_line(r, lines->line.data, lines->line.len) == 0)
    return 0;
  return journal_pass_over(passed, *number, r->err, err);
}

int bn_journal_read(struct bn_lines *lines, bool keep_tree, struct bn_stored *out,
                    struct bn_err *err)
{
  struct bn_err why = {0};
  struct reader r = {.out = &out->result, .kept.is_wanted = keep_tree, .err = &why};
  size_t number = 0;
  int rc;

  journal_mark_cut(&out->result.end);
  do {
    rc = journal_next_line(&r, lines, &out->passed, &number, err);
  } while (rc == 0);
  bn_metrics_done(&r.metrics);
  journal_find_start(&out->result);
  out->document = journal_document_of(&r.kept);
  if (rc > 0 && number == 0)
    return bn_err_set(err, EINVAL, "its first line has no end");
  if (rc > 0 && keep_tree && out->document == NULL)
    return bn_err_set(err, ENOMEM, "out of memory");
  return rc < 0 ? -1 : 0;
}
