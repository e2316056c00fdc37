/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Error numbers of MySQL and MariaDB, and their meanings. */
#include "drivers/mysql/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/common/remedy.h"

/* Bits of a server's status. */
enum { IN_TRANSACTION = 1 << 0, AUTOCOMMIT = 1 << 1 };

/* Error numbers of servers: the header with their names differs between vendors. */
enum {
  SERVER_FULL = 1040, /* too many connections */
  SERVER_REFUSED_LOGIN = 1045,
  SERVER_UNKNOWN_COMMAND = 1047, /* Galera: the node is not part of the cluster */
  SERVER_TABLE_EXISTS = 1050,
  SERVER_NO_TABLE = 1146,
  SERVER_NO_COMMIT = 1180, /* the text says what failed */
  SERVER_FULL_FOR_USER = 1203,
  SERVER_DEADLOCK = 1213,
  SERVER_ACCOUNT_LIMIT = 1226, /* a limit of connections or of statements; the text names it */
  SERVER_NOT_SUPPORTED = 1235,
  SERVER_HOOK = 3100,          /* group replication did not take a commit */
  SERVER_CERTIFICATION = 3101, /* group replication rolled the transaction back */
  SERVER_SECURE_TRANSPORT = 3159
};

/* The classes of errors that leave the connection open; all others are OTHER. */
static const struct {
  int code;
  enum bn_sql_class class;
} classes[] = {
    {SERVER_DEADLOCK, BN_CLASS_DEADLOCK},
    {1205, BN_CLASS_LOCK_TIMEOUT},  /* innodb_lock_wait_timeout */
    {3572, BN_CLASS_LOCK_TIMEOUT},  /* NOWAIT is set */
    {1020, BN_CLASS_SERIALIZATION}, /* the record has changed since it was read */
    {SERVER_CERTIFICATION, BN_CLASS_SERIALIZATION},
    {9001, BN_CLASS_CONNECTION}, /* ProxySQL has no server for the statement; a timeout of TiDB */
    {9002, BN_CLASS_CONNECTION}, /* as 9001, of both */
    {9005, BN_CLASS_CONNECTION}, /* TiDB: a region is not available */
    {8002, BN_CLASS_SERIALIZATION}, /* four write conflicts of TiDB */
    {8005, BN_CLASS_SERIALIZATION},
    {8022, BN_CLASS_SERIALIZATION},
    {9007, BN_CLASS_SERIALIZATION},
    {1290, BN_CLASS_READ_ONLY}, /* --read-only, --super-read-only */
    {1792, BN_CLASS_READ_ONLY}, /* a read-only transaction */
    {1836, BN_CLASS_READ_ONLY}, /* a read-only server */
    {1874, BN_CLASS_READ_ONLY}, /* InnoDB is read-only */
    {1062, BN_CLASS_DUPLICATE},
    {1586, BN_CLASS_DUPLICATE}, /* with the name of the key */
    {1021, BN_CLASS_RESOURCE},  /* disk full */
    {1037, BN_CLASS_RESOURCE},  /* out of memory */
    {1038, BN_CLASS_RESOURCE},  /* out of memory for sorting */
    {SERVER_FULL, BN_CLASS_RESOURCE},
    {1041, BN_CLASS_RESOURCE}, /* out of memory of the system */
    {1114, BN_CLASS_RESOURCE}, /* table full */
    {1135, BN_CLASS_RESOURCE}, /* no thread */
    {SERVER_FULL_FOR_USER, BN_CLASS_RESOURCE},
    {1206, BN_CLASS_RESOURCE}, /* the lock table is full */
    {SERVER_ACCOUNT_LIMIT, BN_CLASS_RESOURCE},
    {1461, BN_CLASS_RESOURCE}, /* too many prepared statements */
};

