/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --db-read-hosts: makes one connection of two, to a server that writes and to one that is read. */
#include "sql/roles.h"

#include <string.h>

#include "measure/stat.h"
#include "sql/conn.h"
#include "sql/count.h"
#include "sql/emulate.h"
#include "sql/route.h"

/* What the SQL layer takes for the driver's connection. */
struct pair {
  bool made[BN_ROLES]; /* connect was called */
  bool reading;        /* a transaction was begun on the read server */
  bool held;           /* the write server has locked tables, or a distributed transaction */
  _Alignas(16) char part[];
};

/* What it takes for the driver's statement. */
struct twin {
  enum bn_sql_route route;
  enum bn_sql_boundary boundary;
  bool leaves; /* a transaction on the read server */
  bool prepared[BN_ROLES];
  bool as_text[BN_ROLES]; /* instead: the server does not prepare it */
  _Alignas(16) char part[];
};

/* A text on its way to a server. */
struct call {
  struct bn_sql_conn *c;
  enum bn_sql_route route;
  enum bn_sql_boundary boundary;
  bool leaves;
};

static size_t room_of(size_t size)
{
  return (size + 15) / 16 * 16;
}

static struct pair *pair_of(struct bn_sql_conn *c)
{
  return (struct pair *)(void *)c->driver_part;
}

void *bn_sql_roles_handle(struct bn_sql_conn *c, enum bn_sql_role role)
{
  return pair_of(c)->part + (size_t)role * room_of(c->drv->ops->conn_size);
}

static void *inner_stmt(void *stmt, enum bn_sql_role role)
{
  const struct bn_driver *base = bn_sql_stmt_of(stmt)->conn->drv->ops;

  return ((struct twin *)stmt)->part + (size_t)role * room_of(base->stmt_size);
}

/* --- which server ------------------------------------------------------------------------------
 */

static enum bn_sql_transaction transaction_of(struct bn_sql_conn *c, enum bn_sql_role role)
{
  return c->drv->ops->transaction(bn_sql_roles_handle(c, role));
}

static bool is_open(enum bn_sql_transaction t)
{
  return t == BN_TRANSACTION_OPEN || t == BN_TRANSACTION_FAILED;
}

/* Both servers are between two transactions. */
static bool is_free(struct bn_sql_conn *c)
{
  return !pair_of(c)->held && transaction_of(c, BN_ROLE_WRITE) == BN_TRANSACTION_OWN &&
         transaction_of(c, BN_ROLE_READ) == BN_TRANSACTION_OWN;
}

static enum bn_sql_role roles_choose(struct bn_sql_conn *c, enum bn_sql_route route)
{
  if (pair_of(c)->reading)
    return BN_ROLE_READ;
  return route != BN_ROUTE_WRITE && is_free(c) ? BN_ROLE_READ : BN_ROLE_WRITE;
}

/* There is nothing to be lost: the transaction has only read. */
static enum bn_sql end_reading(struct bn_sql_conn *c, struct bn_sql_diag *d)
{
  void *handle = bn_sql_roles_handle(c, BN_ROLE_READ);
  struct bn_sql_result r = {0};
  const enum bn_sql rc = c->drv->ops->query(handle, "COMMIT", strlen("COMMIT"), &r, d);

  if (rc == BN_SQL_ROWS)
    c->drv->ops->free_result(handle, &r);
  pair_of(c)->reading = false;
  return rc <= BN_SQL_ROWS ? BN_SQL_DONE : rc;
}

/* Sets c->role. */
static enum bn_sql roles_enter(const struct call *call, struct bn_sql_diag *d)
{
  struct bn_sql_conn *c = call->c;
  enum bn_sql rc = BN_SQL_DONE;

  if (pair_of(c)->reading && call->leaves) {
    c->role = BN_ROLE_READ;
    rc = end_reading(c, d);
  }
  if (rc == BN_SQL_DONE)
    c->role = roles_choose(c, call->route);
  return rc;
}

