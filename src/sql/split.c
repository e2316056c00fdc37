/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --db-read-hosts: makes one connection of two, to a server that writes and to one that is read. */
#include "sql/split.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "measure/stat.h"
#include "sql/count.h"
#include "sql/emulate.h"
#include "sql/route.h"

struct bn_sql_split {
  const struct bn_sql_splitter *shared;
  const struct bn_driver *base; /* the driver's functions */
  struct bn_sql_link link[BN_ROLES];
  const struct bn_session *session;
  unsigned counter;              /* of reads on the read server */
  enum bn_sql_role role;         /* of the server that the last statement was for */
  bool connect_called[BN_ROLES]; /* disconnect is due, also after a failure */
  bool reading;                  /* a transaction is open on the read server */
  bool fresh;                    /* that transaction has executed nothing after its BEGIN */
  struct bn_buf begin;           /* owned; the text that began that transaction */
  bool pinned;                   /* the write server has locked tables, or a transaction of XA */
  bool write_only;               /* bn_sql_split_set_write_only */
  struct bn_buf text;            /* of a statement that a server does not prepare */
};

/* The traits of a statement's text on which the choice of the server depends. */
struct traits {
  enum bn_sql_route route;
  enum bn_sql_boundary boundary;
  bool leaves_reading; /* bn_sql_leaves_reading */
  bool turns_writing;  /* bn_sql_turns_writing */
  const char *sql;
};

/* The alignment of a driver's statement within the layer's. */
enum { PART_ALIGNMENT = 16 };

/* How a server has a statement. */
enum form { FORM_NONE, FORM_PREPARED, FORM_TEXT /* it does not prepare it, and gets its text */ };

/* The layer's statement: two statements of the driver, one for each server.  The SQL layer keeps
   the text and the values as long as it has the statement. */
struct twin {
  struct bn_sql_split *split;
  const char *sql;
  size_t len;
  const struct bn_sql_bind *binds; /* NULL: nothing is bound */
  size_t n_binds;
  struct traits traits;
  enum form form[BN_ROLES];
  struct bn_sql_marks marks; /* owned; found when a server first needs the text */
  _Alignas(PART_ALIGNMENT) char part[];
};

/* Returns the bytes between the beginnings of two driver's statements of `size` bytes: `size`,
   rounded up to a multiple of the alignment. */
static size_t split_part_bytes(size_t size)
{
  return (size + PART_ALIGNMENT - 1) / PART_ALIGNMENT * PART_ALIGNMENT;
}

/* Returns the driver's statement for the server of that role. */
static void *split_inner_stmt(struct twin *twin, enum bn_sql_role role)
{
  return twin->part + (size_t)role * split_part_bytes(twin->split->base->stmt_size);
}

/* --- which server --- */

/* Returns the state of the transaction on the server of that role. */
static enum bn_sql_transaction split_transaction_on(const struct bn_sql_split *p,
                                                    enum bn_sql_role role)
{
  return p->base->transaction(p->link[role].handle);
}

/* Reads the traits of a text.  may_be_reading: a transaction may be open on the read server when
   the statement is executed; may_be_fresh: it may be the first statement after the BEGIN of that
   transaction.  The traits that matter only then are not read otherwise, and are false. */
static struct traits split_read_traits(const struct bn_sql_split *p, const char *sql, size_t len,
                                       bool may_be_reading, bool may_be_fresh)
{
  const struct bn_sql_caps *caps = p->shared->caps;

  return (struct traits){.route = bn_sql_route_of(sql, len, caps),
                         .boundary = bn_sql_boundary_of(sql, len),
                         .leaves_reading = may_be_reading && bn_sql_leaves_reading(sql, len, caps),
                         .turns_writing = may_be_fresh && bn_sql_turns_writing(sql, len, caps),
                         .sql = sql};
}

/* Returns the server for a statement: the read server if a transaction is open there, or if the
   statement only reads and both servers are between two transactions. */
static enum bn_sql_role split_choose_role(const struct bn_sql_split *p, enum bn_sql_route route)
{
  if (p->reading)
    return BN_ROLE_READ;
  if (route == BN_ROUTE_WRITE || p->pinned)
    return BN_ROLE_WRITE;
  return split_transaction_on(p, BN_ROLE_WRITE) == BN_TRANSACTION_OWN &&
                 split_transaction_on(p, BN_ROLE_READ) == BN_TRANSACTION_OWN
             ? BN_ROLE_READ
             : BN_ROLE_WRITE;
}

