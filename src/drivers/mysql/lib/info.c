/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The server's name and limits, and texts escaped as the server currently requires. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/common/socket.h"
#include "drivers/mysql/lib/lib.h"

/* Reads a number from 0 to INT32_MAX.  Returns false for any other text: a larger number is not
   meant as a limit. */
static bool info_read_number(const char *text, int64_t *number)
{
  char *end;

  *number = strtoll(text, &end, 10);
  return end != text && *end == '\0' && *number >= 0 && *number <= INT32_MAX;
}

/* Stores the value of a server's variable, if it is a number and info has a member for it. */
static void info_set_variable(struct bn_sql_info *info, const char *name, const char *text)
{
  int64_t value;

  if (!info_read_number(text, &value))
    return;
  if (strcmp(name, "max_connections") == 0)
    info->max_connections = value;
  else if (strcmp(name, "max_prepared_stmt_count") == 0)
    info->max_prepared_statements = value;
  else if (strcmp(name, "max_allowed_packet") == 0)
    info->max_packet = value;
  else if (strcmp(name, "Threads_connected") == 0)
    info->connections = value;
  else if (strcmp(name, "Prepared_stmt_count") == 0)
    info->prepared_statements = value;
}

/* Sends a statement that returns names and values of variables, and stores them.  Returns 0, or -1
   if it fails. */
static int info_read_variables(MYSQL *handle, const char *sql, struct bn_sql_info *out)
{
  MYSQL_RES *res;
  MYSQL_ROW row;

  if (mysql_real_query(handle, sql, strlen(sql)) != 0)
    return -1;
  res = mysql_store_result(handle);
  if (res == NULL)
    return -1;
  while ((row = mysql_fetch_row(res)) != NULL)
    info_set_variable(out, bn_mysql_lib_cell(res, row, 0), bn_mysql_lib_cell(res, row, 1));
  mysql_free_result(res);
  return 0;
}

/* Returns the compression of the connection.  Headers name the bit of zstd differently. */
static const char *info_name_compression(unsigned long capabilities)
{
  enum { ZSTD = 1 << 26 };

  if ((capabilities & CLIENT_COMPRESS) != 0)
    return "zlib";
  return (capabilities & ZSTD) != 0 ? "zstd" : "none";
}

void bn_mysql_lib_about(struct bn_mysql_lib *c, struct bn_sql_about *out)
{
  const char *version = mysql_get_server_info(c->handle);
  const char *cipher = mysql_get_ssl_cipher(c->handle);

  (void)snprintf(out->server, sizeof out->server, "%s%s",
                 strstr(version, "MariaDB") == NULL ? "MySQL " : "", version);
  (void)snprintf(out->client, sizeof out->client, "%s", mysql_get_client_info());
  (void)snprintf(out->transport, sizeof out->transport, "%s",
                 bn_socket_transport(bn_mysql_lib_socket(c)));
  (void)snprintf(out->encryption, sizeof out->encryption, "%s%s", cipher != NULL ? "TLS, " : "",
                 cipher != NULL ? cipher : "none");
  (void)snprintf(out->compression, sizeof out->compression, "%s",
                 info_name_compression(bn_mysql_lib_capabilities(c)));
}

/* Returns whether the version names a pooler.  info_read_limits recognizes any pooler by the number
   of the connection, unless its connection to the server happens to have the same number. */
static bool info_is_pooler(const char *version)
{
  return strcasestr(version, "proxysql") != NULL || strcasestr(version, "maxscale") != NULL;
}

/* The columns of a quota: the account, the number of its user's connections, and their limit. */
enum { QUOTA_ACCOUNT, QUOTA_USED, QUOTA_ALLOWED };

/* Sets the quota from a row.  Without two numbers there is no quota. */
static void info_set_quota(MYSQL_RES *res, MYSQL_ROW row, struct bn_sql_quota *q)
{
  const char *account = bn_mysql_lib_cell(res, row, QUOTA_ACCOUNT);

  if (!info_read_number(bn_mysql_lib_cell(res, row, QUOTA_USED), &q->used) ||
      !info_read_number(bn_mysql_lib_cell(res, row, QUOTA_ALLOWED), &q->allowed))
    return;
  (void)snprintf(q->by, sizeof q->by, "max_user_connections of %s", account);
  (void)snprintf(q->raise, sizeof q->raise,
                 "type \"ALTER USER %s WITH MAX_USER_CONNECTIONS %%n;\" on the server", account);
}

