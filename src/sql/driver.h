/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process-wide side: what was asked for, the drivers, and what all connections share. */
#ifndef BN_SQL_DRIVER_H
#define BN_SQL_DRIVER_H

#include <pthread.h>
#include <stdatomic.h>

#include "sql/errors.h"
#include "sql/preflight.h"
#include "sql/session.h"
#include "sql/split.h"
#include "sql/sql.h"
#include "sql/statement_cache.h"
#include "sql/trace.h"
#include "sql/verify.h"
#include "sql/zero_rows.h"

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

struct bn_sqlsys {
  const struct bn_sql_conf *conf;
  const struct bn_policy *policy;
  bool by_first_word; /* policy->statements_by_first_word, at hand for every statement */
  const struct bn_sql_row *rows;
  struct bn_sql_driver *drivers; /* one per row */
  size_t n_rows;
  /* Set with the first driver, constant from then on. */
  struct bn_sql_errors ignored; /* --db-ignore-errors */
  bool emulate;
  bool anew;      /* statements are prepared anew at each execute */
  bool announces; /* there is --sql-trace or --statements */
  struct bn_sql_trace trace;
  bool settled;
  pthread_mutex_t lock;        /* loading, and `retired` */
  _Atomic unsigned ordinal;    /* of the next connection */
  _Atomic uint64_t n_prepared; /* statements, before the loops of sessions */
  _Atomic bool about_told;
  _Atomic bool full_told;
  _Atomic bool remedy_told;
  struct bn_sql_conn *retired; /* connections that outlived their session in somebody's hands */
  struct bn_sql_sessions sessions;
  struct bn_sql_statement_cache texts;
  struct bn_sql_preflight preflight;
  struct bn_sql_zero_rows missed;
  struct bn_sql_verify verify;
  struct bn_sql_first_uses first_uses;
};

/* Ends those that were loaded. */
void bn_sql_drivers_done(struct bn_sqlsys *sys);

/* Connections that nobody can use any more (conn.c). */
void bn_sql_retired_free(struct bn_sqlsys *sys);

/* --verify-commits: the layer before `below`, which reaches this driver (sql/verify.h). */
const struct bn_sql_committer *bn_sql_driver_verify(const struct bn_sql_driver *drv,
                                                    const struct bn_driver *below,
                                                    const struct bn_session *s);

/* By --db-ignore-errors or by the driver's own list; not what a script says to it. */
static inline bool bn_sql_driver_ignores(const struct bn_sql_driver *drv,
                                         const struct bn_sql_diag *d, enum bn_sql_class class)
{
  return bn_sql_errors_have(&drv->sys->ignored, d, class) ||
         bn_sql_errors_have(&drv->ignored, d, class);
}

#endif
