/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Splits rows into values, and writes binary values as text in the server's own form. */
#include "drivers/mysql/wire/row.h"

#include <stdlib.h>
#include <string.h>

/* Types and flags of columns; the client libraries' headers name them differently. */
enum {
  TYPE_TINY = 1,
  TYPE_SHORT = 2,
  TYPE_LONG = 3,
  TYPE_FLOAT = 4,
  TYPE_DOUBLE = 5,
  TYPE_TIMESTAMP = 7,
  TYPE_LONGLONG = 8,
  TYPE_INT24 = 9,
  TYPE_DATE = 10,
  TYPE_TIME = 11,
  TYPE_DATETIME = 12,
  TYPE_YEAR = 13,
  FLAG_UNSIGNED = 32,
  FLAG_ZEROFILL = 64,
  NOT_FIXED = 31,      /* decimals of a floating-point column that declares none */
  FLOAT_DIGITS = 6,    /* digits of FLOAT */
  FRACTION_DIGITS = 6, /* decimals of a second: microseconds */
  /* Lengths of dates and times up to a part: the server leaves out parts at the end that are 0. */
  DATE_LEN = 4,           /* year, month, day */
  DATE_CLOCK_LEN = 7,     /* … and hour, minute, second */
  DATE_FRACTION_LEN = 11, /* … and microseconds */
  TIME_CLOCK_LEN = 8,     /* sign, days, hour, minute, second */
  TIME_FRACTION_LEN = 12, /* … and microseconds */
  /* Offsets of parts; after the minute come the second and the microseconds. */
  DATE_MONTH_AT = 2,
  DATE_DAY_AT = 3,
  DATE_HOUR_AT = 4,
  DATE_MINUTE_AT = 5,
  TIME_SIGN_AT = 0,
  TIME_DAYS_AT = 1,
  TIME_HOUR_AT = 5,
  TIME_MINUTE_AT = 6,
  /* Columns of this length and longer ones are not filled up with zeros. */
  ZEROFILL_INT_MAX = 21,
  ZEROFILL_REAL_MAX = 299,
  NULL_TEXT = 0xfb
};

/* --- the row's bytes --- */

int bn_mysql_row_next(const uint8_t *reply, size_t *at, uint8_t **joined, struct bn_mysql_row *row)
{
  size_t total = 0, from = *at, len;
  uint8_t *to;

  len = bn_mysql_get3(reply + from);
  if (__builtin_expect(len < BN_MYSQL_PACKET_MAX, 1)) {
    *row = (struct bn_mysql_row){.data = reply + from + BN_MYSQL_HEADER, .len = len};
    *at = from + BN_MYSQL_HEADER + len;
    return 0;
  }
  /* The lengths are summed first, so that the row is allocated once. */
  do {
    len = bn_mysql_get3(reply + *at);
    total += len;
    *at += BN_MYSQL_HEADER + len;
  } while (len == BN_MYSQL_PACKET_MAX);
  to = realloc(*joined, total);
  if (to == NULL)
    return -1;
  *joined = to;
  *row = (struct bn_mysql_row){.data = to, .len = total};
  for (; from < *at; from += BN_MYSQL_HEADER + len, to += len) {
    len = bn_mysql_get3(reply + from);
    memcpy(to, reply + from + BN_MYSQL_HEADER, len);
  }
  return 0;
}

/* Reads a length and bytes of that length, and moves *p past them.  Returns 0, or -1 if they do not
   end before `end`. */
static int row_read_bytes(const uint8_t **p, const uint8_t *end, struct bn_sql_value *out)
{
  uint64_t len;

  if (bn_mysql_get_number(p, end, &len) != 0 || len > (uint64_t)(end - *p))
    return -1;
  *out = (struct bn_sql_value){.ptr = (const char *)*p, .len = (size_t)len};
  *p += len;
  return 0;
}

int bn_mysql_row_get_text(const struct bn_mysql_row *row, size_t n, struct bn_sql_value *out)
{
  const uint8_t *p = row->data, *end = row->data + row->len;

  for (size_t i = 0; i < n; i++) {
    if (p < end && *p == NULL_TEXT) {
      out[i] = (struct bn_sql_value){.ptr = NULL, .len = 0};
      p++;
    } else if (row_read_bytes(&p, end, &out[i]) != 0) {
      return -1;
    }
  }
  return p == end ? 0 : -1;
}

/* --- values as text --- */

/* Writes the decimal digits of n, at least `least` of them.  Like all functions here that get
   `out`, it returns the position after what it writes. */
