/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adds a row for the run to the rows of other runs in a file. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "report/output.h"
#include "report/reporters.h"
#include "report/rows/line.h"

/* Other runs hold the lock for the time of one write, so that a lock that lasts is not theirs. */
enum { LOCK_WAIT_S = 10 };
static const uint64_t retry_ns = 10 * BN_NSEC_PER_MSEC;

struct total {
  const char *path;    /* of a plain file; NULL: the rows go to the output */
  const char *special; /* of a device or a FIFO, which gets the rows at the end; NULL: none */
  struct bn_output output;
  const struct bn_facts *facts; /* of the run; threads may still add to them */
  struct bn_row row, figures;
  struct bn_buf names, line; /* names: of the file, or of the first row for the output */
  bool measured;             /* figures have the values of the total */
  bool refused;              /* a row had other columns than the rows before it */
};

/* Sets err to the sentence that the rows cannot be written, with errno as its code.  Returns -1. */
static int total_refuse(const char *path, const char *why, struct bn_err *err)
{
  return bn_err_set(err, errno, "cannot write the report to '%s': %s", path, why);
}

/* Decides where rows go: to `out`, to a plain file, or to a device, a FIFO or a descriptor. */
static int total_open(void *self, const void *conf, const char *path, FILE *out, struct bn_err *err)
{
  struct total *t = self;

  (void)conf;
  *t = (struct total){.path = NULL};
  bn_output_init(&t->output, out != NULL ? out : stdout, NULL);
  if (bn_file_is_stdout(path))
    return 0;
  if (bn_file_is_replaceable(path)) {
    t->path = path;
    return 0;
  }
  t->special = path;
  return bn_document_check_path("csv-total", path, err);
}

/* --- the file --------------------------------------------------------------------------------- */

/* Waits for the lock of the file; closing the file releases it.  Returns 0, also if the file system
   has no locks: then two runs that end at the same instant spoil their rows.  Returns -1 and errno
   after a failure, which is EWOULDBLOCK if another process has held the lock for LOCK_WAIT_S. */
static int total_lock(int fd)
{
  const uint64_t until_ns = bn_clock_mono() + LOCK_WAIT_S * BN_NSEC_PER_SEC;

  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const bool may_succeed_later = errno == EWOULDBLOCK || errno == EINTR;
    const bool has_no_locks = errno == ENOSYS || errno == EOPNOTSUPP || errno == ENOLCK;

    if (has_no_locks)
      return 0;
    if (!may_succeed_later || bn_clock_mono() >= until_ns)
      return -1;
    bn_clock_sleep_until(bn_clock_mono() + retry_ns);
  }
  return 0;
}

/* Opens the file, which is made if it is missing.  Returns a descriptor that has its lock, or -1
   and err. */
static int total_open_file(const char *path, struct bn_err *err)
{
  const int fd = bn_file_open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

  if (fd < 0)
    return total_refuse(path, bn_file_explain(errno), err);
  if (total_lock(fd) == 0)
    return fd;
  if (errno == EWOULDBLOCK)
    (void)bn_err_set(
        err, errno, "cannot write the report to '%s': another process has locked it for %d seconds",
        path, LOCK_WAIT_S);
  else
    (void)total_refuse(path, strerror(errno), err);
  (void)close(fd);
  return -1;
}

/* Refuses a file that does not begin with the first `len` bytes of the line of names.  An empty
   file fits every run.  Returns 0, or -1 and err. */
static int total_check_names(const struct total *t, int fd, size_t len, struct bn_err *err)
{
  char *first = bn_alloc(1, len);
  const ssize_t n_read = pread(fd, first, len, 0);
  const bool is_empty = n_read == 0;
  const bool has_names = n_read == (ssize_t)len && memcmp(first, t->names.data, len) == 0;
  int rc = 0;

  if (n_read < 0)
    rc = total_refuse(t->path, strerror(errno), err);
  else if (!is_empty && !has_names)
    rc = bn_err_set(err, EINVAL,
                    "--report=csv-total:%s: the first line of this file does not name the columns "
                    "of this run, which depend on --percentile, on the groups, kinds of events, "
                    "phases and metrics, and on the version of bench; name another file",
                    t->path);
  free(first);
  return rc;
}

/* Makes the text to append, the row.  An empty file gets the names before it, and a file whose last
   line has no newline gets that newline.  Returns 0, or -1 and err. */
static int total_make_lines(struct total *t, int fd, off_t size, struct bn_err *err)
{
  char last = '\n'; /* the last byte of the file; an empty file needs no newline */

  if (size > 0 && pread(fd, &last, 1, size - 1) != 1)
    return total_refuse(t->path, strerror(errno), err);
  bn_buf_clear(&t->line);
  if (size == 0)
    (void)bn_buf_str(&t->line, t->names.data);
  if (last != '\n')
    (void)bn_buf_char(&t->line, '\n');
  bn_line_add_values(&t->line, &t->row);
  return 0;
}

/* Sets err to the sentence why the lines could not be written, by errno.  If a part of them was
   written, cuts the file back to its old size.  Returns -1. */
static int total_undo_append(const struct total *t, int fd, off_t old_size, size_t n_written,
                             struct bn_err *err)
{
  (void)total_refuse(t->path, strerror(errno), err);
  if (n_written == 0 || ftruncate(fd, old_size) == 0)
    return -1;
  return bn_err_set(err, errno, "cannot remove half a row from the end of '%s': %s", t->path,
                    strerror(errno));
}

