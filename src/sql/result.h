/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results: the rows of the current result of a connection, and the results that are pending.  The
   thread that drives the session calls these functions. */
#ifndef BN_SQL_RESULT_H
#define BN_SQL_RESULT_H

#include "api/session.h"
#include "sql/link.h"
#include "sql/sql.h"
#include "sql/stmt.h"

/* The current result of a connection.  A function that executes a statement lets the driver fill
   `result`, and then calls bn_sql_cursor_accept. */
struct bn_sql_cursor {
  struct bn_sql_rs rs;         /* first: scripts have its address */
  struct bn_sql_result result; /* as the driver has returned it */
  struct bn_sql_stmt *source;  /* the prepared statement that has returned it; NULL: a query */
  bool live;                   /* it has rows, which have not been freed */
  bool more;                   /* another result is pending */
  unsigned room;               /* number of values for which rs.values has room */
  const struct bn_sql_link *link;
  struct bn_session *timed; /* the session whose "sql_fetch" is measured; NULL: it is not */
};

/* Frees the rows of the current result, if there is one. */
static inline void bn_sql_cursor_release(struct bn_sql_cursor *cur)
{
  if (!cur->live)
    return;
  cur->live = false;
  cur->link->ops->free_result(cur->link->handle, &cur->result);
}

/* Drops the current result, and reads and drops the pending ones, because a connection takes no new
   statement before that.  If the connection is not open, the results are only forgotten.  Returns
   the outcome of the last result: if its statement has failed, the failure, which d describes. */
enum bn_sql bn_sql_cursor_drop(struct bn_sql_cursor *cur, bool open, struct bn_sql_diag *d);
/* Frees the memory for rows. */
void bn_sql_cursor_free(struct bn_sql_cursor *cur);
/* Frees the current result, and lets the driver fill `result` with the next pending one.  Returns
   its outcome, for bn_sql_finish. */
enum bn_sql bn_sql_cursor_next(struct bn_sql_cursor *cur, struct bn_sql_diag *d);

/* Makes `result`, which the driver has filled with the outcome rc, DONE or ROWS, the current one.
   Returns its rows, or NULL for DONE. */
static inline struct bn_sql_rs *bn_sql_cursor_accept(struct bn_sql_cursor *cur, enum bn_sql rc)
{
  cur->more = cur->result.more;
  if (rc == BN_SQL_DONE) {
    cur->rs.nrows = cur->rs.nfields = 0;
    return NULL;
  }
  cur->live = true;
  cur->rs.nrows = cur->result.nrows < UINT32_MAX ? (uint32_t)cur->result.nrows : UINT32_MAX;
  cur->rs.nfields = cur->result.nfields;
  return &cur->rs;
}

#endif
