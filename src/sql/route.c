/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --db-read-hosts: what the text of a statement says about the server that may have it. */
#include "sql/route.h"

#include <string.h>
#include <strings.h>

#include "sql/count.h"
#include "sql/lex.h"

/* A word, or any other single character; blanks, comments, literals and quoted names are none. */
struct token {
  const char *text;
  size_t len; /* 0: the end of the text */
};

/* A text that is read from p on. */
struct scan {
  const char *begin, *p, *end;
  const struct bn_sql_caps *caps;
};

static bool route_is_word(const struct token *t)
{
  return t->len > 0 && bn_sql_is_word(*t->text);
}

static bool route_is_char(const struct token *t, char c)
{
  return t->len == 1 && *t->text == c;
}

/* Returns whether the token is this word, in any case. */
static bool route_equals(const struct token *t, const char *word)
{
  return t->len == strlen(word) && strncasecmp(t->text, word, t->len) == 0;
}

/* Returns whether the token is one of the words, whose list ends with NULL. */
static bool route_is_one_of(const struct token *t, const char *const *words)
{
  while (*words != NULL && !route_equals(t, *words))
    words++;
  return *words != NULL;
}

/* Returns the position after the blank, comment, literal or quoted name at p, or NULL if a token
   begins there. */
static const char *route_skip_between(const struct scan *s, const char *p)
{
  const bool is_mysql = bn_sql_is_mysql(s->caps);
  const char *after = bn_sql_skip_comment(p, s->end, s->caps);

  if (after != p)
    return after;
  if (strchr(" \t\r\n\f\v", *p) != NULL)
    return p + 1;
  if (*p == '$' && !is_mysql)
    return bn_sql_skip_dollars(p, s->begin, s->end);
  if (*p == '\'' || *p == '"' || *p == '`')
    return bn_sql_skip_quoted(p, s->end, bn_sql_escapes_here(p, s->begin, is_mysql));
  return NULL;
}

/* Moves past the next token of the text, and returns it.  At the end, its length is 0. */
static struct token route_next(struct scan *s)
{
  const char *begin = s->p;

  while (begin < s->end) {
    const char *after = route_skip_between(s, begin);

    if (after == NULL)
      break;
    begin = after;
  }
  s->p = begin;
  if (begin == s->end)
    return (struct token){begin, 0};
  s->p++;
  while (bn_sql_is_word(*begin) && s->p < s->end && bn_sql_is_word(*s->p))
    s->p++;
  return (struct token){begin, (size_t)(s->p - begin)};
}

/* Returns whether the word t, after the token `prev`, shows that the statement writes or locks,
   wherever it stands.  The word may be a name, or a function that does not write: then the
   statement goes to the write server without need, which is correct as well. */
static bool route_is_writing(const struct token *prev, const struct token *t)
{
  static const char *const words[] = {
      "insert", "update", "delete", "merge", "into", "call", "sql_calc_found_rows", NULL};

  if (route_is_one_of(t, words))
    return true;
  /* FOR SHARE, FOR KEY SHARE, LOCK IN SHARE MODE. */
  if (route_equals(t, "share"))
    return route_equals(prev, "for") || route_equals(prev, "key") || route_equals(prev, "in");
  /* NEXT VALUE FOR a sequence. */
  return route_equals(t, "value") && (route_equals(prev, "next") || route_equals(prev, "previous"));
}

/* Returns whether the function writes, depends on earlier statements of its session, or acts on the
   server itself. */
static bool route_is_function_of_session(const struct token *name)
{
  static const char *const names[] = {"nextval",
                                      "setval",
                                      "currval",
                                      "lastval",
                                      "get_lock",
                                      "release_lock",
                                      "release_all_locks",
                                      "is_free_lock",
                                      "is_used_lock",
                                      "last_insert_id",
                                      "row_count",
                                      "found_rows",
                                      "set_config",
                                      "current_setting",
                                      "pg_notify",
                                      "txid_current",
                                      "pg_current_xact_id",
                                      "loread",
                                      "lowrite",
                                      "pg_cancel_backend",
                                      "pg_terminate_backend",
                                      "pg_switch_wal",
                                      "pg_create_restore_point",
                                      "pg_reload_conf",
                                      "pg_logical_emit_message",
                                      "pg_export_snapshot",
                                      NULL};
  static const char *const prefixes[] = {"lo_", "pg_advisory_", "pg_try_advisory_", "dblink", NULL};

  for (const char *const *p = prefixes; *p != NULL; p++) {
    if (name->len >= strlen(*p) && strncasecmp(name->text, *p, strlen(*p)) == 0)
      return true;
  }
  return route_is_one_of(name, names);
}

