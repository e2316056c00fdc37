/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report written in one piece when the run has ended, so that its file is never half written. */
#ifndef BN_REPORT_DOCUMENT_H
#define BN_REPORT_DOCUMENT_H

#include <stddef.h>
#include <stdio.h>

#include "base/err.h"

struct bn_document {
  const char *path; /* borrowed; NULL: `out` */
  FILE *out;        /* borrowed */
};

/* Called before a run: refuses a file that cannot be written.  form: the name of the report.  out
   NULL: standard output if there is no path. */
int bn_document_open(struct bn_document *d, const char *form, const char *path, FILE *out,
                     struct bn_err *err);
int bn_document_write(const struct bn_document *d, const char *text, size_t len,
                      struct bn_err *err);

#endif
