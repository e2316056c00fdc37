/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the MySQL driver share. */
#ifndef BN_DRIVERS_MYSQL_INTERNAL_H
#define BN_DRIVERS_MYSQL_INTERNAL_H

#include <mysql.h>

#include "api/driver.h"
#include "drivers/common/sockref.h"
#include "drivers/common/stream.h"
#include "drivers/mysql/options.h"
#include "drivers/mysql/wire/packet.h"

/* The driver's process-wide state; constant after init. */
struct bn_mysql {
  const struct bn_mysql_conf *conf;
  const struct bn_driver_host *host;
  char *user,
      *password; /* after files, prompt and environment; NULL: the client library's choice */
  unsigned *port;
  size_t n_ports;
};

struct bn_mysql_stmt;

/* Rows on their way to a table. */
struct bn_mysql_load {
  char *table, *columns; /* used last; NULL: none was yet */
  struct bn_mysql_part *part;
  size_t n_parts;
  size_t at, done; /* what has been read: parts, and bytes of the next one */
};

/* Statements that the driver sends and whose answers it reads by itself. */
struct bn_mysql_wire {
  struct bn_stream stream;
  struct bn_mysql_reply reply;
  bool on;         /* statements of this connection go this way */
  bool attributes; /* a query begins with a number of attributes */
  bool broken;     /* the connection is lost */
  bool live;       /* the reply is at the beginning of the stream, its rows may be fetched */
  bool more;       /* another result follows */
  size_t row_at;   /* of the next row in the reply */
  uint64_t rows_left;
  uint8_t *joined; /* a row that came in several packets */
};

struct bn_mysql_conn {
  MYSQL *handle; /* NULL: not connected, or a dry run */
  struct bn_mysql *driver;
  struct bn_mysql_stmt *source; /* whose rows the current result has; NULL: a query's */
  struct bn_sockref socket;
  struct bn_mysql_load load;
  struct bn_mysql_wire wire;
};

/* A statement's part in it. */
struct bn_mysql_wire_stmt {
  const struct bn_sql_bind *bind; /* the SQL layer's */
  size_t n_bind;
  bool types_sent;
  struct bn_mysql_column *column; /* as the server described them last; NULL: never */
  uint32_t n_columns, n_cells;
  char *cells; /* numbers of the row that was fetched last, as text */
};

struct bn_mysql_stmt {
  MYSQL_STMT *handle;
  struct bn_mysql_conn *conn;
  size_t n_params;
  struct bn_mysql_wire_stmt wire;
  /* Where the library puts a row, made when a row is fetched for the first time. */
  MYSQL_BIND *column;
  struct bn_mysql_cell *cell;
  unsigned n_columns;
  bool rows_bound; /* of the current result */
};

/* Calls shown by --mysql-debug; never with a password. */
__attribute__((format(printf, 2, 3))) void bn_mysql_trace_text(const struct bn_mysql *driver,
                                                               const char *fmt, ...);
#define bn_mysql_trace(driver, ...)                                                                \
  do {                                                                                             \
    if (__builtin_expect((driver)->conf->debug, 0))                                                \
      bn_mysql_trace_text(driver, __VA_ARGS__);                                                    \
  } while (0)

/* 0.5 traces other calls than later versions. */
static inline bool bn_mysql_is_05(const struct bn_mysql *driver)
{
  return driver->host->version == BN_V05;
}

/* --- secrets.c: where user and password come from --- */
int bn_mysql_secrets_find(struct bn_mysql *driver, struct bn_err *err);

/* --- connect.c --- */
extern const char bn_mysql_not_encrypted[];
enum bn_sql bn_mysql_connect(void *self, void *conn, const struct bn_sql_target *t,
                             uint64_t deadline_ns, struct bn_sql_diag *d);
void bn_mysql_disconnect(void *conn);
void bn_mysql_interrupt(void *conn);

/* --- errors.c --- */
/* Fill d from the handle of the failed call; return ERROR or LOST. */
enum bn_sql bn_mysql_fail(struct bn_mysql_conn *c, const char *call, struct bn_sql_diag *d);
enum bn_sql bn_mysql_fail_stmt(struct bn_mysql_stmt *st, const char *call, struct bn_sql_diag *d);
/* The same, by what the server sent; and a failure that the client library does not know about. */
enum bn_sql bn_mysql_fail_as(struct bn_mysql_conn *c, int code, const char *state, const char *call,
                             const char *text, struct bn_sql_diag *d);
