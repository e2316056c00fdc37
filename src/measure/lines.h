/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a file block by block or line by line, so that no more than a block and a line of it are in
   memory. */
#ifndef BN_MEASURE_LINES_H
#define BN_MEASURE_LINES_H

#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"

struct bn_lines {
  FILE *f;
  struct bn_buf line;
  size_t at, n; /* block[at..n) has not been taken yet */
  char block[65536];
};

/* Reads the file, which stays the caller's, from where it is. */
void bn_lines_init(struct bn_lines *l, FILE *f);
void bn_lines_done(struct bn_lines *l);
/* Returns the bytes that come next, which may end within a line or be of several, and sets *len to
   their number; 0: the file is at its end, or ferror() says that it cannot be read.  The same bytes
   come again until they are skipped. */
const char *bn_lines_block(struct bn_lines *l, size_t *len);
/* Skips the first len bytes of the block. */
void bn_lines_skip(struct bn_lines *l, size_t len);
/* Puts the next line into l->line, without its newline.  Returns 1; 0 if no line with a newline is
   left, or ferror() says that the file cannot be read; or -1 and err: the line is longer than
   BN_BOUND_LINE_BYTES.  The error begins with "it", for which the caller names the line. */
int bn_lines_next(struct bn_lines *l, struct bn_err *err);

#endif
