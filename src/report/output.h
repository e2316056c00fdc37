/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text that a reporter writes as the run goes on: at once, in one piece, and errors are kept. */
#ifndef BN_REPORT_OUTPUT_H
#define BN_REPORT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/err.h"

struct bn_output {
  FILE *out;  /* borrowed */
  int error;  /* of the first failed write; 0: none, -1: some earlier write of others failed */
  bool own;   /* a plain file that nobody else writes to */
  bool begun; /* such a file has lost what it had */
  bool gaps;  /* what follows a piece that is missing can be read without it */
  off_t kept; /* of such a file: the bytes that were written in whole pieces */
};

/* path names `out`; NULL: standard output, or whatever the caller gives. */
void bn_output_init(struct bn_output *o, FILE *out, const char *path);

/* Messages of other threads go to the same file: they wait until what follows is complete.  An own
   file is emptied now, so that a run that fails before it has anything to say leaves it as it was.
 */
void bn_output_begin(struct bn_output *o);
/* It leaves the buffer at once, so that a reader of a pipe sees it.  If a part of it cannot be
   written, an own file ends before it: no line is cut.  For good, unless `gaps`: later rows need
   the names of their columns. */
void bn_output_end(struct bn_output *o);
/* 0, or -1: something was not written. */
int bn_output_verdict(const struct bn_output *o, struct bn_err *err);

#endif
