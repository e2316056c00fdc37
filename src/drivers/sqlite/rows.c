/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The results of one query, as text in one block of memory: each value is its length, its bytes and
   a terminator. */
#include "drivers/sqlite/rows.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of memory: of the first allocation, and the most that stay from one statement to the
   next. */
enum { CAP_FIRST = 1024, CAP_KEPT = 64 * 1024 };
/* The length of NULL, which has no bytes. */
static const size_t null_len = SIZE_MAX;

void bn_sqlite_rows_clear(struct bn_sqlite_rows *rows)
{
  rows->len = rows->at = rows->end = 0;
  rows->n_parts = rows->next_part = 0;
  if (rows->cap > CAP_KEPT) {
    free(rows->data);
    rows->data = NULL;
    rows->cap = 0;
  }
}

void bn_sqlite_rows_free(struct bn_sqlite_rows *rows)
{
  free(rows->data);
  free(rows->part);
  *rows = (struct bn_sqlite_rows){.data = NULL};
}

/* Makes room for `more` bytes.  Returns 0, or -1 if there is no memory. */
static int rows_reserve(struct bn_sqlite_rows *rows, size_t more)
{
  size_t cap = rows->cap > 0 ? rows->cap : CAP_FIRST;
  char *wider;

  if (more > SIZE_MAX / 2 - rows->len)
    return -1;
  while (cap < rows->len + more)
    cap *= 2;
  wider = realloc(rows->data, cap);
  if (wider == NULL)
    return -1;
  rows->data = wider;
  rows->cap = cap;
  return 0;
}

/* Adds a value, which is NULL if len is null_len.  Returns 0, or -1 if there is no memory. */
static int rows_add_value(struct bn_sqlite_rows *rows, const void *data, size_t len)
{
  const size_t need = sizeof len + (len == null_len ? 0 : len + 1);

  if (need > rows->cap - rows->len && rows_reserve(rows, need) != 0)
    return -1;
  memcpy(rows->data + rows->len, &len, sizeof len);
  rows->len += sizeof len;
  if (len == null_len)
    return 0;
  if (len > 0)
    memcpy(rows->data + rows->len, data, len);
  rows->len += len;
  rows->data[rows->len++] = '\0';
  return 0;
}

int bn_sqlite_rows_add(struct bn_sqlite_rows *rows, sqlite3_stmt *st, int nfields)
{
  for (int i = 0; i < nfields; i++) {
    const int type = sqlite3_column_type(st, i);
    const void *data = NULL;
    size_t len = null_len;

    if (type != SQLITE_NULL) {
      data = type == SQLITE_BLOB ? sqlite3_column_blob(st, i) : sqlite3_column_text(st, i);
      len = (size_t)sqlite3_column_bytes(st, i);
      if (data == NULL && (len > 0 || type != SQLITE_BLOB)) /* an empty blob has no address */
        return -1;
    }
    if (rows_add_value(rows, data, len) != 0)
      return -1;
  }
  return 0;
}

void bn_sqlite_rows_add_part(const struct bn_driver_host *host, struct bn_sqlite_rows *rows,
                             const struct bn_sqlite_part *p)
{
  rows->part = host->resize(rows->part, rows->n_parts + 1, sizeof *rows->part);
  rows->part[rows->n_parts++] = *p;
}

void bn_sqlite_rows_select_part(struct bn_sqlite_rows *rows, const struct bn_sqlite_part *p,
                                struct bn_sql_result *r)
{
  rows->at = p->begin;
  rows->end = p->end;
  r->affected = p->affected;
  r->nrows = p->nrows;
  r->nfields = p->nfields;
  r->more = rows->next_part < rows->n_parts;
  r->rows = rows;
}

bool bn_sqlite_rows_fetch(struct bn_sqlite_rows *rows, uint32_t nfields, struct bn_sql_value *row)
{
  if (rows->at >= rows->end || nfields == 0)
    return false;
  for (uint32_t i = 0; i < nfields; i++) {
    size_t len; /* stands before each value, at any alignment */

    memcpy(&len, rows->data + rows->at, sizeof len);
    rows->at += sizeof len;
    if (len == null_len) {
      row[i] = (struct bn_sql_value){.ptr = NULL, .len = 0};
      continue;
    }
    row[i] = (struct bn_sql_value){.ptr = rows->data + rows->at, .len = len};
    rows->at += len + 1;
  }
  return true;
}
