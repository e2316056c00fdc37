/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of bulk inserts for Lua: values are written into one buffer, so that a row costs no object
   of Lua. */
#include "script/api/ffi_row.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/dist.h"

struct sql_row_text {
  struct bn_rng rng;
  struct bn_buf text;
  bool ended; /* the next value begins another row */
};

/* A number has a sign, a point and at most 19 digits. */
enum { NUMBER_MAX = 24 };

/* Bytes beside a value: the character before it, and ')' and '\0', which bn_ffi_row_end() adds. */
enum { BESIDE_VALUE = 3 };

sql_row_text *bn_ffi_row_new(double seed, double stream)
{
  sql_row_text *row = bn_alloc(1, sizeof *row);

  bn_rng_seed(&row->rng, (uint64_t)seed, BN_RNG_DATA, (uint64_t)stream);
  bn_buf_init(&row->text, 0);
  row->ended = true;
  return row;
}

void bn_ffi_row_free(sql_row_text *row)
{
  bn_buf_done(&row->text);
  free(row);
}

double bn_ffi_row_uniform(sql_row_text *row, int64_t a, int64_t b)
{
  return (double)(a + (int64_t)bn_rng_below(&row->rng, (uint64_t)(b - a) + 1));
}

/* Adds '(' for a new row, or ',', and makes room for a value of at most `len` bytes.  Returns the
   place where the caller writes the value, before it calls row_end_value(). */
static char *row_begin_value(sql_row_text *row, size_t len)
{
  struct bn_buf *b = &row->text;

  if (row->ended)
    bn_buf_clear(b);
  /* A buffer without a maximum ends the program if it cannot grow. */
  (void)bn_buf_reserve(b, len + BESIDE_VALUE);
  b->data[b->len++] = row->ended ? '(' : ',';
  row->ended = false;
  return b->data + b->len;
}

/* Ends the value that row_begin_value() has begun, and whose last byte is before `end`. */
static void row_end_value(sql_row_text *row, const char *end)
{
  row->text.len = (size_t)(end - row->text.data);
}

void bn_ffi_row_null(sql_row_text *row)
{
  static const char word[] = "NULL";
  const size_t len = sizeof word - 1;
  char *out = row_begin_value(row, len);

  memcpy(out, word, len);
  row_end_value(row, out + len);
}

void bn_ffi_row_number(sql_row_text *row, int64_t n, uint32_t decimals)
{
  char digits[NUMBER_MAX];
  char *const end = digits + sizeof digits, *start = end;
  /* The negation is of an unsigned number, because -INT64_MIN does not fit into an int64_t. */
  uint64_t remaining = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
  char *out = row_begin_value(row, sizeof digits);

  /* Writes the digits from the last to the first, at least one before the point, so that 5 with 2
     decimals is 0.05. */
  for (uint32_t i = 0; remaining > 0 || i <= decimals; i++) {
    if (i == decimals && decimals > 0)
      *--start = '.';
    *--start = (char)('0' + remaining % 10);
    remaining /= 10;
  }
  if (n < 0)
    *--start = '-';
  const size_t len = (size_t)(end - start);

  memcpy(out, start, len);
  row_end_value(row, out + len);
}

bool bn_ffi_row_text(sql_row_text *row, const char *text, size_t len)
{
  if (memchr(text, '\\', len) != NULL || memchr(text, '\0', len) != NULL)
    return false;
  char *out = row_begin_value(row, 2 * len + 2); /* quotes in the text are doubled */

  *out++ = '\'';
  for (size_t i = 0; i < len; i++) {
    if (text[i] == '\'')
      *out++ = '\'';
    *out++ = text[i];
  }
  *out++ = '\'';
  row_end_value(row, out);
  return true;
}

void bn_ffi_row_random(sql_row_text *row, int kind, uint32_t min, uint32_t max, const char *word,
                       size_t len)
{
  const size_t n_chars = min + bn_rng_below(&row->rng, (uint64_t)(max - min) + 1);
  char *out = row_begin_value(row, n_chars + 2);

  *out++ = '\'';
  bn_dist_text(&row->rng, (enum bn_dist_text)kind, out, n_chars);
  if (len > 0) /* the word fits: len <= min */
    memcpy(out + bn_rng_below(&row->rng, n_chars - len + 1), word, len);
  out += n_chars;
  *out++ = '\'';
  row_end_value(row, out);
}

const char *bn_ffi_row_end(sql_row_text *row, size_t *len)
{
  struct bn_buf *b = &row->text;

  if (row->ended) /* the row has no values: this adds its '(' */
    (void)row_begin_value(row, 0);
  /* row_begin_value() has left room for both characters. */
  b->data[b->len++] = ')';
  b->data[b->len] = '\0';
  row->ended = true;
  *len = b->len;
  return b->data;
}
