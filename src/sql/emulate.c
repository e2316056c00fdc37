/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prepared statements that are sent as text: puts the values in place of the question marks. */
#include "sql/emulate.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sql/lex.h"

const char *bn_sql_find_param(const char *p, const char *begin, const char *end,
                              const struct bn_sql_caps *caps)
{
  const bool is_mysql = bn_sql_is_mysql(caps);
  const bool is_postgresql = bn_sql_is_postgresql(caps);
  const char *after;

  while (p < end) {
    switch (*p) {
    case '?':
      return p;
    case '\'':
    case '"':
      p = bn_sql_skip_quoted(p, end, bn_sql_escapes_here(p, begin, is_mysql));
      break;
    case '`': /* in PostgreSQL a character of operators, else it encloses names */
      p = is_postgresql ? p + 1 : bn_sql_skip_quoted(p, end, false /* no backslashes */);
      break;
    case '-':
    case '#':
    case '/':
      after = bn_sql_skip_comment(p, end, caps);
      p = after > p ? after : p + 1;
      break;
    case '$':
      p = is_mysql ? p + 1 : bn_sql_skip_dollars(p, begin, end);
      break;
    default:
      p++;
    }
  }
  return end;
}

void bn_sql_marks_find(struct bn_sql_marks *marks, const char *sql, size_t len,
                       const struct bn_sql_caps *caps)
{
  const char *const end = sql + len;

  *marks = (struct bn_sql_marks){.n = 0};
  for (const char *p = bn_sql_find_param(sql, sql, end, caps); p < end;
       p = bn_sql_find_param(p + 1, sql, end, caps)) {
    marks->at = bn_alloc_grow(marks->at, marks->n, sizeof *marks->at);
    marks->at[marks->n++] = (size_t)(p - sql);
  }
}

void bn_sql_marks_done(struct bn_sql_marks *marks)
{
  free(marks->at);
  *marks = (struct bn_sql_marks){.n = 0};
}

/* Adds the number in decimal.  It does not use snprintf, which takes longer, because each statement
   may have many numbers. */
static void emulate_add_int(struct bn_buf *out, int64_t v)
{
  char text[20], *p = text + sizeof text; /* INT64_MIN has 20 characters; no 0 ends the text */
  uint64_t magnitude = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;

  do {
    *--p = (char)('0' + magnitude % 10);
    magnitude /= 10;
  } while (magnitude != 0);
  if (v < 0)
    *--p = '-';
  (void)bn_buf_add(out, p, (size_t)(text + sizeof text - p));
}

/* Adds the number with 15 digits, or with 17 if 15 do not read back as the same number.  A whole
   number gets ".0", so that it is not taken for an integer.  NaN becomes NULL, and infinity a
   number that is too large. */
static void emulate_add_double(struct bn_buf *out, double v)
{
  char text[40];

  if (isnan(v)) {
    (void)bn_buf_str(out, "NULL");
    return;
  }
  if (isinf(v)) {
    (void)bn_buf_str(out, v < 0 ? "-9e999" : "9e999");
    return;
  }
  (void)snprintf(text, sizeof text, "%.15g", v);
  if (strtod(text, NULL) != v)
    (void)snprintf(text, sizeof text, "%.17g", v);
  if (strpbrk(text, ".e") == NULL)
    (void)strncat(text, ".0", sizeof text - strlen(text) - 1);
  (void)bn_buf_str(out, text);
}

/* Adds the text as a literal in single quotes. */
static void emulate_add_text(const struct bn_sql_emulation *e, const char *data, size_t len,
                             struct bn_buf *out)
{
  (void)bn_buf_char(out, '\'');
  /* quote writes at most 2 * len bytes and a terminator, in whose place the last quote stands. */
  (void)bn_buf_reserve(out, 2 * len + 2);
  out->len += e->quote(e->conn, out->data + out->len, data, len);
  (void)bn_buf_char(out, '\'');
}

/* Adds the value as a literal, or as NULL. */
static void emulate_add_value(const struct bn_sql_emulation *e, const struct bn_sql_bind *b,
                              struct bn_buf *out)
{
  const size_t len = out->len;

  /* After one dash, a blank has to stand: with a negative value, "5-?" would become a comment.
     After two, as in "5--?", a blank would be wrong: in MySQL it would make a comment of them. */
  if (len > 0 && out->data[len - 1] == '-' && (len == 1 || out->data[len - 2] != '-'))
    (void)bn_buf_char(out, ' ');
  if (bn_sql_bind_null(b))
    (void)bn_buf_str(out, "NULL");
  else if (b->type == BN_SQL_INT64)
    emulate_add_int(out, *(const int64_t *)b->data);
  else if (b->type == BN_SQL_DOUBLE)
    emulate_add_double(out, *(const double *)b->data);
  else
    emulate_add_text(e, b->data, *b->len, out);
}

void bn_sql_emulate(const struct bn_sql_emulation *e, const struct bn_sql_bind *binds,
                    struct bn_buf *out)
{
  size_t from = 0;

  bn_buf_clear(out);
  for (size_t i = 0; i < e->marks->n; i++) {
    const size_t mark = e->marks->at[i];

    (void)bn_buf_add(out, e->sql + from, mark - from);
    emulate_add_value(e, &binds[i], out);
    from = mark + 1;
  }
  (void)bn_buf_add(out, e->sql + from, e->len - from);
}
