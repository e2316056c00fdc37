/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens and closes the files of --report, and checks that the output has been written. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mask.h"
#include "cli/cli.h"
#include "registry.h"

/* Refuses a value of --report for this reason, and lists the existing reports.  Returns -1. */
static int reports_refuse(const char *value, const char *reason)
{
  struct bn_buf known = {.max = 0};
  char masked[BN_MASK_MAX];

  for (size_t i = 0; bn_registry_reporters[i] != NULL; i++)
    (void)bn_buf_printf(&known, "%s%s", i > 0 ? ", " : "", bn_registry_reporters[i]->name);
  bn_log_stderr("--report=%s: %s; allowed: %s", bn_mask_text(value, masked), reason, known.data);
  bn_buf_done(&known);
  return -1;
}

/* Returns whether one report at most may write to the path, because the next would overwrite its
   output.  Several reports may write to standard output (NULL), to "/dev/stdout" and other names of
   open files, and to /dev/null. */
static bool reports_is_exclusive(const char *path)
{
  return path != NULL && bn_file_find_descriptor(path) < 0 && strcmp(path, "/dev/null") != 0;
}

/* Returns whether the path is that of the journal that the report keeps beside its file. */
static bool reports_is_journal_of(const struct bn_report_use *use, const char *path)
{
  char journal[PATH_MAX];

  if (use->ops->journal == NULL)
    return false;
  if ((size_t)snprintf(journal, sizeof journal, "%s%s", use->path, use->ops->journal) >=
      sizeof journal)
    return false; /* no file has so long a name */
  return bn_file_is_same(journal, path);
}

/* Returns whether both reports write to the same file, or one to the journal of the other. */
static bool reports_share_file(const struct bn_report_use *a, const struct bn_report_use *b)
{
  if (!reports_is_exclusive(a->path) || !reports_is_exclusive(b->path))
    return false;
  return bn_file_is_same(a->path, b->path) || reports_is_journal_of(a, b->path) ||
         reports_is_journal_of(b, a->path);
}

/* Reads "NAME[:FILE]"; without a file, or with "-", the report goes to standard output.  Returns 0,
   or -1 after a message that there is no such report. */
static int reports_parse(const char *wanted, struct bn_report_use *use)
{
  const size_t len = strcspn(wanted, ":");
  const char *file = wanted[len] == ':' ? wanted + len + 1 : "-";

  *use = (struct bn_report_use){.ops = bn_registry_find_reporter(wanted, len),
                                .path = strcmp(file, "-") != 0 ? file : NULL,
                                .out = stdout};
  return use->ops != NULL ? 0 : reports_refuse(wanted, "no such report");
}

/* Opens the file of a report, which keeps its old content until the report is written.  Returns 0,
   or -1 after a message. */
static int reports_open_file(struct bn_report_use *use)
{
  const int fd = bn_file_reopen(use->path);

  use->out = fd >= 0 ? fdopen(fd, "w") : NULL;
  if (use->out != NULL)
    return 0;
  bn_log_stderr("cannot write the report to '%s': %s", use->path, bn_file_explain(errno));
  if (fd >= 0)
    (void)close(fd);
  return -1;
}

/* Opens one report.  `before` has n reports, which are open, and may not have the same file.
   Returns 0, or -1 after a message: then no file is open. */
static int reports_open(const char *wanted, const struct bn_report_use *before, size_t n,
                        struct bn_report_use *use)
{
  if (reports_parse(wanted, use) != 0)
    return -1;
  for (size_t i = 0; i < n; i++)
    if (reports_share_file(&before[i], use)) {
      bn_log_stderr("--report=%s: another --report uses this file too; name another file", wanted);
      return -1;
    }
  if (use->ops->own_file) {
    use->out = NULL; /* the reporter opens the file itself */
    return 0;
  }
  if (use->path == NULL)
    return 0; /* standard output */
  return reports_open_file(use);
}

int bn_cli_open_reports(const struct bn_list *wanted, struct bn_report_use **reports, size_t *n)
{
  const size_t n_wanted = wanted != NULL ? wanted->n : 0;

  *n = 0;
  *reports = bn_alloc(n_wanted + BN_CLI_MORE_REPORTS, sizeof **reports);
  /* A list may be empty by mistake, as in --report=$UNSET: nobody wants a run of hours without its
     result. */
  if (wanted != NULL && wanted->n == 0)
    return reports_refuse("", "no report is named");
  for (; *n < n_wanted; (*n)++)
    if (reports_open(wanted->item[*n], *reports, *n, &(*reports)[*n]) != 0)
      return -1;
  return 0;
}

bool bn_cli_prints_document(const struct bn_cli *cli, const struct bn_report_use *reports, size_t n)
{
  size_t documents = 0, texts = 0;

  for (size_t i = 0; i < n; i++) {
    if (reports[i].ops->aside || !bn_file_is_stdout(reports[i].path))
      continue;
    if (reports[i].ops->for_programs)
      documents++;
    else
      texts++;
  }
  return bn_cli_is_command(cli, "run") && documents > 0 && texts == 0;
}

/* Closes the file of a report, or the memory in which an agent keeps a report for its controller,
   which has no path.  Returns 0, or -1 after a message. */
static int reports_close(const struct bn_report_use *use)
{
  if (fclose(use->out) == 0)
    return 0;
  if (use->path != NULL)
    bn_log_stderr("cannot write the report to '%s': %s", use->path, bn_file_explain(errno));
  else
    bn_log_stderr("cannot keep the report for the controller: %s", strerror(errno));
  return -1;
}

int bn_cli_close_reports(const struct bn_report_use *reports, size_t n)
{
  int rc = 0;

  for (size_t i = 0; i < n; i++) {
    const bool is_own = reports[i].out != NULL && reports[i].out != stdout;

    if (is_own && reports_close(&reports[i]) != 0)
      rc = -1;
  }
  return rc;
}

int bn_cli_check_output(void)
{
  if (bn_log_flush())
    return 0;
  bn_log_stderr("cannot write to standard output: part of the output is lost");
  return -1;
}
