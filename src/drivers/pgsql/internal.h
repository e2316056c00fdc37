/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the PostgreSQL driver share. */
#ifndef BN_DRIVERS_PGSQL_INTERNAL_H
#define BN_DRIVERS_PGSQL_INTERNAL_H

#include <libpq-fe.h>

#include "api/driver.h"
#include "drivers/common/sockref.h"
#include "drivers/common/stream.h"
#include "drivers/pgsql/options.h"
#include "drivers/pgsql/wire/reply.h"

/* The driver's process-wide state; constant after init. */
struct bn_pgsql {
  const struct bn_pgsql_conf *conf;
  const struct bn_driver_host *host;
  char *password; /* after file and prompt; NULL: libpq looks for one */
  char **hosts;   /* NULL entries: libpq's default, a socket */
  size_t n_hosts;
};

/* Who reads from and writes to the socket. */
enum bn_pgsql_wire {
  BN_PGSQL_NEVER, /* libpq, always */
  BN_PGSQL_LENT,  /* libpq, for now */
  BN_PGSQL_OURS,  /* wire.c */
  BN_PGSQL_GONE   /* nobody: wire.c has lost the connection */
};

struct bn_pgsql_conn {
  PGconn *handle;
  struct bn_pgsql *driver;
  unsigned last_name; /* of a prepared statement */
  /* DEALLOCATE of statements that are closed, sent some at a time: at the end of a connection the
     server forgets them by itself. */
  char *closing;
  size_t closing_len;
  unsigned n_closing;
  int row; /* of the current result, fetched next */
  struct bn_sockref socket;
  enum bn_pgsql_wire wire;
  struct bn_stream stream;
  struct bn_pgsql_reply reply;
  /* Rows that are still to be read: the first bytes that stream has received. */
  size_t answer_len;
  struct bn_pgsql_cursor cursor;
  /* What the server has told about texts while libpq did not listen; 0 and -1: nothing. */
  char plain_strings;
  int encoding;
};

enum { BN_PGSQL_UNKNOWN = -2 };

struct bn_pgsql_stmt {
  struct bn_pgsql_conn *conn;
  char *sql; /* with $1, $2, … until the server has it; then still, for a change of types */
  size_t n_params;
  char name[24]; /* "": the server does not know it */
  int fields;    /* of the rows, as wire.c was told; BN_PGSQL_UNKNOWN: not yet */
  const struct bn_sql_bind *binds;
  Oid *type; /* n_params, as of what follows */
  /* What libpq is given. */
  struct bn_pgsql_param *param;
  const char **value;
  int *length, *format;
};

/* --- connect.c --- */
enum bn_sql bn_pgsql_connect(void *self, void *conn, const struct bn_sql_target *t,
                             uint64_t deadline_ns, struct bn_sql_diag *d);
void bn_pgsql_disconnect(void *conn);
void bn_pgsql_interrupt(void *conn);

/* --- errors.c --- */
/* Fills d from a result (NULL: there was none); the text is the primary message or, if `whole`,
   everything.  Returns ERROR or LOST. */
enum bn_sql bn_pgsql_fail(struct bn_pgsql_conn *c, const PGresult *res, const char *call,
                          bool whole, struct bn_sql_diag *d);
enum bn_sql bn_pgsql_fail_text(const char *state, const char *call, const char *text,
                               struct bn_sql_diag *d);
enum bn_sql_class bn_pgsql_classify(const struct bn_sql_diag *d);

/* --- result.c --- */
/* What a result says; frees it unless it has rows. */
enum bn_sql bn_pgsql_take(struct bn_pgsql_conn *c, PGresult *res, const char *call,
                          struct bn_sql_result *r, struct bn_sql_diag *d);
enum bn_sql bn_pgsql_query(void *conn, const char *sql, size_t len, struct bn_sql_result *r,
                           struct bn_sql_diag *d);
enum bn_sql bn_pgsql_next(void *conn, void *stmt, struct bn_sql_result *r, struct bn_sql_diag *d);
bool bn_pgsql_fetch(void *conn, struct bn_sql_result *r, struct bn_sql_value *row);
void bn_pgsql_free_result(void *conn, struct bn_sql_result *r);

