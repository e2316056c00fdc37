/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Floating-point numbers as the client libraries write them. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/mysql/wire/row.h"

enum {
  DIGITS_MAX = 17,  /* significant digits of a double */
  PLAIN_MAX = 15,   /* digits in front of the point */
  PLAIN_MIN = -14,  /* fewer zeros than this behind the point */
  DECIMALS_MAX = 30 /* most decimals of a column */
};

/* value = 0.ddd × 10^point; the digits have no zeros at the end. */
struct decimal {
  char digit[DIGITS_MAX + 1];
  int n, point;
  bool negative;
};

/* Takes the digits of a value, correctly rounded, from the C library.  Zeros at the end go, as the
   server prints none. */
static void decimal_set(struct decimal *d, double value, int digits)
{
  char text[40];
  const char *e;

  (void)snprintf(text, sizeof text, "%.*e", digits - 1, value);
  e = strchr(text, 'e');
  d->point = (int)strtol(e + 1, NULL, 10) + 1;
  d->n = 0;
  for (const char *p = text; p < e && d->n < DIGITS_MAX; p++) {
    if (*p >= '0' && *p <= '9')
      d->digit[d->n++] = *p;
  }
  while (d->n > 1 && d->digit[d->n - 1] == '0')
    d->n--;
}

static bool float_digits_identify(double value, int digits)
{
  char text[40];

  (void)snprintf(text, sizeof text, "%.*e", digits - 1, value);
  return strtod(text, NULL) == value;
}

static void float_find_digits(struct decimal *d, double value, int digits)
{
  d->negative = signbit(value) != 0;
  value = fabs(value);
  if (digits == 0) {
    /* All numbers with 15 digits differ, but numbers that are nearly zero have fewer. */
    digits = value < DBL_MIN ? 1 : 15;
    while (digits < DIGITS_MAX && !float_digits_identify(value, digits))
      digits++;
  }
  decimal_set(d, value, digits);
  if (value == 0)
    d->point = 1;
}

/* Writes the digits [from, to), zeros outside of d->digit. */
static char *decimal_copy(char *out, const struct decimal *d, int from, int to)
{
  for (int i = from; i < to; i++)
    *out++ = i >= 0 && i < d->n ? d->digit[i] : '0';
  return out;
}

static char *float_put_plain(char *out, const struct decimal *d, int decimals)
{
  out = d->point > 0 ? decimal_copy(out, d, 0, d->point) : decimal_copy(out, d, -1, 0);
  if (decimals <= 0)
    return out;
  *out++ = '.';
  return decimal_copy(out, d, d->point, d->point + decimals);
}

/* Writes the value as the server does: with a point between the first digit and the others, and an
   exponent, if it would have too many zeros without one. */
size_t bn_mysql_put_real(char *out, double value, int digits)
{
  char *p = out;
  struct decimal d;

  if (!isfinite(value))
    return (size_t)snprintf(out, BN_MYSQL_CELL, "0");
  float_find_digits(&d, value, digits);
  if (d.negative)
    *p++ = '-';
  if (d.point >= PLAIN_MIN && d.point <= PLAIN_MAX)
    return (size_t)(float_put_plain(p, &d, d.n - d.point) - out);
  p = decimal_copy(p, &d, 0, 1);
  if (d.n > 1) {
    *p++ = '.';
    p = decimal_copy(p, &d, 1, d.n);
  }
  return (size_t)(p - out) + (size_t)snprintf(p, 8, "e%d", d.point - 1);
}

size_t bn_mysql_put_fixed(char *out, double value, unsigned decimals)
{
  char *p = out;
  struct decimal d;

  if (decimals > DECIMALS_MAX)
    decimals = DECIMALS_MAX;
  if (!isfinite(value))
    return (size_t)snprintf(out, BN_MYSQL_CELL, "0");
  float_find_digits(&d, value, 0);
  /* Writes the shortest text that identifies the number, if it has no more decimals than the
     column. */
  if (d.n - d.point > (int)decimals)
    return (size_t)snprintf(out, BN_MYSQL_CELL, "%.*f", (int)decimals, value);
  if (d.negative)
    *p++ = '-';
  return (size_t)(float_put_plain(p, &d, (int)decimals) - out);
}
