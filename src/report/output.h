/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text that a reporter writes during the run: pieces are flushed at once, and errors are kept. */
#ifndef BN_REPORT_OUTPUT_H
#define BN_REPORT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/err.h"

struct bn_output {
  FILE *out;     /* borrowed */
  int error;     /* errno of the first failed write; 0: none, -1: not known */
  bool own_file; /* `out` is a plain file that only this reporter writes to */
  bool begun;    /* bn_output_begin() has been called, which empties an own file */
  bool gaps;     /* later pieces can be read even if one is missing */
  off_t kept;    /* bytes of an own file that are in whole pieces */
};

/* path: the name of `out`; NULL: standard output, or another stream without a name. */
void bn_output_init(struct bn_output *o, FILE *out, const char *path);

/* Starts a piece and locks the stream, because other threads may log to it.  An own file is emptied
   now, so that a run that fails before its first piece leaves the file as it was. */
void bn_output_begin(struct bn_output *o);
/* Flushes the piece, so that a reader of a pipe sees it, and unlocks the stream.  If a part cannot
   be written, an own file ends before the piece.  Without `gaps` it ends there for good, because
   later rows need the names of their columns. */
void bn_output_end(struct bn_output *o);
/* Returns 0, or -1 and err if something was not written. */
int bn_output_verdict(const struct bn_output *o, struct bn_err *err);

#endif
