/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints results that were saved, or what the journal of a killed run has of one. */
#include "report/saved.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/escape.h"
#include "base/log.h"
#include "measure/replay.h"
#include "measure/store.h"
#include "report/text/text.h"

enum format { FORMAT_TEXT, FORMAT_JSON };

static const char *const formats[] = {[FORMAT_TEXT] = "text", [FORMAT_JSON] = "json", NULL};

const struct bn_opt bn_saved_options[] = {
    {.name = "format",
     .type = BN_CHOICE,
     .def = "text",
     .choices = formats,
     .range_text = "Invalid value for --format: '%s' (formats are: text, json)",
     .offset = offsetof(struct bn_saved_conf, format),
     .help = "form of the report: text, json"},
    BN_OPT_END,
};

/* What the report itself cannot say. */
static void remark(const char *path, const struct bn_result *r)
{
  const struct bn_group *g = r->n_groups > 0 ? &r->group[0] : NULL;
  const bool measured = g != NULL && g->has_total;

  if (g != NULL && !measured && g->n_intervals + g->n_checkpoints > 0)
    bn_log_stderr("'%s' has no totals: the report covers its %zu interval(s) and %zu checkpoint(s)",
                  path, g->n_intervals, g->n_checkpoints);
  else if (r->end.partial && measured)
    bn_log_stderr("'%s' is the journal of a run that has not ended: the report covers the whole "
                  "seconds before %.0f s",
                  path, g->total.view.at_s);
  else if (!measured)
    bn_log_stderr("'%s' is of a run that measured nothing", path);
  if (measured && r->facts.plan.histogram && g->total.view.latency == NULL)
    bn_log_stderr("'%s' has no histograms (--report-bins=none): --histogram prints nothing", path);
  if (r->end.replaced_intervals || r->end.replaced_total)
    bn_log_stderr("'%s': the script printed reports of its own in the run; these are the standard "
                  "ones",
                  path);
}

/* A file may come from anybody. */
static int print_text(struct bn_result *r, struct bn_err *err)
{
  if (bn_result_escape(r) != 0)
    return bn_err_set(err, ENOMEM, "out of memory");
  return bn_result_replay(r, &bn_reporter_text, stdout, err);
}

/* A damaged journal: neither form of the report can say it.  The reason quotes the file. */
static void tell_passed(const char *path, const struct bn_passed *p)
{
  char reason[sizeof p->why.text];

  if (p->lines > 0) {
    (void)bn_escape(reason, sizeof reason, p->why.text, "");
    bn_log_stderr("'%s': %zu line(s) of the journal cannot be read and are left out, the first is "
                  "line %zu: %s",
                  path, p->lines, p->first, reason);
  }
  if (p->bound > 0) {
    (void)bn_escape(reason, sizeof reason, p->large.text, "");
    bn_log_stderr("'%s': the journal is read up to line %zu, which is too large: %s", path,
                  p->bound, reason);
  }
}

static int print(const struct bn_store *js, enum format format, struct bn_stored *s,
                 struct bn_err *err)
{
  struct bn_node *document;
  int rc;

  if (format == FORMAT_TEXT)
    return print_text(&s->result, err);
  document = bn_store_document(js, &s->result, s->document);
  rc = bn_store_print(js, document, stdout, err);
  js->free(document);
  return rc;
}

static int print_file(const struct bn_store *js, enum format format, const char *path,
                      struct bn_err *err)
{
  struct bn_stored stored;
  int rc;

  if (bn_store_load(js, path, format == FORMAT_JSON, &stored, err) != 0)
    return -1;
  rc = print(js, format, &stored, err);
  if (rc == 0 && format == FORMAT_TEXT)
    remark(path, &stored.result);
  if (rc == 0)
    tell_passed(path, &stored.passed);
  bn_stored_done(js, &stored);
  return rc;
}

int bn_saved_run(const void *conf, const char *const *operand, struct bn_err *err)
{
  const struct bn_saved_conf *c = conf;
  const struct bn_store *js = bn_store_json(err);
  const bool several = operand[1] != NULL;

  if (js == NULL)
    return EXIT_FAILURE;
  for (size_t i = 0; operand[i] != NULL; i++) {
    if (several && c->format == FORMAT_TEXT)
      printf("%s==> %s <==\n", i > 0 ? "\n" : "", operand[i]);
    if (print_file(js, (enum format)c->format, operand[i], err) != 0)
      return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
