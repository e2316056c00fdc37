/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --verify-commits, while events run: a layer in front of the driver, which a run without the
   option does not have. */
#include "sql/commits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sql/count.h"
#include "sql/digest.h"
#include "sql/errors.h"
#include "sql/lex.h"

/* The transaction of a connection to the server, and the row that counts its commits. */
struct state {
  struct bn_sql_commit_row *row; /* NULL: the next commit makes one */
  bool in_transaction;
  bool wrote;    /* the open transaction has changed rows, so its commit is counted */
  bool implicit; /* autocommit is off: a transaction begins where one ends */
  bool foreign;  /* locked tables, or a distributed transaction: not verified */
};

/* The layer's connection. */
struct commits {
  struct bn_sql_link below; /* owned */
  const struct bn_sql_committer *shared;
  const struct bn_session *session;
  struct state state;
};

/* The layer's statement.  The SQL layer keeps the text as long as it has the statement. */
struct prepared {
  struct commits *c;
  const char *sql;
  size_t len;
  _Alignas(16) char below[];
};

/* A statement that this layer passes to the driver. */
struct call {
  struct commits *c;
  void *prepared; /* the statement of the driver or layer below; NULL: a query */
  const char *sql;
  size_t len;
  struct bn_sql_result *r;
  struct bn_sql_diag *d;
};

/* Adds a row with the next id, which has no commit yet. */
static struct bn_sql_commit_row *commits_add_row(struct bn_sql_ledger *l)
{
  struct bn_sql_commit_row *row = bn_alloc(1, sizeof *row);

  (void)pthread_mutex_lock(&l->lock);
  row->next = l->newest;
  row->id = row->next != NULL ? row->next->id + 1 : 1;
  l->newest = row;
  (void)pthread_mutex_unlock(&l->lock);
  return row;
}

/* Passes a statement of the script to what is below this layer. */
static enum bn_sql commits_send(const struct call *call)
{
  const struct bn_sql_link *below = &call->c->below;

  if (call->prepared != NULL)
    return below->ops->execute(call->prepared, call->r, call->d);
  return below->ops->query(below->handle, call->sql, call->len, call->r, call->d);
}

/* Executes a statement of this layer's own, which --sql-trace shows too.  Returns DONE, or how it
   failed. */
static enum bn_sql commits_execute_own(const struct call *call, const char *sql, uint64_t *affected)
{
  bn_sql_trace(call->c->shared->trace, call->c->session, sql, strlen(sql));
  return bn_sql_link_execute(&call->c->below, sql, affected, call->d);
}

/* Adds 1 to the connection's row in the table, within the open transaction, so that the addition is
   stored if and only if the transaction is.  A connection without a row gets a new one, which its
   first commit inserts into the table.  Returns as commits_execute_own. */
static enum bn_sql commits_count_in_table(const struct call *call)
{
  struct bn_sql_ledger *ledger = call->c->shared->ledger;
  struct state *state = &call->c->state;
  const struct bn_sql_commit_row *row;
  uint64_t affected = 0;
  bool is_in_table;
  enum bn_sql rc;
  char sql[128];

  if (state->row == NULL)
    state->row = commits_add_row(ledger);
  row = state->row;
  is_in_table = atomic_load_explicit(&row->acknowledged, memory_order_relaxed) > 0;
  if (is_in_table) {
    (void)snprintf(sql, sizeof sql, "UPDATE %s SET n = n + 1 WHERE id = %" PRIu64, ledger->table,
                   row->id);
    rc = commits_execute_own(call, sql, &affected);
    if (rc != BN_SQL_DONE || affected > 0)
      return rc;
    /* The server has lost the row.  A new one, with 1, shows that commits are missing. */
  }
  (void)snprintf(sql, sizeof sql, "INSERT INTO %s (id, n) VALUES (%" PRIu64 ", 1)", ledger->table,
                 row->id);
  return commits_execute_own(call, sql, NULL);
}

/* Records that the transaction has ended.  If autocommit is off, the next one has begun. */
static void commits_end_transaction(struct state *state)
{
  state->in_transaction = state->implicit;
  state->wrote = false;
}

/* Updates the state after the failure rc.  A lost connection begins anew, with another row; a
   rollback has ended the transaction; after any other failure the transaction goes on. */
