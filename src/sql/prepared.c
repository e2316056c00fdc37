/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prepared statements on a connection: by the server, or emulated. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "sql/emulate.h"
#include "sql/errors.h"
#include "sql/failure.h"
#include "sql/query.h"

/* Lets the driver forget the statement, after its pending results have been dropped. */
static void prepared_shut(struct bn_sql_stmt *st)
{
  if (st->prepared && st->conn->cur.source == st)
    (void)bn_sql_conn_drop_results(st->conn, NULL);
  bn_sql_stmt_shut(st, st->conn->link.ops);
}

/* Adds a statement, which is not prepared yet, to those of the connection, to which it holds a
   reference. */
static struct bn_sql_stmt *prepared_add(struct bn_sql_conn *c, const char *sql, size_t len)
{
  struct bn_sql_stmt *st = bn_sql_stmt_new(c->link.ops, &c->sys->texts, &c->drv->caps, sql, len);

  st->conn = c;
  st->type = bn_sql_statement_type_of(c->sys->by_first_word, st->text, len);
  st->anew = c->sys->anew && !c->drv->caps.prepares_anew;
  st->next = c->stmts;
  st->at = &c->stmts;
  if (st->next != NULL)
    st->next->at = &st->next;
  c->stmts = st;
  c->refs++;
  return st;
}

/* Closes the statement, removes it from the list of its connection, and frees it. */
static void prepared_dispose(struct bn_sql_stmt *st)
{
  struct bn_sql_conn *c = st->conn;

  prepared_shut(st);
  *st->at = st->next;
  if (st->next != NULL)
    st->next->at = st->at;
  bn_sql_stmt_destroy(st, &c->sys->texts);
}

/* Returns whether the script has a result of the statement, or may ask for the next one.  In a
   dialect in which unread results block statements, only the current result keeps the statement. */
static bool prepared_is_result_needed(const struct bn_sql_stmt *st)
{
  const struct bn_sql_conn *c = st->conn;
  const bool may_ask_for_more = c->cur.more && !c->sys->policy->unread_results_block;

  return st->prepared && c->cur.source == st && (c->cur.live || may_ask_for_more);
}

/* Frees the orphans whose results are no longer needed.  No call that waits uses the connection.
   Only calls that prepare or free statements do so, to keep the test out of each execution. */
static void prepared_dispose_of_orphans(struct bn_sql_conn *c)
{
  struct bn_sql_stmt *next;

  for (struct bn_sql_stmt *st = c->stmts; st != NULL && c->n_orphans > 0; st = next) {
    next = st->next;
    if (!st->orphaned || prepared_is_result_needed(st))
      continue;
    c->n_orphans--;
    prepared_dispose(st);
  }
}

void bn_sql_stmt_free(struct bn_sql_stmt *st)
{
  const struct bn_session *s;
  struct bn_sql_conn *c;
  bool in_call;

  if (st == NULL)
    return;
  c = st->conn;
  s = c->session; /* NULL: retired */
  /* While a call of the session waits, perhaps one on this connection, another session of the same
     interpreter runs, and its collector frees what this session has dropped. */
  in_call = s != NULL && s->task != NULL && s->services->in_call(s);
  if (!in_call)
    prepared_dispose_of_orphans(c);
  if (in_call || prepared_is_result_needed(st)) {
    st->orphaned = true; /* prepared_dispose_of_orphans frees it later */
    c->n_orphans++;
  } else {
    prepared_dispose(st);
  }
  bn_sql_conn_free(c);
}

/* Counts n statements that were prepared.  Within an event, they are not added to the counter that
   all sessions share, because sharing it would cost the event time. */
static void prepared_count(struct bn_sql_conn *c, unsigned n)
{
  c->n_prepared += n;
  if (!atomic_load_explicit(&c->session->stat->running, memory_order_relaxed))
    (void)atomic_fetch_add_explicit(&c->sys->n_prepared, n, memory_order_relaxed);
}

/* Makes one attempt to prepare the statement; the connection is open.  If the driver says that the
   server cannot prepare it, the statement is emulated from now on.  Returns DONE, also if it is
   emulated, or a failure and c->diag. */