/* Reads the limit of connections that binds the account, if there is one.  The session's variable
   is the account's own limit or, without one, the limit of all users, which does not bind users who
   may exceed max_connections.  CURRENT_USER() is split at its last '@': a user's name may have
   another. */
static void info_read_quota(MYSQL *handle, struct bn_sql_quota *q)
{
  static const char sql[] =
      "SELECT account, (SELECT COUNT(*) FROM information_schema.processlist"
      " WHERE user = SUBSTRING_INDEX(USER(), '@', 1)), @@session.max_user_connections"
      " FROM (SELECT CONCAT(QUOTE(SUBSTR(CURRENT_USER(), 1, CHAR_LENGTH(CURRENT_USER())"
      " - CHAR_LENGTH(SUBSTRING_INDEX(CURRENT_USER(), '@', -1)) - 1)), '@',"
      " QUOTE(SUBSTRING_INDEX(CURRENT_USER(), '@', -1))) AS account) AS own"
      " WHERE @@session.max_user_connections > 0"
      " AND (@@session.max_user_connections <> @@global.max_user_connections OR NOT EXISTS"
      " (SELECT 1 FROM information_schema.user_privileges WHERE grantee = account"
      " AND privilege_type IN ('SUPER', 'CONNECTION ADMIN', 'CONNECTION_ADMIN')))";
  MYSQL_RES *res;
  MYSQL_ROW row;

  if (mysql_real_query(handle, sql, sizeof sql - 1) != 0)
    return;
  res = mysql_store_result(handle);
  row = res != NULL ? mysql_fetch_row(res) : NULL;
  if (row != NULL)
    info_set_quota(res, row, q);
  mysql_free_result(res);
}

/* Forgets the limits of the server behind a pooler, which do not bind the pooler's clients.  A
   pooler passes packets through, so max_packet stays. */
static void info_forget_limits(struct bn_sql_info *out)
{
  out->max_connections = out->max_prepared_statements = -1;
  out->connections = out->prepared_statements = -1;
}

/* Reads the variables that limit the run.  A pooler passes the question on, through a connection of
   its own, to a server whose limits are not those of the run.  So the question names the connection
   by its number: on any other one, the server returns only max_allowed_packet, which holds through
   a pooler too.  Returns 0, or -1 if the server does not tell. */
static int info_read_limits(MYSQL *handle, struct bn_sql_info *out)
{
  char sql[240];

  /* The login tells the low 32 bits of the number.  The version would not do: ProxySQL, for
     example, calls itself MySQL 8.0.11. */
  (void)snprintf(sql, sizeof sql,
                 "SHOW GLOBAL VARIABLES WHERE Variable_name = 'max_allowed_packet' OR Variable_name"
                 " IN ('max_connections', 'max_prepared_stmt_count')"
                 " AND CONNECTION_ID() & 4294967295 = %u",
                 (unsigned)mysql_thread_id(handle));
  return info_read_variables(handle, sql, out);
}

int bn_mysql_lib_info(struct bn_mysql_lib *c, struct bn_sql_info *out)
{
  int rc;

  bn_mysql_lib_enter(c);
  rc = info_read_limits(c->handle, out);
  if (rc == 0)
    rc = info_read_variables(c->handle,
                             "SHOW GLOBAL STATUS WHERE Variable_name IN "
                             "('Threads_connected', 'Prepared_stmt_count')",
                             out);
  if (info_is_pooler(mysql_get_server_info(c->handle)))
    info_forget_limits(out);
  if (rc == 0 && out->max_connections >= 0)
    info_read_quota(c->handle, &out->quota[0]);
  return rc;
}

bool bn_mysql_lib_quote(struct bn_mysql_lib *c, char *out, const char *in, size_t len, size_t *n)
{
  const unsigned long escaped = mysql_real_escape_string(c->handle, out, in, len);

  if (escaped == (unsigned long)-1)
    return false;
  *n = escaped;
  return true;
}
