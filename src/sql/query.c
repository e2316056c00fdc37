/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The path of every statement: makes the connection ready, sends the statement, counts it, and
   keeps its result. */
#include "sql/query.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "measure/stat.h"
#include "sql/failure.h"

enum bn_sql bn_sql_refuse_unread(struct bn_sql_conn *c, enum bn_sql_step step, bool prepared)
{
  /* No rollback is due: it would be refused as well. */
  c->diag.rolled_back = true;
  return c->drv->ops->unread(step, prepared, &c->diag);
}

/* Refuses the statement: because the session is interrupted, which is not logged, or else because
   the connection is closed, which is.  The script then leaves its session.  c->session is NULL if
   the connection is closed because its session has ended. */
static void query_refuse(struct bn_sql_conn *c, bool is_closed)
{
  const bool is_interrupted = c->session != NULL && bn_session_interrupted(c->session);

  bn_sql_refuse(c);
  if (is_interrupted)
    bn_sql_leave_session(c);
  else if (is_closed)
    bn_log(BN_ALERT, "attempt to use an already closed connection");
}

/* Returns whether the script has said that it expects the error. */
static bool query_expects(const struct bn_sql_conn *c, const struct bn_sql_diag *d)
{
  return c->expected[0] != '\0' && strcmp(d->state, c->expected) == 0;
}

/* Drops the results that the script has not read.  Returns false if one of them is the error of a
   statement after the first one of its text: nobody has seen the error yet, so the next statement
   fails with it, at `step`.  Dialects drop the error, as sysbench does. */
static bool query_drop_unread(struct bn_sql_conn *c, enum bn_sql_step step)
{
  struct bn_sql_diag d = {0};
  const enum bn_sql rc = bn_sql_conn_drop_results(c, &d);

  /* If the connection is lost, the next statement finds that out. */
  if (rc != BN_SQL_ERROR || !bn_policy_is_native(c->sys->policy) || query_expects(c, &d))
    return true;
  c->diag = d;
  (void)bn_sql_handle_failure(c, rc, step, NULL, 0);
  return false;
}

bool bn_sql_make_way(struct bn_sql_conn *c, const char *sql, size_t len)
{
  const bool may_stay_unread = c->sys->policy->unread_results_block && c->drv->ops->unread != NULL;
  bool is_closed;

  /* A script that repeats events in a loop of its own shows by its BEGIN that the transaction of
     the last one is still to be rolled back. */
  if (c->failure.rollback_due && sql != NULL && bn_sql_boundary_of(sql, len) == BN_BOUNDARY_BEGIN)
    bn_sql_roll_back(c);
  is_closed = c->state != BN_CONN_OPEN; /* also if the rollback has lost the connection */
  /* An interrupt that comes between two statements leaves the connection open. */
  if (is_closed || bn_session_interrupted(c->session)) {
    query_refuse(c, is_closed);
    return false;
  }
  if (c->failure.pending) {
    bn_sql_pending_failure_keep(&c->failure, &c->diag);
    c->diag.rolled_back = false;
  }
  /* In a dialect, unread results may stay: the caller finds cur.more set, and calls
     bn_sql_refuse_unread. */
  if (c->cur.more && !may_stay_unread)
    return query_drop_unread(c, sql != NULL ? BN_STEP_QUERY : BN_STEP_PREPARE);
  return true;
}

/* Counts the statement for --statements.  One that an interrupt has ended is not counted. */
static inline void query_count_statement(struct bn_statement *st, const struct bn_sql_conn *c,
                                         enum bn_sql rc, uint64_t took_ns)
{
  const struct bn_sql_result *r = &c->cur.result;

  if (__builtin_expect(rc <= BN_SQL_ROWS, 1))
    bn_statement_succeeded(st, took_ns, rc == BN_SQL_ROWS ? r->nrows : r->affected);
  else if (!bn_session_interrupted(c->session))
    bn_statement_failed(st);
}

/* Names a prepared statement, and counts its first execution. */
static __attribute__((noinline)) void query_count_first(struct bn_sql_stmt *st, enum bn_sql rc,
                                                        uint64_t took_ns)
{
  const struct bn_sql_conn *c = st->conn;

  st->statement = bn_sql_statement_names_of_text(c->owner->names, st->text, st->len, &c->drv->caps);
  query_count_statement(st->statement, c, rc, took_ns);
}

/* Counts a prepared statement.  Each call comes last, so that no register is kept across it. */
static void query_count_prepared(struct bn_sql_stmt *st, enum bn_sql rc, uint64_t took_ns)
{
  if (__builtin_expect(st->statement == NULL, 0))
    query_count_first(st, rc, took_ns);
  else
    query_count_statement(st->statement, st->conn, rc, took_ns);
}

/* Counts a statement that was sent as text, under the digest of the text or, if it is emulated, as
   the prepared statement that it stands for. */
static __attribute__((noinline)) void query_count_text(struct bn_sql_conn *c, enum bn_sql rc,
                                                       uint64_t took_ns, const char *sql,
                                                       size_t len)
{
  struct bn_sql_stmt *emulated = c->emulating;

  c->emulating = NULL;
  if (emulated != NULL)
    query_count_prepared(emulated, rc, took_ns);
  else
    query_count_statement(bn_sql_statement_names_of_text(c->owner->names, sql, len, &c->drv->caps),
                          c, rc, took_ns);
}

/* Measures a statement for --db-debug and --statements, which leaves out statements that are not
   counted.  Inline, it costs a statement that is not measured nothing. */