static enum bn_sql prepared_try_prepare(struct bn_sql_stmt *st)
{
  struct bn_sql_conn *c = st->conn;
  const struct bn_driver *ops = c->link.ops;
  enum bn_sql rc;

  memset(st->handle, 0, ops->stmt_size);
  rc = c->cur.more ? bn_sql_refuse_unread(c, BN_STEP_PREPARE, false /* not prepared */)
                   : ops->prepare(c->link.handle, st->handle, st->text, st->len, &c->diag);
  if (rc == BN_SQL_DONE) {
    st->prepared = st->fresh = true;
    prepared_count(c, 1);
  }
  if (rc != BN_SQL_EMULATE)
    return rc;
  bn_log(BN_INFO, "Failed to prepare query \"%s\" (%d: %s), using emulation", st->text,
         c->diag.code, bn_sql_shown(&c->diag).text);
  if (bn_sql_errors_classify(c->drv->ops, &c->diag) == BN_CLASS_RESOURCE) {
    /* The server has as many prepared statements as it allows.  That is said once in a run. */
    c->prepares_no_more = true;
    if (!atomic_exchange(&c->sys->no_more_reported, true))
      bn_log_hint("the server prepares no more statements (%d: %s): sessions send those that they "
                  "have not prepared as text; to avoid this, raise its limit or use "
                  "--db-ps-mode=disable",
                  c->diag.code, bn_sql_shown(&c->diag).text);
  }
  c->diag.rolled_back = false;
  bn_sql_stmt_emulate(st, &c->sys->texts);
  return BN_SQL_DONE;
}

/* Returns whether rc and c->diag mean that a server or a proxy refuses to prepare a statement that
   it may execute as text.  That is only asked outside of dialects, with --db-ps-mode=auto, and if
   the driver has servers, between which and bench a proxy may stand. */
static bool prepared_is_refused(const struct bn_sql_conn *c, enum bn_sql rc)
{
  const struct bn_driver *ops = c->drv->ops;
  const bool is_auto = !c->sys->emulate && !c->sys->anew;
  enum bn_sql_class class;
  int fails_as_text;

  if (rc != BN_SQL_ERROR || !is_auto || !bn_policy_is_native(c->sys->policy) || ops->place == NULL)
    return false;
  /* After an interruption, or in a failed transaction, any statement fails. */
  if (bn_session_interrupted(c->session) || bn_sql_link_is_aborted(&c->link))
    return false;
  /* Errors of the other classes are handled as those of a text are. */
  class = bn_sql_errors_classify(ops, &c->diag);
  if (class != BN_CLASS_OTHER || bn_sql_driver_ignores(c->drv, &c->diag, class))
    return false;
  fails_as_text = ops->fails_as_text != NULL ? ops->fails_as_text(&c->diag) : -1;
  return fails_as_text < 0 ? !bn_sql_is_of_statement(c->diag.state) : fails_as_text == 0;
}

/* Lets the statement be sent as text from now on.  The first call in the run says so. */
static void prepared_send_as_text(struct bn_sql_stmt *st)
{
  struct bn_sql_conn *c = st->conn;

  if (!atomic_exchange(&c->sys->text_reported, true))
    bn_log_hint("the server does not prepare '%.200s' (%d: %s): sessions send such statements as "
                "text; to send all so, use --db-ps-mode=disable",
                st->text, c->diag.code, bn_sql_shown(&c->diag).text);
  c->diag.rolled_back = false;
  c->view.sql_errno = 0;
  bn_sql_stmt_emulate(st, &c->sys->texts);
}

/* Prepares the statement, or lets it be emulated.  Returns 0, or -1 after a failure that the view
   describes.  If the connection is lost and the loss is ignorable, the connection is opened again;
   outside of events the statement is then prepared on the new one. */
