/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The server's version and limits, and texts escaped as it currently requires. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/common/socket.h"
#include "drivers/pgsql/lib/lib.h"

/* Reads a number from 0 to INT32_MAX.  Returns false for any other text: a larger number is not
   meant as a limit. */
static bool info_read_number(const PGresult *res, int row, int column, int64_t *number)
{
  const char *text = PQgetvalue(res, row, column);
  char *end;

  *number = strtoll(text, &end, 10);
  return end != text && *end == '\0' && *number >= 0 && *number <= INT32_MAX;
}

/* Returns whether a pooler has passed the question on: the process that answers is not the one that
   accepted the connection.  `column` of the only row has pg_backend_pid(). */
static bool info_is_of_pooler(const struct bn_pgsql_lib *c, const PGresult *res, int column)
{
  return strtol(PQgetvalue(res, 0, column), NULL, 10) != PQbackendPID(c->handle);
}

/* The connections of clients.  A role is not told of which kind the processes of other roles are;
   nearly all that have a user and a database are clients. */
#define OF_CLIENTS                                                                                 \
  " FROM pg_stat_activity WHERE usename IS NOT NULL AND datname IS NOT NULL"                       \
  " AND coalesce(backend_type, 'client backend') = 'client backend'"

/* The columns of a quota: "ROLE" or "DATABASE", its name, its limit, and the number of its
   connections. */
enum { QUOTA_KIND, QUOTA_NAME, QUOTA_ALLOWED, QUOTA_USED, QUOTA_COLUMNS };

/* Reads the limits of connections that the role and the database have.  Superusers have none. */
static void info_read_quotas(struct bn_pgsql_lib *c, struct bn_sql_quota quota[BN_SQL_QUOTAS])
{
  static const char sql[] =
      "SELECT 'ROLE', quote_ident(rolname), rolconnlimit, (SELECT count(*)" OF_CLIENTS
      " AND usename = session_user)"
      " FROM pg_roles WHERE rolname = session_user AND NOT rolsuper AND rolconnlimit >= 0"
      " UNION ALL "
      "SELECT 'DATABASE', quote_ident(datname), datconnlimit, (SELECT count(*)" OF_CLIENTS
      " AND datname = current_database()) FROM pg_database, pg_roles WHERE datname = "
      "current_database()"
      " AND datconnlimit >= 0 AND rolname = session_user AND NOT rolsuper";
  PGresult *res = bn_pgsql_lib_exec(c, sql);
  const int n = PQnfields(res) == QUOTA_COLUMNS ? PQntuples(res) : 0;

  for (int i = 0; i < n && i < BN_SQL_QUOTAS; i++) {
    struct bn_sql_quota *q = &quota[i];
    const char *kind = PQgetvalue(res, i, QUOTA_KIND), *name = PQgetvalue(res, i, QUOTA_NAME);

    /* Without `by`, which is set last, there is no quota. */
    if (!info_read_number(res, i, QUOTA_ALLOWED, &q->allowed) ||
        !info_read_number(res, i, QUOTA_USED, &q->used))
      break;
    (void)snprintf(q->raise, sizeof q->raise,
                   "type \"ALTER %s %s CONNECTION LIMIT %%n;\" on the server", kind, name);
    (void)snprintf(q->by, sizeof q->by, "CONNECTION LIMIT of %s %s", kind, name);
  }
  PQclear(res);
}

/* Lists the parameters of libpq that differ from its defaults, from options, a URI, a service or
   the environment: "sslmode=require options='-c jit=off'".  Secrets, which libpq marks by "*", are
   left out; a list that is too long loses its end. */
static void info_list_parameters(PGconn *handle, char *out, size_t size)
{
  PQconninfoOption *all = PQconninfo(handle);
  size_t n = 0;

  for (const PQconninfoOption *o = all; o != NULL && o->keyword != NULL; o++) {
    const bool is_default = o->val == NULL || o->val[0] == '\0' ||
                            (o->compiled != NULL && strcmp(o->val, o->compiled) == 0);
    const bool is_secret = o->dispchar[0] == '*';
    const char *quote;

    if (is_default || is_secret || n >= size)
      continue;
    quote = strchr(o->val, ' ') != NULL ? "'" : "";
    n += (size_t)snprintf(out + n, size - n, "%s%s=%s%s%s", n > 0 ? " " : "", o->keyword, quote,
                          o->val, quote);
  }
  PQconninfoFree(all);
}

void bn_pgsql_lib_about(struct bn_pgsql_lib *c, struct bn_sql_about *out)
{
  enum { MAJOR = 10000 }; /* libpq counts a major version as so many minor ones: 160004 is 16.4 */
  const char *version = PQparameterStatus(c->handle, "server_version");
  const int client = PQlibVersion();

  (void)snprintf(out->server, sizeof out->server, "PostgreSQL %s",
                 version != NULL ? version : "of unknown version");
  (void)snprintf(out->client, sizeof out->client, "%d.%d", client / MAJOR, client % MAJOR);
  (void)snprintf(out->transport, sizeof out->transport, "%s",
                 bn_socket_transport(PQsocket(c->handle)));
  if (PQsslInUse(c->handle))
    (void)snprintf(out->encryption, sizeof out->encryption, "%s, %s",
                   PQsslAttribute(c->handle, "protocol"), PQsslAttribute(c->handle, "cipher"));
  else
    (void)snprintf(out->encryption, sizeof out->encryption, "%s",
                   PQgssEncInUse(c->handle) ? "GSSAPI" : "none");
  (void)snprintf(out->compression, sizeof out->compression, "none");
  info_list_parameters(c->handle, out->parameters, sizeof out->parameters);
}

