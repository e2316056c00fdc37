/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the SQL layer share; nobody else includes it. */
#ifndef BN_SQL_INTERNAL_H
#define BN_SQL_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/buf.h"
#include "engine/run.h"
#include "measure/stat.h"
#include "sql/errors.h"
#include "sql/message.h"
#include "sql/sql.h"
#include "sql/text.h"
#include "sql/trace.h"

struct bn_sql_driver {
  struct bn_sqlsys *sys;
  const struct bn_driver *ops; /* NULL: not loaded yet */
  void *self;
  struct bn_sql_caps caps;
  struct bn_driver_host host;
  struct bn_sql_errors ignored; /* by the driver's own list */
  unsigned index;               /* of the row */
};

struct bn_sqlsys {
  const struct bn_sql_conf *conf;
  const struct bn_policy *policy;
  bool by_first_word; /* policy->statements_by_first_word, at hand for every statement */
  const struct bn_sql_row *rows;
  struct bn_sql_driver *drivers; /* one per row */
  size_t n_rows;
  _Atomic unsigned ordinal; /* of the next connection */
  /* Set with the first driver, constant from then on. */
  struct bn_sql_errors ignored; /* --db-ignore-errors */
  bool emulate;
  bool anew; /* statements are prepared anew at each execute */
  _Atomic bool unread_told;
  FILE *trace;
  bool settled;
  pthread_mutex_t lock; /* what follows, and loading */
  struct bn_sql_session *sessions;
  struct bn_sql_texts texts;
  pthread_mutex_t preflight; /* what follows; taken first, and held while the first connects */
  bool first_came, asked, all_connect, refused, statements_judged, refused_statements;
  struct bn_sql_info info;
  struct bn_sql_conn *retired; /* connections that outlived their session in somebody's hands */
};

/* A session as the SQL layer knows it. */
struct bn_sql_session {
  struct bn_sql_session *next;
  struct bn_sqlsys *sys;
  struct bn_session *session;
  uint64_t started;        /* bit per driver row: thread_init was called */
  struct bn_sql_conn *all; /* every connection ever made */
  pthread_mutex_t lock;    /* guards `open`, which interrupts walk through */
  struct bn_sql_conn *open;
  bool count_commits, timed; /* the run has the metrics for it */
};

/* Where bn_sqlsys_metrics end up. */
enum { BN_SQL_C_COMMITS = BN_C_FIXED, BN_SQL_H_EXECUTE = BN_H_FIXED, BN_SQL_H_FETCH };

/* Bytes of rows that are loaded at a time, as text of INSERT and as lines; places to part them. */
enum { BN_SQL_LOAD_MAX = 1 << 20, BN_SQL_CUTS = 16 };

struct bn_sql_failure {
  struct bn_sql_diag diag;
  enum bn_sql_step step;
  const char *sql;
  size_t len;
};

enum bn_sql_state { BN_CONN_CLOSED, BN_CONN_LOST, BN_CONN_OPEN };

struct bn_sql_conn {
  struct bn_sql_conn_view view; /* first: scripts read it */
  struct bn_sql_rs rs;
  struct bn_sql_result result; /* behind rs */
  struct bn_sql_stmt *source;  /* whose execution gave it; NULL: a query */
  enum bn_sql_state state;
  bool live; /* the current result has not been freed */
  bool more; /* another one is pending */
  bool defer, pending;
  bool no_restart;     /* whatever fails now is not repeated, so nothing is ignored */
  unsigned fields_cap; /* of rs.values */
  const struct bn_driver *ops;
  void *handle; /* the driver's */
  struct bn_session *session;
  struct bn_sql_session *owner; /* NULL: retired */
  struct bn_sqlsys *sys;
  struct bn_sql_driver *drv;
  struct bn_sql_conn *next_all, *next_open;
  struct bn_sql_stmt *stmts;
  unsigned n_prepared; /* by the server, ever */
  unsigned refs;       /* the owner's handle and every statement */
  unsigned ordinal;
  char **override; /* n names, then n values */
  size_t n_overrides;
  /* The failure that waits to be settled; text is borrowed. */
  enum bn_sql_step failed_step;
  const char *failed_sql;
  size_t failed_len;
  /* It as it was before the hook that is asked about it used the connection itself. */
  struct bn_sql_failure *kept;
  struct bn_buf emulated; /* the text sent last for a statement that is emulated */
  struct bn_buf bulk;     /* the INSERT so far */
  size_t bulk_head;       /* length of its text up to VALUES */
  size_t bulk_max;        /* longest statement */
  unsigned bulk_rows;     /* in the buffer */
  bool bulk_active;
  /* While rows are loaded the buffer holds those of several statements: where each but the first
     begins.  c->load has the same rows as the driver's load_rows takes them. */
  size_t bulk_cut[BN_SQL_CUTS];
  unsigned n_cuts;
  bool may_load; /* by the driver's bulk load */
  bool loading;  /* the statement in the buffer is fit for it */
  char *load_table, *load_columns;
  struct bn_buf load;
  size_t load_rows;
  struct bn_sql_diag diag;
  _Alignas(16) char driver_part[]; /* what handle points at */
};

/* How dialect 0.5 counts a statement; the others look at its result. */
enum bn_sql_kind {
  BN_SQL_BY_RESULT,
  BN_SQL_READ,
  BN_SQL_WRITE,
  BN_SQL_OTHER,
  BN_SQL_COMMIT,
  BN_SQL_UNCOUNTED /* a further result of a statement that was counted */
};