static void commits_note_failure(const struct call *call, enum bn_sql rc)
{
  struct state *state = &call->c->state;

  if (rc == BN_SQL_LOST)
    *state = (struct state){.row = NULL};
  else if (call->d->rolled_back)
    commits_end_transaction(state);
}

/* Returns whether another statement may follow the first one.  sql[len] is 0. */
static bool commits_has_other_statements(const char *sql, size_t len)
{
  const char *semicolon = memchr(sql, ';', len);

  return semicolon != NULL && strspn(semicolon, "; \t\r\n") < strlen(semicolon);
}

/* Room for a text without the contents of literals.  A digest ends before a character that does not
   fit, which has CHARACTER_MAX bytes at most, so a text of SIMPLE_MAX bytes or more may be cut. */
enum { SIMPLE_ROOM = 2048, CHARACTER_MAX = 4, SIMPLE_MAX = SIMPLE_ROOM - CHARACTER_MAX };

/* Writes the script's text without the contents of literals, which is its digest.  Returns the
   length. */
static size_t commits_simplify(const struct call *call, char text[SIMPLE_ROOM])
{
  struct bn_sql_literals literals;
  const size_t len =
      bn_sql_digest(call->sql, call->len, call->c->shared->caps, text, SIMPLE_ROOM - 1, &literals);

  text[len] = '\0';
  return len;
}

/* Returns whether the error may be that of another statement in the same text: PostgreSQL answers a
   text with the error of any of its statements, other servers with that of the first one. */
static bool commits_error_may_be_of_other_statement(const struct call *call)
{
  char text[SIMPLE_ROOM];

  if (!bn_sql_is_postgresql(call->c->shared->caps) ||
      !commits_has_other_statements(call->sql, call->len))
    return false;
  return commits_has_other_statements(text, commits_simplify(call, text));
}

/* Returns whether the failure rc of a COMMIT means that nothing was stored.  call->sql is the
   script's text.  A COMMIT of this layer commits a text of one statement alone
   (commits_needs_own_transaction), so its error cannot be that of another statement. */
static bool commits_is_refused(const struct call *call, enum bn_sql rc)
{
  const enum bn_sql_class class = bn_sql_errors_classify(call->c->shared->driver, call->d);

  return rc != BN_SQL_LOST && bn_sql_errors_class(class)->refuses_commit &&
         !commits_error_may_be_of_other_statement(call);
}

/* Updates the row after a COMMIT whose answer is rc.  If the outcome is not known, the row stays
   pending for good, and the next commit gets a new row.  A commit is counted before it ceases to be
   pending, so that readers find each commit that was sent counted or pending.  Updates the state
   too if the COMMIT has succeeded; after a failure, the caller does that. */
static void commits_record_outcome(const struct call *call, enum bn_sql rc)
{
  struct state *state = &call->c->state;
  struct bn_sql_commit_row *row = state->row;

  if (rc <= BN_SQL_ROWS) {
    atomic_fetch_add_explicit(&row->acknowledged, 1, memory_order_relaxed);
    atomic_store_explicit(&row->pending, false, memory_order_release);
    commits_end_transaction(state);
    return;
  }
  if (commits_is_refused(call, rc))
    atomic_store_explicit(&row->pending, false, memory_order_release);
  else
    state->row = NULL;
}

/* Ends the transaction of this layer after the failure rc, which call->d still describes
   afterwards.  ROLLBACK is sent unless the failure itself has ended the transaction.  A failed
   BEGIN or COMMIT is no exception, because the transaction may be open after it.  If ROLLBACK fails
   too, the connection counts as lost, because the next statements of the script would become part
   of the transaction.  Returns rc, or LOST. */
static enum bn_sql commits_roll_back_own(const struct call *call, enum bn_sql rc)
{
  const struct bn_sql_diag failure = *call->d;

  commits_note_failure(call, rc);
  if (rc == BN_SQL_LOST || failure.rolled_back)
    return rc;
  if (commits_execute_own(call, "ROLLBACK", NULL) != BN_SQL_DONE) {
    rc = BN_SQL_LOST;
    commits_note_failure(call, rc);
  }
  *call->d = failure;
  call->d->rolled_back = true;
  return rc;
}

/* Commits a transaction that has written, by the script's statement or, if it is this layer's own,
   by one of this layer, after adding 1 to the connection's row.  Returns the answer to the COMMIT,
   or the failure of the addition. */
static enum bn_sql commits_commit(const struct call *call, bool is_own)
{
  enum bn_sql rc = commits_count_in_table(call);