/* Sets p->role to the server for a statement.  If the statement would end the transaction on the
   read server, that is done here, which loses nothing, because the transaction has only read.  If
   the statement lets the transaction write, and nothing has been executed in it, the transaction
   moves: it is ended, and begun anew on the write server.  Returns DONE, or how ending or beginning
   the transaction failed; p->role is then the server that has failed. */
static enum bn_sql split_enter(struct bn_sql_split *p, const struct traits *traits,
                               struct bn_sql_diag *d)
{
  const bool moves = p->fresh && traits->turns_writing;
  const bool ends = p->reading && traits->leaves_reading;

  if (moves || ends) {
    enum bn_sql rc;

    p->role = BN_ROLE_READ;
    rc = bn_sql_link_execute(&p->link[BN_ROLE_READ], "COMMIT", NULL, d);
    p->reading = p->fresh = false;
    if (rc != BN_SQL_DONE)
      return rc;
  }
  p->role = split_choose_role(p, traits->route);
  if (!moves)
    return BN_SQL_DONE;
  return bn_sql_link_execute(&p->link[p->role], p->begin.data, NULL, d);
}

/* Records whether tables are locked or a transaction of XA is open on the write server, because
   MySQL's answers do not say so.  PostgreSQL's locks belong to a transaction, and do not count. */
static void split_note_pinned(struct bn_sql_split *p, enum bn_sql_boundary boundary)
{
  switch (boundary) {
  case BN_BOUNDARY_LOCK:
    p->pinned = split_transaction_on(p, BN_ROLE_WRITE) != BN_TRANSACTION_OPEN;
    break;
  case BN_BOUNDARY_FOREIGN:
    p->pinned = true;
    break;
  case BN_BOUNDARY_BEGIN:
  case BN_BOUNDARY_NATIVE:
    p->pinned = false;
    break;
  case BN_BOUNDARY_NONE:
  case BN_BOUNDARY_COMMIT:
  case BN_BOUNDARY_ROLLBACK:
  case BN_BOUNDARY_MANUAL:
  case BN_BOUNDARY_AUTO:
    break;
  }
}

/* Records whether a transaction is open on the read server, and, if the statement has begun it, its
   text, with which split_enter may begin it anew on the write server. */
static void split_note_transaction(struct bn_sql_split *p, const struct traits *traits,
                                   enum bn_sql rc)
{
  const bool has_begun = traits->route == BN_ROUTE_BEGIN_READ && rc <= BN_SQL_ROWS;
  enum bn_sql_transaction t;

  if (!p->reading && !has_begun)
    return;
  t = split_transaction_on(p, BN_ROLE_READ);
  p->reading = t == BN_TRANSACTION_OPEN || t == BN_TRANSACTION_FAILED;
  p->fresh = p->reading && has_begun;
  if (p->fresh) {
    bn_buf_clear(&p->begin);
    (void)bn_buf_str(&p->begin, traits->sql);
  }
}

/* Updates the state after the statement, whose answer is rc, and counts reads on the read server.
   Returns rc. */
static enum bn_sql split_leave(struct bn_sql_split *p, const struct traits *traits, enum bn_sql rc)
{
  if (rc == BN_SQL_LOST)
    return rc;
  if (p->role == BN_ROLE_WRITE) {
    if (rc <= BN_SQL_ROWS)
      split_note_pinned(p, traits->boundary);
    return rc;
  }
  split_note_transaction(p, traits, rc);
  if (rc == BN_SQL_ROWS)
    bn_stat_count(p->session->stat, p->counter, 1);
  return rc;
}

/* --- functions of a connection, as struct bn_driver has them --- */

/* Returns how many write servers the connections of t take in turn. */
static size_t split_count_writers(const struct bn_sql_split *p, const struct bn_sql_target *t)
{
  return p->base->place != NULL ? p->base->place(p->link[BN_ROLE_WRITE].self, t, NULL, 0) : 1;
}

/* Returns the target of the connection of that role.  Another server is tried after a failure only
   if there are several servers of this role. */
