/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Collects cells and prints them in columns. */
#include "study/columns.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/escape.h"
#include "base/units.h"

enum { COLUMNS_MAX = 16 };

__attribute__((format(printf, 1, 0))) static char *make_cell(const char *fmt, va_list ap)
{
  char *text = NULL, *shown;
  size_t size;

  if (vasprintf(&text, fmt, ap) < 0)
    return NULL;
  size = bn_escape(NULL, 0, text, "") + 1;
  shown = malloc(size);
  if (shown != NULL)
    (void)bn_escape(shown, size, text, "");
  free(text);
  return shown;
}

void bn_columns_add(struct bn_columns *c, const char *fmt, ...)
{
  char **more = reallocarray(c->cell, c->n + 1, sizeof *more);
  va_list ap;

  if (more != NULL) {
    c->cell = more;
    va_start(ap, fmt);
    c->cell[c->n] = make_cell(fmt, ap);
    va_end(ap);
  }
  if (more == NULL || c->cell[c->n] == NULL)
    c->failed = true;
  else
    c->n++;
}

/* Of text that is UTF-8. */
static size_t width(const char *text)
{
  size_t n = 0;

  for (; *text != '\0'; text++)
    n += ((unsigned char)*text & 0xc0) != 0x80;
  return n;
}

static void pad(struct bn_buf *out, size_t n)
{
  (void)bn_buf_printf(out, "%*s", (int)n, "");
}

static void print_text_row(const struct bn_columns *c, size_t row, size_t columns,
                           const size_t *widest, struct bn_buf *out)
{
  for (size_t i = 0; i < columns; i++) {
    const char *text = c->cell[row * columns + i];
    const size_t room = widest[i] - width(text);

    (void)bn_buf_str(out, "  ");
    if (c->align[i] == 'r')
      pad(out, room);
    (void)bn_buf_str(out, text);
    if (c->align[i] == 'l' && i + 1 < columns)
      pad(out, room);
  }
  (void)bn_buf_char(out, '\n');
}

static void print_text(const struct bn_columns *c, size_t columns, struct bn_buf *out)
{
  size_t widest[COLUMNS_MAX] = {0};

  for (size_t i = 0; i < c->n; i++)
    if (width(c->cell[i]) > widest[i % columns])
      widest[i % columns] = width(c->cell[i]);
  for (size_t row = 0; row < c->n / columns; row++)
    print_text_row(c, row, columns, widest, out);
}

static int print_markdown(const struct bn_columns *c, size_t columns, struct bn_buf *out)
{
  for (size_t i = 0; i < c->n; i++) {
    const size_t size = 2 * (strlen(c->cell[i]) + 1);
    char *text = malloc(size);

    if (text == NULL)
      return -1;
    bn_escape_markdown(text, size, c->cell[i]);
    (void)bn_buf_printf(out, "| %s %s", text, (i + 1) % columns == 0 ? "|\n" : "");
    free(text);
    for (size_t k = 0; i + 1 == columns && k < columns; k++)
      (void)bn_buf_printf(out, "|%s%s", c->align[k] == 'r' ? "---:" : "---",
                          k + 1 == columns ? "|\n" : "");
  }
  return 0;
}

int bn_columns_print(const struct bn_columns *c, bool markdown, struct bn_buf *out)
{
  const size_t columns = strlen(c->align);
  int rc = 0;

  if (c->failed || columns > COLUMNS_MAX)
    return -1;
  if (markdown)
    rc = print_markdown(c, columns, out);
  else
    print_text(c, columns, out);
  return rc != 0 || out->failed ? -1 : 0;
}

void bn_columns_done(struct bn_columns *c)
{
  for (size_t i = 0; i < c->n; i++)
    free(c->cell[i]);
  free(c->cell);
  c->cell = NULL;
  c->n = 0;
}

const char *bn_columns_number(char digits[BN_COLUMNS_DIGITS], double value)
{
  const double size = fabs(value);

  if (size >= 1e12 || (size > 0 && size < 1e-9))
    (void)snprintf(digits, BN_COLUMNS_DIGITS, "%.3e", value);
  else
    (void)snprintf(digits, BN_COLUMNS_DIGITS, "%.*f",
                   size > 0 ? (int)fmax(0, 3 - floor(log10(size))) : 0, value);
  bn_units_point(digits);
  return digits;
}

const char *bn_columns_time(char digits[BN_COLUMNS_DIGITS], uint64_t wall_ns)
{
  static const uint64_t ns_per_s = 1000000000;
  const time_t seconds = (time_t)(wall_ns / ns_per_s);
  struct tm tm;

  if (gmtime_r(&seconds, &tm) == NULL ||
      strftime(digits, BN_COLUMNS_DIGITS, "%Y-%m-%d %H:%M", &tm) == 0)
    (void)snprintf(digits, BN_COLUMNS_DIGITS, "%llu s", (unsigned long long)seconds);
  return digits;
}
