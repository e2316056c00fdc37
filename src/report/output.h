/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The output of reports: text that is written during the run, documents that are written in one
   piece when the run has ended, and the results of subcommands. */
#ifndef BN_REPORT_OUTPUT_H
#define BN_REPORT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/err.h"
#include "measure/store.h"

/* Text that a reporter writes during the run: pieces are flushed at once, and errors are kept. */
struct bn_output {
  FILE *out;          /* borrowed */
  int error;          /* errno of the first failed write; 0: none, -1: not known */
  bool own_file;      /* `out` is a plain file that only this reporter writes to */
  bool begun;         /* bn_output_begin() has been called, which empties an own file */
  bool may_have_gaps; /* the caller sets it if later pieces can be read even if one is missing */
  off_t kept;         /* bytes of an own file, up to the end of the last complete piece */
};

/* Makes an output that has written nothing.  path: the name of `out`; NULL: standard output, or
   another stream without a name.  There is nothing to free. */
void bn_output_init(struct bn_output *o, FILE *out, const char *path);

/* Starts a piece and locks the stream, because other threads may log to it.  The first piece
   empties an own file; a run that fails before its first piece leaves the file as it was. */
void bn_output_begin(struct bn_output *o);
/* Flushes the piece, so that a reader of a pipe sees it, and unlocks the stream.  If a part of the
   piece cannot be written, an own file is cut to end before the piece.  Without `may_have_gaps` all
   later pieces are cut off too, because later rows need the names of their columns. */
void bn_output_end(struct bn_output *o);
/* Writes a whole piece, from bn_output_begin() to bn_output_end().  len may be 0. */
void bn_output_write(struct bn_output *o, const char *text, size_t len);
/* Returns 0 if all pieces were written, or -1 and err with the reason of the first failure. */
int bn_output_check_written(const struct bn_output *o, struct bn_err *err);

/* A report written in one piece when the run has ended, so that its file is never half written. */
struct bn_document {
  const char *path; /* borrowed; NULL: `out` */
  FILE *out;        /* borrowed */
};

/* Returns 0, or -1 and err if no report can be saved to the file (bn_file_find_fault).  form: the
   name of the report, as in --report=FORM:PATH. */
int bn_document_check_path(const char *form, const char *path, struct bn_err *err);
/* Prepares a document before a run, and refuses a file that could not be written at its end.
   form: as for bn_document_check_path().  path NULL, or a name of standard output: the document
   goes to `out`, which is standard output if it is NULL.  Returns 0, or -1 and err.  There is
   nothing to close. */
int bn_document_open(struct bn_document *d, const char *form, const char *path, FILE *out,
                     struct bn_err *err);
/* Replaces the file by the text as a whole, or prints the text.  Returns 0, or -1 and err. */
int bn_document_write(const struct bn_document *d, const char *text, size_t len,
                      struct bn_err *err);

/* The result of a subcommand goes to `path`, the value of --output; NULL or "-": standard output.
   Both functions return 0, or -1 and err. */

/* Checks before the work that the file can be written, and leaves it as it is. */
int bn_output_check_path(const char *path, struct bn_err *err);
/* Replaces the file by the document as a whole, or prints the document, and frees it in every
   case. */
int bn_output_write_document(struct bn_node *document, const char *path, struct bn_err *err);

#endif
