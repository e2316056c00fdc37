/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes texts and documents of studies. */
#include "study/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"

static bool is_stdout(const char *path)
{
  return path == NULL || strcmp(path, "-") == 0;
}

int bn_output_check(const char *path, struct bn_err *err)
{
  const char *fault = is_stdout(path) ? NULL : bn_file_fault(path);

  if (fault != NULL)
    return bn_err_set(err, BN_ERR_OPTION, "--output=%s: %s", path, fault);
  if (!is_stdout(path) && bn_file_try(path) != 0)
    return bn_err_set(err, BN_ERR_OPTION, "--output=%s: %s", path, bn_file_reason(errno));
  return 0;
}

int bn_output_text(const struct bn_buf *text, const char *path, struct bn_err *err)
{
  if (text->failed)
    return bn_err_set(err, ENOMEM, "out of memory");
  errno = 0;
  if (!is_stdout(path) && bn_file_save(path, text->data, text->len) != 0)
    return bn_err_set(err, errno, "cannot write '%s': %s", path, bn_file_reason(errno));
  if (is_stdout(path) && text->len > 0 && fwrite(text->data, 1, text->len, stdout) != text->len)
    return bn_err_set(err, errno, "cannot write to standard output: %s", strerror(errno));
  return 0;
}

int bn_output_document(const struct bn_store *js, struct bn_node *document, const char *path,
                       struct bn_err *err)
{
  int rc;

  if (document == NULL)
    return bn_err_set(err, ENOMEM, "out of memory");
  rc = is_stdout(path) ? bn_store_print(js, document, stdout, err)
                       : bn_store_save(js, document, path, err);
  js->free(document);
  return rc;
}
