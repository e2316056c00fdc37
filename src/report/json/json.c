/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Collects what a run measured and writes it as a JSON document. */
#include "report/reporters.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/log.h"
#include "measure/journal.h"
#include "measure/result.h"
#include "measure/store.h"
#include "report/output.h"

/* A bucket takes 16 bytes during the run, and about 100 while the document is made: this bounds the
   memory to 64 MiB, and some 400 MiB at the end. */
enum { BUCKETS_MAX = 4 << 20 };

static const char journal_suffix[] = ".partial";

/* The records that have histograms (--report-bins). */
enum bins { BINS_TOTAL, BINS_ALL, BINS_NONE };

static const char *const bins_words[] = {
    [BINS_TOTAL] = "total", [BINS_ALL] = "all", [BINS_NONE] = "none", NULL};

struct json_conf {
  int bins; /* enum bins */
};

static const struct bn_opt json_options[] = {
    {.name = "report-bins",
     .type = BN_CHOICE,
     .traits = BN_OPT_OBSERVES | BN_OPT_KEEPS_DATA,
     .def = "total",
     .choices = bins_words,
     .offset = offsetof(struct json_conf, bins),
     .help = "histograms in the document: total, all (of intervals too) or none"},
    BN_OPT_END,
};

struct json {
  char workload[PATH_MAX]; /* name of the workload, which may be the path of a script */
  const char *path;        /* NULL: standard output */
  FILE *out;               /* for a document without a path */
  struct bn_journal journal;
  const struct bn_facts *facts; /* of the run; threads may still add to them */
  struct bn_result result;      /* everything but the facts */
  enum bins bins;               /* histograms that are kept */
  size_t buckets;               /* number of buckets in kept histograms */
  uint64_t values;              /* number of values in kept records */
  bool is_full;                 /* the document gets no more intervals */
  bool is_part;                 /* the document covers only a part of a run */
};

/* Opens the journal beside the file.  Returns 0, or -1 and err. */
static int json_open_journal(struct json *r, struct bn_err *err)
{
  char journal[PATH_MAX];

  if ((size_t)snprintf(journal, sizeof journal, "%s%s", r->path, journal_suffix) >= sizeof journal)
    return bn_err_set(err, ENAMETOOLONG, "cannot write the result to '%s': the name is too long",
                      r->path);
  if (bn_journal_open(&r->journal, journal, err) == 0)
    return 0;
  if (err->code == EBUSY) /* another process has locked the journal */
    (void)bn_err_set(err, EBUSY,
                     "--report=json:%s: '%s' is the journal of a run in progress; wait for its end "
                     "or name another file",
                     r->path, journal);
  return -1;
}

/* Opens the report, whose state is zeroed but for is_part.  A file that is replaced at the end gets
   a journal, so that a run that is killed leaves its figures; streams, devices and descriptors are
   not replaced. */
static int json_open(void *self, const void *conf, const char *path, FILE *out, struct bn_err *err)
{
  const struct json_conf *c = conf;
  struct json *r = self;

  r->bins = c != NULL ? (enum bins)c->bins : BINS_TOTAL;
  r->journal.lock.fd = -1; /* a journal that was never opened can be closed, too */
  r->journal.ended = true;
  r->path = bn_file_is_stdout(path) ? NULL : path;
  r->out = out != NULL ? out : stdout;
  if (r->path == NULL)
    return 0;
  if (bn_document_check_path("json", r->path, err) != 0)
    return -1;
  if (!bn_file_is_replaceable(r->path))
    return 0;
  return json_open_journal(r, err);
}

/* Does the work of json_open() for the document of a part of a run. */
static int json_open_part(void *self, const void *conf, const char *path, FILE *out,
                          struct bn_err *err)
{
  struct json *r = self;

  r->is_part = true;
  return json_open(self, conf, path, out, err);
}

