/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Digests of statements: the text that statements have in common which differ only in their
   values. */
#ifndef BN_SQL_DIGEST_H
#define BN_SQL_DIGEST_H

#include <stddef.h>

#include "api/driver.h"

enum { BN_SQL_LITERALS = 32 };

/* The places of the literals of a text; a mark of a parameter is none. */
struct bn_sql_literals {
  size_t n; /* more than BN_SQL_LITERALS: not all of them, or the text was not read to its end */
  struct {
    size_t at, len;
  } literal[BN_SQL_LITERALS];
};

/* Writes the text without comments and with one form of blanks: a literal is "?", a list in
   parentheses of nothing but literals, NULL, TRUE, FALSE and DEFAULT is "(...)", and so is a row of
   them.  "SELECT c FROM t WHERE id IN (1, 2)" is "SELECT c FROM t WHERE id IN(...)".  Letters keep
   their case.  Double quotes are literals where backslashes escape (MySQL), else names.  out gets
   at most size bytes, no 0 and no part of a character; returns their number. */
size_t bn_sql_digest(const char *sql, size_t len, const struct bn_sql_caps *caps, char *out,
                     size_t size, struct bn_sql_literals *literals);

#endif
