/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors of MySQL and MariaDB by number; knows no client library. */
#ifndef BN_DRIVERS_MYSQL_ERROR_H
#define BN_DRIVERS_MYSQL_ERROR_H

#include "api/driver.h"

/* Error numbers that client libraries themselves use. */
enum bn_mysql_client_error {
  BN_MYSQL_CLIENT_FIRST = 2000, /* up to the last, numbers are those of the client library */
  BN_MYSQL_CLIENT_LAST = 2999,
  BN_MYSQL_SOCKET_CONNECTION = 2002, /* MariaDB's library uses it for hosts, too */
  BN_MYSQL_HOST_CONNECTION = 2003,
  BN_MYSQL_UNKNOWN_HOST = 2005,
  BN_MYSQL_GONE = 2006,
  BN_MYSQL_NO_MEMORY = 2008,
  BN_MYSQL_TCP_CONNECTION = 2011, /* the reference counts it as a lost connection */
  BN_MYSQL_LOST = 2013,
  BN_MYSQL_OUT_OF_SYNC = 2014,
  BN_MYSQL_ENCRYPTION = 2026, /* encryption is not available or, in MariaDB's library, has ended */
  BN_MYSQL_MALFORMED = 2027,
  BN_MYSQL_LOST_EXTENDED = 2055
};

/* The call that messages name if a text fails: not the library's function, but sysbench's. */
static const char bn_mysql_query_call[] = "mysql_drv_query()";

/* Fills all of d but `where`; returns LOST if the connection is lost after that number, else ERROR.
   status: of the server after the last statement that succeeded; loses the bit of the transaction
   if the error has ended it. */
enum bn_sql bn_mysql_fail_with_status(unsigned *status, int code, const char *state,
                                      const char *call, const char *text, struct bn_sql_diag *d);
/* Does the same without a connection; d->rolled_back stays. */
enum bn_sql bn_mysql_fail_text(int code, const char *call, const char *text, struct bn_sql_diag *d);
/* Returns whether a connect has failed before the login, so that another address may do. */
bool bn_mysql_reached_no_server(const struct bn_sql_diag *d);
/* Returns whether the client library gives this errno as the reason of a failed connect: it writes
   "(99)" after the name of the server. */
bool bn_mysql_quotes_errno(const struct bn_sql_diag *d, int error);
/* Returns whether a statement that the server refused to prepare with this number can be sent as
   text: it cannot prepare such statements, or no more of them. */
bool bn_mysql_can_send_as_text(int code);
/* Returns the transaction of the next statement, by the server's status after the last one. */
enum bn_sql_transaction bn_mysql_transaction_of(unsigned status);

/* Hooks of the driver (api/driver.h). */
enum bn_sql bn_mysql_unread(enum bn_sql_step step, bool prepared, struct bn_sql_diag *d);
enum bn_sql_class bn_mysql_classify(const struct bn_sql_diag *d);
bool bn_mysql_missing(const struct bn_sql_diag *d);
int bn_mysql_fails_as_text(const struct bn_sql_diag *d);
const char *bn_mysql_remedy(const struct bn_sql_diag *d);

#endif
