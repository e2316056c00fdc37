/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tests of whole runs on a simulated clock share. */
#ifndef BN_TESTS_SIMRUN_H
#define BN_TESTS_SIMRUN_H

#include "engine/arrivals.h"
#include "simclock.h"
#include "toyrun.h"

/* Doubles of whole nanoseconds. */
static inline void same_s(double is_s, double should_s)
{
  if (is_s - should_s > 1e-9 || should_s - is_s > 1e-9)
    fail_msg("%.9f s instead of %.9f s", is_s, should_s);
}

static inline int run_at_0(const struct bn_conf *c, const struct bn_workload *ops, void *self)
{
  sim_begin();
  return run_it(c, ops, self);
}

/* Arrivals of make_conf's seed before end_s; *at_s is the one with that index. */
static inline uint64_t arrivals_until(double rate, double end_s, uint64_t index, double *at_s)
{
  const struct bn_rate_piece phase = {.start_rate = rate, .end_rate = rate};
  struct bn_arrivals a;
  uint64_t n = 0, position = 0;

  bn_arrivals_init(&a, make_conf(1).seed, &phase, 1);
  for (;;) {
    const double s = bn_arrivals_time(&a, position = bn_arrivals_next(&a, position));

    if (n == index)
      *at_s = s;
    if (s >= end_s)
      return n;
    n++;
  }
}

#endif