/* The locks of MySQL, of which its answers say nothing.  PostgreSQL's belong to a transaction. */
static void note_held(const struct call *call)
{
  struct pair *p = pair_of(call->c);

  switch (call->boundary) {
  case BN_BOUNDARY_LOCK:
    p->held = transaction_of(call->c, BN_ROLE_WRITE) != BN_TRANSACTION_OPEN;
    break;
  case BN_BOUNDARY_FOREIGN:
    p->held = true;
    break;
  case BN_BOUNDARY_BEGIN:
  case BN_BOUNDARY_NATIVE:
    p->held = false;
    break;
  case BN_BOUNDARY_NONE:
  case BN_BOUNDARY_COMMIT:
  case BN_BOUNDARY_ROLLBACK:
  case BN_BOUNDARY_MANUAL:
  case BN_BOUNDARY_AUTO:
    break;
  }
}

/* What the server's answer has changed. */
static enum bn_sql roles_leave(const struct call *call, enum bn_sql rc)
{
  struct pair *p = pair_of(call->c);

  if (rc == BN_SQL_LOST)
    return rc;
  if (call->c->role == BN_ROLE_WRITE) {
    if (rc <= BN_SQL_ROWS)
      note_held(call);
    return rc;
  }
  p->reading |= call->route == BN_ROUTE_BEGIN_READ && rc <= BN_SQL_ROWS;
  p->reading &= is_open(transaction_of(call->c, BN_ROLE_READ));
  if (rc == BN_SQL_ROWS)
    bn_stat_count(call->c->session->stat, call->c->owner->read_host_reads, 1);
  return rc;
}

/* --- hooks of a connection ---------------------------------------------------------------------
 */

static size_t count_places(const struct bn_sql_conn *c, const struct bn_sql_target *t)
{
  char name[BN_LABEL_LEN];

  return c->drv->ops->place != NULL ? c->drv->ops->place(c->drv->self, t, name, sizeof name) : 1;
}

static struct bn_sql_target target_of(const struct bn_sql_conn *c, const struct bn_sql_target *t,
                                      enum bn_sql_role role)
{
  const struct bn_sql_read_hosts *hosts = &c->drv->roles.hosts;
  const size_t writers = count_places(c, t);
  const struct bn_sql_read_host *host;
  struct bn_sql_target target = *t;

  target.elsewhere &= (role == BN_ROLE_WRITE ? writers : hosts->n) > 1;
  if (role == BN_ROLE_WRITE)
    return target;
  host = &hosts->item[bn_sql_read_hosts_index(hosts, t->ordinal, writers)];
  target.ordinal = 0; /* a host without a port has the first one */
  target.override_name = host->name;
  target.override_value = host->value;
  target.n_overrides = host->n;
  return target;
}

size_t bn_sql_roles_place(const struct bn_sql_conn *c, const struct bn_sql_target *t,
                          enum bn_sql_role role, char *name, size_t size)
{
  const struct bn_sql_target target = target_of(c, t, role);

  if (c->drv->ops->place != NULL)
    (void)c->drv->ops->place(c->drv->self, &target, name, size);
  return count_places(c, t) * c->drv->roles.hosts.n;
}

static enum bn_sql connect_pair(void *self, void *conn, const struct bn_sql_target *t,
                                uint64_t deadline_ns, struct bn_sql_diag *d)
{
  struct bn_sql_conn *c = bn_sql_conn_of(conn);
  enum bn_sql rc = BN_SQL_DONE;

  for (enum bn_sql_role role = 0; role < BN_ROLES && rc == BN_SQL_DONE; role++) {
    const struct bn_sql_target target = target_of(c, t, role);

    pair_of(c)->made[role] = true;
    rc = c->drv->ops->connect(self, bn_sql_roles_handle(c, role), &target, deadline_ns, d);
  }
  return rc;
}

static void roles_disconnect(void *conn)
{
  struct bn_sql_conn *c = bn_sql_conn_of(conn);

  for (enum bn_sql_role role = 0; role < BN_ROLES; role++) {
    if (pair_of(c)->made[role])
      c->drv->ops->disconnect(bn_sql_roles_handle(c, role));
    pair_of(c)->made[role] = false;
  }
}

/* What has been made stays until it is no longer open. */
static void roles_interrupt(void *conn)
{
  struct bn_sql_conn *c = bn_sql_conn_of(conn);

  for (enum bn_sql_role role = 0; role < BN_ROLES; role++)
    c->drv->ops->interrupt(bn_sql_roles_handle(c, role));
}

