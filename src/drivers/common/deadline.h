/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The deadlines of connections, for options that limit a time in seconds. */
#ifndef BN_DRIVERS_COMMON_DEADLINE_H
#define BN_DRIVERS_COMMON_DEADLINE_H

#include "api/driver.h"

enum { BN_NS_PER_S = 1000000000, BN_NS_PER_MS = 1000000 };

/* Returns the earlier of deadline_ns (UINT64_MAX: none) and the time timeout_s seconds from now;
   timeout_s 0: no limit besides deadline_ns. */
static inline uint64_t bn_deadline_within(const struct bn_driver_host *host, int64_t timeout_s,
                                          uint64_t deadline_ns)
{
  uint64_t timeout_ns;

  if (timeout_s == 0)
    return deadline_ns;
  timeout_ns = host->now_ns() + (uint64_t)timeout_s * BN_NS_PER_S;
  return timeout_ns < deadline_ns ? timeout_ns : deadline_ns;
}

#endif
