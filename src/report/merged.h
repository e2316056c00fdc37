/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The subcommand `merge`: writes one result that is the sum of several. */
#ifndef BN_REPORT_MERGED_H
#define BN_REPORT_MERGED_H

#include <stdbool.h>

#include "api/opt.h"
#include "base/err.h"

struct bn_merged_conf {
  char *output; /* NULL: standard output */
  bool force;
  uint64_t most;               /* bytes of a document */
  bn_opt_traits_of *traits_of; /* what the program declares; NULL: nothing */
};

extern const struct bn_opt bn_merged_options[];

/* Implements `run` of struct bn_subcommand. */
int bn_merged_run(const void *conf, const char *const *operand, struct bn_err *err);

#endif
