/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints results that were saved, or what the journal of a killed run has of one. */
#include "report/saved.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/escape.h"
#include "base/log.h"
#include "measure/reporters.h"
#include "measure/store.h"
#include "report/output.h"
#include "report/reporters.h"

/* BN_REPORTERS() makes a piece of a text, or an element of an array, of each reporter. */
#define NAME(name, reporter)    name
#define CHOICE(name, reporter)  name,
#define ADDRESS(name, reporter) &(reporter),

static const char *const formats[] = {BN_REPORTERS(CHOICE, ) NULL};

static const struct bn_reporter *const reporters[] = {BN_REPORTERS(ADDRESS, )};

const struct bn_opt bn_saved_options[] = {
    {.name = "format",
     .type = BN_CHOICE,
     .def = "text",
     .choices = formats,
     .offset = offsetof(struct bn_saved_conf, format),
     .help = "form: " BN_REPORTERS(NAME, ", ")},
    BN_STORE_MOST_OPTION(offsetof(struct bn_saved_conf, document_max)),
    BN_OPT_END,
};

/* Logs that the run of a result has not ended.  of_journal: the file is the journal of that run.
   Otherwise, the file is a document that was made of a journal, or merged with such a result. */
static void saved_warn_partial(const char *file, bool of_journal, double end_s)
{
  if (of_journal)
    bn_log_stderr("'%s' is the journal of a run that has not ended: the report covers the whole "
                  "seconds before %.0f s",
                  file, end_s);
  else
    bn_log_stderr("'%s' is from a run that has not ended, or contains such a run: of that run, the "
                  "report covers the whole seconds that were recorded",
                  file);
}

/* Logs facts about a result for which the report has no place.  file: its escaped name. */
static void saved_warn(const char *file, const struct bn_stored *s)
{
  const struct bn_result *r = &s->result;
  const struct bn_group *g = r->n_groups > 0 ? &r->group[0] : NULL;
  const bool has_total = g != NULL && g->has_total;
  const bool has_parts = g != NULL && g->n_intervals + g->n_checkpoints > 0;

  if (!has_total && has_parts)
    bn_log_stderr("'%s' has no totals: the report covers its %zu interval(s) and %zu checkpoint(s)",
                  file, g->n_intervals, g->n_checkpoints);
  else if (!has_total)
    bn_log_stderr("'%s' is of a run that measured nothing", file);
  else if (r->end.partial)
    saved_warn_partial(file, s->of_journal, g->total.view.at_s);
  if (has_total && r->facts.plan.histogram && g->total.view.latency == NULL)
    bn_log_stderr("'%s' has no histograms (--report-bins=none): --histogram prints nothing", file);
  if (r->end.replaced_intervals || r->end.replaced_total)
    bn_log_stderr("'%s': the script printed its own reports during the run; these are the "
                  "standard reports",
                  file);
}

/* The reasons are escaped, because they quote the file. */
void bn_saved_warn_skipped(const char *path, const struct bn_skipped_lines *skipped)
{
  char *file = bn_escape_new(path, "");
  char reason[sizeof skipped->why.text];

  if (skipped->lines > 0) {
    (void)bn_escape(reason, sizeof reason, skipped->why.text, "");
    bn_log_stderr("'%s': %zu line(s) of the journal cannot be read and are left out, the first is "
                  "line %zu: %s",
                  file, skipped->lines, skipped->first, reason);
  }
  if (skipped->bound > 0) {
    (void)bn_escape(reason, sizeof reason, skipped->large.text, "");
    bn_log_stderr("'%s': the journal is read up to line %zu, which is too large: %s", file,
                  skipped->bound, reason);
  }
  free(file);
}

/* Passes a result to the reporter, after all its texts were escaped, because a file may come from
   anybody.  The first result opens the report in `p`, and further results are added to it.  Returns
   0, or -1 and err. */
static int saved_replay(struct bn_reporters *p, const struct bn_reporter *ops, const char *path,
                        struct bn_result *r, struct bn_err *err)
{
  const struct bn_report_use use = {.ops = ops, .out = stdout};
  const bool is_first = p->n == 0;

  bn_facts_set_text(&r->facts, "document", "path", path);
  bn_result_escape(r);
  if (is_first) {
    bn_reporters_init(p, &use, 1);
    p->err = err; /* that of the command, and so of all results */
    if (!bn_reporters_open(p, NULL))
      return -1;
  }
  return bn_reporters_replay(p, r) ? 0 : -1;
}

/* Closes the report of one file or of several joined files, if there is one in `p`, and leaves `p`
   empty for the next one.  rc: -1 if a file could not be printed, which makes the report
   incomplete.  Returns rc, or -1 and err if closing fails. */
static int saved_end_replay(struct bn_reporters *p, int rc)
{
  p->failed = rc != 0;
  if (!bn_reporters_close(p, NULL))
    rc = -1;
  bn_reporters_done(p);
  return rc;
}

/* Prints the result in a file, and then logs what the report does not say of it.  `p` stays open if
   the reporter joins files.  --format=json does without its reporter, which would drop the members
   that a later version has added to the document: the document is made anew with them.  Returns 0,
   or -1 and err. */
static int saved_print_file(const struct bn_reporter *ops, struct bn_reporters *p, const char *path,
                            uint64_t document_max, struct bn_err *err)
{
  const bool as_stored = ops == &bn_reporter_json;
  struct bn_stored stored;
  int rc;

  if (bn_store_load(path, document_max, as_stored, &stored, err) != 0)
    return -1;
  if (as_stored)
    rc = bn_output_write_document(bn_store_document(&stored.result, stored.document), NULL, err);
  else
    rc = saved_replay(p, ops, path, &stored.result, err);
  if (!ops->joins)
    rc = saved_end_replay(p, rc);
  if (rc == 0 && !as_stored) {
    char *file = bn_escape_new(path, "");

    saved_warn(file, &stored);
    free(file);
  }
  if (rc == 0)
    bn_saved_warn_skipped(path, &stored.passed);
  bn_stored_done(&stored);
  return rc;
}

int bn_saved_run(const void *conf, const char *const *operand, struct bn_err *err)
{
  const struct bn_saved_conf *c = conf;
  const struct bn_reporter *ops = reporters[c->format];
  const bool has_several_files = operand[1] != NULL;
  const bool has_headings = has_several_files && !ops->for_programs;
  struct bn_reporters p = {.n = 0};
  int rc = 0;

  if (ops == &bn_reporter_openmetrics && has_several_files) {
    (void)bn_err_set(
        err, EINVAL,
        "--format=openmetrics: a text of metrics has each name once, so name one file");
    return EXIT_FAILURE;
  }
  for (size_t i = 0; rc == 0 && operand[i] != NULL; i++) {
    if (has_headings) {
      char *file = bn_escape_new(operand[i], "");

      (void)printf("%s==> %s <==\n", i > 0 ? "\n" : "", file);
      free(file);
    }
    rc = saved_print_file(ops, &p, operand[i], c->document_max, err);
  }
  return saved_end_replay(&p, rc) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
