/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Literals, quoted names and comments in the text of a statement, which is from begin to end.  The
   functions are pure. */
#ifndef BN_SQL_LEX_H
#define BN_SQL_LEX_H

#include <stdbool.h>

#include "api/driver.h"

static inline bool bn_sql_is_mysql(const struct bn_sql_caps *caps)
{
  return caps->syntax == BN_SYNTAX_MYSQL;
}

static inline bool bn_sql_is_postgresql(const struct bn_sql_caps *caps)
{
  return caps->syntax == BN_SYNTAX_POSTGRESQL;
}

static inline bool bn_sql_is_blank(char c)
{
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static inline bool bn_sql_is_digit(char c)
{
  return c >= '0' && c <= '9';
}

/* Returns whether the character is part of a name, a keyword or a number. */
static inline bool bn_sql_is_word(char c)
{
  return bn_sql_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         (c & 0x80) != 0;
}

/* Returns the position after a literal or quoted name that begins at p, or end if it is not closed.
   A doubled quote does not close it, nor, with `backslash`, a quote after a backslash. */
const char *bn_sql_skip_quoted(const char *p, const char *end, bool backslash);
/* Returns whether the quote at p begins a text with backslash escapes: any text if the server has
   them (`backslash`), else only PostgreSQL's E'...'; never a name in backticks. */
bool bn_sql_escapes_here(const char *p, const char *begin, bool backslash);
/* Returns the position after PostgreSQL's $tag$ text $tag$ that begins at p, or p + 1 if the dollar
   at p begins none, because it is part of a name or of $1. */
const char *bn_sql_skip_dollars(const char *p, const char *begin, const char *end);
/* Returns the position after the line that p is in. */
const char *bn_sql_skip_line(const char *p, const char *end);
/* bn_sql_skip_comment for a character that may begin a comment. */
const char *bn_sql_skip_comment_slow(const char *p, const char *end,
                                     const struct bn_sql_caps *caps);
/* Returns the position after the comment at p, p if there is none, or end if it is not closed.
   MySQL and MariaDB execute the text of their version comments, so for one of these, returns the
   position after its mark. */
static inline const char *bn_sql_skip_comment(const char *p, const char *end,
                                              const struct bn_sql_caps *caps)
{
  return *p == '#' || *p == '-' || *p == '/' ? bn_sql_skip_comment_slow(p, end, caps) : p;
}

#endif
