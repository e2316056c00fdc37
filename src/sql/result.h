/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results: the rows of the current one, and those still pending. */
#ifndef BN_SQL_RESULT_H
#define BN_SQL_RESULT_H

#include "api/session.h"
#include "sql/link.h"
#include "sql/sql.h"
#include "sql/stmt.h"

/* A connection's current result.  result.c owns it; what executes statements puts theirs in by
   bn_sql_cursor_take. */
struct bn_sql_cursor {
  struct bn_sql_rs rs;         /* first: scripts have its address */
  struct bn_sql_result result; /* behind rs */
  struct bn_sql_stmt *source;  /* the statement that gave it; NULL: a query */
  bool live;                   /* it has not been freed */
  bool more;                   /* another one is pending */
  unsigned room;               /* of rs.values */
  const struct bn_sql_link *link;
  struct bn_session *timed; /* whose "sql_fetch" is measured; NULL: it is not */
};

/* Frees the rows of the current one, if there is one. */
static inline void bn_sql_cursor_release(struct bn_sql_cursor *cur)
{
  if (!cur->live)
    return;
  cur->live = false;
  cur->link->ops->free_result(cur->link->handle, &cur->result);
}

/* And reads those pending, as a connection takes no new statement before; if it is not open, they
   are forgotten.  false: it was lost meanwhile. */
bool bn_sql_cursor_drop(struct bn_sql_cursor *cur, bool open);
/* The memory for rows. */
void bn_sql_cursor_free(struct bn_sql_cursor *cur);
/* The next of those pending. */
enum bn_sql bn_sql_cursor_next(struct bn_sql_cursor *cur, struct bn_sql_diag *d);

/* The driver has answered DONE or ROWS into `result`; NULL: there are no rows. */
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
