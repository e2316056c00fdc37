/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns rows of an INSERT into the lines of a driver's bulk load. */
#include "sql/load.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "sql/lex.h"

static const char *load_skip_space(const char *p, const char *end)
{
  while (p < end && bn_sql_is_blank(*p))
    p++;
  return p;
}

/* Returns whether the character may be part of the name of a table or column, quoted or not, with
   the name of its schema. */
static bool load_is_name_char(char c)
{
  return bn_sql_is_word(c) || c == '$' || c == '.' || c == '`' || c == '"';
}

/* Returns the position after a keyword at p and the blanks that follow it, or NULL if p is NULL or
   the keyword is not there. */
static const char *load_skip_word(const char *p, const char *end, const char *word)
{
  const size_t len = strlen(word);

  if (p == NULL || (size_t)(end - p) < len || strncasecmp(p, word, len) != 0)
    return NULL;
  p += len;
  return p < end && load_is_name_char(*p) ? NULL : load_skip_space(p, end);
}

/* Returns the position after all characters of names and of `others` at p. */
static const char *load_skip_name(const char *p, const char *end, const char *others)
{
  while (p < end && (load_is_name_char(*p) || (*p != '\0' && strchr(others, *p) != NULL)))
    p++;
  return p;
}

/* Finds a list of columns in parentheses at p, and sets *list and *len to what is between them.
   Both stay as they are if there are no parentheses.  Returns the position after the list and the
   blanks that follow it, or NULL if the parentheses hold anything else. */
static const char *load_find_columns(const char *p, const char *end, const char **list, size_t *len)
{
  const char *list_end;

  if (p == end || *p != '(')
    return p;
  *list = p + 1;
  list_end = load_skip_name(*list, end, ", ");
  if (list_end == end || *list_end != ')' || list_end == *list)
    return NULL;
  *len = (size_t)(list_end - *list);
  return load_skip_space(list_end + 1, end);
}

/* Splits "INSERT INTO table [(columns)] VALUES"; *columns is "" if there are none.  Returns true,
   and the caller frees both copies, or false if the text is anything else. */
static bool load_split_insert(const char *sql, size_t len, char **table, char **columns)
{
  const char *const end = sql + len;
  const char *name, *name_end, *list = "";
  size_t list_len = 0;
  const char *p = load_skip_word(load_skip_space(sql, end), end, "INSERT");

  p = load_skip_word(p, end, "INTO");
  if (p == NULL)
    return false;
  name = p;
  name_end = load_skip_name(name, end, "");
  /* If the list is malformed, p is NULL, which load_skip_word returns again. */
  p = load_find_columns(load_skip_space(name_end, end), end, &list, &list_len);
  p = load_skip_word(p, end, "VALUES");
  if (name == name_end || p != end)
    return false;
  *table = bn_alloc_part(name, (size_t)(name_end - name));
  *columns = bn_alloc_part(list, list_len);
  return true;
}

void bn_sql_load_forget(struct bn_sql_load *l)
{
  free(l->table);
  free(l->columns);
  l->table = l->columns = NULL;
  bn_buf_done(&l->lines);
  l->on = false;
}

bool bn_sql_load_start(struct bn_sql_load *l, const char *insert, size_t len)
{
  bn_sql_load_forget(l);
  if (!load_split_insert(insert, len, &l->table, &l->columns))
    return false;
  (void)bn_buf_reserve(&l->lines, BN_SQL_LOAD_MAX);
  l->rows = 0;
  l->on = true;
  return true;
}

/* Returns the position after the digits at p. */
static const char *load_skip_digits(const char *p, const char *end)
{
  while (p < end && bn_sql_is_digit(*p))
    p++;
  return p;
}

/* Returns the position after a number that all servers store as it is written, like "0", "12"
   and "-1.50".  Returns NULL if there is none at p, as in "-0", "007" and "1.". */
static const char *load_skip_number(const char *p, const char *end)
{
  const bool is_negative = *p == '-';
  const char *digits = is_negative ? p + 1 : p;
  const char *after = load_skip_digits(digits, end);

  if (after == digits || (*digits == '0' && (after - digits > 1 || is_negative)))
    return NULL;
  if (after == end || *after != '.')
    return after;
  digits = after + 1;
  after = load_skip_digits(digits, end);
  return after > digits ? after : NULL;
}

/* Returns the letter that stands for c after a backslash, or '\0' if c is not escaped. */
static char load_escape_of(char c)
{
  switch (c) {
  case '\t':
    return 't';
  case '\n':
    return 'n';
  case '\r':
    return 'r';
  default:
    return '\0';
  }
}

/* Adds the text of the literal whose quote is at p, with the escapes of lines and with one quote
   for each doubled one.  Returns the position after the literal, or NULL if it has a backslash,
   which not all servers read alike, or a 0 byte, or no end. */
static const char *load_add_literal(struct bn_buf *out, const char *p, const char *end)
{
  const char *from = p + 1; /* the text from here on has not been added */

  for (p = from; p < end; p++) {
    const char escape = load_escape_of(*p);

    if (*p == '\\' || *p == '\0')
      return NULL;
    if (*p != '\'' && escape == '\0')
      continue;
    (void)bn_buf_add(out, from, (size_t)(p - from));
    if (escape != '\0') {
      (void)bn_buf_char(out, '\\');
      (void)bn_buf_char(out, escape);
    } else if (end - p > 1 && p[1] == '\'') {
      (void)bn_buf_char(out, '\'');
      p++; /* the second quote */
    } else {
      return p + 1;
    }
    from = p + 1;
  }
  return NULL;
}

/* Adds the value at p.  Returns the position after it, or NULL if only the server can say what the
   value is; then a part of it may have been added. */
static const char *load_add_value(struct bn_buf *out, const char *p, const char *end)
{
  const char *from = p;

  if (p == end)
    return NULL;
  if (*p == '\'')
    return load_add_literal(out, p, end);
  if (*p == 'N' || *p == 'n') {
    (void)bn_buf_str(out, "\\N");
    return load_skip_word(p, end, "NULL");
  }
  p = load_skip_number(p, end);
  if (p != NULL)
    (void)bn_buf_add(out, from, (size_t)(p - from));
  return p;
}

bool bn_sql_load_add(struct bn_sql_load *l, const char *row, size_t len)
{
  const char *const end = row + len;
  const char *p = load_skip_space(row, end);
  const size_t len_before = l->lines.len;
  bool has_value = p < end && *p == '(';

  /* Each round adds the value after the '(' or ',' at p. */
  while (has_value) {
    p = load_add_value(&l->lines, load_skip_space(p + 1, end), end);
    if (p != NULL)
      p = load_skip_space(p, end);
    if (p == NULL || p == end)
      break;
    has_value = *p == ',';
    (void)bn_buf_char(&l->lines, has_value ? '\t' : '\n');
  }
  /* Nothing may follow the ")". */
  if (p != NULL && p < end && *p == ')' && load_skip_space(p + 1, end) == end) {
    l->rows++;
    return true;
  }
  l->lines.len = len_before;
  return false;
}

void bn_sql_load_describe(const struct bn_sql_load *l, struct bn_buf *b)
{
  (void)bn_buf_printf(b, "bulk load of %zu row%s into %s", l->rows, l->rows == 1 ? "" : "s",
                      l->table);
  if (l->columns[0] != '\0')
    (void)bn_buf_printf(b, "(%s)", l->columns);
}
