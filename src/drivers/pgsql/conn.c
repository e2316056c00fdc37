/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections: libpq makes them, then one of two ways carries the statements. */
#include "drivers/pgsql/conn.h"

#include <stdio.h>

#include "drivers/pgsql/driver.h"
#include "drivers/pgsql/error.h"

/* --- use of the socket --- */

bool bn_pgsql_take_back(struct bn_pgsql_conn *c)
{
  const enum bn_pgsql_socket_user socket_user = bn_pgsql_wire_socket_user(&c->wire);

  /* wire/ reports at the next statement that it has lost the connection; libpq finds and reports
     other losses itself. */
  if (socket_user == BN_PGSQL_SOCKET_LOST)
    return true;
  if (socket_user != BN_PGSQL_SOCKET_LENT || !bn_pgsql_lib_is_idle(&c->lib))
    return false;
  return bn_pgsql_wire_take_back(&c->wire, bn_pgsql_lib_transaction_letter(&c->lib));
}

char bn_pgsql_transaction_letter(const struct bn_pgsql_conn *c)
{
  switch (bn_pgsql_wire_socket_user(&c->wire)) {
  case BN_PGSQL_SOCKET_LOST:
    return '?';
  case BN_PGSQL_SOCKET_WIRE:
    return bn_pgsql_wire_transaction_letter(&c->wire);
  default:
    return bn_pgsql_lib_transaction_letter(&c->lib);
  }
}

/* Returns whether wire/ can send statements on the connection.  Notices that are to be shown need
   libpq's words for them. */
static bool conn_can_use_wire(const struct bn_pgsql_conn *c)
{
  return bn_pgsql_lib_speaks_version_3(&c->lib) && !c->driver->host->policy->pgsql_shows_notices;
}

/* Decides, after libpq has logged in, who carries the statements: wire/ if the option and the
   connection allow it, else libpq, which needs no call for that.  Returns DONE, or ERROR and d if
   the option demands wire/ and the connection cannot use it. */
static enum bn_sql conn_choose_way(struct bn_pgsql_conn *c, struct bn_sql_diag *d)
{
  const int protocol = c->driver->conf->protocol;

  if (protocol != BN_PROTOCOL_LIBRARY && conn_can_use_wire(c)) {
    bn_pgsql_wire_open(&c->wire, bn_pgsql_lib_socket(&c->lib), bn_pgsql_lib_tls(&c->lib),
                       &c->socket, &c->wait);
    return BN_SQL_DONE;
  }
  if (protocol != BN_PROTOCOL_OWN)
    return BN_SQL_DONE;
  /* Only the encryption is left as the reason, because driver_check_conf has refused dialects that
     show notices.  The text ends as libpq's own do. */
  return bn_pgsql_fail_text("", "PQconnectPoll",
                            "--pgsql-protocol=own cannot be used on a connection that is encrypted "
                            "without OpenSSL: use --pgsql-protocol=auto\n\n",
                            d);
}

enum bn_sql bn_pgsql_connect(void *self, void *conn, const struct bn_sql_target *t,
                             uint64_t deadline_ns, struct bn_sql_diag *d)
{
  struct bn_pgsql_conn *c = conn;
  enum bn_sql rc;

  c->driver = self;
  bn_sockref_clear(&c->socket);
  c->wait = (struct bn_sockwait){.waiter = t->waiter};
  c->lib.wait = &c->wait;
  rc = bn_pgsql_lib_connect(&c->lib, c->driver, t, deadline_ns, d);
  if (rc != BN_SQL_DONE)
    return rc;
  bn_sockref_set(&c->socket, bn_pgsql_lib_socket(&c->lib));
  if (t->elsewhere)
    bn_socket_limit_silence(bn_pgsql_lib_socket(&c->lib));
  return conn_choose_way(c, d);
}

size_t bn_pgsql_place(void *self, const struct bn_sql_target *t, char *name, size_t size)
{
  return bn_pgsql_lib_place(self, t, name, size);
}

void bn_pgsql_disconnect(void *conn)
{
  struct bn_pgsql_conn *c = conn;

  bn_sockref_clear(&c->socket);
  bn_pgsql_wire_close(&c->wire);
  bn_pgsql_lib_disconnect(&c->lib);
}

/* Shuts the socket down.  A cancel request would need another connection, and a call is interrupted
   because its server does not answer. */
void bn_pgsql_interrupt(void *conn)
{
  const struct bn_pgsql_conn *c = conn;

  bn_sockref_shut(&c->socket);
}

void bn_pgsql_about(void *conn, struct bn_sql_about *out)
{
  struct bn_pgsql_conn *c = conn;
  const bool by_wire = bn_pgsql_wire_socket_user(&c->wire) != BN_PGSQL_SOCKET_LIBRARY;

  bn_pgsql_lib_about(&c->lib, out);
  (void)snprintf(out->protocol, sizeof out->protocol, "%s", by_wire ? "own" : "library");
}

bool bn_pgsql_pooled(void *conn)
{
  struct bn_pgsql_conn *c = conn;

  bn_pgsql_wire_lend(&c->wire);
  return bn_pgsql_lib_ask_pooled(&c->lib);
}

/* base/limit_check.h replaces %n. */
int bn_pgsql_info(void *conn, struct bn_sql_info *out)
{
  struct bn_pgsql_conn *c = conn;

  out->raise_connections =
      "type \"ALTER SYSTEM SET max_connections = %n;\" on the server and restart it";
  bn_pgsql_wire_lend(&c->wire); /* libpq asks the server */
  return bn_pgsql_lib_info(&c->lib, out);
}

enum bn_sql_transaction bn_pgsql_transaction_state(void *conn)
{
  switch (bn_pgsql_transaction_letter(conn)) {
  case 'T':
    return BN_TRANSACTION_OPEN;
  case 'E':
    return BN_TRANSACTION_FAILED;
  default:
    return BN_TRANSACTION_OWN;
  }
}

size_t bn_pgsql_quote(void *conn, char *out, const char *in, size_t len)
{
  const struct bn_pgsql_conn *c = conn;
  const struct bn_pgsql_text_settings *settings = bn_pgsql_wire_text_settings(&c->wire);

  return bn_pgsql_lib_quote(&c->lib, settings->plain_strings, settings->encoding, out, in, len);
}

/* --- bulk load --- */

enum bn_sql bn_pgsql_load_begin(void *conn, const char *table, const char *columns,
                                struct bn_sql_diag *d)
{
  struct bn_pgsql_conn *c = conn;
  const bool in_transaction = bn_pgsql_transaction_letter(c) != 'I';

  bn_pgsql_wire_lend(&c->wire);
  return bn_pgsql_lib_load_begin(&c->lib, table, columns, in_transaction, d);
}

enum bn_sql bn_pgsql_load_rows(void *conn, const char *rows, size_t len, struct bn_sql_diag *d)
{
  struct bn_pgsql_conn *c = conn;

  return bn_pgsql_lib_load_rows(&c->lib, rows, len, d);
}

enum bn_sql bn_pgsql_load_end(void *conn, struct bn_sql_diag *d)
{
  struct bn_pgsql_conn *c = conn;

  return bn_pgsql_lib_load_end(&c->lib, d);
}
