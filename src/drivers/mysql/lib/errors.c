/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The client library's errors of failed calls. */
#include <errmsg.h>

#include "drivers/mysql/error.h"
#include "drivers/mysql/lib/lib.h"

_Static_assert(BN_MYSQL_CLIENT_FIRST == CR_MIN_ERROR && BN_MYSQL_UNKNOWN_HOST == CR_UNKNOWN_HOST &&
                   BN_MYSQL_SOCKET_CONNECTION == CR_CONNECTION_ERROR &&
                   BN_MYSQL_HOST_CONNECTION == CR_CONN_HOST_ERROR &&
                   BN_MYSQL_GONE == CR_SERVER_GONE_ERROR &&
                   BN_MYSQL_NO_MEMORY == CR_OUT_OF_MEMORY && BN_MYSQL_LOST == CR_SERVER_LOST &&
                   BN_MYSQL_OUT_OF_SYNC == CR_COMMANDS_OUT_OF_SYNC &&
                   BN_MYSQL_ENCRYPTION == CR_SSL_CONNECTION_ERROR &&
                   BN_MYSQL_MALFORMED == CR_MALFORMED_PACKET &&
                   BN_MYSQL_LOST_EXTENDED == CR_SERVER_LOST_EXTENDED,
               "error.h has the numbers of every client library");

const char bn_mysql_lib_not_encrypted[] =
    "encryption was asked for, but the server does not offer it";

enum bn_sql bn_mysql_lib_fail(const struct bn_mysql_lib *c, const char *call, struct bn_sql_diag *d)
{
  return bn_mysql_fail_as(&c->handle->server_status, (int)mysql_errno(c->handle),
                          mysql_sqlstate(c->handle), call, mysql_error(c->handle), d);
}

enum bn_sql bn_mysql_lib_fail_stmt(const struct bn_mysql_lib_stmt *st, const char *call,
                                   struct bn_sql_diag *d)
{
  return bn_mysql_fail_as(&st->lib->handle->server_status, (int)mysql_stmt_errno(st->handle),
                          mysql_stmt_sqlstate(st->handle), call, mysql_stmt_error(st->handle), d);
}