/* Returns whether t, after the token `prev`, is the name of a MySQL variable that belongs to the
   session, so that the read server does not know it: a variable of the user (after one at sign),
   and after two of them a variable named with its scope, as in "@@session.x", or one that tells
   what earlier statements did. */
static bool route_is_variable_of_session(const struct scan *s, const struct token *prev,
                                         const struct token *t)
{
  static const char *const names[] = {
      "session",       "local",       "last_insert_id", "identity",       "insert_id",
      "warning_count", "error_count", "last_gtid",      "in_transaction", NULL};

  if (!bn_sql_is_mysql(s->caps) || !route_is_char(prev, '@') || route_is_char(t, '@'))
    return false;
  if (prev->text == s->begin || prev->text[-1] != '@')
    return true;
  /* If t does not follow the at sign at once, the name of the variable was skipped, because it is
     in backticks: it may be any name. */
  return t->text != prev->text + 1 || route_is_one_of(t, names);
}

/* Reads the rest of a statement that begins with a word such as SELECT.  Returns READ, or WRITE if
   something in it writes or belongs to its session, or another statement follows. */
static enum bn_sql_route route_of_read(struct scan *s)
{
  struct token prev = {s->p, 0}, t;
  bool has_ended = false; /* a semicolon has ended the statement */

  for (t = route_next(s); t.len > 0; prev = t, t = route_next(s)) {
    const bool is_semicolon = route_is_char(&t, ';');

    if (has_ended && !is_semicolon)
      return BN_ROUTE_WRITE;
    has_ended |= is_semicolon;
    if (route_is_word(&t) && route_is_writing(&prev, &t))
      return BN_ROUTE_WRITE;
    if (route_is_char(&t, '(') && route_is_word(&prev) && route_is_function_of_session(&prev))
      return BN_ROUTE_WRITE;
    if (route_is_variable_of_session(s, &prev, &t))
      return BN_ROUTE_WRITE;
  }
  /* A variable in backticks at the end of the text was skipped. */
  return route_is_char(&prev, '@') ? BN_ROUTE_WRITE : BN_ROUTE_READ;
}

/* Reads the rest of BEGIN or of START TRANSACTION.  Returns BEGIN_READ if the transaction is READ
   ONLY and no other statement follows, else WRITE.  PostgreSQL obeys the last of several modes. */
static enum bn_sql_route route_of_begin(struct scan *s)
{
  struct token prev = {s->p, 0}, t;
  bool is_read_only = false, has_ended = false; /* has_ended: by a semicolon */

  for (t = route_next(s); t.len > 0; prev = t, t = route_next(s)) {
    const bool is_semicolon = route_is_char(&t, ';');

    if (has_ended && !is_semicolon)
      return BN_ROUTE_WRITE;
    has_ended |= is_semicolon;
    if (route_equals(&prev, "read") && (route_equals(&t, "only") || route_equals(&t, "write")))
      is_read_only = route_equals(&t, "only");
  }
  return is_read_only ? BN_ROUTE_BEGIN_READ : BN_ROUTE_WRITE;
}

enum bn_sql_route bn_sql_route_of(const char *sql, size_t len, const struct bn_sql_caps *caps)
{
  static const char *const reading[] = {"select", "with", "values", "table", NULL};
  static const char *const beginning[] = {"begin", "start", NULL};
  struct scan s = {.begin = sql, .p = sql, .end = sql + len, .caps = caps};
  struct token first = route_next(&s);

  while (route_is_char(&first, '('))
    first = route_next(&s);
  if (route_is_one_of(&first, reading))
    return route_of_read(&s);
  if (route_is_one_of(&first, beginning))
    return route_of_begin(&s);
  return BN_ROUTE_WRITE;
}

/* Returns whether the server may end the open transaction before it carries out the statement, as
   MySQL does before it begins another one, changes autocommit, or locks tables. */
