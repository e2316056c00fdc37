/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The path of every statement: is the connection ready, run it, count it, keep its result. */
#ifndef BN_SQL_QUERY_H
#define BN_SQL_QUERY_H

#include "sql/conn.h"

/* Does the rare part of bn_sql_begin: the connection is not open, the session is interrupted, or
   results, an unanswered failure or an old transaction are in the way.  Returns false if the
   statement is refused, as the view says. */
bool bn_sql_make_way(struct bn_sql_conn *c, const char *sql, size_t len);

/* Returns true if the connection takes a statement: the previous result is gone, and view.error is
   NONE.  `sql` is the text that is about to be executed, or NULL. */
static inline bool bn_sql_begin(struct bn_sql_conn *c, const char *sql, size_t len)
{
  if (__builtin_expect(c->state != BN_CONN_OPEN || bn_session_interrupted(c->session) ||
                           c->cur.more || c->failure.pending || c->failure.rollback_due,
                       0) &&
      !bn_sql_make_way(c, sql, len))
    return false;
  bn_sql_cursor_release(&c->cur);
  c->cur.source = NULL;
  c->view.error = BN_VERDICT_NONE;
  c->view.sql_errno = 0;
  return true;
}

/* Takes the place of sending a statement if unread results are in its way (cur.more after begin).
   Returns the error with which the driver refuses the statement.  prepared: it is executed as a
   prepared statement. */
enum bn_sql bn_sql_refuse_unread(struct bn_sql_conn *c, enum bn_sql_step step, bool prepared);
/* Finishes a statement that was sent at since_ns and has come back with rc, and with its result in
   cur.result: measures and counts it, or acts on its failure.  Returns its rows, or NULL. */
struct bn_sql_rs *bn_sql_finish(struct bn_sql_conn *c, enum bn_sql rc, uint64_t since_ns,
                                struct bn_sql_statement_type type, const char *sql, size_t len);

#endif
