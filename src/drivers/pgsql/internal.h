/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the PostgreSQL driver share. */
#ifndef BN_DRIVERS_PGSQL_INTERNAL_H
#define BN_DRIVERS_PGSQL_INTERNAL_H

#include <libpq-fe.h>

#include "api/driver.h"
#include "drivers/common/sockref.h"
#include "drivers/pgsql/options.h"

/* The driver's process-wide state; constant after init. */
struct bn_pgsql {
  const struct bn_pgsql_conf *conf;
  const struct bn_driver_host *host;
  char *password; /* after file and prompt; NULL: libpq looks for one */
  char **hosts;   /* NULL entries: libpq's default, a socket */
  size_t n_hosts;
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
};

struct bn_pgsql_stmt {
  struct bn_pgsql_conn *conn;
  char *sql; /* with $1, $2, … until the server has it; then still, for a change of types */
  size_t n_params;
  char name[24]; /* "": the server does not know it */
  const struct bn_sql_bind *binds;
  struct bn_pgsql_param *param; /* what the server is sent, n_params of each */
  const char **value;
  int *length, *format;
  Oid *type;
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
bool bn_pgsql_ignorable(void *self, const struct bn_sql_diag *d);

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

/* --- load.c --- */
enum bn_sql bn_pgsql_load_begin(void *conn, const char *table, const char *columns,
                                struct bn_sql_diag *d);
enum bn_sql bn_pgsql_load_rows(void *conn, const char *rows, size_t len, struct bn_sql_diag *d);
enum bn_sql bn_pgsql_load_end(void *conn, struct bn_sql_diag *d);

#endif
