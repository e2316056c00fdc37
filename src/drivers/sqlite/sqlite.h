/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations that the files of the SQLite driver share. */
#ifndef BN_DRIVERS_SQLITE_SQLITE_H
#define BN_DRIVERS_SQLITE_SQLITE_H

#include <pthread.h>
#include <stdatomic.h>

#include <sqlite3.h>

#include "api/driver.h"
#include "drivers/sqlite/options.h"
#include "drivers/sqlite/queue.h"
#include "drivers/sqlite/rows.h"

/* A database file that this process uses; lives until the driver's end. */
struct bn_sqlite_file {
  struct bn_sqlite_file *next;
  char *path; /* absolute, as SQLite names it */
  struct bn_sqlite_queue queue;
};

/* The driver's process-wide state. */
struct bn_sqlite {
  const struct bn_sqlite_conf *conf;
  const struct bn_driver_host *host;
  /* Only one thread opens or closes at a time: the first to open may have to recover the journal
     and the last to close to empty it, and either locks all others out. */
  pthread_mutex_t lock;
  struct bn_sqlite_file *files;
};

struct bn_sqlite_conn {
  sqlite3 *db;
  struct bn_sqlite *driver;
  struct bn_sqlite_file *file; /* NULL: a private database in memory */
  struct bn_sqlite_turn turn;
  enum bn_sqlite_hold holds;
  bool readers_wait; /* readers need a turn too, because the journal is not the write-ahead log */
  bool turn_made;
  _Atomic bool interrupted;
  uint64_t timeout_ms;    /* the longest wait for a lock of another process */
  uint64_t busy_since_ns; /* the beginning of the present wait */
  struct bn_sqlite_rows rows;
  struct bn_sql_diag pending_diag; /* the failure of a later statement in the same text */
};

struct bn_sqlite_stmt {
  struct bn_sqlite_conn *conn;
  sqlite3_stmt *st;
  const struct bn_sql_bind *binds;
  size_t n_binds;
};

/* Ends the turn of the connection in the queue of its file. */
static inline void bn_sqlite_end_turn(struct bn_sqlite_conn *c)
{
  if (c->holds == BN_SQLITE_NONE)
    return;
  bn_sqlite_queue_leave(&c->file->queue, &c->turn, c->holds);
  c->holds = BN_SQLITE_NONE;
}

/* --- error.c --- */
/* Fills d for a call that failed with rc.  Rolls back a transaction that would only block others;
   d->rolled_back says whether none is open any more.  Returns ERROR. */
enum bn_sql bn_sqlite_fail(struct bn_sqlite_conn *c, int rc, const char *call,
                           struct bn_sql_diag *d);
/* Does the same with this code and text for a failure that SQLite does not know about. */
enum bn_sql bn_sqlite_fail_text(struct bn_sqlite_conn *c, int code, const char *call,
                                const char *text, struct bn_sql_diag *d);
enum bn_sql_class bn_sqlite_classify(const struct bn_sql_diag *d);
bool bn_sqlite_is_missing_table(const struct bn_sql_diag *d);
const char *bn_sqlite_find_remedy(const struct bn_sql_diag *d);

/* --- exec.c --- */
enum bn_sql bn_sqlite_query(void *conn, const char *sql, size_t len, struct bn_sql_result *r,
                            struct bn_sql_diag *d);
enum bn_sql bn_sqlite_prepare(void *conn, void *stmt, const char *sql, size_t len,
                              struct bn_sql_diag *d);
enum bn_sql bn_sqlite_bind(void *stmt, const struct bn_sql_bind *b, size_t n,
                           struct bn_sql_diag *d);
enum bn_sql bn_sqlite_execute(void *stmt, struct bn_sql_result *r, struct bn_sql_diag *d);
enum bn_sql bn_sqlite_next(void *conn, void *stmt, struct bn_sql_result *r, struct bn_sql_diag *d);

#endif