static void roles_about(void *conn, struct bn_sql_about *out)
{
  struct bn_sql_conn *c = bn_sql_conn_of(conn);

  c->drv->ops->about(bn_sql_roles_handle(c, BN_ROLE_WRITE), out);
}

static size_t roles_quote(void *conn, char *out, const char *in, size_t len)
{
  struct bn_sql_conn *c = bn_sql_conn_of(conn);

  return c->drv->ops->quote(bn_sql_roles_handle(c, BN_ROLE_WRITE), out, in, len);
}

static enum bn_sql_transaction roles_transaction(void *conn)
{
  struct bn_sql_conn *c = bn_sql_conn_of(conn);

  return transaction_of(c, pair_of(c)->reading ? BN_ROLE_READ : BN_ROLE_WRITE);
}

/* What a script asks about its tables before it changes them must not be out of date. */
static enum bn_sql_route route_of(const struct bn_sql_conn *c, const char *sql, size_t len)
{
  return c->uncounted ? BN_ROUTE_WRITE : bn_sql_route_of(sql, len, &c->drv->caps);
}

static bool leaves_reading(struct bn_sql_conn *c, const char *sql, size_t len)
{
  return pair_of(c)->reading && bn_sql_leaves_reading(sql, len, &c->drv->caps);
}

static enum bn_sql roles_query(void *conn, const char *sql, size_t len, struct bn_sql_result *r,
                               struct bn_sql_diag *d)
{
  struct bn_sql_conn *c = bn_sql_conn_of(conn);
  const struct call call = {c, route_of(c, sql, len), bn_sql_boundary_of(sql, len),
                            leaves_reading(c, sql, len)};
  const enum bn_sql rc = roles_enter(&call, d);

  if (rc != BN_SQL_DONE)
    return rc;
  return roles_leave(&call, c->drv->ops->query(bn_sql_roles_handle(c, c->role), sql, len, r, d));
}

static bool roles_fetch(void *conn, struct bn_sql_result *r, struct bn_sql_value *row)
{
  struct bn_sql_conn *c = bn_sql_conn_of(conn);

  return c->drv->ops->fetch(bn_sql_roles_handle(c, c->role), r, row);
}

static void free_result(void *conn, struct bn_sql_result *r)
{
  struct bn_sql_conn *c = bn_sql_conn_of(conn);

  c->drv->ops->free_result(bn_sql_roles_handle(c, c->role), r);
}

static enum bn_sql roles_next(void *conn, void *stmt, struct bn_sql_result *r,
                              struct bn_sql_diag *d)
{
  struct bn_sql_conn *c = bn_sql_conn_of(conn);
  const struct twin *twin = stmt;
  void *inner = twin != NULL && !twin->as_text[c->role] ? inner_stmt(stmt, c->role) : NULL;

  return c->drv->ops->next(bn_sql_roles_handle(c, c->role), inner, r, d);
}

/* --- hooks of a statement ----------------------------------------------------------------------
 */

static enum bn_sql prepare_on(void *stmt, enum bn_sql_role role, struct bn_sql_diag *d)
{
  const struct bn_sql_stmt *st = bn_sql_stmt_of(stmt);
  const struct bn_driver *base = st->conn->drv->ops;
  struct twin *twin = stmt;
  enum bn_sql rc;

  rc = base->prepare(bn_sql_roles_handle(st->conn, role), inner_stmt(stmt, role), st->text, st->len,
                     d);
  twin->prepared[role] = rc == BN_SQL_DONE;
  return rc;
}

static void close_on(void *stmt, enum bn_sql_role role)
{
  const struct bn_driver *base = bn_sql_stmt_of(stmt)->conn->drv->ops;
  struct twin *twin = stmt;

  if (!twin->prepared[role])
    return;
  base->close(inner_stmt(stmt, role));
  memset(inner_stmt(stmt, role), 0, base->stmt_size);
  twin->prepared[role] = false;
}

/* Returns where it is to be prepared first. */
static enum bn_sql_role begin_twin(void *stmt)
{
  const struct bn_sql_stmt *st = bn_sql_stmt_of(stmt);
  struct twin *twin = stmt;

