/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The time that a statement takes on a simulated server. */
#include "drivers/null/latency.h"

#include <math.h>
#include <string.h>

static const double longest_ns = 86400e9;

const char bn_null_latency_forms[] =
    "TIME, fixed:TIME, exp:TIME, uniform:TIME..TIME; TIME: seconds, "
    "also with ns, us, ms, s, m or h, up to a day";

/* Reads digits, and moves *at behind them.  Returns false if there are none. */
static bool latency_digits(const char **at, double *value, double *scale)
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
static bool latency_number(const char **at, double *value)
{
  double scale = 1;

  *value = 0;
  if (!latency_digits(at, value, &scale))
    return false;
  if ((*at)[0] != '.' || (*at)[1] == '.')
    return true;
  ++*at;
  scale = 1;
  if (!latency_digits(at, value, &scale))
    return false;
  *value /= scale;
  return true;
}

/* Reads a time and moves *at behind it. */
static bool latency_time(const char **at, double *ns)
{
  static const struct {
    const char *name;
    double ns;
  } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};

  if (!latency_number(at, ns))
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
static bool latency_word(const char **at, const char *word)
{
  const size_t len = strlen(word);

  if (strncmp(*at, word, len) != 0)
    return false;
  *at += len;
  return true;
}

int bn_null_latency_parse(const char *text, struct bn_null_latency *out)
{
  struct bn_null_latency l = {.shape = BN_NULL_UNIFORM};
  const char *at = text;
  bool uniform = false;

  if (latency_word(&at, "exp:"))
    l.shape = BN_NULL_EXPONENTIAL;
  else if (latency_word(&at, "uniform:"))
    uniform = true;
  else
    (void)latency_word(&at, "fixed:");
  if (!latency_time(&at, &l.low_ns))
    return -1;
  l.high_ns = l.low_ns;
  if (uniform && (!latency_word(&at, "..") || !latency_time(&at, &l.high_ns)))
    return -1;
  if (*at != '\0' || l.low_ns > l.high_ns)
    return -1;
  *out = l;
  return 0;
}

/* The generator splitmix64. */
static uint64_t latency_next(uint64_t *stream)
{
  uint64_t z = *stream += UINT64_C(0x9e3779b97f4a7c15);

  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

uint64_t bn_null_latency_seed(unsigned number)
{
  uint64_t stream = number;

  return latency_next(&stream);
}

uint64_t bn_null_latency_draw(const struct bn_null_latency *l, uint64_t *stream)
{
  /* From 0 to less than 1. */
  const double u = (double)(latency_next(stream) >> 11) * 0x1p-53;

  if (l->shape == BN_NULL_EXPONENTIAL)
    return (uint64_t)(-l->low_ns * log1p(-u));
  return (uint64_t)(l->low_ns + u * (l->high_ns - l->low_ns));
}
