/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The subcommand `compare`: says of two results, or of two folders of them, which one is better. */
#ifndef BN_STUDY_COMPARED_H
#define BN_STUDY_COMPARED_H

#include <stdbool.h>

#include "api/opt.h"
#include "base/err.h"

struct bn_compared_conf {
  char *metric;
  struct bn_list secondary; /* "auto": average latency, percentiles and errors; "none" */
  char *same;
  struct bn_list fail_on; /* "p99:5%"; empty: the primary metric, by whatever is shown */
  bool stationary;
  int format;
  char *output;                /* NULL: standard output */
  bn_opt_traits_of *traits_of; /* what the program declares; NULL: nothing */
};

extern const struct bn_opt bn_compared_options[];

/* struct bn_subcommand's run; its status is 3 if B is worse. */
int bn_compared_run(const void *conf, const char *const *operand, struct bn_err *err);

#endif
