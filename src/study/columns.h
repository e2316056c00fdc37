/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables for people: aligned text, or Markdown. */
#ifndef BN_STUDY_COLUMNS_H
#define BN_STUDY_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* All zero but align is an empty table. */
struct bn_columns {
  const char *align; /* 'l' or 'r' for each column */
  char **cell;       /* owned; row by row, the first has the headings */
  size_t n;
  bool failed; /* there was no memory for a cell */
};

/* The next cell, which may quote a file. */
__attribute__((format(printf, 2, 3))) void bn_columns_add(struct bn_columns *c, const char *fmt,
                                                          ...);
/* Adds the table to out: lines indented by two blanks, or a table of Markdown.  0, or -1: out of
   memory. */
int bn_columns_print(const struct bn_columns *c, bool markdown, struct bn_buf *out);
void bn_columns_done(struct bn_columns *c);

enum { BN_COLUMNS_DIGITS = 32 };
/* Four significant digits, without an exponent where that is short.  Returns digits. */
const char *bn_columns_number(char digits[BN_COLUMNS_DIGITS], double value);
/* "2026-03-01 12:00" in UTC. */
const char *bn_columns_time(char digits[BN_COLUMNS_DIGITS], uint64_t wall_ns);

#endif