enum bn_sql bn_mysql_fail_text(int code, const char *call, const char *text, struct bn_sql_diag *d);
enum bn_sql bn_mysql_unread(enum bn_sql_step step, bool prepared, struct bn_sql_diag *d);
enum bn_sql_class bn_mysql_classify(const struct bn_sql_diag *d);

/* --- result.c --- */
enum bn_sql bn_mysql_query(void *conn, const char *sql, size_t len, struct bn_sql_result *r,
                           struct bn_sql_diag *d);
enum bn_sql bn_mysql_next(void *conn, void *stmt, struct bn_sql_result *r, struct bn_sql_diag *d);
bool bn_mysql_fetch(void *conn, struct bn_sql_result *r, struct bn_sql_value *row);
void bn_mysql_free_result(void *conn, struct bn_sql_result *r);

/* --- stmt.c --- */
enum bn_sql bn_mysql_prepare(void *conn, void *stmt, const char *sql, size_t len,
                             struct bn_sql_diag *d);
enum bn_sql bn_mysql_bind(void *stmt, const struct bn_sql_bind *b, size_t n, struct bn_sql_diag *d);
enum bn_sql bn_mysql_execute(void *stmt, struct bn_sql_result *r, struct bn_sql_diag *d);
enum bn_sql bn_mysql_stmt_next(struct bn_mysql_stmt *st, struct bn_sql_result *r,
                               struct bn_sql_diag *d);
bool bn_mysql_stmt_fetch(struct bn_mysql_stmt *st, const struct bn_sql_result *r,
                         struct bn_sql_value *row);
void bn_mysql_close(void *stmt);

/* --- wire.c --- */
/* The connection has just been made: will the driver use it without the library? */
void bn_mysql_wire_open(struct bn_mysql_conn *c);
void bn_mysql_wire_close(struct bn_mysql_conn *c);
/* After a call of the library that may have found the connection broken: then it has closed the
   socket, whose number may be another connection's by now. */
void bn_mysql_wire_check(struct bn_mysql_conn *c);
/* Before the library is to read an answer: reads those that wait, and drops them. */
void bn_mysql_wire_settle(struct bn_mysql_conn *c);
bool bn_mysql_wire_takes(const struct bn_mysql_conn *c, const char *sql, size_t len);
enum bn_sql bn_mysql_wire_query(struct bn_mysql_conn *c, const char *sql, size_t len,
                                struct bn_sql_result *r, struct bn_sql_diag *d);
enum bn_sql bn_mysql_wire_execute(struct bn_mysql_stmt *st, struct bn_sql_result *r,
                                  struct bn_sql_diag *d);
enum bn_sql bn_mysql_wire_next(struct bn_mysql_conn *c, struct bn_mysql_stmt *st,
                               struct bn_sql_result *r, struct bn_sql_diag *d);
bool bn_mysql_wire_fetch(struct bn_mysql_conn *c, const struct bn_sql_result *r,
                         struct bn_sql_value *row);
void bn_mysql_wire_free_result(struct bn_mysql_conn *c);
void bn_mysql_wire_forget(struct bn_mysql_stmt *st);

/* --- load.c --- */
enum bn_sql bn_mysql_load_begin(void *conn, const char *table, const char *columns,
                                struct bn_sql_diag *d);
enum bn_sql bn_mysql_load_rows(void *conn, const char *rows, size_t len, struct bn_sql_diag *d);
enum bn_sql bn_mysql_load_end(void *conn, struct bn_sql_diag *d);
void bn_mysql_load_forget(struct bn_mysql_conn *c);

/* --- lib_mariadb.c or lib_oracle.c: where the client libraries differ --- */
/* Before connecting.  Return 0, or -1 and text says what this library cannot do. */
int bn_mysql_lib_ssl_mode(MYSQL *handle, int mode, const char **text);
int bn_mysql_lib_compression(MYSQL *handle, const char *algorithms, const char **text);
int bn_mysql_lib_socket(MYSQL *handle);
/* false: the library has closed the socket. */
bool bn_mysql_lib_connected(const MYSQL *handle);
/* The number of the error when nothing can be sent any more; and whether the library then looks for
   what the server said before it hung up. */
int bn_mysql_lib_unsent(void);
bool bn_mysql_lib_asks_why(void);
/* What the library says of an error of its own: server gone, connection lost, malformed packet. */
const char *bn_mysql_lib_text(int code);
/* Once, before the first connection. */
void bn_mysql_lib_init(void);

#endif
