/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The texts of prepared statements, one copy for all sessions: thousands of workers prepare the
 * same. */
#include <stdlib.h>
#include <string.h>

#include "sql/internal.h"

/* FNV-1a. */
static size_t bucket_of(const char *sql, size_t len)
{
  uint64_t h = UINT64_C(0xcbf29ce484222325);

  for (size_t i = 0; i < len; i++)
    h = (h ^ (unsigned char)sql[i]) * UINT64_C(0x100000001b3);
  return (size_t)(h % BN_SQL_TEXT_BUCKETS);
}

static struct bn_sql_text *find(struct bn_sql_text *t, const char *sql, size_t len)
{
  while (t != NULL && (t->len != len || memcmp(t->text, sql, len) != 0))
    t = t->next;
  return t;
}

static struct bn_sql_text *copy(const char *sql, size_t len)
{
  struct bn_sql_text *t = malloc(sizeof *t + len + 1);

  if (t == NULL)
    return NULL;
  t->refs = 0;
  t->len = len;
  memcpy(t->text, sql, len);
  t->text[len] = '\0';
  return t;
}

struct bn_sql_text *bn_sql_text_get(struct bn_sqlsys *sys, const char *sql, size_t len)
{
  struct bn_sql_text **bucket = &sys->texts[bucket_of(sql, len)], *t;

  (void)pthread_mutex_lock(&sys->text_lock);
  t = find(*bucket, sql, len);
  if (t == NULL && (t = copy(sql, len)) != NULL) {
    t->next = *bucket;
    *bucket = t;
  }
  if (t != NULL)
    t->refs++;
  (void)pthread_mutex_unlock(&sys->text_lock);
  return t;
}

void bn_sql_text_put(struct bn_sqlsys *sys, struct bn_sql_text *t)
{
  struct bn_sql_text **p = &sys->texts[bucket_of(t->text, t->len)];
  bool last;

  (void)pthread_mutex_lock(&sys->text_lock);
  last = --t->refs == 0;
  while (last && *p != t)
    p = &(*p)->next;
  if (last)
    *p = t->next;
  (void)pthread_mutex_unlock(&sys->text_lock);
  if (last)
    free(t);
}
