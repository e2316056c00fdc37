/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results: the rows of the current one, and those still pending. */
#ifndef BN_SQL_RESULT_H
#define BN_SQL_RESULT_H

#include "api/session.h"
#include "sql/link.h"
#include "sql/sql.h"
#include "sql/stmt.h"

/* The current result of a connection.  result.c owns it; code that executes statements puts its
   result in by bn_sql_cursor_take. */
struct bn_sql_cursor {
  struct bn_sql_rs rs;         /* first: scripts have its address */
  struct bn_sql_result result; /* after rs */
  struct bn_sql_stmt *source;  /* the statement that gave it; NULL: a query */
  bool live;                   /* the rows have not been freed */
  bool more;                   /* another result is pending */
  unsigned room;               /* of rs.values */
  const struct bn_sql_link *link;
  struct bn_session *timed; /* whose "sql_fetch" is measured; NULL: it is not */
};

/* Frees the rows of the current result, if there is one. */
static inline void bn_sql_cursor_release(struct bn_sql_cursor *cur)
{
  if (!cur->live)
    return;
  cur->live = false;
  cur->link->ops->free_result(cur->link->handle, &cur->result);
}

/* Drops the current result and reads the pending ones, before which a connection takes no new
   statement.  If the connection is not open, they are only forgotten.  Returns the outcome of the
   last one, above ROWS if its statement has failed, which d then describes. */
enum bn_sql bn_sql_cursor_drop(struct bn_sql_cursor *cur, bool open, struct bn_sql_diag *d);
/* Frees the memory for rows. */
void bn_sql_cursor_free(struct bn_sql_cursor *cur);
/* Frees the current result, and lets the driver take the next of the pending ones, whose outcome is
   returned: bn_sql_finish gives it to bn_sql_cursor_take. */
enum bn_sql bn_sql_cursor_next(struct bn_sql_cursor *cur, struct bn_sql_diag *d);

/* Takes the answer rc of the driver, DONE or ROWS, which is in `result`.  Returns the rows, which
   are live from then on, or NULL for DONE. */
static inline struct bn_sql_rs *bn_sql_cursor_take(struct bn_sql_cursor *cur, enum bn_sql rc)
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
