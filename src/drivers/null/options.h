/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of the null driver, for the module and for the program that reads its command line. */
#ifndef BN_DRIVERS_NULL_OPTIONS_H
#define BN_DRIVERS_NULL_OPTIONS_H

#include "api/driver.h"

struct bn_null_conf {
  int64_t rows;
  char *latency;
  struct bn_delay delay; /* that `latency` describes */
};

extern const struct bn_opt bn_null_options[];

#endif
