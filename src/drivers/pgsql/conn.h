/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A connection and its statements as the SQL layer sees them: two ways to the server, and which of
   the two has the socket.  The ways know nothing of each other:

   lib/ calls libpq, which connects, prepares single statements, fills tables, and does everything
   on a connection that wire/ cannot use; it owns libpq's objects.

   wire/ sends texts, executes statements, prepares many of them at once, and reads the answers; it
   owns the bytes that were received and not yet used, the answer they belong to, and whether the
   socket is lent to libpq.

   Before libpq sends anything, bn_pgsql_wire_lend() reads all pending messages; bn_pgsql_on_wire()
   takes the socket back. */
#ifndef BN_DRIVERS_PGSQL_CONN_H
#define BN_DRIVERS_PGSQL_CONN_H

#include "drivers/common/socket.h"
#include "drivers/common/sockwait.h"
#include "drivers/pgsql/lib/lib.h"
#include "drivers/pgsql/request.h"
#include "drivers/pgsql/wire/wire.h"

struct bn_pgsql_conn {
  struct bn_pgsql *driver;
  struct bn_sockref socket;
  struct bn_sockwait wait;
  struct bn_pgsql_lib lib;
  struct bn_pgsql_wire wire;
};

struct bn_pgsql_stmt {
  struct bn_pgsql_conn *conn;
  struct bn_pgsql_request request;
  int fields; /* number of fields of its rows, as wire/ was told; BN_PGSQL_UNKNOWN: not yet */
};

/* The slow path of bn_pgsql_on_wire: takes the socket back from libpq, if it waits for nothing. */
bool bn_pgsql_take_back(struct bn_pgsql_conn *c);

/* Returns whether the next statement goes by wire/, also on a connection that wire/ has lost.  The
   socket is taken back from libpq for it. */
static inline bool bn_pgsql_on_wire(struct bn_pgsql_conn *c)
{
  return __builtin_expect(bn_pgsql_wire_has_socket(&c->wire), 1) || bn_pgsql_take_back(c);
}

/* Returns the state of the transaction: 'I': there is none, 'T': open, 'E': failed, '?':
   unknown. */
char bn_pgsql_transaction_letter(const struct bn_pgsql_conn *c);

/* Hooks of the driver (api/driver.h). */

/* --- conn.c --- */
enum bn_sql bn_pgsql_connect(void *self, void *conn, const struct bn_sql_target *t,
                             uint64_t deadline_ns, struct bn_sql_diag *d);
size_t bn_pgsql_place(void *self, const struct bn_sql_target *t, char *name, size_t size);
void bn_pgsql_disconnect(void *conn);
void bn_pgsql_interrupt(void *conn);
void bn_pgsql_about(void *conn, struct bn_sql_about *out);
int bn_pgsql_info(void *conn, struct bn_sql_info *out);
bool bn_pgsql_pooled(void *conn);
enum bn_sql_transaction bn_pgsql_transaction_state(void *conn);
size_t bn_pgsql_quote(void *conn, char *out, const char *in, size_t len);
enum bn_sql bn_pgsql_load_begin(void *conn, const char *table, const char *columns,
                                struct bn_sql_diag *d);
enum bn_sql bn_pgsql_load_rows(void *conn, const char *rows, size_t len, struct bn_sql_diag *d);
enum bn_sql bn_pgsql_load_end(void *conn, struct bn_sql_diag *d);

/* --- stmt.c --- */
extern const struct bn_sql_caps bn_pgsql_caps;
/* If the text has several statements, the result is that of the last one, as in sysbench. */
enum bn_sql bn_pgsql_query(void *conn, const char *sql, size_t len, struct bn_sql_result *r,
                           struct bn_sql_diag *d);
/* There is never a next result, because bn_pgsql_query() keeps only the last one of a text. */
enum bn_sql bn_pgsql_next(void *conn, void *stmt, struct bn_sql_result *r, struct bn_sql_diag *d);
bool bn_pgsql_fetch(void *conn, struct bn_sql_result *r, struct bn_sql_value *row);
void bn_pgsql_free_result(void *conn, struct bn_sql_result *r);
enum bn_sql bn_pgsql_prepare(void *conn, void *stmt, const char *sql, size_t len,
                             struct bn_sql_diag *d);
enum bn_sql bn_pgsql_bind(void *stmt, const struct bn_sql_bind *b, size_t n, struct bn_sql_diag *d);
enum bn_sql bn_pgsql_prepare_all(void *conn, const struct bn_sql_unprepared *list, size_t n,
                                 size_t *done, struct bn_sql_diag *d);
enum bn_sql bn_pgsql_execute(void *stmt, struct bn_sql_result *r, struct bn_sql_diag *d);
void bn_pgsql_close(void *stmt);

#endif
