/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bulk load by COPY. */
#include <limits.h>
#include <stdlib.h>

#include "drivers/pgsql/driver.h"
#include "drivers/pgsql/lib/lib.h"

/* Reads all results of the command; returns the first failure. */
static enum bn_sql load_finish(struct bn_pgsql_lib *c, struct bn_sql_diag *d)
{
  enum bn_sql rc = BN_SQL_DONE;
  PGresult *res;

  while ((res = bn_pgsql_lib_result(c)) != NULL) {
    const ExecStatusType status = PQresultStatus(res);

    if (rc == BN_SQL_DONE && status != PGRES_COMMAND_OK)
      rc = bn_pgsql_lib_fail(c, res, "COPY", false, d);
    PQclear(res);
    if (status == PGRES_COPY_IN && PQputCopyEnd(c->handle, "ended") != 1)
      break;
  }
  d->rolled_back = PQtransactionStatus(c->handle) == PQTRANS_IDLE;
  return rc;
}

enum bn_sql bn_pgsql_lib_load_begin(struct bn_pgsql_lib *c, const char *table, const char *columns,
                                    struct bn_sql_diag *d)
{
  const bool listed = columns[0] != '\0';
  char *sql = c->driver->host->print("COPY %s%s%s%s FROM STDIN", table, listed ? " (" : "", columns,
                                     listed ? ")" : "");
  enum bn_sql rc = BN_SQL_DONE;
  PGresult *res;

  res = bn_pgsql_lib_exec(c, sql);
  free(sql);
  if (PQresultStatus(res) != PGRES_COPY_IN)
    rc = bn_pgsql_lib_fail(c, res, "COPY", false, d);
  PQclear(res);
  return rc;
}

enum bn_sql bn_pgsql_lib_load_rows(struct bn_pgsql_lib *c, const char *rows, size_t len,
                                   struct bn_sql_diag *d)
{
  while (len > 0) {
    const int part = len < INT_MAX ? (int)len : INT_MAX;

    if (bn_pgsql_lib_copy_in(c, rows, part) != 1)
      return bn_pgsql_lib_fail(c, NULL, "PQputCopyData", false, d);
    rows += part;
    len -= (size_t)part;
  }
  return BN_SQL_DONE;
}

enum bn_sql bn_pgsql_lib_load_end(struct bn_pgsql_lib *c, struct bn_sql_diag *d)
{
  if (PQputCopyEnd(c->handle, NULL) != 1)
    return bn_pgsql_lib_fail(c, NULL, "PQputCopyEnd", false, d);
  return load_finish(c, d);
}
