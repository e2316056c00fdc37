/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A prepared statement: its text, its values and the driver's statement.  The thread that drives
   the session calls these functions. */
#ifndef BN_SQL_STMT_H
#define BN_SQL_STMT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "sql/count.h"
#include "sql/emulate.h"
#include "sql/sql.h"

/* A statement's text, shared by the sessions that prepared it. */
struct bn_sql_cached_text {
  struct bn_sql_cached_text *next; /* in its bucket */
  const struct bn_sql_caps *caps;  /* of the driver by whose rules the marks are found */
  struct bn_sql_marks marks;       /* found when the first statement of the text is emulated */
  bool has_marks;
  size_t refs, len;
  char text[]; /* len bytes and a 0 */
};

enum { BN_SQL_CACHED_TEXT_BUCKETS = 256 };

/* The texts of prepared statements, with one copy for all sessions, because thousands of workers
   prepare the same.  No other lock is taken while its lock, which the owner makes, is held. */
struct bn_sql_statement_cache {
  pthread_mutex_t lock;
  struct bn_sql_cached_text *bucket[BN_SQL_CACHED_TEXT_BUCKETS];
};

/* A prepared statement.  Its connection has the list of its statements (prepared.c). */
struct bn_sql_stmt {
  struct bn_sql_conn *conn;       /* first: scripts read it */
  struct bn_sql_stmt *next, **at; /* at: the pointer to it in the list of its connection */
  struct bn_sql_cached_text *shared;
  const char *text; /* shared->text, of len bytes */
  size_t len;
  struct bn_sql_bind *binds;
  size_t n_binds;
  struct bn_sql_statement_type type;
  struct bn_statement *statement; /* --statements: its counters; NULL: not known yet */
  bool anew;     /* prepared.c prepares it anew at each execute: the driver does not */
  bool emulated; /* it is sent as text, with the values in it */
  bool prepared; /* the driver knows it */
  bool fresh;    /* the driver has not executed it since it was prepared; only used with `anew` */
  bool bound;    /* it is ready for the next execution */
  bool closed;   /* by the script */
  bool orphaned; /* prepared.c: the script has freed it while it was in use */
  _Alignas(16) char handle[]; /* the driver's statement, or that of a layer in front of it */
};

/* Makes a statement for the functions of a link, which is not prepared yet.  Its text is copied
   once for all sessions of a driver.  caps: those of the driver; they stay valid. */
struct bn_sql_stmt *bn_sql_stmt_new(const struct bn_driver *ops,
                                    struct bn_sql_statement_cache *texts,
                                    const struct bn_sql_caps *caps, const char *sql, size_t len);
/* Frees a statement that has been shut, or whose connection is closed. */
void bn_sql_stmt_destroy(struct bn_sql_stmt *st, struct bn_sql_statement_cache *texts);
/* Lets the driver forget the statement, if it knows it; no result of the statement is pending. */
void bn_sql_stmt_shut(struct bn_sql_stmt *st, const struct bn_driver *ops);
/* Lets the statement be sent as text from now on, with its values in place of the marks. */
void bn_sql_stmt_emulate(struct bn_sql_stmt *st, struct bn_sql_statement_cache *texts);

#endif
