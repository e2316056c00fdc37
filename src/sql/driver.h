/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of the process: the configuration, the drivers, and all that connections share; and the
   state of each session, which owns its connections and knows the drivers that it has started. */
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
  struct bn_sql_errors ignored; /* the driver's own list */
  bool ignores_silence;         /* the loss of a connection to a silent server is always ignored */
  struct bn_sql_splitter splitter; /* --db-read-hosts */
  unsigned index;                  /* of the row */
};

/* The rows of the longest list of metrics, one for each of BN_SQL_METRICS and one for its end. */
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
  _Atomic uint64_t n_prepared; /* statements that were prepared outside of events */
  bool wants_settings;         /* a report shows the settings of the server */
  /* Each is set by the first thread that prints, or adds to the facts, something that is said once
     in a run. */
  _Atomic bool settings_reported;
  _Atomic bool about_reported;
  _Atomic bool no_more_reported; /* a server prepares no more statements */
  _Atomic bool text_reported;    /* a server does not prepare some statement */
  _Atomic bool one_by_one;       /* a server did not let statements be prepared together */
  _Atomic bool pooler_asked;     /* whether there is a pooler */
  _Atomic bool remedy_reported;
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
  uint64_t started;        /* bit 1 << index of a driver: thread_init has succeeded */
  struct bn_sql_conn *all; /* every connection ever made; conn.c fills and empties it */
  pthread_mutex_t lock;    /* guards `open`, which interrupts walk through */
  struct bn_sql_link *open;
  bool measured;                        /* the run has the metrics of SQL */
  bool count_commits;                   /* the run counts COMMITs too */
  bool timed;                           /* the run times executing and fetching too */
  bool verified;                        /* --verify-commits, for the session of a run's worker */
  bool paired;                          /* --db-read-hosts, for the session of a run's worker */
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

/* Returns the layer of --verify-commits in front of `below`, which is this driver or a layer of it.
   The first call makes the table of commits.  Returns NULL if that is not possible, which has been
   logged (bn_sql_verify_start). */
const struct bn_sql_committer *bn_sql_driver_get_committer(const struct bn_sql_driver *drv,
                                                           const struct bn_driver *below,
                                                           const struct bn_session *s);

/* Returns whether --db-ignore-errors or the driver's own list has the error, which is of that
   class.  A script that is asked about the failure may decide otherwise. */
static inline bool bn_sql_driver_ignores(const struct bn_sql_driver *drv,
                                         const struct bn_sql_diag *d, enum bn_sql_class class)
{
  return bn_sql_errors_have(&drv->sys->ignored, d, class) ||
         bn_sql_errors_have(&drv->ignored, d, class);
}

/* Returns the SQL part of the session, which the first call makes, after starting the driver in the
   calling thread, which drives the session.  Returns NULL if the driver's thread_init has failed,
   which has been logged. */
struct bn_sql_session *bn_sql_session_get(struct bn_sqlsys *sys, struct bn_session *s,
                                          struct bn_sql_driver *drv);
/* Returns the SQL part of the session, or NULL. */
struct bn_sql_session *bn_sql_session_find(const struct bn_session *s);
/* Lets interrupts of the session reach a link that has been opened, and must not move. */
void bn_sql_session_add_link(struct bn_sql_session *owner, struct bn_sql_link *link);
/* Lets interrupts no longer reach a link, which is about to be closed.  Nothing happens if the link
   was not added. */
void bn_sql_session_remove_link(struct bn_sql_session *owner, struct bn_sql_link *link);
/* Opens another connection to the server of t, calls fn, which sends its questions on it, and
   closes it.  The calls on it are interrupted at until_ns (CLOCK_MONOTONIC), or with the session.
   If the connection cannot be opened, or the driver cannot interrupt, fn is not called. */
void bn_sql_session_ask_server(struct bn_sql_session *owner, const struct bn_sql_driver *drv,
                               const struct bn_sql_target *t, uint64_t until_ns,
                               void (*fn)(void *arg, struct bn_sql_link *link), void *arg);
/* Removes the SQL part from the session, and returns it; from now on nobody finds or interrupts it.
   Returns NULL if there is none. */
struct bn_sql_session *bn_sql_session_detach(struct bn_session *s);
/* Frees the SQL part of a session, which was detached and has no connection any more, and ends its
   drivers in the calling thread, which has driven the session. */
void bn_sql_session_free(struct bn_sqlsys *sys, struct bn_sql_session *owner);

#endif
