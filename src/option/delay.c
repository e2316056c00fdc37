/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the distribution of a time. */
#include "option/delay.h"

#include <string.h>

#include "base/units.h"

static const double longest_ns = 86400e9;

const char bn_delay_forms[] =
    "TIME, fixed:TIME, exp:TIME, exp:TIME..TIME, uniform:TIME..TIME; TIME: seconds, "
    "also with ns, us, ms, s, m or h, up to a day";

/* Moves *at behind the word. */
static bool delay_word(const char **at, const char *word)
{
  const size_t len = strlen(word);

  if (strncmp(*at, word, len) != 0)
    return false;
  *at += len;
  return true;
}

/* Reads digits, with a decimal point between two of them, and moves *at behind them.  The dots
   behind may be those of a range. */
static bool delay_number(const char **at, double *value)
{
  const char *range = strstr(*at, "..");
  size_t len = strspn(*at, "0123456789.");
  char digits[BN_UNITS_DIGITS] = "";

  if (range != NULL && range < *at + len)
    len = (size_t)(range - *at);
  if (len == 0 || len >= sizeof digits || (*at)[0] == '.' || (*at)[len - 1] == '.')
    return false;
  memcpy(digits, *at, len);
  *at += len;
  return bn_units_double(digits, value) == 0;
}

/* Reads a time and moves *at behind it. */
static bool delay_time(const char **at, double *ns)
{
  static const struct {
    const char *name;
    double ns;
  } units[] = {{"ns", 1},   {"us", 1e3},   {"ms", 1e6}, {"s", 1e9},
               {"m", 60e9}, {"h", 3600e9}, {"", 1e9}};
  size_t i = 0;

  if (!delay_number(at, ns))
    return false;
  while (!delay_word(at, units[i].name))
    i++;
  *ns *= units[i].ns;
  return *ns <= longest_ns;
}

int bn_delay_parse(const char *text, struct bn_delay *out)
{
  static const struct {
    const char *word;
    enum bn_delay_shape shape;
    enum { NO, MAYBE, YES } range; /* whether "..TIME" follows the time */
  } forms[] = {{"exp:", BN_DELAY_EXPONENTIAL, MAYBE},
               {"uniform:", BN_DELAY_UNIFORM, YES},
               {"fixed:", BN_DELAY_UNIFORM, NO},
               {"", BN_DELAY_UNIFORM, NO}};
  const char *at = text;
  struct bn_delay d;
  size_t i = 0;
  bool range;

  while (!delay_word(&at, forms[i].word))
    i++;
  d.shape = forms[i].shape;
  if (!delay_time(&at, &d.low_ns))
    return -1;
  d.high_ns = d.shape == BN_DELAY_EXPONENTIAL ? HUGE_VAL : d.low_ns;
  range = delay_word(&at, "..");
  if (forms[i].range != MAYBE && range != (forms[i].range == YES))
    return -1;
  if ((range && !delay_time(&at, &d.high_ns)) || *at != '\0' || d.low_ns > d.high_ns)
    return -1;
  *out = d;
  return 0;
}
