/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses and prints sizes, numbers and durations. */
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int bn_units_parse_int(const char *text, int64_t *out)
{
  char *end;

  errno = 0;
  const long long value = strtoll(text, &end, 10);

  if (end == text || *end != '\0' || errno == ERANGE)
    return -1;
  *out = value;
  return 0;
}

/* Parses the finite number at the start of text.  Returns 0 and sets *end to the rest, or returns
   -1. */
static int units_read_leading_double(const char *text, double *out, char **end)
{
  const double value = strtod(text, end);

  if (*end == text || !isfinite(value))
    return -1;
  *out = value;
  return 0;
}

int bn_units_parse_double(const char *text, double *out)
{
  char *end;
  double value;

  if (units_read_leading_double(text, &value, &end) != 0 || *end != '\0')
    return -1;
  *out = value;
  return 0;
}

/* Returns the power of 1024 that a suffix stands for: "", "B", or K, M, G, T alone or with "B" or
   "iB".  Returns -1 for any other suffix. */
static int units_parse_size_suffix(const char *suffix)
{
  static const char letters[] = "KMGT";

  if (*suffix == '\0' || strcasecmp(suffix, "B") == 0)
    return 0;
  const char *const letter = strchr(letters, toupper((unsigned char)*suffix));
  const char *const unit = suffix + 1;
  const bool is_unit = *unit == '\0' || strcasecmp(unit, "B") == 0 || strcasecmp(unit, "iB") == 0;

  if (letter == NULL || !is_unit)
    return -1;
  return (int)(letter - letters) + 1;
}

int bn_units_parse_size(const char *text, uint64_t *out)
{
  char *end;

  while (isspace((unsigned char)*text))
    text++;
  if (*text == '+')
    text++;
  if (!isdigit((unsigned char)*text))
    return -1;
  errno = 0;
  const unsigned long long number = strtoull(text, &end, 10);
  const int power = units_parse_size_suffix(end);
  const int shift = 10 * power; /* 1024 is 2^10 */

  if (errno == ERANGE || power < 0 || number > UINT64_MAX >> shift)
    return -1;
  *out = (uint64_t)number << shift;
  return 0;
}

int bn_units_parse_number(const char *text, double *out)
{
  uint64_t size;

  if (bn_units_parse_double(text, out) == 0)
    return 0;
  if (bn_units_parse_size(text, &size) != 0)
    return -1;
  *out = (double)size;
  return 0;
}

int bn_units_parse_duration(const char *text, double *seconds)
{
  static const struct {
    const char *suffix;
    double factor;
  } units[] = {{"", 1}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}};
  char *end;
  double value;

  if (units_read_leading_double(text, &value, &end) != 0 || value < 0)
    return -1;
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
    if (strcmp(end, units[i].suffix) == 0 && isfinite(value * units[i].factor)) {
      *seconds = value * units[i].factor;
      return 0;
    }
  return -1;
}

bool bn_units_read(const char **text, double *value)
{
  const char *range = strstr(*text, "..");
  size_t len = strspn(*text, "0123456789.");
  char digits[BN_UNITS_DIGITS] = "";

  if (range != NULL && range < *text + len) /* "1..2" is a range, whose first number ends here */
    len = (size_t)(range - *text);
  const bool is_number = len > 0 && (*text)[0] != '.' && (*text)[len - 1] != '.';

  if (!is_number || len >= sizeof digits)
    return false;
  memcpy(digits, *text, len);
  *text += len;
  return bn_units_parse_double(digits, value) == 0;
}

bool bn_units_read_ns(const char **text, double *ns)
{
  static const struct {
    const char *name;
    double ns;
  } units[] = {{"ns", 1},   {"us", 1e3},   {"ms", 1e6}, {"s", 1e9},
               {"m", 60e9}, {"h", 3600e9}, {"", 1e9}};
  size_t i = 0;

  if (!bn_units_read(text, ns))
    return false;
  /* The last name, which is empty, always fits; "ms" comes before "m". */
  while (strncmp(*text, units[i].name, strlen(units[i].name)) != 0)
    i++;
  *text += strlen(units[i].name);
  *ns *= units[i].ns;
  return true;
}

int bn_units_parse_bool(const char *text, bool *out)
{
  static const struct {
    const char *word;
    bool value;
  } words[] = {{"on", true},   {"true", true},   {"1", true},
               {"off", false}, {"false", false}, {"0", false}};

  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strcmp(text, words[i].word) == 0) {
      *out = words[i].value;
      return 0;
    }
  return -1;
}

const char *bn_units_format_size(char *buf, size_t len, uint64_t bytes, bool iec)
{
  static const char letters[] = "KMGT";
  double value = (double)bytes;
  unsigned power = 0;

  for (; value >= 1024 && letters[power] != '\0'; power++)
    value /= 1024;
  if (power == 0)
    (void)snprintf(buf, len, "%.5g", value);
  else
    (void)snprintf(buf, len, "%.5g%c%s", value, letters[power - 1], iec ? "i" : "");
  return buf;
}

int bn_units_count_decimals(double value, int least)
{
  enum { MOST = 9 };
  int decimals = least;

  if (!(value > 0)) /* or NaN */
    return least;
  /* `scaled` is value * 10^decimals.  Its integer part has the significant digits that are
     shown, which are three or more from 100 on. */
  for (double scaled = value * pow(10, least); decimals < MOST && scaled < 100; scaled *= 10)
    decimals++;
  return decimals;
}

void bn_units_restore_point(char *digits)
{
  /* All that a number, inf or nan has besides the point, which may take several bytes. */
  static const char number_chars[] = "+-0123456789abcdefxpin";
  char *point = digits + strspn(digits, number_chars);
  const char *fraction = point + strcspn(point, number_chars);

  if (*point == '\0')
    return;
  *point = '.';
  memmove(point + 1, fraction, strlen(fraction) + 1);
}

const char *bn_units_format_shortest(char digits[BN_UNITS_DIGITS], double value)
{
  for (int n_digits = DBL_DIG; n_digits <= DBL_DECIMAL_DIG; n_digits++) {
    (void)snprintf(digits, BN_UNITS_DIGITS, "%.*g", n_digits, value);
    const double read_back = strtod(digits, NULL);

    if (memcmp(&read_back, &value, sizeof value) == 0) /* -0 is not 0 */
      break;
  }
  bn_units_restore_point(digits);
  return digits;
}
