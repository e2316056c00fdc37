/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the distribution of a time. */
#include "option/delay.h"

#include <string.h>

static const double longest_ns = 86400e9;

const char bn_delay_forms[] =
    "TIME, fixed:TIME, exp:TIME, exp:TIME..TIME, uniform:TIME..TIME; TIME: seconds, "
    "also with ns, us, ms, s, m or h, up to a day";

/* Reads digits, and moves *at behind them.  Returns false if there are none. */
static bool delay_digits(const char **at, double *value, double *scale)
{
  const char *const begin = *at;

  for (; **at >= '0' && **at <= '9'; ++*at) {
    *value = *value * 10 + (**at - '0');
    *scale *= 10;
  }
  return *at > begin;
}

/* Reads a number as a user writes it, whatever the decimal point of the locale, which a script may
   have set.  The dots after the number may be those of a range. */
static bool delay_number(const char **at, double *value)
{
  double scale = 1;

  *value = 0;
  if (!delay_digits(at, value, &scale))
    return false;
  if ((*at)[0] != '.' || (*at)[1] == '.')
    return true;
  ++*at;
  scale = 1;
  if (!delay_digits(at, value, &scale))
    return false;
  *value /= scale;
  return true;
}

/* Reads a time and moves *at behind it. */
static bool delay_time(const char **at, double *ns)
{
  static const struct {
    const char *name;
    double ns;
  } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};

  if (!delay_number(at, ns))
    return false;
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    const size_t len = strlen(units[i].name);

    if (strncmp(*at, units[i].name, len) == 0) {
      *at += len;
      *ns *= units[i].ns;
      return *ns <= longest_ns;
    }
  }
  *ns *= 1e9;
  return *ns <= longest_ns;
}

/* Moves *at behind the word. */
static bool delay_word(const char **at, const char *word)
{
  const size_t len = strlen(word);

  if (strncmp(*at, word, len) != 0)
    return false;
  *at += len;
  return true;
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
