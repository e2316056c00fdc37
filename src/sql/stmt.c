/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A prepared statement and what its driver knows of it. */
#include "sql/stmt.h"

#include <stdlib.h>
#include <string.h>

#include "sql/emulate.h"

struct bn_sql_stmt *bn_sql_stmt_new(const struct bn_sql_link *link,
                                    struct bn_sql_statement_cache *texts, const char *sql,
                                    size_t len)
{
  struct bn_sql_stmt *st = calloc(1, sizeof *st + link->ops->stmt_size);

  if (st == NULL)
    return NULL;
  st->shared = bn_sql_cached_text_get(texts, sql, len);
  if (st->shared == NULL) {
    free(st);
    return NULL;
  }
  st->text = st->shared->text;
  st->len = len;
  st->link = link;
  st->handle = st->room;
  return st;
}

void bn_sql_stmt_destroy(struct bn_sql_stmt *st, struct bn_sql_statement_cache *texts)
{
  bn_sql_cached_text_put(texts, st->shared);
  free(st->binds);
  free(st);
}

enum bn_sql bn_sql_stmt_prepare(struct bn_sql_stmt *st, struct bn_sql_diag *d)
{
  const struct bn_sql_link *link = st->link;
  enum bn_sql rc;

  memset(st->handle, 0, link->ops->stmt_size);
  rc = link->ops->prepare(link->handle, st->handle, st->text, st->len, d);
  if (rc == BN_SQL_DONE)
    st->prepared = st->fresh = true;
  return rc;
}

void bn_sql_stmt_shut(struct bn_sql_stmt *st)
{
  if (!st->prepared)
    return;
  st->link->ops->close(st->handle);
  st->prepared = st->bound = false;
}

void bn_sql_stmt_emulate(struct bn_sql_stmt *st, const struct bn_sql_caps *caps)
{
  st->emulated = true;
  st->n_params = bn_sql_count_params(st->text, st->len, caps);
}

int bn_sql_stmt_copy_binds(struct bn_sql_stmt *st, const struct bn_sql_bind *binds, size_t n,
                           struct bn_sql_bound *before)
{
  struct bn_sql_bind *copy = calloc(n > 0 ? n : 1, sizeof *copy);

  if (copy == NULL)
    return -1;
  memcpy(copy, binds, n * sizeof *copy);
  *before = (struct bn_sql_bound){st->binds, st->n_binds};
  st->binds = copy;
  st->n_binds = n;
  st->bound = false;
  return 0;
}

void bn_sql_stmt_restore_binds(struct bn_sql_stmt *st, const struct bn_sql_bound *before)
{
  free(st->binds);
  st->binds = before->binds;
  st->n_binds = before->n;
}

enum bn_sql bn_sql_stmt_bind(struct bn_sql_stmt *st, struct bn_sql_diag *d)
{
  enum bn_sql rc = BN_SQL_DONE;

  if (st->binds != NULL)
    rc = st->link->ops->bind(st->handle, st->binds, st->n_binds, d);
  if (rc == BN_SQL_DONE)
    st->bound = !st->anew || st->emulated;
  return rc;
}
