/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Failures of SQLite: their class, their SQLSTATE, and whether they end the transaction. */
#include <stdio.h>
#include <string.h>

#include "drivers/common/remedy.h"
#include "drivers/sqlite/sqlite.h"

/* Returns the primary result code of an extended one, such as SQLITE_BUSY of
   SQLITE_BUSY_SNAPSHOT. */
static int error_primary(int code)
{
  return code & 0xff;
}

/* Returns the class of an error.  An extended code tells more than its primary one, so it is looked
   at first. */
static enum bn_sql_class error_class(int code)
{
  switch (code) {
  case SQLITE_BUSY_SNAPSHOT:
    return BN_CLASS_SERIALIZATION;
  case SQLITE_CONSTRAINT_UNIQUE:
  case SQLITE_CONSTRAINT_PRIMARYKEY:
  case SQLITE_CONSTRAINT_ROWID:
    return BN_CLASS_DUPLICATE;
  default:
    break;
  }
  switch (error_primary(code)) {
  case SQLITE_BUSY:
    return BN_CLASS_LOCK_TIMEOUT;
  case SQLITE_READONLY:
    return BN_CLASS_READ_ONLY;
  case SQLITE_FULL:
  case SQLITE_IOERR:
  case SQLITE_NOMEM:
    return BN_CLASS_RESOURCE;
  case SQLITE_CANTOPEN:
    return BN_CLASS_CONNECTION;
  default:
    return BN_CLASS_OTHER;
  }
}

enum bn_sql_class bn_sqlite_classify(const struct bn_sql_diag *d)
{
  return error_class(d->code);
}

/* SQLite has no error number for a table that exists already. */
const char *bn_sqlite_find_remedy(const struct bn_sql_diag *d)
{
  static const char beginning[] = "table ";

  if (d->code == SQLITE_ERROR && strncmp(d->text, beginning, sizeof beginning - 1) == 0 &&
      strstr(d->text, " already exists") != NULL)
    return bn_remedy_table;
  return NULL;
}

/* SQLite has no error number for a missing table. */
bool bn_sqlite_is_missing_table(const struct bn_sql_diag *d)
{
  static const char beginning[] = "no such table: ";

  return d->code == SQLITE_ERROR && strncmp(d->text, beginning, sizeof beginning - 1) == 0;
}

/* Returns a SQLSTATE, which SQLite does not have: PostgreSQL's for such an error, so that scripts
   and --db-ignore-errors can name it. */
static const char *error_sqlstate(int code)
{
  switch (error_class(code)) {
  case BN_CLASS_SERIALIZATION:
    return "40001"; /* serialization_failure */
  case BN_CLASS_LOCK_TIMEOUT:
    return "55P03"; /* lock_not_available */
  case BN_CLASS_DUPLICATE:
    return "23505"; /* unique_violation */
  case BN_CLASS_READ_ONLY:
    return "25006"; /* read_only_sql_transaction */
  case BN_CLASS_CONNECTION:
    return "08001"; /* sqlclient_unable_to_establish_sqlconnection */
  default:
    break;
  }
  switch (error_primary(code)) {
  case SQLITE_FULL:
    return "53100"; /* disk_full */
  case SQLITE_NOMEM:
    return "53200"; /* out_of_memory */
  case SQLITE_IOERR:
    return "58030"; /* io_error */
  case SQLITE_CORRUPT:
  case SQLITE_NOTADB:
    return "XX001"; /* data_corrupted */
  case SQLITE_CONSTRAINT:
    return "23000"; /* integrity_constraint_violation */
  case SQLITE_INTERRUPT:
    return "57014"; /* query_canceled */
  default:
    return "HY000"; /* general error, as MySQL's */
  }
}

/* Returns whether the failure concerns the file, so that its name helps. */
static bool error_is_about_file(int code)
{
  switch (error_primary(code)) {
  case SQLITE_FULL:
  case SQLITE_IOERR:
  case SQLITE_READONLY:
  case SQLITE_CORRUPT:
  case SQLITE_NOTADB:
    return true;
  default:
    return false;
  }
}

/* Returns whether a transaction cannot go on after the failure: until it ends, it only blocks other
   connections. */
static bool error_makes_transaction_useless(int code)
{
  const int primary = error_primary(code);

  return error_is_about_file(code) || primary == SQLITE_BUSY || primary == SQLITE_NOMEM ||
         primary == SQLITE_INTERRUPT;
}

/* Rolls back the transaction if the failure has made it useless.  Sets d->rolled_back to whether no
   transaction is open then: it was rolled back, here or by SQLite itself, or there was none.  The
   connection has no lock of the file then, so its turn in the file's queue ends. */
static void error_end_useless_transaction(struct bn_sqlite_conn *c, struct bn_sql_diag *d)
{
  if (c->db == NULL) /* SQLite had no memory for the connection */
    return;
  if (sqlite3_get_autocommit(c->db) == 0 && error_makes_transaction_useless(d->code))
    (void)sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
  d->rolled_back = sqlite3_get_autocommit(c->db) != 0;
  if (d->rolled_back)
    bn_sqlite_end_turn(c);
}

enum bn_sql bn_sqlite_fail_text(struct bn_sqlite_conn *c, int code, const char *call,
                                const char *text, struct bn_sql_diag *d)
{
  d->code = code;
  (void)snprintf(d->state, sizeof d->state, "%s", error_sqlstate(code));
  d->call = call;
  (void)snprintf(d->text, sizeof d->text, "%s", text);
  error_end_useless_transaction(c, d);
  return BN_SQL_ERROR;
}

/* Appends ": " and a detail between two quotes to a text, and cuts the result to its size. */
static void error_append(char *text, size_t size, const char *detail, const char *quote)
{
  const size_t len = strlen(text);

  (void)snprintf(text + len, size - len, ": %s%s%s", quote, detail, quote);
}

enum bn_sql bn_sqlite_fail(struct bn_sqlite_conn *c, int rc, const char *call,
                           struct bn_sql_diag *d)
{
  const int primary = error_primary(rc);
  const char *file;
  int system_error;
  char text[sizeof d->text];

  if (c->db == NULL) /* SQLite had no memory for the connection */
    return bn_sqlite_fail_text(c, rc, call, sqlite3_errstr(rc), d);
  (void)snprintf(text, sizeof text, "%s", sqlite3_errmsg(c->db));
  file = sqlite3_db_filename(c->db, "main");
  if (error_is_about_file(rc) && file != NULL && file[0] != '\0')
    error_append(text, sizeof text, file, "'");
  system_error = sqlite3_system_errno(c->db);
  if ((primary == SQLITE_CANTOPEN || primary == SQLITE_IOERR) && system_error != 0)
    error_append(text, sizeof text, strerror(system_error), "");
  return bn_sqlite_fail_text(c, rc, call, text, d);
}
