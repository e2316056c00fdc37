/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections: the client library makes them, then one of two ways carries the statements. */
#include "drivers/mysql/conn.h"

#include <stdio.h>

#include "drivers/common/quote.h"
#include "drivers/mysql/driver.h"
#include "drivers/mysql/error.h"

const char *bn_mysql_find_library_option(const struct bn_mysql_conf *conf)
{
  if (conf->debug)
    return "--mysql-debug=on";
  if (conf->compression)
    return "--mysql-compression=on";
  return conf->read_timeout_s != 0 ? "--mysql-read-timeout" : NULL;
}

/* Lends the socket that the library has connected, and tls, its encryption or NULL, to wire/. */
static void conn_open_wire(struct bn_mysql_conn *c, struct ssl_st *tls)
{
  const struct bn_mysql_lent lent = {
      .fd = bn_mysql_lib_socket(&c->lib),
      .tls = tls,
      .capabilities = bn_mysql_lib_capabilities(&c->lib),
      .status = bn_mysql_lib_status(&c->lib),
      .socket = &c->socket,
      .wait = &c->wait,
      .words = &bn_mysql_lib_words,
      .host = c->driver->host,
  };

  if (c->wait.waiter != NULL) /* there may be thousands of connections */
    bn_mysql_lib_free_cache(&c->lib);
  bn_mysql_wire_open(&c->wire, &lent);
}

/* Returns why the statements of the connection must not go by the library, or NULL if they may. */
static const char *conn_find_refusal(const struct bn_mysql_conn *c)
{
  /* Only the encryption is left as the reason, because driver_check_protocol has refused the
     options that need the library. */
  if (c->driver->conf->protocol == BN_PROTOCOL_OWN)
    return "--mysql-protocol=own cannot be used on a connection that this client library has "
           "encrypted: add --mysql-ssl=off, or use --mysql-protocol=auto";
  return c->wait.waiter != NULL ? bn_mysql_lib_cannot_wait : NULL;
}

/* Chooses, after the login by the library, the way of the statements: wire/, unless an option or
   the encryption needs the library.  Returns DONE, or ERROR and d. */
static enum bn_sql conn_choose_way(struct bn_mysql_conn *c, struct bn_sql_diag *d)
{
  const struct bn_mysql_conf *conf = c->driver->conf;
  struct ssl_st *const tls = bn_mysql_lib_tls(&c->lib);
  const bool has_foreign_tls = tls == NULL && bn_mysql_lib_is_encrypted(&c->lib);
  const bool needs_library = has_foreign_tls || bn_mysql_find_library_option(conf) != NULL;
  const char *refusal;

  if (conf->protocol != BN_PROTOCOL_LIBRARY && !needs_library) {
    c->way = BN_MYSQL_WAY_WIRE;
    conn_open_wire(c, tls);
    return BN_SQL_DONE;
  }
  refusal = conn_find_refusal(c);
  if (refusal != NULL)
    return bn_mysql_fail_text(0, "mysql_real_connect()", refusal, d);
  c->way = BN_MYSQL_WAY_LIBRARY;
  return BN_SQL_DONE;
}

enum bn_sql bn_mysql_connect(void *self, void *conn, const struct bn_sql_target *t,
                             uint64_t deadline_ns, struct bn_sql_diag *d)
{
  struct bn_mysql_conn *c = conn;
  enum bn_sql rc;

  c->driver = self;
  c->way = BN_MYSQL_WAY_NONE;
  bn_sockref_clear(&c->socket);
  c->wait = (struct bn_sockwait){.waiter = t->waiter};
  c->lib.wait = &c->wait;
  if (c->driver->conf->dry_run)
    return BN_SQL_DONE;
  rc = bn_mysql_lib_connect(&c->lib, c->driver, t, deadline_ns, d);
  if (rc != BN_SQL_DONE)
    return rc;
  bn_sockref_set(&c->socket, bn_mysql_lib_socket(&c->lib));
  if (t->elsewhere)
    bn_socket_limit_silence(bn_mysql_lib_socket(&c->lib));
  return conn_choose_way(c, d);
}

