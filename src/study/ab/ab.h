/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The subcommand `ab`: which of two sides is better, by pairs of runs until that is clear. */
#ifndef BN_STUDY_AB_H
#define BN_STUDY_AB_H

#include <stdbool.h>
#include <stdint.h>

#include "api/opt.h"
#include "base/err.h"

struct bn_ab_conf {
  char *options[2], *program[2], *statement[2]; /* of A and B; NULL: none */
  char *metric, *same;
  int64_t seed;
  bool has_seed;
  double cooldown_s;
  char *out; /* NULL: the results of the runs are not kept */
  int format;
  char *output; /* NULL: standard output */
};

extern const struct bn_opt bn_ab_options[];

/* struct bn_subcommand's run. */
int bn_ab_run(const void *conf, const char *const *operand, struct bn_err *err);

#endif
