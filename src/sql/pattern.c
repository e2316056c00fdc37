/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A text of a statement with places for its values. */
#include "sql/pattern.h"

#include <stdlib.h>

/* If the quote is doubled, this ends between the two, and no part of a pattern goes on there. */
const char *bn_sql_skip_quotes(const char *p, const char *end)
{
  const char *close = *p == '\'' ? memchr(p + 1, '\'', (size_t)(end - p - 1)) : NULL;

  if (close == NULL || memchr(p, '\\', (size_t)(close - p)) != NULL)
    return p;
  return close + 1;
}

/* A literal from p to behind.  END: none that other texts may have another one for. */
static enum bn_sql_place value_of(const char *p, const char *behind)
{
  if (bn_sql_skip_digits(p) == behind)
    return BN_SQL_PLACE_NUMBER;
  return bn_sql_skip_quotes(p, behind) == behind ? BN_SQL_PLACE_QUOTED : BN_SQL_PLACE_END;
}

/* The i-th one, without its sign, which belongs to the text. */
struct literal {
  size_t at, behind;
  enum bn_sql_place value;
};

static struct literal literal_of(const char *sql, const struct bn_sql_literals *literals, size_t i)
{
  struct literal l = {.at = literals->literal[i].at};

  l.behind = l.at + literals->literal[i].len;
  l.at += sql[l.at] == '-' || sql[l.at] == '+';
  l.value = value_of(sql + l.at, sql + l.behind);
  return l;
}

static void pattern_fill(struct bn_sql_pattern *p, const char *sql, size_t len,
                         const struct bn_sql_literals *literals)
{
  struct bn_sql_part *part = p->part;
  char *text = p->text;
  size_t from = 0;

  for (size_t i = 0; i < literals->n; i++) {
    const struct literal l = literal_of(sql, literals, i);

    if (l.value == BN_SQL_PLACE_END)
      continue;
    memcpy(text, sql + from, l.at - from);
    text += l.at - from;
    *part++ = (struct bn_sql_part){(uint16_t)(l.at - from), (uint8_t)l.value};
    from = l.behind;
  }
  memcpy(text, sql + from, len - from);
  *part = (struct bn_sql_part){(uint16_t)(len - from), BN_SQL_PLACE_END};
}

/* The bytes around the values. */
static size_t text_around(const char *sql, size_t len, const struct bn_sql_literals *literals)
{
  for (size_t i = 0; i < literals->n; i++) {
    const struct literal l = literal_of(sql, literals, i);

    if (l.value != BN_SQL_PLACE_END)
      len -= l.behind - l.at;
  }
  return len;
}

struct bn_sql_pattern *bn_sql_pattern_new(const char *sql, size_t len,
                                          const struct bn_sql_literals *literals)
{
  struct bn_sql_pattern *p = NULL;
  size_t size;

  if (literals->n > BN_SQL_LITERALS)
    return NULL;
  size = text_around(sql, len, literals);
  if (size <= BN_SQL_PATTERN_TEXT)
    p = malloc(sizeof *p + size);
  if (p != NULL)
    pattern_fill(p, sql, len, literals);
  return p;
}