static int prepared_prepare_or_emulate(struct bn_sql_stmt *st)
{
  struct bn_sql_conn *c = st->conn;
  enum bn_sql rc;

  if (c->sys->emulate || c->prepares_no_more) {
    bn_sql_stmt_emulate(st, &c->sys->texts);
    return 0;
  }
  bn_sql_lazy_prepare_note(&c->owner->first_use, c->session);
  do {
    rc = prepared_try_prepare(st);
    if (rc == BN_SQL_DONE)
      return 0;
    if (prepared_is_refused(c, rc)) {
      prepared_send_as_text(st);
      return 0;
    }
  } while (bn_sql_handle_failure(c, rc, BN_STEP_PREPARE, st->text, st->len));
  return -1;
}

/* Returns whether a new statement is not prepared now: it is held back (bn_sql_hold_prepares), or
   waits until it is executed (bn_sql_preflight_defers). */
static bool prepared_is_deferred(const struct bn_sql_conn *c)
{
  if (c->holds)
    return true;
  return !c->sys->emulate && c->sys->conf->prepare == BN_SQL_PREPARE_EAGER &&
         bn_sql_preflight_defers(&c->sys->preflight, c->session, c->n_prepared + 1);
}

struct bn_sql_stmt *bn_sql_prepare(struct bn_sql_conn *c, const char *sql, size_t len)
{
  struct bn_sql_stmt *st;
  uint64_t since_ns;

  if (!bn_sql_begin(c, NULL, 0))
    return NULL;
  prepared_dispose_of_orphans(c); /* bn_sql_begin has freed the result that may have kept one */
  since_ns = bn_clock_now(&c->session->clock);
  st = prepared_add(c, sql, len);
  if (!prepared_is_deferred(c) && prepared_prepare_or_emulate(st) != 0) {
    bn_sql_stmt_free(st);
    st = NULL;
  }
  c->preparing_ns += bn_clock_now(&c->session->clock) - since_ns;
  return st;
}

struct bn_sql_conn *bn_sql_stmt_conn(struct bn_sql_stmt *st)
{
  return st->conn;
}

void bn_sql_stmt_set_name(struct bn_sql_stmt *st, const char *name)
{
  const struct bn_sql_session *owner = st->conn->owner;

  if (owner != NULL && owner->names != NULL)
    st->statement = bn_sql_statement_names_get(owner->names, name, strlen(name));
}

/* Binds the copied descriptors, if there are any, to the driver's statement.  Returns 0; -1 after a
   failure that the view describes; 1 if the connection was lost and is open again, and the
   statement is to be prepared there. */
static int prepared_bind(struct bn_sql_stmt *st)
{
  struct bn_sql_conn *c = st->conn;
  enum bn_sql rc = BN_SQL_DONE;

  if (st->binds != NULL)
    rc = c->link.ops->bind(st->handle, st->binds, st->n_binds, &c->diag);
  if (rc == BN_SQL_DONE) {
    st->bound = !st->anew; /* a statement that is prepared anew is bound anew, too */
    return 0;
  }
  /* PostgreSQL's driver prepares a statement only when its values are bound. */
  if (prepared_is_refused(c, rc)) {
    prepared_shut(st);
    prepared_send_as_text(st);
    return 0;
  }
  if (rc != BN_SQL_MISCOUNT)
    return bn_sql_handle_failure(c, rc, BN_STEP_BIND, st->text, st->len) ? 1 : -1;
  bn_log(BN_ALERT, "%s", bn_sql_shown(&c->diag).text);
  bn_sql_refuse(c);
  return -1;
}

/* Prepares the statement and binds its values, unless that was done before.  Returns 0, or -1 after
   a failure that the view describes. */
static int prepared_prepare_and_bind(struct bn_sql_stmt *st)
{
  int rc = 0;

  do {
    if (!st->prepared && prepared_prepare_or_emulate(st) != 0)
      return -1;
    rc = st->emulated || st->bound ? 0 : prepared_bind(st);
  } while (rc > 0); /* the connection was lost, and is open again */
  return rc;
}

/* Returns whether the statement is open.  If it is not, logs that and refuses its use. */
static bool prepared_check_usable(struct bn_sql_stmt *st)
{
  if (!st->closed)
    return true;
  bn_log(BN_ALERT, "attempt to use an already closed statement");
  bn_sql_refuse(st->conn);
  return false;
}

