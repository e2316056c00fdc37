/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bulk load by COPY. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

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
    /* A server that asks for rows again is refused: libpq returns this status until then. */
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

/* Copies no rows, behind a savepoint, to learn whether COPY is refused, as for a view: that must
   not end the transaction of the caller.  The rows themselves are copied without a savepoint,
   because each savepoint would take a number of a transaction.  Returns DONE, or the failure and
   d. */
static enum bn_sql load_try_copy(struct bn_pgsql_lib *c, const char *copy, struct bn_sql_diag *d)
{
  enum bn_sql rc = load_exec(c, "SAVEPOINT bench_load", PGRES_COMMAND_OK, d);
  struct bn_sql_diag undone;

  if (rc != BN_SQL_DONE)
    return rc;
  rc = load_exec(c, copy, PGRES_COPY_IN, d);
  if (rc == BN_SQL_DONE)
    rc = bn_pgsql_lib_load_end(c, d);
  if (rc == BN_SQL_DONE)
    return load_exec(c, "RELEASE SAVEPOINT bench_load", PGRES_COMMAND_OK, d);
  if (load_exec(c, "ROLLBACK TO SAVEPOINT bench_load", PGRES_COMMAND_OK, &undone) == BN_SQL_LOST)
    return BN_SQL_LOST;
  return rc;
}

/* Tries the COPY, unless it is the one that was tried last, as it mostly is.  Returns DONE, or the
   failure and d. */
static enum bn_sql load_try_copy_once(struct bn_pgsql_lib *c, const char *copy,
                                      struct bn_sql_diag *d)
{
  enum bn_sql rc;

  if (c->tried_copy != NULL && strcmp(c->tried_copy, copy) == 0)
    return BN_SQL_DONE;
  rc = load_try_copy(c, copy, d);
  if (rc != BN_SQL_DONE)
    return rc;
  free(c->tried_copy);
  c->tried_copy = c->driver->host->text(copy);
  return BN_SQL_DONE;
}

enum bn_sql bn_pgsql_lib_load_begin(struct bn_pgsql_lib *c, const char *table, const char *columns,
                                    bool in_transaction, struct bn_sql_diag *d)
{
  const bool listed = columns[0] != '\0';
  char *sql = c->driver->host->print("COPY %s%s%s%s FROM STDIN", table, listed ? " (" : "", columns,
                                     listed ? ")" : "");
  enum bn_sql rc = in_transaction ? load_try_copy_once(c, sql, d) : BN_SQL_DONE;

  if (rc == BN_SQL_DONE)
    rc = load_exec(c, sql, PGRES_COPY_IN, d);
  free(sql);
  return rc;
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
  return load_read_results(c, d);
}
