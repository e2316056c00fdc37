/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The texts of prepared statements, one copy for all sessions: thousands of workers prepare the
 * same. */
#ifndef BN_SQL_CACHED_TEXT_H
#define BN_SQL_CACHED_TEXT_H

#include <pthread.h>
#include <stddef.h>

/* A statement's text, shared by the sessions that prepared it. */
struct bn_sql_cached_text {
  struct bn_sql_cached_text *next; /* in its bucket */
  size_t refs, len;
  char text[]; /* and a NUL */
};

enum { BN_SQL_CACHED_TEXT_BUCKETS = 256 };

/* Its lock is taken last. */
struct bn_sql_statement_cache {
  pthread_mutex_t lock;
  struct bn_sql_cached_text *bucket[BN_SQL_CACHED_TEXT_BUCKETS];
};

void bn_sql_statement_cache_init(struct bn_sql_statement_cache *t); /* of zeroed memory */
void bn_sql_statement_cache_done(struct bn_sql_statement_cache *t); /* all were put back */
/* One reference more; NULL: out of memory.  Any thread, as the next. */
struct bn_sql_cached_text *bn_sql_cached_text_get(struct bn_sql_statement_cache *t, const char *sql,
                                                  size_t len);
void bn_sql_cached_text_put(struct bn_sql_statement_cache *t, struct bn_sql_cached_text *text);

#endif
