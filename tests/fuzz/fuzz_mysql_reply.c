/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzzes what is made of a MySQL server's answer: however it is cut, the same is read, and no value
   lies outside of the row it came in. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/mysql/wire/row.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { COLUMNS_MAX = 64 };

/* Reads what has come after each of `step` bytes. */
static enum bn_mysql_read read_cut(struct bn_mysql_reply *r, const uint8_t *reply, size_t len,
                                   size_t step)
{
  enum bn_mysql_read got = BN_READ_MORE;

  bn_mysql_reply_begin(r, 1);
  for (size_t have = step < len ? step : len; got == BN_READ_MORE; have += step) {
    if (have > len)
      have = len;
    got = bn_mysql_reply_read(r, reply, have);
    if (have == len)
      break;
  }
  return got;
}

static void check_value(const struct bn_mysql_row *row, const char *cells,
                        const struct bn_sql_value *v)
{
  const char *begin = (const char *)row->data, *end = begin + row->len;
  const char *cells_end = cells + (size_t)COLUMNS_MAX * BN_MYSQL_CELL;
  const bool in_row = v->ptr >= begin && v->ptr <= end && v->len <= (size_t)(end - v->ptr);
  const bool in_cell = v->ptr >= cells && v->ptr < cells_end && v->len < BN_MYSQL_CELL;

  if (v->ptr != NULL && !in_row && !in_cell)
    abort();
}

static void fetch_all(const struct bn_mysql_reply *r, const uint8_t *reply)
{
  struct bn_mysql_column column[COLUMNS_MAX] = {{0}};
  struct bn_sql_value value[COLUMNS_MAX];
  char *cells = malloc((size_t)COLUMNS_MAX * BN_MYSQL_CELL);
  uint8_t *joined = NULL;
  size_t at = r->rows_at;

  if (cells == NULL || r->nfields > COLUMNS_MAX) {
    free(cells);
    return;
  }
  bn_mysql_reply_columns(r, reply, column);
  for (uint64_t i = 0; i < r->nrows; i++) {
    struct bn_mysql_row row;
    int rc;

    if (bn_mysql_row_next(reply, &at, &joined, &row) != 0 || at > r->at)
      abort();
    rc = r->binary ? bn_mysql_row_get_binary(&row, column, r->nfields, cells, value)
                   : bn_mysql_row_get_text(&row, r->nfields, value);
    for (uint32_t k = 0; k < r->nfields && rc == 0; k++)
      check_value(&row, cells, &value[k]);
  }
  free(joined);
  free(cells);
}

/* What is said of a statement that is prepared, read after each of `step` bytes. */
static enum bn_mysql_read hear_cut(struct bn_mysql_prepared *r, const uint8_t *reply, size_t len,
                                   size_t step)
{
  enum bn_mysql_read got = BN_READ_MORE;

  for (size_t have = 0; got == BN_READ_MORE && have < len;) {
    have = len - have < step ? len : have + step;
    got = bn_mysql_prepared_read(r, reply, have);
  }
  return got;
}

static void hear(const uint8_t *reply, size_t len, bool short_end, size_t step)
{
  struct bn_mysql_prepared whole = {.short_end = short_end, .seq = 1}, cut = whole;
  struct bn_mysql_column column[COLUMNS_MAX];
  const enum bn_mysql_read got = hear_cut(&whole, reply, len, len);

  if (hear_cut(&cut, reply, len, step) != got)
    abort();
  if (got != BN_READ_DONE)
    return;
  if (cut.at != whole.at || whole.at > len)
    abort();
  if (!whole.failed && whole.n_columns <= COLUMNS_MAX)
    bn_mysql_prepared_columns(&whole, reply, column);
}

/* The first byte: what was negotiated and sent; the second: how the rest is cut. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct bn_mysql_reply whole = {0}, cut;
  enum bn_mysql_read got;
  uint8_t *reply;
  size_t len;

  if (size < 3)
    return 0;
  len = size - 2;
  reply = malloc(len);
  if (reply == NULL)
    return 0;
  memcpy(reply, data + 2, len);
  whole.short_end = (data[0] & 1) != 0;
  whole.binary = (data[0] & 2) != 0;
  hear(reply, len, whole.short_end, data[1] % 16 + 1);
  cut = whole;
  got = read_cut(&whole, reply, len, len);
  if (read_cut(&cut, reply, len, data[1] % 16 + 1) != got)
    abort();
  if (got == BN_READ_DONE) {
    if (cut.nrows != whole.nrows || cut.at != whole.at || cut.at > len)
      abort();
    if (whole.text_at + whole.text_len > len)
      abort();
    if (whole.code == 0 && whole.nfields > 0)
      fetch_all(&whole, reply);
  }
  free(reply);
  return 0;
}