static struct bn_sql_target split_target_of(const struct bn_sql_split *p,
                                            const struct bn_sql_target *t, enum bn_sql_role role)
{
  const struct bn_sql_read_hosts *hosts = &p->shared->hosts;
  const size_t writers = split_count_writers(p, t);
  const struct bn_sql_read_host *host;
  struct bn_sql_target target = *t;

  if (role == BN_ROLE_WRITE) {
    target.elsewhere &= writers > 1;
    return target;
  }
  target.elsewhere &= hosts->n > 1;
  host = &hosts->item[bn_sql_read_hosts_choose(hosts, t->ordinal, writers)];
  target.ordinal = 0; /* a read host without a port has the first port of the option */
  target.override_name = host->name;
  target.override_value = host->value;
  target.n_overrides = host->n;
  return target;
}

size_t bn_sql_split_name_place(const struct bn_sql_split *p, const struct bn_sql_target *t,
                               char *name, size_t size)
{
  const struct bn_sql_target target = split_target_of(p, t, p->role);

  if (p->base->place != NULL)
    (void)p->base->place(p->link[p->role].self, &target, name, size);
  return split_count_writers(p, t) * p->shared->hosts.n;
}

/* Opens both connections, the one to the write server first.  Returns DONE, or the outcome of the
   first failure.  The caller then calls split_disconnect(), also for the link that has failed. */
static enum bn_sql split_connect(void *self, void *conn, const struct bn_sql_target *t,
                                 uint64_t deadline_ns, struct bn_sql_diag *d)
{
  struct bn_sql_split *p = conn;
  enum bn_sql rc = BN_SQL_DONE;

  (void)self;
  p->reading = p->fresh = p->pinned = false;
  for (enum bn_sql_role role = 0; role < BN_ROLES && rc == BN_SQL_DONE; role++) {
    const struct bn_sql_target target = split_target_of(p, t, role);

    p->connect_called[role] = true;
    rc = bn_sql_link_connect(&p->link[role], &target, deadline_ns, d);
  }
  return rc;
}

/* Closes the connections for which connect was called. */
static void split_disconnect(void *conn)
{
  struct bn_sql_split *p = conn;

  for (enum bn_sql_role role = 0; role < BN_ROLES; role++) {
    if (p->connect_called[role])
      bn_sql_link_disconnect(&p->link[role]);
    p->connect_called[role] = false;
  }
}

/* Interrupts both connections, whose links stay until the layer is freed. */
static void split_interrupt(void *conn)
{
  const struct bn_sql_split *p = conn;

  for (enum bn_sql_role role = 0; role < BN_ROLES; role++)
    p->base->interrupt(p->link[role].handle);
}

/* Returns the state of the transaction that the script's next statement is part of. */
static enum bn_sql_transaction split_transaction(void *conn)
{
  const struct bn_sql_split *p = conn;

  return split_transaction_on(p, p->reading ? BN_ROLE_READ : BN_ROLE_WRITE);
}

void bn_sql_split_set_write_only(struct bn_sql_split *p, bool on)
{
  p->write_only = on;
}

/* Sends a query to the server that it belongs to. */
static enum bn_sql split_query(void *conn, const char *sql, size_t len, struct bn_sql_result *r,
                               struct bn_sql_diag *d)
{
  struct bn_sql_split *p = conn;
  struct traits traits = split_read_traits(p, sql, len, p->reading, p->fresh);
  enum bn_sql rc;

  if (p->write_only)
    traits.route = BN_ROUTE_WRITE;
  rc = split_enter(p, &traits, d);
  if (rc != BN_SQL_DONE)
    return rc;
  return split_leave(p, &traits, p->base->query(p->link[p->role].handle, sql, len, r, d));
}

/* Fetches a row of the result, which is that of the last statement. */
static bool split_fetch(void *conn, struct bn_sql_result *r, struct bn_sql_value *row)
{
  const struct bn_sql_split *p = conn;

  return p->base->fetch(p->link[p->role].handle, r, row);
}

static void split_free_result(void *conn, struct bn_sql_result *r)
{
  const struct bn_sql_split *p = conn;

  p->base->free_result(p->link[p->role].handle, r);
}

/* Lets the driver return the next result of the last statement, which is NULL for the driver if it
   was sent as text. */
static enum bn_sql split_next(void *conn, void *stmt, struct bn_sql_result *r,
                              struct bn_sql_diag *d)
{
  const struct bn_sql_split *p = conn;
  struct twin *twin = stmt;
  const bool is_prepared = twin != NULL && twin->form[p->role] == FORM_PREPARED;
  void *inner = is_prepared ? split_inner_stmt(twin, p->role) : NULL;