/* Copies the name of the workload, because facts may change while views come. */
static void json_copy_name(struct json *r, const struct bn_facts *f)
{
  const char *name = bn_facts_find_text(f, "workload", "name");

  (void)snprintf(r->workload, sizeof r->workload, "%s", name != NULL ? name : "");
}

static void json_begin(void *self, const struct bn_facts *f)
{
  struct json *r = self;

  r->facts = f;
  json_copy_name(r, f);
}

/* Begins the journal, now that the start can no longer fail: a run that did not start leaves none.
   If an earlier run has left its journal, that was moved aside, and its new name is logged.  A
   journal that fails does not end the run, whose document may still be written. */
static void json_started(void *self, const struct bn_facts *f)
{
  struct json *r = self;
  struct bn_err err = {0};

  json_copy_name(r, f);
  if (bn_journal_write_facts(&r->journal, NULL /* no group */, f, &err) != 0)
    bn_log_stderr("%s", err.text);
  else if (r->journal.lock.aside != NULL)
    bn_log_stderr("'%s' was left by a run that did not end; it is now '%s'", r->journal.lock.path,
                  r->journal.lock.aside);
}

/* Adds a view to the journal, if there is one. */
static void json_write_journal(struct json *r, const struct bn_view *v)
{
  struct bn_err err = {0};

  if (bn_journal_write_view(&r->journal, r->workload, v, &err) != 0)
    bn_log_stderr("%s", err.text);
}

/* Keeps a copy of a view for the document, with the histograms that --report-bins asks for.
   Returns the group of all sessions, in which the copy is the last record of its span. */
static struct bn_group *json_keep_view(struct json *r, const struct bn_view *v)
{
  struct bn_group *g =
      r->result.n_groups > 0 ? &r->result.group[0] : bn_result_add_group(&r->result, r->workload);

  g->packs = r->bins == BINS_ALL;
  g->bare = r->bins == BINS_NONE;
  bn_group_add_view(g, v);
  /* The values of intervals are counted by json_limit_values(). */
  if (v->span == BN_VIEW_CHECKPOINT)
    r->values += bn_store_count_values(v);
  return g;
}

/* Counts the buckets of the last kept interval.  Once there are BUCKETS_MAX, later intervals are
   kept without histograms. */
static void json_limit_buckets(struct json *r, const struct bn_record *last)
{
  r->buckets += bn_snap_count_buckets(&last->delta);
  if (r->bins == BINS_ALL && r->buckets >= BUCKETS_MAX) {
    r->bins = BINS_TOTAL;
    bn_log_stderr("--report-bins=all: intervals after %.0f s have no histograms, because "
                  "the document has reached its limit of %d buckets",
                  last->view.at_s, BUCKETS_MAX);
  }
}

/* Counts the values of the last kept interval.  Once the document has reached its limits, no later
   interval is kept, because bench reads no document above these limits. */
static void json_limit_values(struct json *r, const struct bn_group *g,
                              const struct bn_record *last)
{
  r->values += bn_store_count_values(&last->view);
  r->is_full = !bn_store_has_room(g, r->values);
  if (r->is_full)
    bn_log_stderr("--report=json: the document stores no intervals after %.0f s, because it has "
                  "reached its largest size (%zu intervals); its totals cover the whole run, and "
                  "the journal still gets all intervals",
                  last->view.at_s, g->n_intervals);
}

/* Adds an interval to the journal, and to the document until that is full.  The journal gets the
   copy that the document keeps, because it has the histograms that were asked for. */
static int json_interval(void *self, const struct bn_view *v, struct bn_err *err)
{
  struct json *r = self;
  const struct bn_group *g;
  const struct bn_record *kept;

  (void)err;
  if (r->is_full) {
    json_write_journal(r, v); /* without histograms: only those of copies are packed */
    return 0;
  }
  g = json_keep_view(r, v);
  kept = &g->interval[g->n_intervals - 1];
  json_write_journal(r, &kept->view);
  json_limit_buckets(r, kept);
  json_limit_values(r, g, kept);
  return 0;
}