  if (rc != BN_SQL_DONE)
    return rc;
  atomic_store_explicit(&call->c->state.row->pending, true, memory_order_release);
  rc = is_own ? commits_execute_own(call, "COMMIT", NULL) : commits_send(call);
  commits_record_outcome(call, rc);
  return rc;
}

/* Executes a statement outside of transactions in a transaction of this layer, whose COMMIT is
   counted if the statement has changed rows.  Returns DONE, also if there were rows, or how it
   failed; no transaction is open after a failure. */
static enum bn_sql commits_execute_alone(const struct call *call)
{
  const struct bn_sql_link *below = &call->c->below;
  enum bn_sql rc = commits_execute_own(call, "BEGIN", NULL);

  if (rc == BN_SQL_DONE)
    rc = commits_send(call);
  /* The answer to a text that commits_needs_own_transaction lets through has no rows, unless the
     server's SQL has more ways to return them than are known here.  Freeing them keeps
     r->affected. */
  if (rc == BN_SQL_ROWS)
    below->ops->free_result(below->handle, call->r);
  if (rc <= BN_SQL_ROWS)
    rc = call->r->affected > 0 ? commits_commit(call, true /* own */)
                               : commits_execute_own(call, "COMMIT", NULL);
  if (rc != BN_SQL_DONE)
    rc = commits_roll_back_own(call, rc);
  return rc;
}

/* Returns whether the text can stand in a transaction of this layer: it is one statement, without
   RETURNING.  That word in a name only makes the answer false.  sql[len] is 0. */
static bool commits_fits_in_transaction(const char *sql, size_t len)
{
  return !commits_has_other_statements(sql, len) && strcasestr(sql, "returning") == NULL;
}

/* Returns whether the statement gets a transaction of its own.  A text of several statements does
   not, because it may end transactions itself, and neither does a text that returns rows, because
   nothing can be sent while rows are read.  Contents of literals do not count. */
static bool commits_needs_own_transaction(const struct call *call)
{
  char text[SIMPLE_ROOM];
  size_t len;

  if (commits_fits_in_transaction(call->sql, call->len))
    return true;
  len = commits_simplify(call, text);
  return len < SIMPLE_MAX && commits_fits_in_transaction(text, len);
}

/* Returns the state of the transaction.  If the driver cannot tell it, the state is inferred from
   the texts of the script, some of which may not have been understood. */
static enum bn_sql_transaction commits_infer_transaction(const struct commits *c)
{
  const struct bn_sql_link *below = &c->below;
  const struct state *state = &c->state;

  if (below->ops->transaction != NULL)
    return below->ops->transaction(below->handle);
  if (state->implicit)
    return BN_TRANSACTION_MANUAL;
  return state->in_transaction ? BN_TRANSACTION_OPEN : BN_TRANSACTION_OWN;
}

/* Returns the state of the transaction, and corrects c->state by it: a statement that was not
   understood may have begun or ended one. */
static enum bn_sql_transaction commits_update_state(struct commits *c)
{
  const enum bn_sql_transaction transaction = commits_infer_transaction(c);
  struct state *state = &c->state;

  state->in_transaction = transaction != BN_TRANSACTION_OWN;
  state->implicit = transaction == BN_TRANSACTION_MANUAL;
  state->wrote &= state->in_transaction;
  return transaction;
}

/* Returns whether BEGIN within a transaction goes on with it.  MySQL commits it; in PostgreSQL it
   is only a warning, and SQLite refuses it. */
static bool commits_begin_goes_on(const struct commits *c)
{
  return !bn_sql_is_mysql(c->shared->caps);
}

/* Updates the state of the transaction after a statement that has succeeded. */
static void commits_note_boundary(struct commits *c, enum bn_sql_boundary boundary)
{
  struct state *state = &c->state;

  switch (boundary) {
  case BN_BOUNDARY_BEGIN:
    state->wrote &= state->in_transaction && commits_begin_goes_on(c);
    state->in_transaction = true;
    state->foreign = false; /* BEGIN unlocks tables, and fails within XA */
    break;
  case BN_BOUNDARY_COMMIT:
  case BN_BOUNDARY_ROLLBACK:
    commits_end_transaction(state);
    break;
  case BN_BOUNDARY_MANUAL:
  case BN_BOUNDARY_AUTO:
    state->implicit = boundary == BN_BOUNDARY_MANUAL;
    commits_end_transaction(state);
    break;
  case BN_BOUNDARY_LOCK:
    /* LOCK TABLES of MySQL ends a transaction, and forbids those of this layer; locks of PostgreSQL
       belong to the open transaction, and forbid nothing. */
    state->foreign =
        c->below.ops->transaction == NULL || commits_infer_transaction(c) != BN_TRANSACTION_OPEN;
    break;
  case BN_BOUNDARY_FOREIGN:
  case BN_BOUNDARY_NATIVE:
    state->foreign = boundary == BN_BOUNDARY_FOREIGN;
    break;
  case BN_BOUNDARY_NONE:
    break;
  }
}

