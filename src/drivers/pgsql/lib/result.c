/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queries as text, and the rows of every result. */
#include <stdlib.h>
#include <string.h>

#include "drivers/pgsql/error.h"
#include "drivers/pgsql/lib/lib.h"

/* Ends a COPY that a script has sent as a query: sends no rows, drops those that come, and reads
   all results.  status: that of the first result.  Returns ERROR and d. */
static enum bn_sql result_end_copy(struct bn_pgsql_lib *c, ExecStatusType status,
                                   struct bn_sql_diag *d)
{
  PGresult *res;
  char *row;

  do {
    if (status == PGRES_COPY_IN)
      (void)PQputCopyEnd(c->handle, bn_pgsql_no_rows_to_copy);
    while (status == PGRES_COPY_OUT && bn_pgsql_lib_copy_out(c, &row) > 0)
      PQfreemem(row);
    res = bn_pgsql_lib_get_result(c);
    status = PQresultStatus(res);
    PQclear(res);
  } while (res != NULL);
  return bn_pgsql_fail_copy(d);
}

enum bn_sql bn_pgsql_lib_take_result(struct bn_pgsql_lib *c, PGresult *res, const char *call,
                                     struct bn_sql_result *r, struct bn_sql_diag *d)
{
  const ExecStatusType status = PQresultStatus(res);
  enum bn_sql rc;

  *r = (struct bn_sql_result){.affected = 0};
  switch (status) {
  case PGRES_TUPLES_OK:
    r->nrows = (uint64_t)PQntuples(res);
    r->nfields = (uint32_t)PQnfields(res);
    r->rows = res;
    c->row = 0;
    return BN_SQL_ROWS;
  case PGRES_COMMAND_OK:
    r->affected = strtoull(PQcmdTuples(res), NULL, 10);
    PQclear(res);
    return BN_SQL_DONE;
  case PGRES_COPY_IN:
  case PGRES_COPY_OUT:
    PQclear(res);
    return result_end_copy(c, status, d);
  case PGRES_EMPTY_QUERY:
    PQclear(res);
    return bn_pgsql_fail_text("", call, "the query is empty", d);
  default:
    rc = bn_pgsql_lib_fail(c, res, call, d);
    PQclear(res);
    return rc;
  }
}

enum bn_sql bn_pgsql_lib_query(struct bn_pgsql_lib *c, const char *sql, struct bn_sql_result *r,
                               struct bn_sql_diag *d)
{
  return bn_pgsql_lib_take_result(c, bn_pgsql_lib_exec(c, sql), "PQexec", r, d);
}

bool bn_pgsql_lib_fetch(struct bn_pgsql_lib *c, const struct bn_sql_result *r,
                        struct bn_sql_value *row)
{
  const PGresult *res = r->rows;
  const int row_index = c->row;

  if (res == NULL || row_index >= PQntuples(res))
    return false;
  for (int i = 0; i < (int)r->nfields; i++) {
    if (PQgetisnull(res, row_index, i))
      row[i] = (struct bn_sql_value){.ptr = NULL, .len = 0};
    else
      row[i] = (struct bn_sql_value){.ptr = PQgetvalue(res, row_index, i),
                                     .len = (size_t)PQgetlength(res, row_index, i)};
  }
  c->row++;
  return true;
}

void bn_pgsql_lib_free_result(struct bn_sql_result *r)
{
  PQclear(r->rows);
}
