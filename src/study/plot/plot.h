/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The subcommand `plot`: draws results as a picture, or on the terminal. */
#ifndef BN_STUDY_PLOT_H
#define BN_STUDY_PLOT_H

#include "api/opt.h"
#include "base/err.h"

struct bn_plot_conf {
  char *output; /* NULL: standard output */
  int kind;
};

extern const struct bn_opt bn_plot_options[];

/* struct bn_subcommand's run. */
int bn_plot_run(const void *conf, const char *const *operand, struct bn_err *err);

#endif
