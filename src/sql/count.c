/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How statements are counted. */
#include "sql/count.h"

#include <string.h>
#include <strings.h>

#include "sql/lex.h"

/* Returns whether the text begins with the word, in any case; the word need not end there. */
static bool count_begins_with(const char *sql, size_t len, const char *word, size_t word_len)
{
  return len >= word_len && strncasecmp(sql, word, word_len) == 0;
}

/* count_begins_with for a word whose length the compiler knows. */
#define BEGINS_WITH(sql, len, word) count_begins_with(sql, len, word, sizeof(word) - 1)

/* Returns how dialect 0.5 counts the statement: by its first letters after blanks, which need not
   be a whole word. */
static enum bn_sql_kind count_kind_by_first_word(const char *sql, size_t len)
{
  while (len > 0 && bn_sql_is_blank(*sql)) {
    sql++;
    len--;
  }
  if (BEGINS_WITH(sql, len, "select"))
    return BN_SQL_READ;
  if (BEGINS_WITH(sql, len, "insert") || BEGINS_WITH(sql, len, "update") ||
      BEGINS_WITH(sql, len, "delete"))
    return BN_SQL_WRITE;
  if (BEGINS_WITH(sql, len, "commit") || BEGINS_WITH(sql, len, "unlock tables"))
    return BN_SQL_COMMIT;
  return BN_SQL_OTHER;
}

/* Returns the position after the comment at sql, or sql if there is none.  Comments of all servers
   are skipped, because they cannot be mistaken: on a server without them, no statement begins in
   this way.  MySQL executes its version comments, so only their mark is skipped. */
static const char *count_skip_comment(const char *sql, const char *end)
{
  enum { MARK_LEN = 2, VERSION_MARK_LEN = 3 }; /* two characters; slash, star and '!' */
  const size_t len = (size_t)(end - sql);
  const bool is_line = *sql == '#' || (len >= MARK_LEN && sql[0] == '-' && sql[1] == '-');
  const bool is_block = len > MARK_LEN && sql[0] == '/' && sql[1] == '*';
  const char *close;

  if (is_line)
    return bn_sql_skip_line(sql, end);
  if (is_block && sql[MARK_LEN] == '!') {
    for (sql += VERSION_MARK_LEN; sql < end && bn_sql_is_digit(*sql); sql++)
      ;
    return sql;
  }
  if (!is_block || len < 2 * MARK_LEN)
    return sql;
  close = memmem(sql + MARK_LEN, len - MARK_LEN, "*/", MARK_LEN);
  return close != NULL ? close + MARK_LEN : end;
}

/* Returns the position after blanks and comments. */
static const char *count_skip(const char *sql, const char *end)
{
  while (sql < end) {
    const char *after = bn_sql_is_blank(*sql) ? sql + 1 : count_skip_comment(sql, end);

    if (after == sql)
      break;
    sql = after;
  }
  return sql;
}

/* Returns the verb of a statement by its first word.  The first letter spares most statements a
   comparison of words. */
static inline enum bn_sql_verb count_first_verb(const char *sql, size_t len)
{
  switch (len > 0 ? *sql : '\0') {
  case 'I':
  case 'i':
    return BEGINS_WITH(sql, len, "insert") ? BN_VERB_INSERT : BN_VERB_OTHER;
  case 'R':
  case 'r':
    return BEGINS_WITH(sql, len, "replace") ? BN_VERB_INSERT : BN_VERB_OTHER;
  case 'U':
  case 'u':
    return BEGINS_WITH(sql, len, "update") ? BN_VERB_UPDATE : BN_VERB_OTHER;
  case 'D':
  case 'd':
    return BEGINS_WITH(sql, len, "delete") ? BN_VERB_DELETE : BN_VERB_OTHER;
  default:
    return BN_VERB_OTHER;
  }
}

