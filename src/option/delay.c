/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the distribution of a time. */
#include "option/delay.h"

#include "base/units.h"
#include "option/words.h"

static const double longest_ns = 86400e9;

const char bn_delay_forms[] =
    "TIME, fixed:TIME, exp:MEAN, exp:MEAN..MOST, uniform:LEAST..MOST; times are seconds, "
    "also with ns, us, ms, s, m or h, up to a day";

/* Reads a time of at most longest_ns, and moves *pos past it.  Returns false if there is none. */
static bool delay_read_time(const char **pos, double *ns)
{
  return bn_units_read_ns(pos, ns) && *ns <= longest_ns;
}

/* Whether "..TIME" follows the time of a form. */
enum range { NO_RANGE, MAY_HAVE_RANGE, NEEDS_RANGE };

/* Reads the times after the word of a form into d, whose shape is set, and moves *pos past them.
   Returns false if the form has other times. */
static bool delay_read_times(const char **pos, enum range range, struct bn_delay *d)
{
  if (!delay_read_time(pos, &d->low_ns))
    return false;
  if (range != NO_RANGE && bn_words_skip(pos, ".."))
    return delay_read_time(pos, &d->high_ns);
  /* Without a range, an exponential time has no maximum, and a fixed one has a single value. */
  d->high_ns = d->shape == BN_DELAY_EXPONENTIAL ? HUGE_VAL : d->low_ns;
  return range != NEEDS_RANGE;
}

int bn_delay_parse(const char *text, struct bn_delay *out)
{
  static const struct {
    const char *word;
    enum bn_delay_shape shape;
    enum range range;
  } forms[] = {{"exp:", BN_DELAY_EXPONENTIAL, MAY_HAVE_RANGE},
               {"uniform:", BN_DELAY_UNIFORM, NEEDS_RANGE},
               {"fixed:", BN_DELAY_UNIFORM, NO_RANGE},
               {"", BN_DELAY_UNIFORM, NO_RANGE}};
  const char *pos = text;
  struct bn_delay d;
  size_t i = 0;

  /* The last word, which is empty, always fits. */
  while (!bn_words_skip(&pos, forms[i].word))
    i++;
  d.shape = forms[i].shape;
  if (!delay_read_times(&pos, forms[i].range, &d) || *pos != '\0' || d.low_ns > d.high_ns)
    return -1;
  *out = d;
  return 0;
}