/* Adds a tick to the journal alone, a checkpoint to both the journal and the document, and the
   total to the document alone: in a journal, the last tick is the total. */
static int json_view(void *self, const struct bn_view *v, struct bn_err *err)
{
  struct json *r = self;

  (void)err;
  if (v->span != BN_VIEW_TOTAL)
    json_write_journal(r, v);
  if (v->span != BN_VIEW_TICK)
    (void)json_keep_view(r, v);
  return 0;
}

/* Adds to the document what each of n hosts or groups measured.  A host that was lost may have sent
   no total. */
static int json_members(void *self, const struct bn_group *group, size_t n, struct bn_err *err)
{
  struct json *r = self;

  (void)err;
  for (size_t i = 0; i < n; i++) {
    const struct bn_group *g = &group[i];
    const struct bn_view *total = g->has_total ? &g->total.view : NULL;

    bn_result_add_member(&r->result, g->name, g->member, total);
  }
  return 0;
}

/* Writes the document, to which the facts of the run are lent.  Returns 0, or -1 and err. */
static int json_write_document(struct json *r, struct bn_err *err)
{
  struct bn_node *document;
  int rc;

  r->result.facts = *r->facts;
  document = r->is_part ? bn_store_part(&r->result) : bn_store_document(&r->result, NULL);
  memset(&r->result.facts, 0, sizeof r->result.facts); /* the facts stay those of the run */
  if (r->path == NULL)
    rc = bn_store_print(document, r->out, err);
  else
    rc = bn_store_save(document, r->path, err);
  bn_node_free(document);
  return rc;
}

/* Adds to the sentence of err that the journal still has the measurements, with the command that
   prints it if the whole command fits. */
static void json_mention_journal(const struct json *r, struct bn_err *err)
{
  const size_t len = strlen(err->text), room = sizeof err->text - 1 - len;
  const bool has_journal = r->journal.written && !r->journal.ended;
  struct bn_buf b;

  if (!has_journal || room == 0)
    return;
  bn_buf_init(&b, room);
  (void)bn_buf_str(&b, "; what was measured is in a journal; print it with: bench report ");
  if (bn_escape_shell_word(&b, r->journal.lock.path) == 0)
    memcpy(err->text + len, b.data, b.len + 1);
  else
    (void)snprintf(err->text + len, room + 1, "; what was measured is in the journal beside it");
  bn_buf_done(&b);
}

/* Writes the document, and then removes the journal, which stays if the document cannot be written.
   A run that never began has no facts, and so no document. */
static int json_finish(void *self, const struct bn_end *end, struct bn_err *err)
{
  struct json *r = self;
  int rc;

  if (r->facts == NULL)
    return 0;
  r->result.end = *end;
  rc = json_write_document(r, err);
  if (rc != 0)
    json_mention_journal(r, err);
  bn_journal_close(&r->journal, rc == 0 /* remove */);
  return rc;
}

/* Frees the result.  A journal that json_finish() has not closed is closed, and stays. */
static int json_close(void *self, struct bn_err *err)
{
  struct json *r = self;

  (void)err;
  bn_result_done(&r->result);
  bn_journal_close(&r->journal, false /* it stays */);
  return 0;
}

const struct bn_reporter bn_reporter_json = {
    .name = "json",
    .options = json_options,
    .conf_size = sizeof(struct json_conf),
    .state_size = sizeof(struct json),
    .own_file = true,
    .for_programs = true,
    .journal = journal_suffix,
    .facts = true,
    .open = json_open,
    .begin = json_begin,
    .started = json_started,
    .interval = json_interval,
    .checkpoint = json_view,
    .tick = json_view,
    .total = json_view,
    .members = json_members,
    .finish = json_finish,
    .close = json_close,
};

const struct bn_reporter bn_reporter_json_total = {
    .name = "json",
    .state_size = sizeof(struct json),
    .facts = true,
    .open = json_open_part,
    .begin = json_begin,
    .started = json_started,
    .total = json_view,
    .finish = json_finish,
    .close = json_close,
};
