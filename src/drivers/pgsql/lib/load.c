/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bulk load by COPY. */
#include <limits.h>
#include <stdlib.h>

#include "drivers/pgsql/driver.h"
#include "drivers/pgsql/lib/lib.h"

/* Reads all results of the command, and sets d->rolled_back.  Returns DONE, or the first failure
   and d. */
static enum bn_sql load_read_results(struct bn_pgsql_lib *c, struct bn_sql_diag *d)
{
  enum bn_sql rc = BN_SQL_DONE;
  PGresult *res;

  while ((res = bn_pgsql_lib_get_result(c)) != NULL) {
    const ExecStatusType status = PQresultStatus(res);

    if (rc == BN_SQL_DONE && status != PGRES_COMMAND_OK)
      rc = bn_pgsql_lib_fail(c, res, "COPY", d);
    PQclear(res);
    /* A server that asks for rows again is refused: libpq repeats this status until then. */
    if (status == PGRES_COPY_IN && PQputCopyEnd(c->handle, "ended") != 1)
      break;
  }
  d->rolled_back = PQtransactionStatus(c->handle) == PQTRANS_IDLE;
  return rc;
}

/* Executes a statement.  Returns DONE if it ends with the wanted status, else a failure and d. */
static enum bn_sql load_exec(struct bn_pgsql_lib *c, const char *sql, ExecStatusType wanted,
                             struct bn_sql_diag *d)
{
  PGresult *res = bn_pgsql_lib_exec(c, sql);
  enum bn_sql rc = BN_SQL_DONE;

  if (PQresultStatus(res) != wanted)
    rc = bn_pgsql_lib_fail(c, res, "COPY", d);
  PQclear(res);
  return rc;
}

/* Ends the savepoint of a load, if there is one.  After DONE, the rows are kept.  After ERROR, they
   are undone, and the error stays in d; d->rolled_back says whether the undo has worked, so that
   the caller can insert the rows itself.  Returns the outcome; or, with d, the failure to
   release the savepoint, or LOST if the connection was lost meanwhile. */
static enum bn_sql load_finish(struct bn_pgsql_lib *c, enum bn_sql outcome, struct bn_sql_diag *d)
{
  struct bn_sql_diag undo_diag = {0};
  enum bn_sql undo_rc;

  if (!c->load_has_savepoint || outcome == BN_SQL_LOST)
    return outcome;
  if (outcome == BN_SQL_DONE)
    return load_exec(c, "RELEASE SAVEPOINT bench_load", PGRES_COMMAND_OK, d);
  undo_rc = load_exec(c, "ROLLBACK TO SAVEPOINT bench_load", PGRES_COMMAND_OK, &undo_diag);
  if (undo_rc == BN_SQL_LOST) {
    *d = undo_diag;
    return BN_SQL_LOST;
  }
  d->rolled_back = undo_rc == BN_SQL_DONE;
  return outcome;
}

enum bn_sql bn_pgsql_lib_load_begin(struct bn_pgsql_lib *c, const char *table, const char *columns,
                                    bool in_transaction, struct bn_sql_diag *d)
{
  const bool has_columns = columns[0] != '\0';
  enum bn_sql rc = BN_SQL_DONE;
  char *sql;

  /* A failed COPY would end the caller's transaction with it. */
  if (in_transaction)
    rc = load_exec(c, "SAVEPOINT bench_load", PGRES_COMMAND_OK, d);
  if (rc != BN_SQL_DONE)
    return rc;
  c->load_has_savepoint = in_transaction;
  sql = c->driver->host->print("COPY %s%s%s%s FROM STDIN", table, has_columns ? " (" : "", columns,
                               has_columns ? ")" : "");
  rc = load_exec(c, sql, PGRES_COPY_IN, d);
  free(sql);
  if (rc != BN_SQL_DONE)
    return load_finish(c, rc, d);
  return BN_SQL_DONE;
}

enum bn_sql bn_pgsql_lib_load_rows(struct bn_pgsql_lib *c, const char *rows, size_t len,
                                   struct bn_sql_diag *d)
{
  while (len > 0) {
    const int part = len < INT_MAX ? (int)len : INT_MAX;

    if (bn_pgsql_lib_copy_in(c, rows, part) != 1)
      return bn_pgsql_lib_fail(c, NULL, "PQputCopyData", d);
    rows += part;
    len -= (size_t)part;
  }
  return BN_SQL_DONE;
}

enum bn_sql bn_pgsql_lib_load_end(struct bn_pgsql_lib *c, struct bn_sql_diag *d)
{
  if (PQputCopyEnd(c->handle, NULL) != 1)
    return bn_pgsql_lib_fail(c, NULL, "PQputCopyEnd", d);
  return load_finish(c, load_read_results(c, d), d);
}
