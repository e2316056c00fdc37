/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The destination of a subcommand's result: the file of --output, or standard output. */
#ifndef BN_REPORT_WRITTEN_H
#define BN_REPORT_WRITTEN_H

#include "base/err.h"
#include "measure/store.h"

/* path: the value of --output; NULL or "-": standard output.  All return 0, or -1 and err. */

/* Checks before the work that the file can be written. */
int bn_written_check(const char *path, struct bn_err *err);
/* Replaces the file as a whole, so that it has the old text or the new one, and frees the document.
   NULL: there was no memory for it. */
int bn_written_document(struct bn_node *document, const char *path, struct bn_err *err);

#endif