static bool route_may_end_transaction(enum bn_sql_boundary boundary, const struct bn_sql_caps *caps)
{
  switch (boundary) {
  case BN_BOUNDARY_BEGIN:
  case BN_BOUNDARY_MANUAL:
  case BN_BOUNDARY_AUTO:
  case BN_BOUNDARY_FOREIGN:
    return true;
  case BN_BOUNDARY_LOCK: /* in PostgreSQL, the lock is a part of the transaction */
    return bn_sql_is_mysql(caps);
  case BN_BOUNDARY_NONE:
  case BN_BOUNDARY_COMMIT:
  case BN_BOUNDARY_ROLLBACK:
  case BN_BOUNDARY_NATIVE:
    break;
  }
  return false;
}

/* Returns whether the statement commits the open transaction before it is carried out, which
   MariaDB does even within a transaction that cannot write. */
static bool route_commits_first(const struct token *first, const struct token *second)
{
  static const char *const words[] = {
      "alter",  "create", "drop",  "rename", "truncate", "grant",     "revoke", "optimize",
      "repair", "check",  "flush", "reset",  "install",  "uninstall", "cache",  NULL};

  /* ANALYZE of a query only reads. */
  if (route_equals(first, "analyze"))
    return route_equals(second, "table") || route_equals(second, "local") ||
           route_equals(second, "no_write_to_binlog");
  return route_is_one_of(first, words) && !route_equals(second, "temporary");
}

/* Returns the next token that is no number.  The text of MySQL's version comments is read,
   because the server executes it, but the number in their mark is no word of the statement. */
static struct token route_next_word(struct scan *s)
{
  struct token t = route_next(s);

  while (t.len > 0 && bn_sql_is_digit(*t.text))
    t = route_next(s);
  return t;
}

/* Returns whether the token ends a statement. */
static bool route_is_end(const struct token *t)
{
  return t->len == 0 || route_is_char(t, ';');
}

bool bn_sql_leaves_reading(const char *sql, size_t len, const struct bn_sql_caps *caps)
{
  const bool is_mysql = bn_sql_is_mysql(caps);
  struct scan s = {.begin = sql, .p = sql, .end = sql + len, .caps = caps};
  bool has_more = true;
  bool transaction_has_ended = false; /* by an earlier statement */

  /* Each round reads one statement. */
  while (has_more) {
    const enum bn_sql_boundary boundary = bn_sql_boundary_of(s.p, (size_t)(s.end - s.p));
    const struct token first = route_next_word(&s);
    struct scan ahead = s;
    const struct token second = route_next(&ahead);
    bool names_autocommit = false;
    struct token t;

    if (!route_is_end(&first)) { /* else the statement is empty */
      if (transaction_has_ended || route_may_end_transaction(boundary, caps) ||
          (is_mysql && route_commits_first(&first, &second)))
        return true;
      transaction_has_ended = boundary == BN_BOUNDARY_COMMIT || boundary == BN_BOUNDARY_ROLLBACK;
    }
    for (t = first; !route_is_end(&t); t = route_next(&s))
      names_autocommit |= route_equals(&t, "autocommit");
    has_more = t.len > 0; /* a semicolon */
    if (is_mysql && names_autocommit && route_equals(&first, "set"))
      return true;
  }
  return false;
}

/* Returns whether the rest of the statement has the words READ WRITE. */
static bool route_has_read_write(struct scan *s)
{
  struct token prev = {s->p, 0}, t;

  for (t = route_next(s); !route_is_end(&t); prev = t, t = route_next(s))
    if (route_equals(&prev, "read") && route_equals(&t, "write"))
      return true;
  return false;
}

/* Returns whether the rest of the statement has a word that turns a variable off. */
static bool route_has_off(struct scan *s)
{
  static const char *const off[] = {"off", "false", "no", "0", NULL};

  for (struct token t = route_next(s); !route_is_end(&t); t = route_next(s))
    if (route_is_one_of(&t, off))
      return true;
  return false;
}

/* Recognizes SET TRANSACTION READ WRITE and SET transaction_read_only TO off. */
bool bn_sql_turns_writing(const char *sql, size_t len, const struct bn_sql_caps *caps)
{
  struct scan s = {.begin = sql, .p = sql, .end = sql + len, .caps = caps};
  struct token t = route_next(&s);

  if (bn_sql_is_mysql(caps) || !route_equals(&t, "set"))
    return false;
  t = route_next(&s);
  if (route_equals(&t, "local"))
    t = route_next(&s);
  if (route_equals(&t, "transaction"))
    return route_has_read_write(&s);
  return route_equals(&t, "transaction_read_only") && route_has_off(&s);
}
