/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Digests of statements: the text that statements have in common which differ only in their
   values. */
#ifndef BN_SQL_DIGEST_H
#define BN_SQL_DIGEST_H

#include <stddef.h>

#include "api/driver.h"

enum { BN_SQL_LITERALS = 32 };

/* The literals of a text; a mark of a parameter is none.  n is more than BN_SQL_LITERALS if there
   are more of them, or if the text was not read to its end. */
struct bn_sql_literals {
  size_t n;
  struct {
    size_t at, len; /* in bytes, from the beginning of the text */
  } literal[BN_SQL_LITERALS];
};

/* Writes the digest of a text to out: comments are left out, all blanks have one form, and each
   literal is "?".  A list in parentheses of nothing but literals, NULL, TRUE, FALSE and DEFAULT is
   "(...)", and so are several such lists with commas between them.  "SELECT c FROM t WHERE id IN
   (1, 2)" becomes "SELECT c FROM t WHERE id IN(...)".  Letters keep their case.  Double quotes
   enclose literals if backslashes escape (MySQL), else names.  Writes at most `size` bytes, without
   a final 0 and without a part of a character, and returns their number.  Pure. */
size_t bn_sql_digest(const char *sql, size_t len, const struct bn_sql_caps *caps, char *out,
                     size_t size, struct bn_sql_literals *literals);

#endif
