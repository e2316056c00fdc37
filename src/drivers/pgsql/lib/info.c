/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the server tells of itself. */
#include <stdio.h>
#include <stdlib.h>

#include "drivers/pgsql/lib/lib.h"

/* Column i of the only row.  false: it is no number that a server can mean. */
static bool read_number(const PGresult *res, int i, int64_t *number)
{
  const char *text = PQgetvalue(res, 0, i);
  char *end;

  *number = strtoll(text, &end, 10);
  return end != text && *end == '\0' && *number >= 0 && *number <= INT32_MAX;
}

static bool read_limits(const struct bn_pgsql_lib *c, const PGresult *res, struct bn_sql_info *out)
{
  int64_t most, for_superuser, reserved = 0, used, pid;

  if (PQresultStatus(res) != PGRES_TUPLES_OK || PQntuples(res) != 1 || PQnfields(res) != 5)
    return false;
  if (!read_number(res, 0, &most) || !read_number(res, 1, &for_superuser) ||
      !read_number(res, 3, &used) || !read_number(res, 4, &pid))
    return false;
  /* Servers before 16 reserve none for others. */
  if (PQgetisnull(res, 0, 2) == 0 && !read_number(res, 2, &reserved))
    return false;
  /* The process that accepted the connection is not the one that answers, so there is a pooler. */
  if (pid != PQbackendPID(c->handle))
    return true;
  out->reserved_connections = for_superuser + reserved;
  out->max_connections = most - out->reserved_connections;
  out->connections = used;
  return true;
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
      " (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),"
      " pg_backend_pid()";
  PGresult *res = PQexec(c->handle, sql);
  const bool known = read_limits(c, res, out);

  PQclear(res);
  return known ? 0 : -1;
}