/* Appends all lines or none, so that no reader finds half a row.  Returns 0, or -1 and err. */
static int total_append(const struct total *t, int fd, off_t old_size, struct bn_err *err)
{
  size_t n_written = 0;

  while (n_written < t->line.len) {
    const ssize_t n = write(fd, t->line.data + n_written, t->line.len - n_written);

    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return total_undo_append(t, fd, old_size, n_written, err);
    n_written += (size_t)n;
  }
  return 0;
}

/* Adds the row to the open file.  The names are checked here, too: a stored result had no check
   before, and the file may have changed during a run.  Returns 0, or -1 and err. */
static int total_append_row(struct total *t, int fd, struct bn_err *err)
{
  struct stat st;

  if (fstat(fd, &st) != 0)
    return total_refuse(t->path, strerror(errno), err);
  if (total_check_names(t, fd, t->names.len, err) != 0 ||
      total_make_lines(t, fd, st.st_size, err) != 0)
    return -1;
  return total_append(t, fd, st.st_size, err);
}

/* Adds the row to the file under its lock.  Returns 0, or -1 and err. */
static int total_append_to_file(struct total *t, struct bn_err *err)
{
  const int fd = total_open_file(t->path, err);
  int rc;

  if (fd < 0)
    return -1;
  rc = total_append_row(t, fd, err);
  if (close(fd) != 0 && rc == 0)
    rc = total_refuse(t->path, strerror(errno), err);
  return rc;
}

/* --- the run ---------------------------------------------------------------------------------- */

/* Makes the row: what the run was, how it ended, and its figures.  f and end NULL: the run has not
   begun. */
static void total_make_row(struct total *t, const struct bn_facts *f, const struct bn_end *end)
{
  bn_row_set_run(&t->row, f, end);
  bn_row_append(&t->row, &t->figures);
}

/* Makes the line of names of the present row.  In a plain file, it comes first. */
static void total_make_names(struct total *t)
{
  bn_buf_clear(&t->names);
  bn_line_add_names(&t->names, &t->row);
}

/* Refuses a file with other columns before the run, which may take hours.  Makes the file if it is
   missing.  While the metrics of scripts are not known (plan->metrics NULL), they may add columns
   after the known ones, so the line of names is compared without its newline. */
static int total_check(void *self, const struct bn_plan *plan, struct bn_err *err)
{
  const bool may_add_columns = plan->metrics == NULL;
  struct total *t = self;
  size_t compared;
  int fd, rc;

  if (t->path == NULL)
    return 0;
  bn_row_set_total(&t->figures, plan, NULL);
  total_make_row(t, NULL, NULL);
  total_make_names(t);
  fd = total_open_file(t->path, err);
  if (fd < 0)
    return -1;
  compared = may_add_columns ? t->names.len - strlen("\n") : t->names.len;
  rc = total_check_names(t, fd, compared, err);
  (void)close(fd);
  return rc;
}

static void total_begin(void *self, const struct bn_facts *f)
{
  struct total *t = self;

  t->facts = f;
  t->measured = false;
}

/* Keeps the figures of the total for total_finish(), which knows how the run ended. */
static int total_total(void *self, const struct bn_view *v, struct bn_err *err)
{
  struct total *t = self;

  (void)err;
  bn_row_set_total(&t->figures, &t->facts->plan, v);
  t->measured = true;
  return 0;
}

/* Adds the row to the lines that total_close() writes.  They are not written earlier, because a
   later row with other columns cancels the report.  Returns 0, or -1 and err. */
static int total_keep_row(struct total *t, struct bn_err *err)
{
  t->refused = bn_line_add_names_once(&t->line, &t->row, &t->names, err) != 0;
  if (t->refused)
    return -1;
  bn_line_add_values(&t->line, &t->row);
  return 0;
}

/* Makes the row of the run, and writes it to the file or keeps it.  A run that measured nothing has
   a row too, with unknown figures. */
static int total_finish(void *self, const struct bn_end *end, struct bn_err *err)
{
  struct total *t = self;

  if (t->facts == NULL)
    return 0;
  if (!t->measured)
    bn_row_set_total(&t->figures, &t->facts->plan, NULL);
  total_make_row(t, t->facts, end);
  if (t->path == NULL)
    return total_keep_row(t, err);
  total_make_names(t);
  return total_append_to_file(t, err);
}

/* Writes the kept rows to the device or FIFO, or to the output.  Returns 0, or -1 and err. */
static int total_write_kept_rows(struct total *t, struct bn_err *err)
{
  if (t->special == NULL) {
    bn_output_write(&t->output, t->line.data, t->line.len);
    return bn_output_check_written(&t->output, err);
  }
  if (bn_file_save(t->special, t->line.data, t->line.len) != 0)
    return total_refuse(t->special, bn_file_explain(errno), err);
  return 0;
}

/* Writes the rows that total_keep_row() has kept, now that no further row can cancel the report.  A
   plain file has its row since total_finish(). */
static int total_close(void *self, struct bn_err *err)
{
  struct total *t = self;
  const bool has_kept_rows = t->path == NULL && !t->refused && t->line.len > 0;
  const int rc = has_kept_rows ? total_write_kept_rows(t, err) : 0;

  bn_row_done(&t->row);
  bn_row_done(&t->figures);
  bn_buf_done(&t->names);
  bn_buf_done(&t->line);
  return rc;
}

const struct bn_reporter bn_reporter_csv_total = {
    .name = "csv-total",
    .state_size = sizeof(struct total),
    .facts = true,
    .own_file = true,
    .joins = true,
    .for_programs = true,
    .open = total_open,
    .check = total_check,
    .begin = total_begin,
    .total = total_total,
    .finish = total_finish,
    .close = total_close,
};
