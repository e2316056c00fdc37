/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A prepared statement: its text, its values and the driver's statement. */
#include "sql/stmt.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Returns the index of a text's bucket, by the hash FNV-1a of 64 bits. */
static size_t stmt_bucket_of(const char *sql, size_t len)
{
  const uint64_t offset_basis = UINT64_C(0xcbf29ce484222325), prime = UINT64_C(0x100000001b3);
  uint64_t hash = offset_basis;

  for (size_t i = 0; i < len; i++)
    hash = (hash ^ (unsigned char)sql[i]) * prime;
  return (size_t)(hash % BN_SQL_CACHED_TEXT_BUCKETS);
}

/* Returns the shared copy of the text, with one reference for the caller. */
static struct bn_sql_cached_text *stmt_get_text(struct bn_sql_statement_cache *cache,
                                                const struct bn_sql_caps *caps, const char *sql,
                                                size_t len)
{
  struct bn_sql_cached_text **bucket = &cache->bucket[stmt_bucket_of(sql, len)], *text;

  (void)pthread_mutex_lock(&cache->lock);
  text = *bucket;
  while (text != NULL &&
         (text->caps != caps || text->len != len || memcmp(text->text, sql, len) != 0))
    text = text->next;
  if (text == NULL) {
    text = bn_alloc(1, sizeof *text + len + 1);
    text->caps = caps;
    text->len = len;
    memcpy(text->text, sql, len);
    text->next = *bucket;
    *bucket = text;
  }
  text->refs++;
  (void)pthread_mutex_unlock(&cache->lock);
  return text;
}

/* Drops one reference, and frees the text with the last one. */
static void stmt_drop_text(struct bn_sql_statement_cache *cache, struct bn_sql_cached_text *text)
{
  struct bn_sql_cached_text **link = &cache->bucket[stmt_bucket_of(text->text, text->len)];

  (void)pthread_mutex_lock(&cache->lock);
  text->refs--;
  if (text->refs == 0) {
    while (*link != text)
      link = &(*link)->next;
    *link = text->next;
    bn_sql_marks_done(&text->marks);
    free(text);
  }
  (void)pthread_mutex_unlock(&cache->lock);
}

struct bn_sql_stmt *bn_sql_stmt_new(const struct bn_driver *ops,
                                    struct bn_sql_statement_cache *texts,
                                    const struct bn_sql_caps *caps, const char *sql, size_t len)
{
  struct bn_sql_stmt *st = bn_alloc(1, sizeof *st + ops->stmt_size);

  st->shared = stmt_get_text(texts, caps, sql, len);
  st->text = st->shared->text;
  st->len = len;
  return st;
}

void bn_sql_stmt_destroy(struct bn_sql_stmt *st, struct bn_sql_statement_cache *texts)
{
  stmt_drop_text(texts, st->shared);
  free(st->binds);
  free(st);
}

void bn_sql_stmt_shut(struct bn_sql_stmt *st, const struct bn_driver *ops)
{
  if (!st->prepared)
    return;
  ops->close(st->handle);
  st->prepared = st->bound = false;
}

void bn_sql_stmt_emulate(struct bn_sql_stmt *st, struct bn_sql_statement_cache *texts)
{
  struct bn_sql_cached_text *text = st->shared;

  (void)pthread_mutex_lock(&texts->lock);
  if (!text->has_marks)
    bn_sql_marks_find(&text->marks, text->text, text->len, text->caps);
  text->has_marks = true;
  (void)pthread_mutex_unlock(&texts->lock);
  st->emulated = true;
}
