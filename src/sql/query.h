/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The path of every statement: makes the connection ready, sends the statement, counts it, and
   keeps its result.  The thread that drives the session calls these functions. */
#ifndef BN_SQL_QUERY_H
#define BN_SQL_QUERY_H

#include "sql/conn.h"

/* The rare part of bn_sql_begin: handles a connection that is not open, an interrupted session,
   results that the script has not read, a failure that it was asked about and has not answered, and
   a transaction that is still to be rolled back.  Returns false if the statement is refused, which
   the view says. */
bool bn_sql_make_way(struct bn_sql_conn *c, const char *sql, size_t len);

/* Makes the connection ready for a statement: frees the previous result and sets view.error to
   NONE.  `sql` is the text that is about to be executed, or NULL for any other call.  Returns false
   if the connection takes no statement, which the view says. */
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

/* Is called instead of sending a statement if unread results are in its way (cur.more is still set
   after bn_sql_begin).  Returns the failure with which the driver refuses the statement, and
   c->diag.  prepared: a prepared statement was to be executed. */
enum bn_sql bn_sql_refuse_unread(struct bn_sql_conn *c, enum bn_sql_step step, bool prepared);
/* Finishes a statement that was sent at since_ns (bn_clock_now), whose outcome is rc, and whose
   result is in cur.result: measures and counts it, or acts on its failure.  Returns its rows, or
   NULL. */
struct bn_sql_rs *bn_sql_finish(struct bn_sql_conn *c, enum bn_sql rc, uint64_t since_ns,
                                struct bn_sql_statement_type type, const char *sql, size_t len);

#endif