/* Errors after which the connection is lost, or about to be. */
static const int lost_codes[] = {
    BN_MYSQL_GONE,
    BN_MYSQL_LOST,
    BN_MYSQL_LOST_EXTENDED,
    BN_MYSQL_TCP_CONNECTION,
    BN_MYSQL_ENCRYPTION,
    BN_MYSQL_MALFORMED,
    BN_MYSQL_OUT_OF_SYNC, /* only a new connection helps */
    1053,                 /* the server is shutting down */
    1152,                 /* aborted connection */
    1153,                 /* a packet too long for the server, which hangs up */
    1158,                 /* four errors of reading from and writing to the network */
    1159,
    1160,
    1161,
    1184, /* aborted connection */
    1927, /* the connection was killed */
    4031, /* disconnected for inactivity */
};

/* Returns whether the text is that of a Galera node which has lost its cluster.  MariaDB 10.4 and
   later say so.  Earlier servers take Galera's number for one of the system, and print it with the
   system's text, in any language: `Got error 6 "No such device or address" during COMMIT`.  Errors
   of storage engines, which are printed in the same way, have numbers from 120. */
static bool error_says_cluster_lost(const char *text)
{
  enum { GALERA_CONNECTION_FAILED = 6, GALERA_NODE_FAILED = 7 };
  const long number = strtol(text + strcspn(text, "0123456789"), NULL, 10);

  return strstr(text, "Not connected to Primary Component") != NULL ||
         number == GALERA_CONNECTION_FAILED || number == GALERA_NODE_FAILED;
}

/* Returns whether the server has left its cluster or group, so that another server may execute the
   statement.  The connection stays open.  The class of these errors cannot be one of refused
   statements, because a commit that fails with one may be stored on other nodes. */
static bool error_is_out_of_service(int code, const char *text)
{
  static const char galera[] = "WSREP";

  switch (code) {
  case SERVER_UNKNOWN_COMMAND: /* until it is back, a node of Galera refuses all statements */
    return strncmp(text, galera, sizeof galera - 1) == 0;
  case SERVER_NO_COMMIT: /* such a node fails the commits that were on their way */
    return error_says_cluster_lost(text);
  case SERVER_HOOK: /* group replication refuses a too large transaction by it, too */
    return true;
  default:
    return false;
  }
}

/* Returns whether the connection is lost after an error of this number. */
static bool error_is_lost(int code)
{
  for (size_t i = 0; i < sizeof lost_codes / sizeof lost_codes[0]; i++) {
    if (lost_codes[i] == code)
      return true;
  }
  return false;
}

/* Returns whether no connection was made.  The errors of connecting have the first numbers of the
   client libraries. */
static bool error_is_of_connecting(int code)
{
  return code >= BN_MYSQL_CLIENT_FIRST && code <= BN_MYSQL_UNKNOWN_HOST;
}

enum bn_sql_class bn_mysql_classify(const struct bn_sql_diag *d)
{
  if (error_is_lost(d->code) || error_is_out_of_service(d->code, d->text) ||
      error_is_of_connecting(d->code))
    return BN_CLASS_CONNECTION;
  for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
    if (classes[i].code == d->code)
      return classes[i].class;
  }
  return BN_CLASS_OTHER;
}

bool bn_mysql_missing(const struct bn_sql_diag *d)
{
  return d->code == SERVER_NO_TABLE;
}

int bn_mysql_fails_as_text(const struct bn_sql_diag *d)
{
  enum { MAY_SUCCEED = 0, FAILS = 1, SQLSTATE_DECIDES = -1 }; /* the values of this hook */
  const bool is_client_error = d->code >= BN_MYSQL_CLIENT_FIRST && d->code <= BN_MYSQL_CLIENT_LAST;

  if (is_client_error)
    return FAILS;
  /* This error has the SQLSTATE of a wrong statement, but as text the statement may succeed. */
  return d->code == SERVER_NOT_SUPPORTED ? MAY_SUCCEED : SQLSTATE_DECIDES;
}

bool bn_mysql_reached_no_server(const struct bn_sql_diag *d)
{
  return d->code == BN_MYSQL_SOCKET_CONNECTION || d->code == BN_MYSQL_HOST_CONNECTION;
}

bool bn_mysql_quotes_errno(const struct bn_sql_diag *d, int error)
{
  char number[16];

  (void)snprintf(number, sizeof number, "(%d)", error);
  return strstr(d->text, number) != NULL;
}