struct bn_sql_stmt {
  struct bn_sql_conn *conn; /* first: scripts read it */
  struct bn_sql_stmt *next;
  void *handle;
  struct bn_sql_text *shared;
  const char *text; /* shared's, of len bytes */
  size_t len;
  struct bn_sql_bind *binds;
  size_t n_binds, n_params;
  enum bn_sql_kind kind;
  bool emulated;
  bool prepared; /* the driver knows it */
  bool fresh;    /* and it was not executed since; only kept if statements are prepared anew */
  bool bound;    /* the driver knows the current binds */
  bool closed;
  _Alignas(16) char driver_part[];
};

/* --- session.c --- */
/* NULL: out of memory, or the driver's thread_init failed (logged). */
struct bn_sql_session *bn_sql_session_get(struct bn_sqlsys *sys, struct bn_session *s,
                                          struct bn_sql_driver *drv);
void bn_sql_session_opened(struct bn_sql_conn *c);
void bn_sql_session_closing(struct bn_sql_conn *c); /* before the driver's disconnect */

/* --- conn.c --- */
/* Whether rows may be sent by the driver's bulk load: it has one, and this is not a run. */
bool bn_sql_conn_loads(const struct bn_sql_conn *c);
/* Borrows from c. */
void bn_sql_conn_target(const struct bn_sql_conn *c, struct bn_sql_target *target);
/* Closes the driver's connection, whatever its state; statements have to be prepared again. */
void bn_sql_conn_shut(struct bn_sql_conn *c);
void bn_sql_conn_unref(struct bn_sql_conn *c);
/* Its session ends: closes it, and frees it unless somebody still holds it. */
void bn_sql_conn_retire(struct bn_sql_conn *c);
void bn_sql_conn_destroy(struct bn_sql_conn *c);

/* --- stmt.c --- */
void bn_sql_stmt_shut(struct bn_sql_stmt *st); /* the driver forgets it */
void bn_sql_stmt_destroy(struct bn_sql_stmt *st);

/* --- result.c --- */
void bn_sql_result_drop(struct bn_sql_conn *c); /* with those pending */
/* Before a statement: drops them, unless they are in its way: then `more` stays. */
void bn_sql_result_pass(struct bn_sql_conn *c);
/* Instead of sending it. */
enum bn_sql bn_sql_result_blocks(struct bn_sql_conn *c, enum bn_sql_step step, bool prepared);

/* --- query.c --- */
enum bn_sql_kind bn_sql_kind_of(const struct bn_sqlsys *sys, const char *sql, size_t len);
/* true: the connection takes a statement; the previous result is gone, view.error is NONE. */
bool bn_sql_begin(struct bn_sql_conn *c);
/* A statement sent at `since` has come back. */
struct bn_sql_rs *bn_sql_finish(struct bn_sql_conn *c, enum bn_sql rc, uint64_t since,
                                enum bn_sql_kind kind, const char *sql, size_t len);

/* --- load.c: the rows of a bulk insert by the driver's bulk load --- */
enum bn_sql_loaded {
  BN_LOAD_DONE,
  BN_LOAD_NOT_DONE, /* nothing of it is there: send the rows as INSERT, from now on */
  BN_LOAD_FAILED    /* the view says how, and it has been logged */
};
/* Whether the statement up to VALUES is one whose rows can be loaded. */
bool bn_sql_load_start(struct bn_sql_conn *c, const char *insert, size_t len);
/* Adds a row; false: this one has to be inserted. */
bool bn_sql_load_add(struct bn_sql_conn *c, const char *row, size_t len);
enum bn_sql_loaded bn_sql_load_send(struct bn_sql_conn *c);
void bn_sql_load_forget(struct bn_sql_conn *c);

/* --- preflight.c --- */
/* Whether opening c is part of the start of many threads. */
bool bn_sql_preflight_due(const struct bn_sql_conn *c);
/* Opens c, the first one while the others wait, and asks the server what it allows.  0, -1: as
   open; 1: it is not enough, said on standard error. */
int bn_sql_preflight_open(struct bn_sql_conn *c, int (*open)(struct bn_sql_conn *c));
/* Every thread is about to prepare more than the server allows: the statements wait until they are
   executed, so that the script can say how many it needs before the server refuses one. */
bool bn_sql_preflight_defers(const struct bn_sql_conn *c);

/* --- policy.c --- */
/* Classifies a failure, sets the view, and recovers from it or logs it. */
void bn_sql_failed(struct bn_sql_conn *c, enum bn_sql rc, enum bn_sql_step step, const char *sql,
                   size_t len);
/* The session was interrupted: an event ends without a word, as it is not repeated any more; a
   command fails. */
void bn_sql_end_quietly(struct bn_sql_conn *c);
/* A statement is about to be sent while a failure waits to be settled. */
void bn_sql_keep_failure(struct bn_sql_conn *c);
/* A failure of this layer's own: the view says FATAL without a server's error. */
void bn_sql_refuse(struct bn_sql_conn *c);

static inline void bn_sql_trace(const struct bn_sql_conn *c, const char *sql, size_t len)
{
  if (__builtin_expect(c->sys->trace != NULL, 0))
    bn_sql_trace_write(c->sys->trace, c->session->id, sql, len);
}

#endif