/* Returns whether an emulated statement has a value for each mark.  A dialect may allow more. */
static bool prepared_has_all_values(const struct bn_sql_stmt *st)
{
  const size_t n_marks = st->shared->marks.n;

  return st->n_binds == n_marks ||
         (st->conn->sys->policy->miscount_binds_nothing && st->n_binds > n_marks);
}

/* Refuses values that do not fit the marks of an emulated statement. */
static void prepared_refuse_miscount(struct bn_sql_conn *c)
{
  bn_log(BN_ALERT, "wrong number of parameters in prepared statement");
  bn_sql_refuse(c);
}

/* Binds the descriptors that have been copied.  If the statement waits to be prepared, they are
   bound after that.  Returns 0, or -1 after a failure that the view describes. */
static int prepared_bind_copied(struct bn_sql_stmt *st)
{
  struct bn_sql_conn *c = st->conn;

  if (!st->emulated) {
    if (!st->prepared && prepared_is_deferred(c))
      return 0;
    if (prepared_prepare_and_bind(st) != 0)
      return -1;
  }
  if (!st->emulated) /* preparing may have changed that */
    return 0;
  if (prepared_has_all_values(st)) {
    st->bound = true;
    return 0;
  }
  prepared_refuse_miscount(c);
  return -1;
}

int bn_sql_bind(struct bn_sql_stmt *st, const struct bn_sql_bind *binds, size_t n)
{
  struct bn_sql_conn *c = st->conn;
  struct bn_sql_bind *binds_before = st->binds;
  const size_t n_before = st->n_binds;
  uint64_t since_ns;
  int rc;

  if (!prepared_check_usable(st) || !bn_sql_begin(c, NULL, 0))
    return 1;
  st->binds = bn_alloc(n, sizeof *st->binds);
  memcpy(st->binds, binds, n * sizeof *st->binds);
  st->n_binds = n;
  st->bound = false;
  since_ns = bn_clock_now(&c->session->clock);
  rc = prepared_bind_copied(st);
  c->preparing_ns += bn_clock_now(&c->session->clock) - since_ns;
  if (rc != 0 && c->sys->policy->miscount_binds_nothing) {
    /* The driver gets the previous values again at the next execution. */
    free(st->binds);
    st->binds = binds_before;
    st->n_binds = n_before;
    return 1;
  }
  free(binds_before);
  return rc;
}

/* Tells --sql-trace and --statements of the execution of an emulated statement. */
static __attribute__((noinline)) void prepared_announce_emulated(struct bn_sql_conn *c,
                                                                 struct bn_sql_stmt *st)
{
  bn_sql_trace(&c->sys->trace, c->session, c->emulated.data, c->emulated.len);
  c->emulating = st;
}

/* Executes an emulated statement: sends it with its values in the text.  The time of making the
   text is not part of its latency.  Returns as bn_sql_execute. */
static struct bn_sql_rs *prepared_execute_text(struct bn_sql_stmt *st)
{
  struct bn_sql_conn *c = st->conn;
  const struct bn_sql_emulation e = {.sql = st->text,
                                     .len = st->len,
                                     .marks = &st->shared->marks,
                                     .quote = c->drv->ops->quote,
                                     .conn = c->server->handle};
  const struct bn_buf *text = &c->emulated;
  uint64_t since_ns;
  enum bn_sql rc;

  if (!prepared_has_all_values(st)) {
    prepared_refuse_miscount(c);
    return NULL;
  }
  bn_sql_emulate(&e, st->binds, &c->emulated);
  if (__builtin_expect(c->sys->announces, 0))
    prepared_announce_emulated(c, st);
  since_ns = bn_clock_now(&c->session->clock);
  rc = c->cur.more
           ? bn_sql_refuse_unread(c, BN_STEP_QUERY, false /* not prepared */)
           : c->link.ops->query(c->link.handle, text->data, text->len, &c->cur.result, &c->diag);
  return bn_sql_finish(c, rc, since_ns, st->type, text->data, text->len);
}

/* Prepares and binds the statement before its first execution, after a reconnect, or, if `anew`,
   before each execution.  Returns false after a failure that the view describes. */
