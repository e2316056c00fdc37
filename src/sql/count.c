/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How statements are counted. */
#include "sql/count.h"

#include <string.h>
#include <strings.h>

static bool is_blank(char c)
{
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool begins_with(const char *sql, size_t len, const char *word, size_t word_len)
{
  return len >= word_len && strncasecmp(sql, word, word_len) == 0;
}

enum bn_sql_kind bn_sql_kind_of(bool by_first_word, const char *sql, size_t len)
{
  if (__builtin_expect(!by_first_word, 1))
    return BN_SQL_BY_RESULT;
  while (len > 0 && is_blank(*sql)) {
    sql++;
    len--;
  }
  if (begins_with(sql, len, "select", 6))
    return BN_SQL_READ;
  if (begins_with(sql, len, "insert", 6) || begins_with(sql, len, "update", 6) ||
      begins_with(sql, len, "delete", 6))
    return BN_SQL_WRITE;
  if (begins_with(sql, len, "commit", 6) || begins_with(sql, len, "unlock tables", 13))
    return BN_SQL_COMMIT;
  return BN_SQL_OTHER;
}

/* Past blanks and comments. */
static const char *skip(const char *sql, const char *end)
{
  while (sql < end) {
    if (is_blank(*sql)) {
      sql++;
    } else if (end - sql >= 4 && sql[0] == '/' && sql[1] == '*') {
      const char *close = memmem(sql + 2, (size_t)(end - sql) - 2, "*/", 2);

      sql = close != NULL ? close + 2 : end;
    } else if (end - sql >= 2 && sql[0] == '-' && sql[1] == '-') {
      const char *line = memchr(sql, '\n', (size_t)(end - sql));

      sql = line != NULL ? line + 1 : end;
    } else {
      break;
    }
  }
  return sql;
}

enum bn_sql_verb bn_sql_verb_of(const char *sql, size_t len)
{
  const char *const end = sql + len;
  size_t left;

  sql = skip(sql, end);
  left = (size_t)(end - sql);
  switch (left > 0 ? *sql : '\0') {
  case 'I':
  case 'i':
    return begins_with(sql, left, "insert", 6) ? BN_VERB_INSERT : BN_VERB_OTHER;
  case 'R':
  case 'r':
    return begins_with(sql, left, "replace", 7) ? BN_VERB_INSERT : BN_VERB_OTHER;
  case 'U':
  case 'u':
    return begins_with(sql, left, "update", 6) ? BN_VERB_UPDATE : BN_VERB_OTHER;
  case 'D':
  case 'd':
    return begins_with(sql, left, "delete", 6) ? BN_VERB_DELETE : BN_VERB_OTHER;
  default:
    return BN_VERB_OTHER;
  }
}
