/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a report in one piece, so that a reader never finds half of it. */
#include "report/document.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"

static int document_cannot(const struct bn_document *d, struct bn_err *err)
{
  if (d->path == NULL)
    return bn_err_set(err, errno, "cannot write the report: %s", strerror(errno));
  return bn_err_set(err, errno, "cannot write the report to '%s': %s", d->path, strerror(errno));
}

int bn_document_open(struct bn_document *d, const char *form, const char *path, FILE *out,
                     struct bn_err *err)
{
  const char *fault;

  *d = (struct bn_document){.path = bn_file_is_stdout(path) ? NULL : path,
                            .out = out != NULL ? out : stdout};
  if (d->path == NULL)
    return 0;
  fault = bn_file_fault(d->path);
  if (fault != NULL)
    return bn_err_set(err, EINVAL, "--report=%s:%s: %s", form, d->path, fault);
  return bn_file_try(d->path) == 0 ? 0 : document_cannot(d, err);
}

int bn_document_write(const struct bn_document *d, const char *text, size_t len, struct bn_err *err)
{
  errno = 0;
  if (d->path != NULL)
    return bn_file_save(d->path, text, len) == 0 ? 0 : document_cannot(d, err);
  return fwrite(text, 1, len, d->out) == len && fflush(d->out) == 0 ? 0 : document_cannot(d, err);
}
