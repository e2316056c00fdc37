/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The texts of prepared statements, one copy for all sessions: thousands of workers prepare the
 * same. */
#include "sql/statement_cache.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void bn_sql_statement_cache_init(struct bn_sql_statement_cache *t)
{
  (void)pthread_mutex_init(&t->lock, NULL);
}

void bn_sql_statement_cache_done(struct bn_sql_statement_cache *t)
{
  (void)pthread_mutex_destroy(&t->lock);
}

/* FNV-1a. */
static size_t bucket_of(const char *sql, size_t len)
{
  uint64_t h = UINT64_C(0xcbf29ce484222325);

  for (size_t i = 0; i < len; i++)
    h = (h ^ (unsigned char)sql[i]) * UINT64_C(0x100000001b3);
  return (size_t)(h % BN_SQL_CACHED_TEXT_BUCKETS);
}

static struct bn_sql_cached_text *statement_cache_find(struct bn_sql_cached_text *t,
                                                       const char *sql, size_t len)
{
  while (t != NULL && (t->len != len || memcmp(t->text, sql, len) != 0))
    t = t->next;
  return t;
}

static struct bn_sql_cached_text *statement_cache_copy(const char *sql, size_t len)
{
  struct bn_sql_cached_text *t = malloc(sizeof *t + len + 1);

  if (t == NULL)
    return NULL;
  t->refs = 0;
  t->len = len;
  memcpy(t->text, sql, len);
  t->text[len] = '\0';
  return t;
}

struct bn_sql_cached_text *bn_sql_cached_text_get(struct bn_sql_statement_cache *t, const char *sql,
                                                  size_t len)
{
  struct bn_sql_cached_text **bucket = &t->bucket[bucket_of(sql, len)], *text;

  (void)pthread_mutex_lock(&t->lock);
  text = statement_cache_find(*bucket, sql, len);
  if (text == NULL && (text = statement_cache_copy(sql, len)) != NULL) {
    text->next = *bucket;
    *bucket = text;
  }
  if (text != NULL)
    text->refs++;
  (void)pthread_mutex_unlock(&t->lock);
  return text;
}

void bn_sql_cached_text_put(struct bn_sql_statement_cache *t, struct bn_sql_cached_text *text)
{
  struct bn_sql_cached_text **p = &t->bucket[bucket_of(text->text, text->len)];
  bool last;

  (void)pthread_mutex_lock(&t->lock);
  last = --text->refs == 0;
  while (last && *p != text)
    p = &(*p)->next;
  if (last)
    *p = text->next;
  (void)pthread_mutex_unlock(&t->lock);
  if (last)
    free(text);
}
