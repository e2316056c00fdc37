/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sessions: what of the SQL layer belongs to one of them.  A session owns the lists of its
   connections and of the drivers it has started. */
#ifndef BN_SQL_SESSION_H
#define BN_SQL_SESSION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/driver.h"
#include "api/session.h"
#include "sql/lazy_prepare.h"
#include "sql/link.h"
#include "sql/statement_names.h"

struct bn_sql_conn;
struct bn_sql_driver;
struct bn_sqlsys;

struct bn_sql_session {
  struct bn_sql_session *next;
  struct bn_session *session;
  uint64_t started;        /* bit per driver row: thread_init was called */
  struct bn_sql_conn *all; /* every connection ever made; conn.c fills and empties it */
  pthread_mutex_t lock;    /* guards `open`, which interrupts walk through */
  struct bn_sql_link *open;
  bool measured;                        /* the run has the metrics of SQL */
  bool count_commits, timed;            /* and those */
  bool verified;                        /* --verify-commits, and it is one of the run's */
  bool paired;                          /* --db-read-hosts, and it is one of the run's */
  unsigned read_host_reads;             /* then: the counter */
  bool observed;                        /* `timed`, or there are names: query.c */
  struct bn_sql_statement_names *names; /* --statements; NULL: statements are not told apart */
  struct bn_sql_lazy_prepare first_use;
};

struct bn_sql_sessions {
  pthread_mutex_t lock;
  struct bn_sql_session *first;
};

/* The session's, made if there is none, with the driver started in its thread.  NULL: out of
   memory, or the driver's thread_init failed; logged. */
struct bn_sql_session *bn_sql_session_get(struct bn_sqlsys *sys, struct bn_session *s,
                                          struct bn_sql_driver *drv);
/* NULL: it has none. */
struct bn_sql_session *bn_sql_session_find(struct bn_sqlsys *sys, const struct bn_session *s);
/* What interrupts reach. */
void bn_sql_session_opened(struct bn_sql_session *o, struct bn_sql_link *link);
void bn_sql_session_closing(struct bn_sql_session *o, struct bn_sql_link *link);
/* From now on nobody finds or interrupts it.  NULL: it has none. */
struct bn_sql_session *bn_sql_session_take(struct bn_sqlsys *sys, struct bn_session *s);
/* One that was taken and has no connection any more; ends the drivers in its thread. */
void bn_sql_session_free(struct bn_sqlsys *sys, struct bn_sql_session *o);

#endif