/* Returns whether the first word of a text tells that the statement changes rows. */
static bool commits_writes(const char *sql, size_t len)
{
  const struct bn_sql_statement_type type = bn_sql_statement_type_of(
      false /* by_first_word, which decides about the kind alone */, sql, len);

  return type.verb != BN_VERB_OTHER;
}

/* Updates the state by a further statement of a text.  *wrote_before says whether any statement of
   the text since its last boundary has written, and is updated too. */
static void commits_note_other_statement(const struct call *call, const char *sql,
                                         bool *wrote_before)
{
  struct state *state = &call->c->state;
  const enum bn_sql_boundary boundary = bn_sql_boundary_of(sql, strlen(sql));
  const bool writes = commits_writes(sql, strlen(sql));
  /* PostgreSQL makes the statements before a BEGIN in the same text a part of its transaction. */
  const bool adopts_writes =
      boundary == BN_BOUNDARY_BEGIN && *wrote_before && commits_begin_goes_on(call->c);

  commits_note_boundary(call->c, boundary);
  state->wrote |= adopts_writes || (state->in_transaction && writes);
  *wrote_before = writes || (*wrote_before && boundary == BN_BOUNDARY_NONE);
}

/* Updates the state by the statements after the first one of a text, if there are any; first_wrote
   says whether that one writes.  This is a guess: before the next text, commits_update_state
   replaces it by the state that the driver knows. */
static void commits_note_other_statements(const struct call *call, bool first_wrote)
{
  const bool is_single = memchr(call->sql, ';', call->len) == NULL;
  bool wrote_before = first_wrote;
  char text[SIMPLE_ROOM];

  if (__builtin_expect(is_single, 1))
    return;
  (void)commits_simplify(call, text);
  for (const char *end = strchr(text, ';'); end != NULL; end = strchr(end + 1, ';'))
    commits_note_other_statement(call, end + 1, &wrote_before);
}

/* Executes a statement of the script in the way that its transaction needs: it becomes a
   transaction of this layer, is a COMMIT that is counted, or is only passed on. */
static enum bn_sql commits_carry_out(const struct call *call)
{
  struct state *state = &call->c->state;
  const enum bn_sql_boundary boundary = bn_sql_boundary_of(call->sql, call->len);
  const bool writes = commits_writes(call->sql, call->len);
  const enum bn_sql_transaction transaction = commits_update_state(call->c);
  const bool may_begin = !state->in_transaction && !state->foreign;
  /* A transaction that has failed is not stored by its COMMIT. */
  const bool is_counted = boundary == BN_BOUNDARY_COMMIT && state->wrote && !state->foreign &&
                          transaction != BN_TRANSACTION_FAILED;
  enum bn_sql rc;

  if (writes && may_begin && commits_needs_own_transaction(call))
    return commits_execute_alone(call);
  rc = is_counted ? commits_commit(call, false /* the script's */) : commits_send(call);
  if (rc > BN_SQL_ROWS) {
    commits_note_failure(call, rc);
    return rc;
  }
  state->wrote |= state->in_transaction && (writes || (rc == BN_SQL_DONE && call->r->affected > 0));
  commits_note_boundary(call->c, boundary);
  commits_note_other_statements(call, writes);
  return rc;
}

/* --- functions of a connection, as struct bn_driver has them --- */

/* Returns the link that this layer has replaced. */
static const struct bn_sql_link *commits_get_below(void *conn)
{
  const struct commits *c = conn;

  return &c->below;
}

/* Opens the connection below.  No transaction is open in it, and no row belongs to it. */
static enum bn_sql commits_connect(void *self, void *conn, const struct bn_sql_target *t,
                                   uint64_t deadline_ns, struct bn_sql_diag *d)
{
  struct commits *c = conn;

  (void)self;
  c->state = (struct state){.row = NULL};
  return bn_sql_link_connect(&c->below, t, deadline_ns, d);
}

