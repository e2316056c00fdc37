/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a study writes what it found: the file of --output, or standard output. */
#ifndef BN_STUDY_OUTPUT_H
#define BN_STUDY_OUTPUT_H

#include "base/buf.h"
#include "base/err.h"
#include "measure/store.h"

/* path: of --output; NULL or "-": standard output.  All return 0, or -1 and err. */

/* Before the work is done: whether the file can be written. */
int bn_output_check(const char *path, struct bn_err *err);
/* A file has the old text or the whole new one. */
int bn_output_text(const struct bn_buf *text, const char *path, struct bn_err *err);
/* Takes the document over; NULL: there was no memory for it. */
int bn_output_document(const struct bn_store *js, struct bn_node *document, const char *path,
                       struct bn_err *err);

#endif