struct bn_sql_statement_type bn_sql_statement_type_of(bool by_first_word, const char *sql,
                                                      size_t len)
{
  const enum bn_sql_kind kind =
      by_first_word ? count_kind_by_first_word(sql, len) : BN_SQL_BY_RESULT;
  const char *const end = sql + len;

  /* Most texts begin with a word, and have nothing to skip. */
  if (len > 0 && !bn_sql_is_word(*sql))
    sql = count_skip(sql, end);
  return (struct bn_sql_statement_type){kind, count_first_verb(sql, (size_t)(end - sql))};
}

/* Returns the position after the word and the blanks and comments that follow it, or NULL if the
   text begins with anything else.  The text ends with a 0. */
static const char *count_skip_word(const char *sql, const char *end, const char *word)
{
  const size_t len = strlen(word);

  if (!count_begins_with(sql, (size_t)(end - sql), word, len) || bn_sql_is_word(sql[len]))
    return NULL;
  return count_skip(sql + len, end);
}

/* Returns whether the text begins with both words; the second word need not end there. */
static bool count_begins_with_words(const char *sql, const char *end, const char *first,
                                    const char *second)
{
  const char *next = count_skip_word(sql, end, first);

  return next != NULL && count_begins_with(next, (size_t)(end - next), second, strlen(second));
}

/* Returns whether a ROLLBACK is to a savepoint: the transaction goes on. */
static bool count_is_to_savepoint(const char *sql, const char *end)
{
  static const char *const optional[] = {"work", "transaction"};
  const char *p = count_skip_word(sql, end, "rollback");

  for (size_t i = 0; p != NULL && i < sizeof optional / sizeof *optional; i++) {
    const char *next = count_skip_word(p, end, optional[i]);

    p = next != NULL ? next : p;
  }
  return p != NULL && count_skip_word(p, end, "to") != NULL;
}

/* Returns the boundary of "SET autocommit = VALUE", or NONE if there is no '='.  sql ends with a
   0. */
static enum bn_sql_boundary count_autocommit_of(const char *sql)
{
  const char *value = strchr(sql, '=');

  if (value == NULL)
    return BN_BOUNDARY_NONE;
  value += 1 + strspn(value + 1, " \t");
  if (*value == '0' || strncasecmp(value, "off", strlen("off")) == 0)
    return BN_BOUNDARY_MANUAL;
  return BN_BOUNDARY_AUTO;
}

enum bn_sql_boundary bn_sql_boundary_of(const char *sql, size_t len)
{
  static const struct {
    const char *first, *second; /* second NULL: any */
    enum bn_sql_boundary boundary;
  } rows[] = {
      {"begin", NULL, BN_BOUNDARY_BEGIN},       {"start", "transaction", BN_BOUNDARY_BEGIN},
      {"commit", NULL, BN_BOUNDARY_COMMIT},     {"end", NULL, BN_BOUNDARY_COMMIT},
      {"rollback", NULL, BN_BOUNDARY_ROLLBACK}, {"abort", NULL, BN_BOUNDARY_ROLLBACK},
      {"lock", NULL, BN_BOUNDARY_LOCK},         {"unlock", NULL, BN_BOUNDARY_NATIVE},
      {"xa", "start", BN_BOUNDARY_FOREIGN},     {"xa", "begin", BN_BOUNDARY_FOREIGN},
      {"xa", "commit", BN_BOUNDARY_NATIVE},     {"xa", "rollback", BN_BOUNDARY_NATIVE},
  };
  const char *const end = sql + len;

  sql = count_skip(sql, end);
  if (count_is_to_savepoint(sql, end))
    return BN_BOUNDARY_NONE;
  if (count_begins_with_words(sql, end, "set", "autocommit"))
    return count_autocommit_of(sql);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const char *first = rows[i].first, *second = rows[i].second;
    const bool fits = second != NULL
                          ? count_begins_with_words(sql, end, first, second)
                          : count_begins_with(sql, (size_t)(end - sql), first, strlen(first));

    if (fits)
      return rows[i].boundary;
  }
  return BN_BOUNDARY_NONE;
}
