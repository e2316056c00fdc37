/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The subcommand `history`: the change points in a series of results. */
#ifndef BN_STUDY_HISTORY_H
#define BN_STUDY_HISTORY_H

#include "api/opt.h"
#include "base/err.h"

struct bn_history_conf {
  struct bn_list metric, ignore;
  bool fail;
  int64_t fail_within;
  int format;
  char *output;                /* NULL: standard output */
  bn_opt_traits_of *traits_of; /* what the program declares; NULL: nothing */
};

extern const struct bn_opt bn_history_options[];

/* struct bn_subcommand's run. */
int bn_history_run(const void *conf, const char *const *operand, struct bn_err *err);

#endif