static void commits_disconnect(void *conn)
{
  struct commits *c = conn;

  bn_sql_link_disconnect(&c->below);
}

/* Any thread may call it, while the connection below is open. */
static void commits_interrupt(void *conn)
{
  const struct bn_sql_link *below = commits_get_below(conn);

  below->ops->interrupt(below->handle);
}

/* Returns the state of the transaction below, where it can be told (bn_sql_committer_init). */
static enum bn_sql_transaction commits_transaction(void *conn)
{
  const struct bn_sql_link *below = commits_get_below(conn);

  return below->ops->transaction(below->handle);
}

static enum bn_sql commits_query(void *conn, const char *sql, size_t len, struct bn_sql_result *r,
                                 struct bn_sql_diag *d)
{
  const struct call call = {.c = conn, .sql = sql, .len = len, .r = r, .d = d};

  return commits_carry_out(&call);
}

static enum bn_sql commits_next(void *conn, void *stmt, struct bn_sql_result *r,
                                struct bn_sql_diag *d)
{
  const struct bn_sql_link *below = commits_get_below(conn);
  struct prepared *st = stmt;

  return below->ops->next(below->handle, st != NULL ? st->below : NULL, r, d);
}

static bool commits_fetch(void *conn, struct bn_sql_result *r, struct bn_sql_value *row)
{
  const struct bn_sql_link *below = commits_get_below(conn);

  return below->ops->fetch(below->handle, r, row);
}

static void commits_free_result(void *conn, struct bn_sql_result *r)
{
  const struct bn_sql_link *below = commits_get_below(conn);

  below->ops->free_result(below->handle, r);
}

/* --- functions of a statement, as struct bn_driver has them --- */

/* Prepares the statement below.  Its text is kept: each execution depends on it. */
static enum bn_sql commits_prepare(void *conn, void *stmt, const char *sql, size_t len,
                                   struct bn_sql_diag *d)
{
  struct prepared *st = stmt;
  struct commits *c = conn;

  *st = (struct prepared){.c = c, .sql = sql, .len = len};
  return c->below.ops->prepare(c->below.handle, st->below, sql, len, d);
}

static enum bn_sql commits_bind(void *stmt, const struct bn_sql_bind *b, size_t n,
                                struct bn_sql_diag *d)
{
  struct prepared *st = stmt;

  return st->c->below.ops->bind(st->below, b, n, d);
}

static enum bn_sql commits_execute(void *stmt, struct bn_sql_result *r, struct bn_sql_diag *d)
{
  struct prepared *st = stmt;
  const struct call call = {
      .c = st->c, .prepared = st->below, .sql = st->sql, .len = st->len, .r = r, .d = d};

  return commits_carry_out(&call);
}

static void commits_close(void *stmt)
{
  struct prepared *st = stmt;

  st->c->below.ops->close(st->below);
}

/* --- the layer --- */

void bn_sql_committer_init(struct bn_sql_committer *committer, const struct bn_driver *below)
{
  committer->ops = (struct bn_driver){
      .name = below->name,
      .stmt_size = sizeof(struct prepared) + below->stmt_size,
      .connect = commits_connect,
      .disconnect = commits_disconnect,
      .interrupt = below->interrupt != NULL ? commits_interrupt : NULL,
      .transaction = below->transaction != NULL ? commits_transaction : NULL,
      .query = commits_query,
      .prepare = commits_prepare,
      .bind = commits_bind,
      .execute = commits_execute,
      .next = commits_next,
      .fetch = commits_fetch,
      .free_result = commits_free_result,
      .close = commits_close,
  };
}

/* Frees the layer's connection and the link below. */
static void commits_free(void *handle)
{
  struct commits *c = handle;

  bn_sql_link_free(&c->below);
  free(c);
}

const struct bn_sql_link *bn_sql_commits_wrap(struct bn_sql_link *link,
                                              const struct bn_sql_committer *committer,
                                              const struct bn_session *s)
{
  struct commits *c = bn_alloc(1, sizeof *c);

  *c = (struct commits){.below = *link, .shared = committer, .session = s};
  *link = (struct bn_sql_link){.ops = &committer->ops, .handle = c, .free = commits_free};
  return &c->below;
}