  twin->route = bn_sql_route_of(st->text, st->len, &st->conn->drv->caps);
  twin->boundary = bn_sql_boundary_of(st->text, st->len);
  twin->leaves = bn_sql_leaves_reading(st->text, st->len, &st->conn->drv->caps);
  return roles_choose(st->conn, twin->route);
}

static enum bn_sql roles_prepare(void *conn, void *stmt, const char *sql, size_t len,
                                 struct bn_sql_diag *d)
{
  struct bn_sql_conn *c = bn_sql_conn_of(conn);

  (void)sql;
  (void)len;
  c->role = begin_twin(stmt);
  return prepare_on(stmt, c->role, d);
}

static enum bn_sql roles_bind(void *stmt, const struct bn_sql_bind *b, size_t n,
                              struct bn_sql_diag *d)
{
  struct bn_sql_conn *c = bn_sql_stmt_of(stmt)->conn;
  const struct twin *twin = stmt;
  enum bn_sql rc = BN_SQL_DONE;

  for (enum bn_sql_role role = 0; role < BN_ROLES && rc == BN_SQL_DONE; role++) {
    if (!twin->prepared[role])
      continue;
    c->role = role;
    rc = c->drv->ops->bind(inner_stmt(stmt, role), b, n, d);
  }
  return rc;
}

/* The other server has it already, and the values are bound there. */
static enum bn_sql prepare_late(void *stmt, enum bn_sql_role role, struct bn_sql_diag *d)
{
  const struct bn_sql_stmt *st = bn_sql_stmt_of(stmt);
  const struct bn_driver *base = st->conn->drv->ops;
  struct twin *twin = stmt;
  enum bn_sql rc = prepare_on(stmt, role, d);

  if (rc == BN_SQL_EMULATE) {
    twin->as_text[role] = true;
    d->rolled_back = false;
    return BN_SQL_DONE;
  }
  if (rc != BN_SQL_DONE || st->binds == NULL)
    return rc;
  rc = base->bind(inner_stmt(stmt, role), st->binds, st->n_binds, d);
  if (rc != BN_SQL_DONE)
    close_on(stmt, role);
  return rc;
}

static enum bn_sql execute_text(void *stmt, struct bn_sql_result *r, struct bn_sql_diag *d)
{
  const struct bn_sql_stmt *st = bn_sql_stmt_of(stmt);
  struct bn_sql_conn *c = st->conn;
  void *handle = bn_sql_roles_handle(c, c->role);
  const struct bn_sql_emulation e = {st->text, st->len, &c->drv->caps, c->drv->ops->quote, handle};

  if (bn_sql_emulate(&e, st->binds, &c->emulated) == 0)
    return c->drv->ops->query(handle, c->emulated.data, c->emulated.len, r, d);
  (void)snprintf(d->text, sizeof d->text, "cannot put the values into a statement: out of memory");
  return BN_SQL_ERROR;
}

static enum bn_sql execute_on(void *stmt, enum bn_sql_role role, struct bn_sql_result *r,
                              struct bn_sql_diag *d)
{
  const struct bn_sql_conn *c = bn_sql_stmt_of(stmt)->conn;
  const struct twin *twin = stmt;
  enum bn_sql rc = BN_SQL_DONE;

  if (__builtin_expect(!twin->prepared[role] && !twin->as_text[role], 0))
    rc = prepare_late(stmt, role, d);
  if (rc != BN_SQL_DONE)
    return rc;
  return twin->as_text[role] ? execute_text(stmt, r, d)
                             : c->drv->ops->execute(inner_stmt(stmt, role), r, d);
}

static enum bn_sql roles_execute(void *stmt, struct bn_sql_result *r, struct bn_sql_diag *d)
{
  struct bn_sql_conn *c = bn_sql_stmt_of(stmt)->conn;
  const struct twin *twin = stmt;
  const struct call call = {c, twin->route, twin->boundary, twin->leaves};
  const enum bn_sql rc = roles_enter(&call, d);

  return rc != BN_SQL_DONE ? rc : roles_leave(&call, execute_on(stmt, c->role, r, d));
}

static void close_twin(void *stmt)
{
  for (enum bn_sql_role role = 0; role < BN_ROLES; role++)
    close_on(stmt, role);
}