size_t bn_mysql_place(void *self, const struct bn_sql_target *t, char *name, size_t size)
{
  return bn_mysql_lib_place(self, t, name, size);
}

void bn_mysql_disconnect(void *conn)
{
  struct bn_mysql_conn *c = conn;

  bn_sockref_clear(&c->socket);
  bn_mysql_wire_close(&c->wire);
  bn_mysql_lib_disconnect(&c->lib);
  c->way = BN_MYSQL_WAY_NONE;
}

void bn_mysql_interrupt(void *conn)
{
  const struct bn_mysql_conn *c = conn;

  bn_sockref_shut(&c->socket);
}

void bn_mysql_about(void *conn, struct bn_sql_about *out)
{
  struct bn_mysql_conn *c = conn;

  if (c->way == BN_MYSQL_WAY_NONE) /* a dry run has no server */
    return;
  bn_mysql_lib_about(&c->lib, out);
  (void)snprintf(out->protocol, sizeof out->protocol, "%s",
                 c->way == BN_MYSQL_WAY_WIRE ? "own" : "library");
}

int bn_mysql_info(void *conn, struct bn_sql_info *out)
{
  struct bn_mysql_conn *c = conn;
  int rc;

  out->raise_connections = "type \"SET GLOBAL max_connections = %n;\" on the server";
  out->raise_statements = "type \"SET GLOBAL max_prepared_stmt_count = %n;\" on the server";
  if (c->way == BN_MYSQL_WAY_NONE)
    return 0;
  bn_mysql_settle(c);
  rc = bn_mysql_lib_info(&c->lib, out);
  bn_mysql_note_library(c);
  return rc;
}

enum bn_sql_transaction bn_mysql_transaction(void *conn)
{
  struct bn_mysql_conn *c = conn;

  if (c->way == BN_MYSQL_WAY_NONE)
    return BN_TRANSACTION_OWN;
  return bn_mysql_transaction_of(*bn_mysql_lib_status(&c->lib));
}

size_t bn_mysql_quote(void *conn, char *out, const char *in, size_t len)
{
  struct bn_mysql_conn *c = conn;
  size_t n = 0;

  if (c->way != BN_MYSQL_WAY_NONE && bn_mysql_lib_quote(&c->lib, out, in, len, &n))
    return n;
  /* A dry run, or a server without backslash escapes. */
  return bn_quote_double(out, in, len);
}

/* --- bulk load --- */

enum bn_sql bn_mysql_load_begin(void *conn, const char *table, const char *columns,
                                struct bn_sql_diag *d)
{
  struct bn_mysql_conn *c = conn;
  enum bn_sql rc;

  if (c->way == BN_MYSQL_WAY_NONE)
    return BN_SQL_DONE;
  bn_mysql_settle(c);
  rc = bn_mysql_lib_load_begin(&c->lib, table, columns, d);
  bn_mysql_note_library(c);
  return rc;
}

enum bn_sql bn_mysql_load_rows(void *conn, const char *rows, size_t len, struct bn_sql_diag *d)
{
  struct bn_mysql_conn *c = conn;

  if (c->way == BN_MYSQL_WAY_NONE)
    return BN_SQL_DONE;
  return bn_mysql_lib_load_rows(&c->lib, rows, len, d);
}

enum bn_sql bn_mysql_load_end(void *conn, struct bn_sql_diag *d)
{
  struct bn_mysql_conn *c = conn;
  enum bn_sql rc;

  if (c->way == BN_MYSQL_WAY_NONE)
    return BN_SQL_DONE;
  rc = bn_mysql_lib_load_end(&c->lib, d);
  bn_mysql_note_library(c);
  return rc;
}
