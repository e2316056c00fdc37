/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a file block by block or line by line, so that no more of it than that is in memory. */
#ifndef BN_MEASURE_LINES_H
#define BN_MEASURE_LINES_H

#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"

struct bn_lines {
  FILE *f;
  struct bn_buf line; /* its max is the bound of a line */
  size_t at, n;       /* what is left of the block */
  char block[65536];
};

/* The file stays the caller's. */
void bn_lines_init(struct bn_lines *l, FILE *f, size_t max);
void bn_lines_done(struct bn_lines *l);
/* Returns the bytes that come next, across lines; they stay there until they are skipped.  *len 0:
   the end, or ferror(). */
const char *bn_lines_block(struct bn_lines *l, size_t *len);
void bn_lines_skip(struct bn_lines *l, size_t len);
/* Puts the next line into l->line, without its newline.  0: there is none that has one, or
   ferror(); 1, or -1 and err: it is longer than the bound, or there is no memory. */
int bn_lines_next(struct bn_lines *l, struct bn_err *err);

#endif
