/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections: open, close, open again, and the memory behind them. */
#ifndef BN_SQL_CONN_H
#define BN_SQL_CONN_H

#include "base/buf.h"
#include "sql/driver.h"
#include "sql/load.h"
#include "sql/recover.h"
#include "sql/result.h"
#include "sql/stmt.h"

enum bn_sql_state {
  BN_CONN_CLOSED, /* by the script, or not yet opened */
  BN_CONN_GONE,   /* closed to be opened again, which has failed or goes on */
  BN_CONN_LOST,   /* or of no use; the driver's connection is still to be closed */
  BN_CONN_OPEN
};

/* A connection.  conn.c sets its members, except those whose comment names another file.  The
   files with the calls that scripts make also set the view, `diag`, and `state` to LOST. */
struct bn_sql_conn {
  struct bn_sql_conn_view view; /* first: scripts read it */
  enum bn_sql_state state;
  struct bn_sql_link link;
  const struct bn_sql_link *server; /* the driver's own, behind the layers; with `split`, two */
  struct bn_sql_split *split;       /* --db-read-hosts; NULL: there is one server */
  struct bn_sql_cursor cur;
  struct bn_sql_pending_failure failure;
  char *failed_text;            /* owned: the beginning of the statement that failed last */
  size_t failed_len;            /* in bytes; 0: the text is not known */
  struct bn_session *session;   /* NULL: retired */
  struct bn_sql_session *owner; /* NULL: retired */
  struct bn_sqlsys *sys;
  struct bn_sql_driver *drv;
  struct bn_sql_conn *next_all;
  struct bn_sql_stmt *stmts;
  unsigned n_orphans;    /* statements in `stmts` that are orphaned */
  unsigned n_prepared;   /* statements that a server has prepared, since the connection was made */
  uint64_t preparing_ns; /* time spent on preparing and binding, since then */
  bool prepares_no_more; /* prepared.c: the server has as many statements as it allows */
  bool holds;            /* prepared.c: statements wait to be prepared together */
  unsigned refs;         /* the owner's handle and every statement that is not orphaned */
  unsigned ordinal;      /* selects the server (struct bn_sql_target) */
  unsigned places;       /* number of servers, or pairs of servers, to select from */
  /* reconnect.c: attempts since a connection was last of use; whether the connection was opened
     again, and if so, the progress of the session at that time (events, in a command statements),
     and the time. */
  unsigned tries;
  bool renewed;
  uint64_t renewed_progress, renewed_ns;
  size_t n_overrides;
  char **override;          /* n names, then n values */
  struct bn_buf emulated;   /* prepared.c: the text sent last for a statement that is emulated */
  struct bn_sql_bulk *bulk; /* owned; NULL: it has had no bulk insert */
  /* prepared.c: with --statements, the emulated statement whose text is being sent, else NULL */
  struct bn_sql_stmt *emulating;
  char expected[6];        /* query.c: the SQLSTATE that is an answer and no failure; "": none */
  struct bn_sql_diag diag; /* rolled_back is false when a statement begins, and drivers set it */
};

/* Returns whether rows may be sent by the driver's bulk load: there is one, a command fills the
   tables, and --db-bulk-load allows it. */
bool bn_sql_conn_may_load(const struct bn_sql_conn *c);
/* Returns whether the server prepares each statement once for the connection: statements are
   neither emulated nor prepared anew at each execute. */
bool bn_sql_conn_prepares_once(const struct bn_sql_conn *c);
/* Drops the current result and the pending ones.  If the connection is lost meanwhile, its state is
   LOST.  Returns as bn_sql_cursor_drop; d may be NULL. */
enum bn_sql bn_sql_conn_drop_results(struct bn_sql_conn *c, struct bn_sql_diag *d);
/* Makes one attempt to open c.  Returns 0, or -1 and diag: then the driver's connection is closed,
   and c->state is what it was before. */
int bn_sql_conn_open(struct bn_sql_conn *c, uint64_t deadline_ns);
/* Closes the driver's connection, if there is one, and sets the state to CLOSED. */
void bn_sql_conn_shut(struct bn_sql_conn *c);
/* Adds 1 to a labelled count of sql/count.h, under the name of the server that c is connected to,
   or was last. */
void bn_sql_conn_count_server(const struct bn_sql_conn *c, unsigned label);
/* Frees the connections that outlived their sessions. */
void bn_sql_retired_free(struct bn_sqlsys *sys);
/* Sets the view to FATAL, without an error number or text, because this layer refuses a call. */
void bn_sql_refuse(struct bn_sql_conn *c);

#endif
