/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the server tells of itself. */
#include <stdio.h>
#include <stdlib.h>

#include "drivers/pgsql/lib/lib.h"

/* Column i of the only row; 0: NULL. */
static int64_t number_of(const PGresult *res, int i)
{
  return strtoll(PQgetvalue(res, 0, i), NULL, 10);
}

void bn_pgsql_lib_about(struct bn_pgsql_lib *c, struct bn_sql_about *out)
{
  const char *version = PQparameterStatus(c->handle, "server_version");
  const int client = PQlibVersion();

  (void)snprintf(out->server, sizeof out->server, "PostgreSQL %s",
                 version != NULL ? version : "of unknown version");
  (void)snprintf(out->client, sizeof out->client, "%d.%d", client / 10000, client % 10000);
}

int bn_pgsql_lib_info(struct bn_pgsql_lib *c, struct bn_sql_info *out)
{
  static const char sql[] =
      "SELECT current_setting('max_connections'),"
      " CASE WHEN (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN '0'"
      " ELSE current_setting('superuser_reserved_connections') END,"
      " current_setting('reserved_connections', true),"
      " (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')";
  PGresult *res = PQexec(c->handle, sql);
  const bool known =
      PQresultStatus(res) == PGRES_TUPLES_OK && PQntuples(res) == 1 && PQnfields(res) == 4;

  if (known) {
    out->reserved_connections = number_of(res, 1) + number_of(res, 2);
    out->max_connections = number_of(res, 0) - out->reserved_connections;
    out->connections = number_of(res, 3);
  }
  PQclear(res);
  return known ? 0 : -1;
}
