/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes texts and documents of subcommands. */
#include "report/written.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"

static bool is_stdout(const char *path)
{
  return path == NULL || strcmp(path, "-") == 0;
}

int bn_written_check(const char *path, struct bn_err *err)
{
  const char *fault = is_stdout(path) ? NULL : bn_file_fault(path);

  if (fault != NULL)
    return bn_err_set(err, BN_ERR_OPTION, "--output=%s: %s", path, fault);
  if (!is_stdout(path) && bn_file_try(path) != 0)
    return bn_err_set(err, BN_ERR_OPTION, "--output=%s: %s", path, bn_file_reason(errno));
  return 0;
}

int bn_written_document(struct bn_node *document, const char *path, struct bn_err *err)
{
  int rc;

  if (document == NULL)
    return bn_err_set(err, ENOMEM, "out of memory");
  rc = is_stdout(path) ? bn_store_print(document, stdout, err) : bn_store_save(document, path, err);
  bn_node_free(document);
  return rc;
}