static char *row_put_digits(char *out, uint64_t n, unsigned least)
{
  char digits[20]; /* as many as UINT64_MAX has; the last digit comes first */
  unsigned len = 0;

  do
    digits[len++] = (char)('0' + n % 10);
  while ((n /= 10) > 0);
  while (least > len) {
    *out++ = '0';
    least--;
  }
  while (len > 0)
    *out++ = digits[--len];
  return out;
}

/* Puts zeros before the len bytes of a number in a ZEROFILL column, up to the length of the column
   if that is less than length_max.  Returns the length of the text. */
static size_t row_fill_with_zeros(const struct bn_mysql_column *c, char *cell, size_t len,
                                  size_t length_max)
{
  size_t n_zeros;

  if ((c->flags & FLAG_ZEROFILL) == 0 || c->length <= len || c->length >= length_max)
    return len;
  n_zeros = c->length - len;
  memmove(cell + n_zeros, cell, len);
  memset(cell, '0', n_zeros);
  return c->length;
}

/* Writes an integer of `bytes` bytes, whose highest bit is its sign unless the column is unsigned.
   Returns the length. */
static size_t row_put_int(const struct bn_mysql_column *c, uint64_t n, unsigned bytes, char *cell)
{
  const unsigned unused_bits = 64 - 8 * bytes;
  char *p = cell;

  if ((c->flags & FLAG_UNSIGNED) == 0 && (n >> (8 * bytes - 1)) != 0) {
    /* The shift to the right fills the unused bits with the sign. */
    const int64_t negative = (int64_t)(n << unused_bits) >> unused_bits;

    n = 0 - (uint64_t)negative;
    *p++ = '-';
  }
  p = row_put_digits(p, n, 1);
  return row_fill_with_zeros(c, cell, (size_t)(p - cell), ZEROFILL_INT_MAX);
}

/* Writes a FLOAT or DOUBLE, in the column's number of decimals if it has one.  Returns the
   length. */
static size_t row_put_float(const struct bn_mysql_column *c, const uint8_t *p, char *cell)
{
  size_t len;
  double value;

  if (c->type == TYPE_FLOAT) {
    const uint32_t bits = bn_mysql_get4(p);
    float single;

    memcpy(&single, &bits, sizeof single);
    value = (double)single;
  } else {
    const uint64_t bits = bn_mysql_get8(p);

    memcpy(&value, &bits, sizeof value);
  }
  if (c->decimals < NOT_FIXED)
    len = bn_mysql_put_fixed(cell, value, c->decimals);
  else
    len = bn_mysql_put_real(cell, value, c->type == TYPE_FLOAT ? FLOAT_DIGITS : 0);
  return row_fill_with_zeros(c, cell, len, ZEROFILL_REAL_MAX);
}

/* Writes the date of len bytes at p, or zeros if the server has left it out. */
static char *row_put_date(char *out, const uint8_t *p, size_t len)
{
  const bool has_date = len >= DATE_LEN;

  out = row_put_digits(out, has_date ? bn_mysql_get2(p) : 0, 4);
  *out++ = '-';
  out = row_put_digits(out, has_date ? p[DATE_MONTH_AT] : 0, 2);
  *out++ = '-';
  return row_put_digits(out, has_date ? p[DATE_DAY_AT] : 0, 2);
}

/* Writes a time of day or a duration with the decimals of the column.  p points to the minute, the
   second and, with has_fraction, the microseconds (4 bytes); if it is NULL, all of these are 0. */
static char *row_put_clock(char *out, const struct bn_mysql_column *c, uint64_t hour,
                           const uint8_t *p, bool has_fraction)
{
  static const uint8_t zeros[2];
  const unsigned decimals = c->decimals < FRACTION_DIGITS ? c->decimals : FRACTION_DIGITS;
  char fraction[20]; /* a wrong server may send more than FRACTION_DIGITS digits */

  if (p == NULL)
    p = zeros;
  out = row_put_digits(out, hour, 2);
  *out++ = ':';
  out = row_put_digits(out, p[0], 2);
  *out++ = ':';
  out = row_put_digits(out, p[1], 2);
  if (decimals == 0)
    return out;
  (void)row_put_digits(fraction, has_fraction ? bn_mysql_get4(p + 2) : 0, FRACTION_DIGITS);
  *out++ = '.';
  memcpy(out, fraction, decimals);
  return out + decimals;
}