  return p->base->next(p->link[p->role].handle, inner, r, d);
}

/* --- functions of a statement, as struct bn_driver has them --- */

/* Prepares the statement on the server of that role.  Returns the driver's answer. */
static enum bn_sql split_prepare_on(struct twin *twin, enum bn_sql_role role, struct bn_sql_diag *d)
{
  const struct bn_sql_split *p = twin->split;
  const enum bn_sql rc =
      p->base->prepare(p->link[role].handle, split_inner_stmt(twin, role), twin->sql, twin->len, d);

  twin->form[role] = rc == BN_SQL_DONE ? FORM_PREPARED : FORM_NONE;
  return rc;
}

/* Closes the statement on the server of that role, if it is prepared there. */
static void split_close_on(struct twin *twin, enum bn_sql_role role)
{
  const struct bn_driver *base = twin->split->base;
  void *inner = split_inner_stmt(twin, role);

  if (twin->form[role] != FORM_PREPARED)
    return;
  base->close(inner);
  /* A driver prepares in zeroed memory, and this statement may be prepared again. */
  memset(inner, 0, base->stmt_size);
  twin->form[role] = FORM_NONE;
}

/* Prepares the statement on the server that it belongs to; on the other one, split_execute does so
   when it is first executed there.  Since it may be executed in any state of the connection, all
   traits of its text are read. */
static enum bn_sql split_prepare(void *conn, void *stmt, const char *sql, size_t len,
                                 struct bn_sql_diag *d)
{
  struct bn_sql_split *p = conn;
  struct twin *twin = stmt;

  *twin = (struct twin){.split = p, .sql = sql, .len = len};
  twin->traits = split_read_traits(p, sql, len, true /* reading */, true /* fresh */);
  p->role = split_choose_role(p, twin->traits.route);
  return split_prepare_on(twin, p->role, d);
}

/* Binds the values on each server that knows the statement, and keeps them for split_prepare_late
   on the other one.  Returns DONE, or the first failure, after which nothing is bound and p->role
   is the server that has failed. */
static enum bn_sql split_bind(void *stmt, const struct bn_sql_bind *b, size_t n,
                              struct bn_sql_diag *d)
{
  struct twin *twin = stmt;
  struct bn_sql_split *p = twin->split;
  enum bn_sql rc = BN_SQL_DONE;

  for (enum bn_sql_role role = 0; role < BN_ROLES && rc == BN_SQL_DONE; role++) {
    if (twin->form[role] != FORM_PREPARED)
      continue;
    p->role = role;
    rc = p->base->bind(split_inner_stmt(twin, role), b, n, d);
  }
  twin->binds = rc == BN_SQL_DONE ? b : NULL;
  twin->n_binds = n;
  return rc;
}

/* Prepares a statement, which the other server has prepared before, on the server of that role, and
   binds the values there.  If the server cannot prepare it, it is sent there as text from now on,
   which counts as DONE.  After a failure, it is not prepared there. */
static enum bn_sql split_prepare_late(struct twin *twin, enum bn_sql_role role,
                                      struct bn_sql_diag *d)
{
  enum bn_sql rc = split_prepare_on(twin, role, d);

  if (rc == BN_SQL_EMULATE) {
    bn_sql_marks_find(&twin->marks, twin->sql, twin->len, twin->split->shared->caps);
    twin->form[role] = FORM_TEXT;
    d->rolled_back = false;
    return BN_SQL_DONE;
  }
  if (rc != BN_SQL_DONE || twin->binds == NULL)
    return rc;
  rc = twin->split->base->bind(split_inner_stmt(twin, role), twin->binds, twin->n_binds, d);
  if (rc != BN_SQL_DONE)
    split_close_on(twin, role);
  return rc;
}

/* Sends a statement that its server does not prepare, with its values in the text.  Returns as the
   driver's query, or ERROR if the text has marks but nothing is bound. */
static enum bn_sql split_execute_text(const struct twin *twin, struct bn_sql_result *r,
                                      struct bn_sql_diag *d)
{
  struct bn_sql_split *p = twin->split;
  void *handle = p->link[p->role].handle;
  const struct bn_sql_emulation e = {.sql = twin->sql,
                                     .len = twin->len,
                                     .marks = &twin->marks,
                                     .quote = p->base->quote,
                                     .conn = handle};