bool bn_pgsql_lib_ask_pooled(struct bn_pgsql_lib *c)
{
  PGresult *res = bn_pgsql_lib_exec(c, "SELECT pg_backend_pid()");
  const bool has_answer = PQresultStatus(res) == PGRES_TUPLES_OK && PQntuples(res) == 1;
  const bool is_pooled = has_answer && info_is_of_pooler(c, res, 0 /* column */);

  PQclear(res);
  return is_pooled;
}

/* Superusers may use all connections.  The members of pg_use_reserved_connections may use those of
   reserved_connections; servers before 16 have neither the role nor the setting. */
static const char info_limits_sql[] =
    "SELECT current_setting('max_connections'),"
    " CASE WHEN rolsuper THEN 0"
    " ELSE current_setting('superuser_reserved_connections')::int +"
    " CASE WHEN EXISTS (SELECT FROM pg_roles WHERE rolname = 'pg_use_reserved_connections'"
    " AND pg_has_role(oid, 'USAGE')) THEN 0"
    " ELSE coalesce(current_setting('reserved_connections', true), '0')::int END END,"
    " (SELECT count(*)" OF_CLIENTS "),"
    " pg_backend_pid() FROM pg_roles WHERE rolname = current_user";
enum { LIMIT_OF_ALL, LIMIT_RESERVED, LIMIT_USED, LIMIT_PID, LIMITS };

/* Reads the answer to info_limits_sql.  Returns false if the server has not answered as it should.
   The limits of a server behind a pooler are not limits of the run, and stay unknown. */
static bool info_read_limits(const struct bn_pgsql_lib *c, const PGresult *res,
                             struct bn_sql_info *out)
{
  const bool has_form =
      PQresultStatus(res) == PGRES_TUPLES_OK && PQntuples(res) == 1 && PQnfields(res) == LIMITS;
  int64_t all, reserved, used;

  if (!has_form || !info_read_number(res, 0, LIMIT_OF_ALL, &all) ||
      !info_read_number(res, 0, LIMIT_RESERVED, &reserved) ||
      !info_read_number(res, 0, LIMIT_USED, &used))
    return false;
  if (info_is_of_pooler(c, res, LIMIT_PID))
    return true;
  out->reserved_connections = reserved;
  out->max_connections = all - reserved;
  out->connections = used;
  return true;
}

int bn_pgsql_lib_info(struct bn_pgsql_lib *c, struct bn_sql_info *out)
{
  PGresult *res = bn_pgsql_lib_exec(c, info_limits_sql);
  const bool has_answered = info_read_limits(c, res, out);

  PQclear(res);
  if (!has_answered)
    return -1;
  if (out->max_connections >= 0)
    info_read_quotas(c, out->quota);
  return 0;
}

/* Returns the length of the character at p, in bytes; 1 if it would end after the remaining bytes,
   so that nothing after the text is read.  The bytes of a character are not checked: the server
   refuses a wrong one before it reads the statement. */
static size_t info_character_length(const char *p, size_t remaining, int encoding)
{
  const int n = (*p & 0x80) != 0 ? PQmblen(p, encoding) : 1;
  const size_t len = n > 1 ? (size_t)n : 1;

  return len <= remaining ? len : 1;
}

/* Returns whether a backslash in a literal was plain when libpq was last told. */
static bool info_had_plain_strings(const struct bn_pgsql_lib *c)
{
  const char *value = PQparameterStatus(c->handle, "standard_conforming_strings");

  return value != NULL && strcmp(value, "on") == 0;
}

size_t bn_pgsql_lib_quote(const struct bn_pgsql_lib *c, char plain_strings, const char *encoding,
                          char *out, const char *in, size_t len)
{
  const bool has_strings = plain_strings != 0, has_encoding = encoding[0] != '\0';
  const char *const begin = out;
  int encoding_id;
  bool is_backslash_plain;

  /* libpq escapes by the settings that it was last told, and does not know changes that wire/ has
     read. */
  if (!has_strings && !has_encoding)
    return PQescapeStringConn(c->handle, out, in, len, NULL);
  encoding_id = has_encoding ? pg_char_to_encoding(encoding) : -1;
  if (encoding_id < 0) /* not reported, or not known to this libpq */
    encoding_id = PQclientEncoding(c->handle);
  is_backslash_plain = has_strings ? plain_strings == '1' : info_had_plain_strings(c);
  for (size_t i = 0, n; i < len && in[i] != '\0'; i += n) {
    const bool is_special = in[i] == '\'' || (in[i] == '\\' && !is_backslash_plain);

    n = info_character_length(in + i, len - i, encoding_id);
    if (is_special) /* it is doubled */
      *out++ = in[i];
    memcpy(out, in + i, n);
    out += n;
  }
  *out = '\0';
  return (size_t)(out - begin);
}
