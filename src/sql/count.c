/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How statements are counted. */
#include "sql/count.h"

#include <strings.h>

static bool begins_with(const char *sql, size_t len, const char *word, size_t word_len)
{
  return len >= word_len && strncasecmp(sql, word, word_len) == 0;
}

enum bn_sql_kind bn_sql_kind_of(bool by_first_word, const char *sql, size_t len)
{
  if (__builtin_expect(!by_first_word, 1))
    return BN_SQL_BY_RESULT;
  while (len > 0 && (*sql == ' ' || *sql == '\t' || *sql == '\n' || *sql == '\r')) {
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
