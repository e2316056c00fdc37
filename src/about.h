/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about a run that only the composition root knows: the program, its options, the host. */
#ifndef BN_ABOUT_H
#define BN_ABOUT_H

#include "api/workload.h"
#include "cli/cli.h"
#include "measure/facts.h"
#include "option/opt.h"

/* Adds the program, the workload, the time, the labels (of bn_named_check_labels) and all options.
   Secrets are not kept.  luajit: the version of the library.  With wants_host, the host and the
   place of a database file are added too, which takes a few files of /proc and /sys. */
void bn_about_gather(struct bn_facts *f, const struct bn_cli *cli, const struct bn_optset *options,
                     const struct bn_list *labels, const struct bn_workload *ops,
                     const char *luajit, bool wants_host);
/* Returns the traits of an option; 0 for an unknown name, and so for the options of scripts and of
   drivers that are not ours. */
bn_opt_traits_of bn_about_traits;

#endif