static bool prepared_make_ready(struct bn_sql_stmt *st)
{
  if (!prepared_check_usable(st))
    return false;
  if (st->anew && !st->emulated && !st->fresh)
    prepared_shut(st);
  if (!st->emulated && prepared_prepare_and_bind(st) != 0)
    return false;
  st->fresh = false;
  st->bound |= st->emulated; /* its values are put into the text at each execution */
  return true;
}

struct bn_sql_rs *bn_sql_execute(struct bn_sql_stmt *st)
{
  struct bn_sql_conn *c = st->conn;
  uint64_t since_ns;
  enum bn_sql rc;

  if (!bn_sql_begin(c, st->text, st->len) ||
      (__builtin_expect(!st->bound, 0) && !prepared_make_ready(st)))
    return NULL;
  if (__builtin_expect(st->emulated, 0))
    return prepared_execute_text(st);
  bn_sql_trace(&c->sys->trace, c->session, st->text, st->len);
  c->cur.source = st;
  since_ns = bn_clock_now(&c->session->clock);
  rc = __builtin_expect(c->cur.more, 0)
           ? bn_sql_refuse_unread(c, BN_STEP_QUERY, true /* prepared */)
           : c->link.ops->execute(st->handle, &c->cur.result, &c->diag);
  return bn_sql_finish(c, rc, since_ns, st->type, st->text, st->len);
}

/* --- statements that are prepared together --- */

void bn_sql_hold_prepares(struct bn_session *s)
{
  const struct bn_sql_session *owner = bn_sql_session_find(s);

  if (owner == NULL)
    return;
  for (struct bn_sql_conn *c = owner->all; c != NULL; c = c->next_all)
    c->holds = c->state == BN_CONN_OPEN && !c->prepares_no_more &&
               c->link.ops->prepare_all != NULL && bn_sql_conn_prepares_once(c);
}

/* Returns whether the statement is still to be prepared. */
static bool prepared_is_held(const struct bn_sql_stmt *st)
{
  return !st->prepared && !st->emulated && !st->closed;
}

/* Puts the oldest statements that are held back, BN_SQL_AT_ONCE at most, into out, in the order in
   which the script has made them.  Returns how many.  The list of the connection has the newest
   statement first, so that the statements that are held back come before all others. */
static size_t prepared_collect_held(const struct bn_sql_conn *c, struct bn_sql_stmt **out)
{
  struct bn_sql_stmt *st = c->stmts;
  size_t n_held = 0;

  for (const struct bn_sql_stmt *s = st; s != NULL && prepared_is_held(s); s = s->next)
    n_held++;
  /* The newest statements that are too many are left to the next call. */
  for (; n_held > BN_SQL_AT_ONCE; n_held--)
    st = st->next;
  for (size_t i = n_held; i > 0; i--) {
    out[i - 1] = st;
    st = st->next;
  }
  return n_held;
}

/* Opens the connection again after the server has ended it because several statements were prepared
   at once; from now on all sessions prepare them one by one.  Returns DONE, or LOST if the
   connection cannot be opened, or if an interrupt of the session has ended it. */
static enum bn_sql prepared_reopen(struct bn_sql_conn *c)
{
  if (bn_session_interrupted(c->session))
    return BN_SQL_LOST;
  bn_sql_conn_shut(c);
  if (bn_sql_conn_open(c, UINT64_MAX) != 0)
    return BN_SQL_LOST;
  if (!atomic_exchange(&c->sys->one_by_one, true))
    bn_log_hint("the server ended a connection on which several statements were prepared at once, "
                "perhaps a proxy such as ProxySQL: sessions prepare them one by one");
  return BN_SQL_DONE;
}

/* Lets the driver prepare n statements, BN_SQL_AT_ONCE at most, at once.  *n_done becomes how many
   it has prepared, from the first on.  That is 0 if statements are to be prepared one by one, which
   the end of the connection in this call may have shown: then c is open again.  Returns DONE, or a
   failure and c->diag. */
