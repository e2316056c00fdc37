/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The subcommand `plot`: draws results as a picture, or on the terminal. */
#ifndef BN_STUDY_PLOT_H
#define BN_STUDY_PLOT_H

#include "api/opt.h"
#include "base/err.h"
#include "study/child.h"

struct bn_plot_conf {
  char *output; /* NULL: standard output */
  int kind;
  bn_opt_traits_of *traits_of; /* what the program declares; NULL: nothing */
};

extern const struct bn_opt bn_plot_options[];

/* struct bn_subcommand's run. */
int bn_plot_run(const void *conf, const char *const *operand, struct bn_err *err);

/* For another study, which draws its folder at the end.  The first finds out at the beginning
   whether `--OPTION=FILE` can be drawn: the name, the folder it is in, gnuplot.  0, or -1 and err.
   children: of that study, after bn_children_begin(). */
int bn_plot_check(const char *option, const char *path, struct bn_err *err);
int bn_plot_folder(struct bn_children *children, const char *folder, char *path,
                   struct bn_err *err);

#endif
