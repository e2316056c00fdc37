/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Floating-point numbers as the client libraries write them. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/mysql/wire/row.h"

enum {
  DIGITS_MAX = 17,  /* significant digits that identify any double */
  PLAIN_MAX = 15,   /* the largest `point` of a number that is written without an exponent, */
  PLAIN_MIN = -14,  /* and the smallest one */
  DECIMALS_MAX = 30 /* most decimals of a column */
};

/* value = 0.ddd × 10^point; the digits have no zeros at the end. */
struct decimal {
  char digit[DIGITS_MAX + 1];
  int n, point;
  bool negative;
};

/* Sets the `digits` most significant digits of a value, correctly rounded by the C library, without
   the zeros at their end, because the server prints none; d->negative stays as it is. */
static void decimal_set_digits(struct decimal *d, double value, int digits)
{
  char text[40];
  const char *mark; /* the 'e' before the exponent */

  (void)snprintf(text, sizeof text, "%.*e", digits - 1, value);
  mark = strchr(text, 'e');
  d->point = (int)strtol(mark + 1, NULL, 10) + 1;
  d->n = 0;
  for (const char *p = text; p < mark && d->n < DIGITS_MAX; p++) {
    if (*p >= '0' && *p <= '9')
      d->digit[d->n++] = *p;
  }
  while (d->n > 1 && d->digit[d->n - 1] == '0')
    d->n--;
}

/* Returns whether `digits` digits tell the value from every other double. */
static bool decimal_identifies(double value, int digits)
{
  char text[40];

  (void)snprintf(text, sizeof text, "%.*e", digits - 1, value);
  return strtod(text, NULL) == value;
}

/* Sets d to the value with `digits` significant digits.  digits 0: as few as identify the value. */
static void decimal_set(struct decimal *d, double value, int digits)
{
  d->negative = signbit(value) != 0;
  value = fabs(value);
  if (digits == 0) {
    /* If fewer than DBL_DIG digits identify a value, its DBL_DIG digits are the same with zeros at
       their end.  Only numbers below DBL_MIN are less exact. */
    digits = value < DBL_MIN ? 1 : DBL_DIG;
    while (digits < DIGITS_MAX && !decimal_identifies(value, digits))
      digits++;
  }
  decimal_set_digits(d, value, digits);
  if (value == 0)
    d->point = 1;
}

/* Writes the digits [from, to), and zeros for those outside of d->digit.  Returns the position
   after them. */
static char *decimal_put_digits(char *out, const struct decimal *d, int from, int to)
{
  for (int i = from; i < to; i++)
    *out++ = i >= 0 && i < d->n ? d->digit[i] : '0';
  return out;
}

/* Writes the number without sign and exponent, with `decimals` decimals.  Returns the position
   after it. */
static char *decimal_put_plain(char *out, const struct decimal *d, int decimals)
{
  if (d->point > 0)
    out = decimal_put_digits(out, d, 0, d->point);
  else
    *out++ = '0'; /* before the point of a number below 1 */
  if (decimals <= 0)
    return out;
  *out++ = '.';
  return decimal_put_digits(out, d, d->point, d->point + decimals);
}

size_t bn_mysql_put_real(char *out, double value, int digits)
{
  enum { EXPONENT_ROOM = sizeof "e-324" }; /* the longest one */
  char *p = out;
  struct decimal d;

  if (!isfinite(value))
    return (size_t)snprintf(out, BN_MYSQL_CELL, "0");
  decimal_set(&d, value, digits);
  if (d.negative)
    *p++ = '-';
  if (d.point >= PLAIN_MIN && d.point <= PLAIN_MAX)
    return (size_t)(decimal_put_plain(p, &d, d.n - d.point) - out);
  p = decimal_put_digits(p, &d, 0, 1); /* with an exponent: "1.5e20" */
  if (d.n > 1) {
    *p++ = '.';
    p = decimal_put_digits(p, &d, 1, d.n);
  }
  return (size_t)(p - out) + (size_t)snprintf(p, EXPONENT_ROOM, "e%d", d.point - 1);
}

size_t bn_mysql_put_fixed(char *out, double value, unsigned decimals)
{
  char *p = out;
  struct decimal d;

  if (decimals > DECIMALS_MAX)
    decimals = DECIMALS_MAX;
  if (!isfinite(value))
    return (size_t)snprintf(out, BN_MYSQL_CELL, "0");
  decimal_set(&d, value, 0);
  if (d.n - d.point > (int)decimals) /* the number has more decimals: the C library rounds it */
    return (size_t)snprintf(out, BN_MYSQL_CELL, "%.*f", (int)decimals, value);
  if (d.negative)
    *p++ = '-';
  return (size_t)(decimal_put_plain(p, &d, (int)decimals) - out);
}