/* Writes the TIME of len bytes at p, whose hours include its days. */
static char *row_put_duration(char *out, const struct bn_mysql_column *c, const uint8_t *p,
                              size_t len)
{
  const bool has_clock = len >= TIME_CLOCK_LEN;
  const uint64_t days = has_clock ? bn_mysql_get4(p + TIME_DAYS_AT) : 0;
  const uint64_t hours = has_clock ? 24 * days + p[TIME_HOUR_AT] : 0;

  if (has_clock && p[TIME_SIGN_AT] != 0)
    *out++ = '-';
  return row_put_clock(out, c, hours, has_clock ? p + TIME_MINUTE_AT : NULL,
                       len >= TIME_FRACTION_LEN);
}

/* Writes the date of len bytes at p, with its time of day unless the column is a DATE. */
static char *row_put_datetime(char *out, const struct bn_mysql_column *c, const uint8_t *p,
                              size_t len)
{
  const bool has_clock = len >= DATE_CLOCK_LEN;

  out = row_put_date(out, p, len);
  if (c->type == TYPE_DATE)
    return out;
  *out++ = ' ';
  return row_put_clock(out, c, has_clock ? p[DATE_HOUR_AT] : 0,
                       has_clock ? p + DATE_MINUTE_AT : NULL, len >= DATE_FRACTION_LEN);
}

/* Writes the time or date of len bytes at p.  Returns the length of the text. */
static size_t row_put_time(const struct bn_mysql_column *c, const uint8_t *p, size_t len,
                           char *cell)
{
  const char *end;

  if (c->type == TYPE_TIME)
    end = row_put_duration(cell, c, p, len);
  else
    end = row_put_datetime(cell, c, p, len);
  return (size_t)(end - cell);
}

/* Returns how many bytes a value of a numeric type takes in a binary row, or 0 for other types. */
static unsigned row_number_width(uint8_t type)
{
  switch (type) {
  case TYPE_TINY:
    return 1;
  case TYPE_SHORT:
  case TYPE_YEAR:
    return 2;
  case TYPE_LONG:
  case TYPE_INT24:
  case TYPE_FLOAT:
    return 4;
  case TYPE_LONGLONG:
  case TYPE_DOUBLE:
    return 8;
  default:
    return 0;
  }
}

/* Returns whether values of the type are dates or times, which become text in a cell. */
static bool row_is_time(uint8_t type)
{
  return type == TYPE_DATE || type == TYPE_TIME || type == TYPE_DATETIME || type == TYPE_TIMESTAMP;
}

/* Reads an integer of 1, 2, 4 or 8 bytes, without its sign. */
static uint64_t row_get_int(const uint8_t *p, unsigned bytes)
{
  switch (bytes) {
  case 1:
    return p[0];
  case 2:
    return bn_mysql_get2(p);
  case 4:
    return bn_mysql_get4(p);
  default:
    return bn_mysql_get8(p);
  }
}

/* Reads a value that is not NULL, and moves *p past it; numbers and times become text in the cell.
   Returns 0, or -1 if it does not end before `end`. */
static int row_read_value(const struct bn_mysql_column *c, const uint8_t **p, const uint8_t *end,
                          char *cell, struct bn_sql_value *out)
{
  const unsigned width = row_number_width(c->type);

  if (width == 0) {
    if (row_read_bytes(p, end, out) != 0)
      return -1;
    if (row_is_time(c->type)) {
      out->len = row_put_time(c, (const uint8_t *)out->ptr, out->len, cell);
      out->ptr = cell;
    }
    return 0;
  }
  if ((size_t)(end - *p) < width)
    return -1;
  out->ptr = cell;
  out->len = c->type == TYPE_FLOAT || c->type == TYPE_DOUBLE
                 ? row_put_float(c, *p, cell)
                 : row_put_int(c, row_get_int(*p, width), width, cell);
  *p += width;
  return 0;
}

/* The row is a byte that is 0, a bitmap that marks NULL columns from its third bit on, and the
   values of the other columns. */
int bn_mysql_row_get_binary(const struct bn_mysql_row *row, const struct bn_mysql_column *column,
                            size_t n, char *cells, struct bn_sql_value *out)
{
  enum { FIRST_BIT = 2 };
  const size_t nulls_len = (FIRST_BIT + n + 7) / 8;
  const uint8_t *nulls = row->data + 1, *end = row->data + row->len, *p;

  if (row->len < 1 + nulls_len)
    return -1;
  p = nulls + nulls_len;
  for (size_t i = 0; i < n; i++) {
    const size_t bit = FIRST_BIT + i;
    const bool is_null = (nulls[bit / 8] >> bit % 8 & 1) != 0;

    if (is_null)
      out[i] = (struct bn_sql_value){.ptr = NULL, .len = 0};
    else if (row_read_value(&column[i], &p, end, cells + i * BN_MYSQL_CELL, &out[i]) != 0)
      return -1;
  }
  return p == end ? 0 : -1;
}
