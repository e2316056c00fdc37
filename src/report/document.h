/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report that is written in one piece when the run has ended: its file is whole or is not there.
 */
#ifndef BN_REPORT_DOCUMENT_H
#define BN_REPORT_DOCUMENT_H

#include <stddef.h>
#include <stdio.h>

#include "base/err.h"

struct bn_document {
  const char *path; /* borrowed; NULL: `out` */
  FILE *out;        /* borrowed */
};

/* Before a run: refuses a file that could not be written.  form: the name of the report; out NULL:
   standard output, if no path is given. */
int bn_document_open(struct bn_document *d, const char *form, const char *path, FILE *out,
                     struct bn_err *err);
int bn_document_write(const struct bn_document *d, const char *text, size_t len,
                      struct bn_err *err);

#endif
