/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes reports: text at once, documents in one piece, and the results of subcommands. */
#include "report/output.h"

#include <errno.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

void bn_output_init(struct bn_output *o, FILE *out, const char *path)
{
  /* Other programs may write to a descriptor that the name stands for, such as /dev/fd/3. */
  const bool is_opened_here = path != NULL && bn_file_find_descriptor(path) < 0;
  struct stat st;

  *o = (struct bn_output){.out = out};
  o->own_file = is_opened_here && fstat(fileno(out), &st) == 0 && S_ISREG(st.st_mode);
}

void bn_output_begin(struct bn_output *o)
{
  flockfile(o->out);
  /* The first piece replaces what the file has from an earlier run. */
  if (o->own_file && !o->begun && ftruncate(fileno(o->out), 0) != 0)
    o->error = errno;
  o->begun = true;
}

/* Cuts the file after its last complete piece, and drops the rest of the failed piece in the buffer
   of stdio.  A failure to cut is not reported: o->error already has the failure before it. */
static void output_cut_file(const struct bn_output *o)
{
  const int fd = fileno(o->out);

  __fpurge(o->out);
  if (ftruncate(fd, o->kept) == 0 && lseek(fd, o->kept, SEEK_SET) == o->kept)
    clearerr(o->out);
}

void bn_output_end(struct bn_output *o)
{
  bool has_failed, drops_piece;

  errno = 0;
  has_failed = fflush(o->out) != 0 || ferror(o->out);
  if (has_failed && o->error == 0)
    o->error = errno != 0 ? errno : -1; /* an earlier write has failed; its errno is lost */
  /* Without `may_have_gaps`, nothing may follow a piece that is missing. */
  drops_piece = has_failed || (o->error != 0 && !o->may_have_gaps);
  if (o->own_file && drops_piece)
    output_cut_file(o);
  else if (o->own_file)
    o->kept = lseek(fileno(o->out), 0, SEEK_CUR);
  funlockfile(o->out);
}

void bn_output_write(struct bn_output *o, const char *text, size_t len)
{
  bn_output_begin(o);
  if (len > 0) /* else `text` may be NULL, as in an empty bn_buf */
    (void)fwrite(text, 1, len, o->out);
  bn_output_end(o);
}

int bn_output_check_written(const struct bn_output *o, struct bn_err *err)
{
  if (o->error > 0)
    return bn_err_set(err, o->error, "cannot write the report: %s", strerror(o->error));
  if (o->error < 0) /* the reason is not known */
    return bn_err_set(err, 0, "its file could not be written");
  return 0;
}

/* Sets err to the sentence that the document cannot be written.  reason: a value of errno; 0: it is
   not known, because stdio need not set errno.  Returns -1. */
static int output_refuse_document(const struct bn_document *d, int reason, struct bn_err *err)
{
  if (reason == 0)
    return bn_err_set(err, 0, "the report could not be written");
  if (d->path == NULL)
    return bn_err_set(err, reason, "cannot write the report: %s", strerror(reason));
  return bn_err_set(err, reason, "cannot write the report to '%s': %s", d->path,
                    bn_file_explain(reason));
}

int bn_document_check_path(const char *form, const char *path, struct bn_err *err)
{
  const char *fault = bn_file_find_fault(path);

  if (fault != NULL)
    return bn_err_set(err, EINVAL, "--report=%s:%s: %s", form, path, fault);
  return 0;
}

int bn_document_open(struct bn_document *d, const char *form, const char *path, FILE *out,
                     struct bn_err *err)
{
  *d = (struct bn_document){.path = bn_file_is_stdout(path) ? NULL : path,
                            .out = out != NULL ? out : stdout};
  if (d->path == NULL)
    return 0;
  if (bn_document_check_path(form, d->path, err) != 0)
    return -1;
  if (bn_file_try_save(d->path) != 0)
    return output_refuse_document(d, errno, err);
  return 0;
}

int bn_document_write(const struct bn_document *d, const char *text, size_t len, struct bn_err *err)
{
  bool written;

  errno = 0;
  if (d->path != NULL)
    written = bn_file_save(d->path, text, len) == 0;
  else
    written = fwrite(text, 1, len, d->out) == len && fflush(d->out) == 0;
  return written ? 0 : output_refuse_document(d, errno, err);
}

/* Returns whether --output names no file.  Other names of standard output, such as /dev/stdout, are
   files that bn_file_save() writes to in place. */
static bool output_is_on_stdout(const char *path)
{
  return path == NULL || strcmp(path, "-") == 0;
}

int bn_output_check_path(const char *path, struct bn_err *err)
{
  const char *fault;

  if (output_is_on_stdout(path))
    return 0;
  fault = bn_file_find_fault(path);
  if (fault == NULL && bn_file_try_save(path) != 0)
    fault = bn_file_explain(errno);
  if (fault != NULL)
    return bn_err_set(err, BN_ERR_OPTION, "--output=%s: %s", path, fault);
  return 0;
}

int bn_output_write_document(struct bn_node *document, const char *path, struct bn_err *err)
{
  int rc;

  if (output_is_on_stdout(path))
    rc = bn_store_print(document, stdout, err);
  else
    rc = bn_store_save(document, path, err);
  bn_node_free(document);
  return rc;
}
