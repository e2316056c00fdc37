/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A text of a statement with places for its values: finds texts of the same digest in a small part
   of the time that the digest takes. */
#ifndef BN_SQL_PATTERN_H
#define BN_SQL_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "sql/digest.h"

enum { BN_SQL_PATTERN_TEXT = 512 };

/* What stands behind a part of the text. */
enum bn_sql_place {
  BN_SQL_PLACE_END,    /* nothing: the text ends there */
  BN_SQL_PLACE_NUMBER, /* digits, perhaps with a point */
  BN_SQL_PLACE_QUOTED  /* single quotes without a backslash */
};

struct bn_sql_part {
  uint16_t len;  /* of the text before the value */
  uint8_t value; /* enum bn_sql_place */
};

/* pattern.c makes it; the parts of the text stand one behind the other. */
struct bn_sql_pattern {
  struct bn_sql_part part[BN_SQL_LITERALS + 1];
  char text[];
};

/* Of a text with these literals; the caller frees it.  NULL: it has too many of them or more than
   BN_SQL_PATTERN_TEXT bytes around them, or out of memory. */
struct bn_sql_pattern *bn_sql_pattern_new(const char *sql, size_t len,
                                          const struct bn_sql_literals *literals);

/* Behind the value at p, or p: there is none.  end[0] is 0. */
const char *bn_sql_skip_quotes(const char *p, const char *end);

/* A number does not end with its point: what is behind it would mean something else. */
static inline const char *bn_sql_skip_digits(const char *p)
{
  const char *const begin = p;

  if ((unsigned char)(*p - '0') > 9)
    return p;
  do
    p++;
  while ((unsigned char)(*p - '0') <= 9 || *p == '.');
  return p[-1] != '.' ? p : begin;
}

/* true: the text is the same but for its values, and so has the same digest.  sql[len] is 0. */
static inline bool bn_sql_pattern_fits(const struct bn_sql_pattern *p, const char *sql, size_t len)
{
  const char *const end = sql + len, *text = p->text;

  for (const struct bn_sql_part *part = p->part;; part++) {
    const char *value = sql + part->len;

    if (part->len > 0 && (value > end || memcmp(sql, text, part->len) != 0))
      return false;
    if (part->value == BN_SQL_PLACE_END)
      return value == end;
    text += part->len;
    sql = part->value == BN_SQL_PLACE_NUMBER ? bn_sql_skip_digits(value)
                                             : bn_sql_skip_quotes(value, end);
    if (sql == value)
      return false;
  }
}

#endif
