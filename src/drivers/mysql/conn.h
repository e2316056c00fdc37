/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A connection and its statements as the SQL layer sees them: two ways to the server, and which of
   the two carries the next statement.  The ways know nothing of each other:

   lib/ calls the client library, which connects, fills tables and does all that is rare, or
   everything where wire/ cannot be used; it owns the library's handles and what is read from their
   insides.

   wire/ prepares statements and sends those of transactions in packets of its own; it owns the
   bytes that were received and not yet used, and the answer they belong to.

   Before the library sends anything, bn_mysql_settle() reads all pending answers; afterwards
   bn_mysql_note_library() checks whether the library has given the connection up. */
#ifndef BN_DRIVERS_MYSQL_CONN_H
#define BN_DRIVERS_MYSQL_CONN_H

#include "drivers/common/socket.h"
#include "drivers/common/sockwait.h"
#include "drivers/mysql/lib/lib.h"
#include "drivers/mysql/wire/wire.h"

/* The way by which statements reach the server. */
enum bn_mysql_way {
  BN_MYSQL_WAY_NONE, /* a dry run, or not connected */
  BN_MYSQL_WAY_LIBRARY,
  BN_MYSQL_WAY_WIRE /* wire/; the library does all that is rare */
};

struct bn_mysql_conn {
  struct bn_mysql *driver;
  enum bn_mysql_way way;
  struct bn_mysql_stmt *source; /* statement whose rows the current result has; NULL: a query */
  struct bn_sockref socket;
  struct bn_sockwait wait;
  struct bn_mysql_lib lib;
  struct bn_mysql_wire wire;
};

struct bn_mysql_stmt {
  struct bn_mysql_conn *conn;
  bool complete; /* all parameters are bound */
  bool by_wire;  /* wire/ has prepared the statement, and the library does not know it */
  struct bn_mysql_lib_stmt lib;
  struct bn_mysql_wire_stmt wire;
};

/* Reads and drops all answers that wire/ has not read, before the library uses the socket. */
static inline void bn_mysql_settle(struct bn_mysql_conn *c)
{
  if (c->way != BN_MYSQL_WAY_WIRE)
    return;
  bn_mysql_wire_settle(&c->wire);
  c->source = NULL;
}

/* Stops wire/ if the library has found the connection broken: it has then closed the socket, whose
   number may already be another connection's. */
static inline void bn_mysql_note_library(struct bn_mysql_conn *c)
{
  if (c->way == BN_MYSQL_WAY_WIRE && !bn_mysql_lib_is_connected(&c->lib))
    bn_mysql_wire_give_up(&c->wire);
}

/* Returns the first option that only the client library supports, as a user writes it, or NULL: the
   library alone traces calls, compresses packets and limits the time of reading. */
const char *bn_mysql_find_library_option(const struct bn_mysql_conf *conf);

/* Hooks of the driver (api/driver.h). */

/* --- conn.c --- */
enum bn_sql bn_mysql_connect(void *self, void *conn, const struct bn_sql_target *t,
                             uint64_t deadline_ns, struct bn_sql_diag *d);
size_t bn_mysql_place(void *self, const struct bn_sql_target *t, char *name, size_t size);
void bn_mysql_disconnect(void *conn);
void bn_mysql_interrupt(void *conn);
void bn_mysql_about(void *conn, struct bn_sql_about *out);
int bn_mysql_info(void *conn, struct bn_sql_info *out);
enum bn_sql_transaction bn_mysql_transaction(void *conn);
size_t bn_mysql_quote(void *conn, char *out, const char *in, size_t len);
enum bn_sql bn_mysql_load_begin(void *conn, const char *table, const char *columns,
                                struct bn_sql_diag *d);
enum bn_sql bn_mysql_load_rows(void *conn, const char *rows, size_t len, struct bn_sql_diag *d);
enum bn_sql bn_mysql_load_end(void *conn, struct bn_sql_diag *d);

/* --- query.c --- */
enum bn_sql bn_mysql_query(void *conn, const char *sql, size_t len, struct bn_sql_result *r,
                           struct bn_sql_diag *d);
enum bn_sql bn_mysql_next(void *conn, void *stmt, struct bn_sql_result *r, struct bn_sql_diag *d);
bool bn_mysql_fetch(void *conn, struct bn_sql_result *r, struct bn_sql_value *row);
void bn_mysql_free_result(void *conn, struct bn_sql_result *r);

/* --- stmt.c --- */
enum bn_sql bn_mysql_prepare(void *conn, void *stmt, const char *sql, size_t len,
                             struct bn_sql_diag *d);
enum bn_sql bn_mysql_bind(void *stmt, const struct bn_sql_bind *b, size_t n, struct bn_sql_diag *d);
enum bn_sql bn_mysql_prepare_all(void *conn, const struct bn_sql_unprepared *list, size_t n,
                                 size_t *done, struct bn_sql_diag *d);
enum bn_sql bn_mysql_execute(void *stmt, struct bn_sql_result *r, struct bn_sql_diag *d);
void bn_mysql_close(void *stmt);

#endif