  if (twin->binds == NULL && twin->marks.n > 0) {
    (void)snprintf(d->text, sizeof d->text,
                   "cannot put the values into a statement: nothing is bound to it");
    return BN_SQL_ERROR;
  }
  bn_sql_emulate(&e, twin->binds, &p->text);
  return p->base->query(handle, p->text.data, p->text.len, r, d);
}

/* Executes the statement on the server of the present role, as text if it is not prepared there. */
static enum bn_sql split_execute_here(struct twin *twin, struct bn_sql_result *r,
                                      struct bn_sql_diag *d)
{
  struct bn_sql_split *p = twin->split;

  if (twin->form[p->role] == FORM_TEXT)
    return split_execute_text(twin, r, d);
  return p->base->execute(split_inner_stmt(twin, p->role), r, d);
}

/* Executes the statement on the server that it belongs to, and prepares it there before its first
   execution.  Returns as the driver's execute, or how entering or preparing has failed. */
static enum bn_sql split_execute(void *stmt, struct bn_sql_result *r, struct bn_sql_diag *d)
{
  struct twin *twin = stmt;
  struct bn_sql_split *p = twin->split;
  enum bn_sql rc = split_enter(p, &twin->traits, d);

  if (rc != BN_SQL_DONE)
    return rc;
  if (__builtin_expect(twin->form[p->role] == FORM_NONE, 0))
    rc = split_prepare_late(twin, p->role, d);
  if (rc == BN_SQL_DONE)
    rc = split_execute_here(twin, r, d);
  return split_leave(p, &twin->traits, rc);
}

static void split_close(void *stmt)
{
  struct twin *twin = stmt;

  for (enum bn_sql_role role = 0; role < BN_ROLES; role++)
    split_close_on(twin, role);
  bn_sql_marks_done(&twin->marks);
}

/* --- the layer --- */

/* Returns the functions of the layer in front of a driver.  Without prepare_all, statements are
   prepared one by one. */
static struct bn_driver split_make_ops(const struct bn_driver *base)
{
  return (struct bn_driver){
      .name = base->name,
      .stmt_size = sizeof(struct twin) + BN_ROLES * split_part_bytes(base->stmt_size),
      .connect = split_connect,
      .disconnect = split_disconnect,
      .interrupt = base->interrupt != NULL ? split_interrupt : NULL,
      .query = split_query,
      .prepare = split_prepare,
      .bind = split_bind,
      .execute = split_execute,
      .next = split_next,
      .fetch = split_fetch,
      .free_result = split_free_result,
      .close = split_close,
      .transaction = split_transaction,
  };
}

int bn_sql_splitter_init(struct bn_sql_splitter *splitter, const struct bn_list *list,
                         const struct bn_driver *ops, const struct bn_sql_caps *caps,
                         struct bn_err *err)
{
  bn_sql_splitter_done(splitter);
  if (bn_sql_read_hosts_parse(&splitter->hosts, list, ops, err) != 0) {
    bn_sql_splitter_done(splitter);
    return -1;
  }
  splitter->ops = split_make_ops(ops);
  splitter->caps = caps;
  return 0;
}

void bn_sql_splitter_done(struct bn_sql_splitter *splitter)
{
  bn_sql_read_hosts_free(&splitter->hosts);
}

static void split_free(void *handle)
{
  struct bn_sql_split *p = handle;

  for (enum bn_sql_role role = 0; role < BN_ROLES; role++)
    bn_sql_link_free(&p->link[role]);
  bn_buf_done(&p->text);
  bn_buf_done(&p->begin);
  free(p);
}

struct bn_sql_split *bn_sql_split_wrap(struct bn_sql_link *link,
                                       const struct bn_sql_splitter *splitter,
                                       const struct bn_session *s, unsigned counter)
{
  struct bn_sql_split *p = bn_alloc(1, sizeof *p);

  *p = (struct bn_sql_split){
      .shared = splitter, .base = link->ops, .session = s, .counter = counter};
  p->link[BN_ROLE_WRITE] = *link;
  bn_sql_link_make(&p->link[BN_ROLE_READ], link->ops, link->self);
  *link = (struct bn_sql_link){.ops = &splitter->ops, .handle = p, .free = split_free};
  return p;
}

const struct bn_sql_link *bn_sql_split_links(const struct bn_sql_split *p)
{
  return p->link;
}
