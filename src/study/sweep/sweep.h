/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The subcommand `sweep`: runs a command line with all combinations of values of options. */
#ifndef BN_STUDY_SWEEP_H
#define BN_STUDY_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "api/opt.h"
#include "base/err.h"

struct bn_sweep_conf {
  struct bn_list vary;
  char *out, *stop_when, *from, *plot;
  double cooldown_s, warmup_s;
  int64_t repeat, seed;
  bool resume, prepare, cleanup;
  bool vary_given, stop_when_given, cooldown_given, warmup_given, repeat_given, seed_given;
  bool prepare_given, cleanup_given;
};

extern const struct bn_opt bn_sweep_options[];

/* struct bn_subcommand's run. */
int bn_sweep_run(const void *conf, const char *const *operand, struct bn_err *err);

#endif
