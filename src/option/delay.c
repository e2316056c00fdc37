/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the distribution of a time. */
#include "option/delay.h"

#include "base/units.h"
#include "option/words.h"

static const double longest_ns = 86400e9;

const char bn_delay_forms[] =
    "TIME, fixed:TIME, exp:MEAN, exp:MEAN..MOST, uniform:LEAST..MOST; times are seconds, "
    "also with ns, us, ms, s, m or h, up to a day";

/* Reads a time of at most longest_ns, and moves *at past it.  Returns false if there is none. */
static bool delay_read_time(const char **at, double *ns)
{
  return bn_units_read_ns(at, ns) && *ns <= longest_ns;
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
  bool has_range;

  /* The last word, which is empty, always fits. */
  while (!bn_words_skip(&at, forms[i].word))
    i++;
  d.shape = forms[i].shape;
  if (!delay_read_time(&at, &d.low_ns))
    return -1;
  d.high_ns = d.shape == BN_DELAY_EXPONENTIAL ? HUGE_VAL : d.low_ns;
  has_range = bn_words_skip(&at, "..");
  if ((has_range && forms[i].range == NO) || (!has_range && forms[i].range == YES))
    return -1;
  if (has_range && !delay_read_time(&at, &d.high_ns))
    return -1;
  if (*at != '\0' || d.low_ns > d.high_ns)
    return -1;
  *out = d;
  return 0;
}