const char *bn_mysql_remedy(const struct bn_sql_diag *d)
{
  const bool names_connections = strstr(d->text, "'max_user_connections'") != NULL;
  const bool is_full_for_account = d->code == SERVER_ACCOUNT_LIMIT && names_connections;

  if (d->code == SERVER_FULL)
    return "raise max_connections on the server, or use fewer --threads";
  if (d->code == SERVER_FULL_FOR_USER || is_full_for_account)
    return "raise the limit with \"ALTER USER ... WITH MAX_USER_CONNECTIONS\" on the server, or "
           "use fewer --threads";
  if (d->code == SERVER_ACCOUNT_LIMIT)
    return "raise the limit with \"ALTER USER ... WITH\" on the server, or use another account";
  if (d->code == SERVER_TABLE_EXISTS)
    return bn_remedy_table;
  if (d->code == SERVER_REFUSED_LOGIN)
    return "check user and password; a server with require_secure_transport may answer the same "
           "to a connection without TLS: try --mysql-ssl=required";
  if (d->code == SERVER_SECURE_TRANSPORT)
    return "connect with --mysql-ssl=required, or through a socket file";
  if (d->code == BN_MYSQL_GONE)
    return "the server may have closed a connection that was idle: raise wait_timeout, or use "
           "--db-ignore-errors=connection";
  if (bn_mysql_reached_no_server(d) && bn_mysql_quotes_errno(d, EADDRNOTAVAIL))
    return bn_remedy_ports;
  return NULL;
}

/* Fills all of d but `where` and rolled_back.  Returns LOST if the connection is lost after that
   number, else ERROR. */
static enum bn_sql error_fill(int code, const char *state, const char *call, const char *text,
                              struct bn_sql_diag *d)
{
  d->code = code;
  (void)snprintf(d->state, sizeof d->state, "%s", state);
  d->call = call;
  (void)snprintf(d->text, sizeof d->text, "%s", text);
  return error_is_lost(code) ? BN_SQL_LOST : BN_SQL_ERROR;
}

enum bn_sql bn_mysql_fail_with_status(unsigned *status, int code, const char *state,
                                      const char *call, const char *text, struct bn_sql_diag *d)
{
  /* These errors end the transaction, but come without a status that would say so. */
  if (code == SERVER_DEADLOCK || code == SERVER_CERTIFICATION)
    *status &= ~(unsigned)IN_TRANSACTION;
  d->rolled_back = (*status & IN_TRANSACTION) == 0;
  return error_fill(code, state, call, text, d);
}

bool bn_mysql_can_send_as_text(int code)
{
  enum {
    UNPREPARABLE = 1295, /* "not supported in the prepared statement protocol yet" */
    TOO_MANY = 1461      /* "Can't create more than max_prepared_stmt_count statements" */
  };

  return code == UNPREPARABLE || code == TOO_MANY;
}

enum bn_sql_transaction bn_mysql_transaction_of(unsigned status)
{
  if ((status & AUTOCOMMIT) == 0)
    return BN_TRANSACTION_MANUAL;
  return (status & IN_TRANSACTION) != 0 ? BN_TRANSACTION_OPEN : BN_TRANSACTION_OWN;
}

enum bn_sql bn_mysql_unread(enum bn_sql_step step, bool prepared, struct bn_sql_diag *d)
{
  const char *call = bn_mysql_query_call;

  if (step == BN_STEP_PREPARE)
    call = "mysql_stmt_prepare()";
  else if (prepared)
    call = "mysql_stmt_execute()";
  (void)error_fill(BN_MYSQL_OUT_OF_SYNC, "HY000", call,
                   "Commands out of sync; you can't run this command now", d);
  /* error_fill returns LOST for this number, but nothing was sent and the connection is usable. */
  return BN_SQL_ERROR;
}

enum bn_sql bn_mysql_fail_text(int code, const char *call, const char *text, struct bn_sql_diag *d)
{
  return error_fill(code, "HY000", call, text, d);
}
