/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What went wrong: numbers of MySQL and MariaDB, and what they mean. */
#include <stdio.h>

#include <errmsg.h>

#include "drivers/mysql/internal.h"

/* Of the server, by number: the header with their names differs from one vendor to the other. */
enum {
  SERVER_DEADLOCK = 1213,
  SERVER_CERTIFICATION = 3101 /* group replication rolled the transaction back */
};

static const struct {
  int code;
  enum bn_sql_class class;
} classes[] = {
    {1213, BN_CLASS_DEADLOCK},      {1205, BN_CLASS_LOCK_TIMEOUT},
    {3572, BN_CLASS_LOCK_TIMEOUT},  /* NOWAIT is set */
    {1020, BN_CLASS_SERIALIZATION}, /* the record has changed since it was read */
    {3101, BN_CLASS_SERIALIZATION}, {1290, BN_CLASS_READ_ONLY}, /* --read-only, --super-read-only */
    {1792, BN_CLASS_READ_ONLY},                                 /* a read-only transaction */
    {1836, BN_CLASS_READ_ONLY},     {1874, BN_CLASS_READ_ONLY},
    {1062, BN_CLASS_DUPLICATE},     {1586, BN_CLASS_DUPLICATE},
    {1021, BN_CLASS_RESOURCE}, /* disk full */
    {1037, BN_CLASS_RESOURCE},      {1038, BN_CLASS_RESOURCE},
    {1040, BN_CLASS_RESOURCE},                                 /* too many connections */
    {1041, BN_CLASS_RESOURCE},      {1114, BN_CLASS_RESOURCE}, /* table full */
    {1135, BN_CLASS_RESOURCE},                                 /* no thread */
    {1203, BN_CLASS_RESOURCE},      {1206, BN_CLASS_RESOURCE}, /* the lock table is full */
    {1226, BN_CLASS_RESOURCE},      {1461, BN_CLASS_RESOURCE}, /* too many prepared statements */
};

/* After these the connection is gone, or about to be. */
static const int lost_codes[] = {
    CR_SERVER_GONE_ERROR,
    CR_SERVER_LOST,
    CR_SERVER_LOST_EXTENDED,
    CR_TCP_CONNECTION, /* 2011, which the reference counts as such */
    CR_MALFORMED_PACKET,
    CR_COMMANDS_OUT_OF_SYNC, /* nothing but a new connection helps */
    1053,                    /* the server is shutting down */
    1152,                    /* aborted connection */
    1153,                    /* a packet too long for the server, which hangs up */
    1158,                    /* reading from and writing to the network, four of them */
    1159,
    1160,
    1161,
    1184, /* aborted connection */
    1927, /* the connection was killed */
    4031, /* disconnected for inactivity */
};

static bool is_lost(int code)
{
  for (size_t i = 0; i < sizeof lost_codes / sizeof lost_codes[0]; i++) {
    if (lost_codes[i] == code)
      return true;
  }
  return false;
}

enum bn_sql_class bn_mysql_classify(const struct bn_sql_diag *d)
{
  if (is_lost(d->code) || (d->code >= CR_MIN_ERROR && d->code <= CR_UNKNOWN_HOST))
    return BN_CLASS_CONNECTION;
  for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
    if (classes[i].code == d->code)
      return classes[i].class;
  }
  return BN_CLASS_OTHER;
}

static enum bn_sql fill(int code, const char *state, const char *call, const char *text,
                        struct bn_sql_diag *d)
{
  d->code = code;
  (void)snprintf(d->state, sizeof d->state, "%s", state);
  (void)snprintf(d->call, sizeof d->call, "%s", call);
  (void)snprintf(d->text, sizeof d->text, "%s", text);
  return is_lost(code) ? BN_SQL_LOST : BN_SQL_ERROR;
}

/* The flag is the one of the last statement that succeeded. */
static bool rolled_back(const MYSQL *handle, int code)
{
  return code == SERVER_DEADLOCK || code == SERVER_CERTIFICATION ||
         (handle->server_status & SERVER_STATUS_IN_TRANS) == 0;
}

enum bn_sql bn_mysql_fail(struct bn_mysql_conn *c, const char *call, struct bn_sql_diag *d)
{
  const int code = (int)mysql_errno(c->handle);

  bn_mysql_wire_check(c);
  d->rolled_back = rolled_back(c->handle, code);
  return fill(code, mysql_sqlstate(c->handle), call, mysql_error(c->handle), d);
}

enum bn_sql bn_mysql_fail_stmt(struct bn_mysql_stmt *st, const char *call, struct bn_sql_diag *d)
{
  const int code = (int)mysql_stmt_errno(st->handle);

  bn_mysql_wire_check(st->conn);
  d->rolled_back = rolled_back(st->conn->handle, code);
  return fill(code, mysql_stmt_sqlstate(st->handle), call, mysql_stmt_error(st->handle), d);
}

enum bn_sql bn_mysql_fail_as(struct bn_mysql_conn *c, int code, const char *state, const char *call,
                             const char *text, struct bn_sql_diag *d)
{
  d->rolled_back = rolled_back(c->handle, code);
  return fill(code, state, call, text, d);
}

enum bn_sql bn_mysql_unread(enum bn_sql_step step, bool prepared, struct bn_sql_diag *d)
{
  const char *call = prepared ? "mysql_stmt_execute()" : "mysql_drv_query()";

  if (step == BN_STEP_PREPARE)
    call = "mysql_stmt_prepare()";
  (void)fill(CR_COMMANDS_OUT_OF_SYNC, "HY000", call,
             "Commands out of sync; you can't run this command now", d);
  /* The connection is as it was. */
  return BN_SQL_ERROR;
}

enum bn_sql bn_mysql_fail_text(int code, const char *call, const char *text, struct bn_sql_diag *d)
{
  return fill(code, "HY000", call, text, d);
}