static enum bn_sql prepared_prepare_at_once(struct bn_sql_conn *c, struct bn_sql_stmt *const *st,
                                            size_t n, size_t *n_done)
{
  struct bn_sql_unprepared list[BN_SQL_AT_ONCE];
  struct bn_sql_diag d = {0};
  enum bn_sql rc;

  *n_done = 0;
  if (c->prepares_no_more || atomic_load(&c->sys->one_by_one))
    return BN_SQL_DONE;
  for (size_t i = 0; i < n; i++) {
    memset(st[i]->handle, 0, c->link.ops->stmt_size);
    list[i] = (struct bn_sql_unprepared){.stmt = st[i]->handle,
                                         .sql = st[i]->text,
                                         .len = st[i]->len,
                                         .binds = st[i]->binds,
                                         .n_binds = st[i]->n_binds};
  }
  rc = c->link.ops->prepare_all(c->link.handle, list, n, n_done, &d);
  if (rc == BN_SQL_EMULATE)
    rc = prepared_reopen(c);
  if (rc != BN_SQL_DONE)
    c->diag = d;
  return rc;
}

/* Prepares n statements, BN_SQL_AT_ONCE at most, at once.  The statements that the driver leaves
   out are then prepared one by one, which reports their errors.  Returns 0, or -1 after a failure
   that has been logged. */
static int prepared_prepare_group(struct bn_sql_conn *c, struct bn_sql_stmt *const *st, size_t n)
{
  size_t n_done;
  const enum bn_sql rc = prepared_prepare_at_once(c, st, n, &n_done);

  if (rc != BN_SQL_DONE && !bn_sql_handle_failure(c, rc, BN_STEP_PREPARE, st[0]->text, st[0]->len))
    return -1;
  for (size_t i = 0; i < n_done; i++)
    st[i]->prepared = st[i]->fresh = st[i]->bound = true;
  prepared_count(c, (unsigned)n_done);
  for (size_t i = n_done; i < n; i++) {
    if (prepared_prepare_and_bind(st[i]) != 0)
      return -1;
  }
  return 0;
}

/* The most passes over the statements of a connection that is lost again and again. */
enum { PASSES = 10 };

/* Prepares the statements that are still not prepared.  If the connection is lost and opened again
   meanwhile, the server knows none of the statements any more, and the next pass prepares them
   again.  After PASSES, they are left to their first events.  Returns 0, or -1 after a failure that
   has been logged. */
static int prepared_prepare_rest(struct bn_sql_conn *c)
{
  bool found_any = true;

  for (int pass = 0; pass < PASSES && found_any; pass++) {
    found_any = false;
    for (struct bn_sql_stmt *st = c->stmts; st != NULL; st = st->next) {
      if (!prepared_is_held(st))
        continue;
      found_any = true;
      if (prepared_prepare_and_bind(st) != 0)
        return -1;
    }
  }
  return 0;
}

/* Prepares all statements that the connection holds back.  Returns 0, or -1 after a failure that
   has been logged. */
static int prepared_release_held(struct bn_sql_conn *c)
{
  struct bn_sql_stmt *st[BN_SQL_AT_ONCE];
  size_t n;

  c->holds = false;
  if (!bn_sql_begin(c, NULL, 0))
    return -1;
  for (n = prepared_collect_held(c, st); n > 0; n = prepared_collect_held(c, st)) {
    if (prepared_prepare_group(c, st, n) != 0)
      return -1;
  }
  return prepared_prepare_rest(c);
}

int bn_sql_prepare_held(const struct bn_session *s)
{
  const struct bn_sql_session *owner = bn_sql_session_find(s);
  int rc = 0;

  if (owner == NULL)
    return 0;
  for (struct bn_sql_conn *c = owner->all; c != NULL; c = c->next_all) {
    if (c->holds && prepared_release_held(c) != 0)
      rc = -1;
  }
  return rc;
}

struct bn_sql_rs *bn_sql_stmt_next_result(struct bn_sql_stmt *st)
{
  if (!prepared_check_usable(st))
    return NULL;
  return bn_sql_next_result(st->conn);
}

int bn_sql_stmt_close(struct bn_sql_stmt *st)
{
  if (!prepared_check_usable(st))
    return -1;
  st->conn->view.error = BN_VERDICT_NONE;
  prepared_shut(st);
  st->bound = false;
  st->closed = true;
  return 0;
}