/* Those of one server, at once; the others are as they were. */
static enum bn_sql prepare_group(struct bn_sql_conn *c, enum bn_sql_role role,
                                 const struct bn_sql_unprepared *list,
                                 const enum bn_sql_role *roles, size_t n, struct bn_sql_diag *d)
{
  struct bn_sql_unprepared group[BN_SQL_AT_ONCE];
  struct twin *twin[BN_SQL_AT_ONCE];
  size_t size = 0, done = 0;
  enum bn_sql rc;

  for (size_t i = 0; i < n; i++) {
    if (roles[i] != role)
      continue;
    twin[size] = list[i].stmt;
    group[size] = list[i];
    group[size++].stmt = inner_stmt(list[i].stmt, role);
  }
  if (size == 0)
    return BN_SQL_DONE;
  c->role = role;
  rc = c->drv->ops->prepare_all(bn_sql_roles_handle(c, role), group, size, &done, d);
  for (size_t i = 0; i < size && i < done; i++)
    twin[i]->prepared[role] = true;
  return rc;
}

/* From the first on; those behind are as if they had not been prepared. */
static size_t keep_first(const struct bn_sql_unprepared *list, const enum bn_sql_role *roles,
                         size_t n, bool lost)
{
  size_t kept = 0;

  while (!lost && kept < n && ((const struct twin *)list[kept].stmt)->prepared[roles[kept]])
    kept++;
  for (size_t i = kept; i < n; i++) {
    close_twin(list[i].stmt);
    memset(list[i].stmt, 0, bn_sql_stmt_of(list[i].stmt)->conn->link.ops->stmt_size);
  }
  return kept;
}

static enum bn_sql prepare_all(void *conn, const struct bn_sql_unprepared *list, size_t n,
                               size_t *done, struct bn_sql_diag *d)
{
  struct bn_sql_conn *c = bn_sql_conn_of(conn);
  enum bn_sql_role roles[BN_SQL_AT_ONCE];
  enum bn_sql rc = BN_SQL_DONE;

  for (size_t i = 0; i < n; i++)
    roles[i] = begin_twin(list[i].stmt);
  for (enum bn_sql_role role = 0; role < BN_ROLES && rc == BN_SQL_DONE; role++)
    rc = prepare_group(c, role, list, roles, n, d);
  *done = keep_first(list, roles, n, rc != BN_SQL_DONE);
  return rc;
}

/* --- of a driver -------------------------------------------------------------------------------
 */

/* What is not here works without a connection, or is for those that fill tables. */
static void make_ops(struct bn_driver *ops)
{
  ops->conn_size = sizeof(struct pair) + BN_ROLES * room_of(ops->conn_size);
  ops->stmt_size = sizeof(struct twin) + BN_ROLES * room_of(ops->stmt_size);
  ops->connect = connect_pair;
  ops->disconnect = roles_disconnect;
  ops->interrupt = ops->interrupt != NULL ? roles_interrupt : NULL;
  ops->about = ops->about != NULL ? roles_about : NULL;
  ops->info = NULL;
  ops->quote = roles_quote;
  ops->query = roles_query;
  ops->prepare = roles_prepare;
  ops->bind = roles_bind;
  ops->execute = roles_execute;
  ops->next = roles_next;
  ops->fetch = roles_fetch;
  ops->free_result = free_result;
  ops->close = close_twin;
  ops->load_begin = NULL;
  ops->load_rows = NULL;
  ops->load_end = NULL;
  ops->prepare_all = ops->prepare_all != NULL ? prepare_all : NULL;
  ops->place = NULL;
  ops->transaction = roles_transaction;
}

int bn_sql_roles_init(struct bn_sql_roles *roles, const struct bn_list *list,
                      const struct bn_driver *ops, struct bn_err *err)
{
  bn_sql_roles_done(roles);
  if (bn_sql_read_hosts_parse(&roles->hosts, list, ops, err) != 0) {
    bn_sql_roles_done(roles);
    return -1;
  }
  roles->ops = *ops;
  if (roles->hosts.n > 0)
    make_ops(&roles->ops);
  return 0;
}

void bn_sql_roles_done(struct bn_sql_roles *roles)
{
  bn_sql_read_hosts_free(&roles->hosts);
}