static inline void query_observe(struct bn_sql_conn *c, enum bn_sql rc, uint64_t took_ns,
                                 struct bn_sql_statement_type type, const char *sql, size_t len)
{
  if (c->owner->timed)
    bn_stat_record(c->session->stat, BN_SQL_H_EXECUTE, took_ns);
  if (c->owner->names == NULL || type.kind == BN_SQL_UNCOUNTED)
    return;
  if (c->cur.source != NULL)
    query_count_prepared(c->cur.source, rc, took_ns);
  else
    query_count_text(c, rc, took_ns, sql, len);
}

void bn_sql_expect_error(struct bn_sql_conn *c, const char *state)
{
  (void)snprintf(c->expected, sizeof c->expected, "%s", state);
}

/* Measures a statement that has failed with rc, and acts on its failure.  If the script expects the
   error, the statement counts as completed, with an empty result.  Returns DONE then, else rc.  It
   is not inline, to leave bn_sql_finish its registers. */
static __attribute__((noinline)) enum bn_sql query_handle_error(struct bn_sql_conn *c,
                                                                enum bn_sql rc, uint64_t took_ns,
                                                                struct bn_sql_statement_type type,
                                                                const char *sql, size_t len)
{
  if (rc == BN_SQL_ERROR && query_expects(c, &c->diag)) {
    c->cur.result = (struct bn_sql_result){.dry = true};
    c->diag.rolled_back = false;
    rc = BN_SQL_DONE;
  }
  if (c->owner->observed)
    query_observe(c, rc, took_ns, type, sql, len);
  if (rc > BN_SQL_ROWS)
    (void)bn_sql_handle_failure(c, rc, BN_STEP_QUERY, sql, len);
  return rc;
}

struct bn_sql_rs *bn_sql_finish(struct bn_sql_conn *c, enum bn_sql rc, uint64_t since_ns,
                                struct bn_sql_statement_type type, const char *sql, size_t len)
{
  struct bn_stat *stat = c->session->stat;
  const uint64_t took_ns = bn_clock_now(&c->session->clock) - since_ns;

  if (__builtin_expect(took_ns > bn_stat_get(&stat->longest_statement_ns), 0))
    atomic_store_explicit(&stat->longest_statement_ns, took_ns, memory_order_relaxed);
  if (__builtin_expect(rc > BN_SQL_ROWS, 0)) {
    rc = query_handle_error(c, rc, took_ns, type, sql, len);
    if (rc > BN_SQL_ROWS)
      return NULL;
  } else if (__builtin_expect(c->owner->observed, 0)) {
    query_observe(c, rc, took_ns, type, sql, len);
  }
  if (__builtin_expect(type.kind != BN_SQL_UNCOUNTED, 1)) {
    bn_stat_count(stat, bn_sql_counter_of(type.kind, rc, c->cur.result.affected), 1);
    bn_sql_count_rows(stat, rc, type.verb, &c->cur.result);
  }
  if (__builtin_expect(type.kind == BN_SQL_COMMIT, 0) && c->owner->count_commits)
    bn_stat_count(stat, BN_SQL_C_COMMITS, 1);
  return bn_sql_cursor_accept(&c->cur, rc);
}

/* Sends a query, unless it is refused, and finishes it.  Returns its rows, or NULL. */
static inline struct bn_sql_rs *query_send(struct bn_sql_conn *c, const char *sql, size_t len,
                                           struct bn_sql_statement_type type)
{
  uint64_t since_ns;
  enum bn_sql rc;

  if (!bn_sql_begin(c, sql, len))
    return NULL;
  bn_sql_trace(&c->sys->trace, c->session, sql, len);
  since_ns = bn_clock_now(&c->session->clock);
  rc = __builtin_expect(c->cur.more, 0)
           ? bn_sql_refuse_unread(c, BN_STEP_QUERY, false /* not prepared */)
           : c->link.ops->query(c->link.handle, sql, len, &c->cur.result, &c->diag);
  return bn_sql_finish(c, rc, since_ns, type, sql, len);
}

struct bn_sql_rs *bn_sql_query(struct bn_sql_conn *c, const char *sql, size_t len)
{
  return query_send(c, sql, len, bn_sql_statement_type_of(c->sys->by_first_word, sql, len));
}

struct bn_sql_rs *bn_sql_query_uncounted(struct bn_sql_conn *c, const char *sql, size_t len)
{
  struct bn_sql_rs *rs;

  /* The answer of a read server may be out of date. */
  if (c->split != NULL)
    bn_sql_split_set_write_only(c->split, true);
  rs = query_send(c, sql, len, (struct bn_sql_statement_type){.kind = BN_SQL_UNCOUNTED});
  if (c->split != NULL)
    bn_sql_split_set_write_only(c->split, false);
  return rs;
}

bool bn_sql_more_results(struct bn_sql_conn *c)
{
  return c->cur.more;
}

struct bn_sql_rs *bn_sql_next_result(struct bn_sql_conn *c)
{
  const struct bn_sql_statement_type further = {.kind = BN_SQL_UNCOUNTED};
  uint64_t since_ns;
  enum bn_sql rc;

  c->view.error = BN_VERDICT_NONE;
  bn_sql_cursor_release(&c->cur);
  if (!c->cur.more)
    return NULL;
  since_ns = bn_clock_now(&c->session->clock);
  rc = bn_sql_cursor_next(&c->cur, &c->diag);
  return bn_sql_finish(c, rc, since_ns, further, NULL, 0);
}
