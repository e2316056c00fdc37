/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process-wide side: what was asked for, the drivers, the sessions, and what all connections
   share.  A session owns the lists of its connections and of the drivers it has started. */
#ifndef BN_SQL_DRIVER_H
#define BN_SQL_DRIVER_H

#include <pthread.h>
#include <stdatomic.h>

#include "sql/count.h"
#include "sql/end_hints.h"
#include "sql/errors.h"
#include "sql/preflight.h"
#include "sql/split.h"
#include "sql/sql.h"
#include "sql/statements.h"
#include "sql/stmt.h"
#include "sql/trace.h"
#include "sql/verify.h"

struct bn_sql_conn;

struct bn_sql_driver {
  struct bn_sqlsys *sys;
  const struct bn_driver *ops; /* NULL: not loaded yet */
  void *self;
  struct bn_sql_caps caps;
  struct bn_driver_host host;
  struct bn_sql_errors ignored;    /* by the driver's own list */
  bool ignores_silence;            /* one of the lists has each error of a server that is silent */
  struct bn_sql_splitter splitter; /* --db-read-hosts */
  unsigned index;                  /* of the row */
};

/* The longest list of metrics, and its end. */
#define BN_SQL_ONE(...) +1
enum { BN_SQL_METRICS_MAX = 1 BN_SQL_METRICS(BN_SQL_ONE, BN_SQL_ONE, BN_SQL_ONE) };

struct bn_sqlsys {
  const struct bn_sql_conf *conf;
  const struct bn_policy *policy;
  bool by_first_word; /* policy->statements_by_first_word, at hand for every statement */
  const struct bn_sql_driver_entry *rows;
  struct bn_sql_driver *drivers; /* one per row */
  size_t n_rows;
  /* Set when the first driver is loaded, constant from then on. */
  struct bn_sql_errors ignored; /* --db-ignore-errors */
  bool emulate;
  bool anew;      /* statements are prepared anew at each execute */
  bool announces; /* there is --sql-trace or --statements */
  struct bn_sql_trace trace;
  bool options_read;           /* the options above have been read */
  pthread_mutex_t lock;        /* loading, and `retired` */
  _Atomic unsigned ordinal;    /* of the next connection */
  _Atomic uint64_t n_prepared; /* statements, before the loops of sessions */
  bool asks;                   /* a report wants to know the settings of the server */
  /* Each is set by the first thread that tells of its subject, which is told once. */
  _Atomic bool settings_told;
  _Atomic bool about_told;
  _Atomic bool full_told;
  _Atomic bool text_told;
  _Atomic bool one_by_one; /* a server did not let statements be prepared together */
  _Atomic bool pooler_told;
  _Atomic bool remedy_told;
  struct bn_sql_conn *retired; /* connections that outlived their session in somebody's hands */
  struct bn_sql_statement_cache texts;
  struct bn_sql_preflight preflight;
  struct bn_sql_end_hints hints;
  struct bn_sql_verify verify;
  struct bn_metric metrics[BN_SQL_METRICS_MAX]; /* options.c: what is measured */
};

/* The part of a session that belongs to the SQL layer. */
struct bn_sql_session {
  struct bn_session *session;
  uint64_t started;        /* bit per driver row: thread_init was called */
  struct bn_sql_conn *all; /* every connection ever made; conn.c fills and empties it */
  pthread_mutex_t lock;    /* guards `open`, which interrupts walk through */
  struct bn_sql_link *open;
  bool measured;                        /* the run has the metrics of SQL */
  bool count_commits;                   /* the run counts COMMITs too */
  bool timed;                           /* the run times executing and fetching too */
  bool verified;                        /* --verify-commits, and a worker of the run drives it */
  bool paired;                          /* --db-read-hosts, and a worker of the run drives it */
  unsigned read_host_reads;             /* the counter of reads on read hosts */
  bool observed;                        /* `timed`, or there are names: query.c */
  struct bn_sql_statement_names *names; /* --statements; NULL: statements are not told apart */
  struct bn_sql_lazy_prepare first_use;
};

/* Lists the metrics of the run, which depend on options and dialect (options.c). */
void bn_sql_metrics_init(struct bn_sqlsys *sys);
/* Returns the index that a counter of count.h has in this run, which has it. */
unsigned bn_sql_counter_index(const struct bn_sqlsys *sys, unsigned counter);
/* Returns the word of --db-isolation-level for the level. */
const char *bn_sql_isolation_word(int level);
/* Ends the drivers that were loaded. */
void bn_sql_drivers_done(struct bn_sqlsys *sys);

/* Returns the layer of --verify-commits that stands before `below`, which reaches this driver.  The
   first call makes the table of commits.  NULL: that is not possible, which has been logged
   (sql/verify.h). */
const struct bn_sql_committer *bn_sql_driver_get_committer(const struct bn_sql_driver *drv,
                                                           const struct bn_driver *below,
                                                           const struct bn_session *s);

/* Returns whether --db-ignore-errors or the driver's own list names the error; a script may answer
   otherwise. */
static inline bool bn_sql_driver_ignores(const struct bn_sql_driver *drv,
                                         const struct bn_sql_diag *d, enum bn_sql_class class)
{
  return bn_sql_errors_have(&drv->sys->ignored, d, class) ||
         bn_sql_errors_have(&drv->ignored, d, class);
}

/* Returns the SQL part of the session, made if there is none, with the driver started in its
   thread.  NULL: the driver's thread_init failed, which has been logged. */
struct bn_sql_session *bn_sql_session_get(struct bn_sqlsys *sys, struct bn_session *s,
                                          struct bn_sql_driver *drv);
/* Returns the SQL part of the session, or NULL. */
struct bn_sql_session *bn_sql_session_find(const struct bn_session *s);
/* Lets interrupts of the session reach a link that has been opened. */
void bn_sql_session_add_link(struct bn_sql_session *o, struct bn_sql_link *link);
/* Lets them no longer reach a link that is about to be closed.  If it was never opened, nothing
   happens. */
void bn_sql_session_remove_link(struct bn_sql_session *o, struct bn_sql_link *link);
/* Opens a connection of its own to the server of t, calls fn, which asks what it wants to know, and
   closes the connection.  It is interrupted at until_ns, or with the session.  If it cannot be
   opened or interrupted, fn is not called. */
void bn_sql_session_ask_server(struct bn_sql_session *o, const struct bn_sql_driver *drv,
                               const struct bn_sql_target *t, uint64_t until_ns,
                               void (*fn)(void *arg, struct bn_sql_link *link), void *arg);
/* Removes the SQL part of the session, which nobody finds or interrupts from now on.  NULL: there
   is none. */
struct bn_sql_session *bn_sql_session_take(struct bn_session *s);
/* Frees the SQL part of a session, which was taken and has no connection any more, and ends the
   drivers in its thread, which is the calling one. */
void bn_sql_session_free(struct bn_sqlsys *sys, struct bn_sql_session *o);

#endif
