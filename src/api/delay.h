/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A time that is drawn at random: how long a simulated server takes, or a simulated user thinks. */
#ifndef BN_API_DELAY_H
#define BN_API_DELAY_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum bn_delay_shape { BN_DELAY_UNIFORM, BN_DELAY_EXPONENTIAL };

/* A fixed time is UNIFORM with low_ns == high_ns. */
struct bn_delay {
  enum bn_delay_shape shape;
  double low_ns;  /* UNIFORM: the shortest time; EXPONENTIAL: the mean, before times are cut */
  double high_ns; /* UNIFORM: the longest time; EXPONENTIAL: longer times are cut to this one;
                     HUGE_VAL: no time is cut */
};

/* Returns whether all times that are drawn are 0. */
static inline bool bn_delay_is_none(const struct bn_delay *d)
{
  return d->low_ns <= 0 && (d->shape == BN_DELAY_EXPONENTIAL || d->high_ns <= 0);
}

/* Returns a time in nanoseconds, which is drawn by u, a uniform random number in [0, 1). */
static inline uint64_t bn_delay_draw(const struct bn_delay *d, double u)
{
  if (d->shape == BN_DELAY_EXPONENTIAL)
    return (uint64_t)fmin(-d->low_ns * log1p(-u), d->high_ns);
  return (uint64_t)(d->low_ns + u * (d->high_ns - d->low_ns));
}

#endif