/* --- params.c --- */
/* sql with "?" outside of literals, names and comments as $1, $2, …; malloc'd, NULL: out of
   memory. */
char *bn_pgsql_number_params(const char *sql, size_t len, size_t *n);

/* --- stmt.c --- */
enum bn_sql bn_pgsql_prepare(void *conn, void *stmt, const char *sql, size_t len,
                             struct bn_sql_diag *d);
enum bn_sql bn_pgsql_bind(void *stmt, const struct bn_sql_bind *b, size_t n, struct bn_sql_diag *d);
enum bn_sql bn_pgsql_execute(void *stmt, struct bn_sql_result *r, struct bn_sql_diag *d);
void bn_pgsql_close(void *stmt);

/* --- quote.c --- */
size_t bn_pgsql_quote(void *conn, char *out, const char *in, size_t len);

/* --- wire.c --- */
/* For connections that libpq has just made and will close. */
void bn_pgsql_wire_open(struct bn_pgsql_conn *c);
void bn_pgsql_wire_close(struct bn_pgsql_conn *c);
/* Before libpq is asked to send or receive anything. */
void bn_pgsql_lend(struct bn_pgsql_conn *c);
/* What bn_pgsql_on_wire does when it has to. */
bool bn_pgsql_take_back(struct bn_pgsql_conn *c);
/* Of the connection, whoever has it. */
PGTransactionStatusType bn_pgsql_transaction(const struct bn_pgsql_conn *c);
/* While on the wire. */
enum bn_sql bn_pgsql_wire_query(struct bn_pgsql_conn *c, const char *sql, struct bn_sql_result *r,
                                struct bn_sql_diag *d);
enum bn_sql bn_pgsql_wire_execute(struct bn_pgsql_stmt *st, struct bn_sql_result *r,
                                  struct bn_sql_diag *d);
/* At most BN_PGSQL_PARAMS_MAX parameters. */
enum bn_sql bn_pgsql_wire_execute_anew(struct bn_pgsql_stmt *st, struct bn_sql_result *r,
                                       struct bn_sql_diag *d);
/* Of a result whose rows are c. */
bool bn_pgsql_wire_fetch(struct bn_pgsql_conn *c, const struct bn_sql_result *r,
                         struct bn_sql_value *row);
void bn_pgsql_wire_free(struct bn_pgsql_conn *c);

bool bn_pgsql_set_blocking(int fd, bool blocking);

enum { BN_PGSQL_PARAMS_MAX = 65535 };

/* Whether the next statement goes by wire.c; true also for a connection that it has lost. */
static inline bool bn_pgsql_on_wire(struct bn_pgsql_conn *c)
{
  return __builtin_expect(c->wire == BN_PGSQL_OURS, 1) || bn_pgsql_take_back(c);
}

/* --- lost.c --- */
/* The connection is of no use to anybody; LOST. */
enum bn_sql bn_pgsql_lose(struct bn_pgsql_conn *c, const char *call, const char *text,
                          struct bn_sql_diag *d);
/* Its stream has failed at `doing`: "receive data from". */
enum bn_sql bn_pgsql_lose_socket(struct bn_pgsql_conn *c, const char *call, const char *doing,
                                 struct bn_sql_diag *d);
/* Nothing can be sent; what the server said before that may have come. */
enum bn_sql bn_pgsql_lose_unsent(struct bn_pgsql_conn *c, const char *call, struct bn_sql_diag *d);
/* The reply has what no server says. */
enum bn_sql bn_pgsql_lose_track(struct bn_pgsql_conn *c, const char *call, struct bn_sql_diag *d);

/* --- load.c --- */
enum bn_sql bn_pgsql_load_begin(void *conn, const char *table, const char *columns,
                                struct bn_sql_diag *d);
enum bn_sql bn_pgsql_load_rows(void *conn, const char *rows, size_t len, struct bn_sql_diag *d);
enum bn_sql bn_pgsql_load_end(void *conn, struct bn_sql_diag *d);

#endif
