/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about a run that only the composition root knows: the program, its options, the host. */
#ifndef BN_ABOUT_H
#define BN_ABOUT_H

#include "api/workload.h"
#include "cli/cli.h"
#include "measure/facts.h"
#include "option/opt.h"

/* Adds the program, the workload, the present time, the labels (checked by bn_named_check_labels)
   and all options, without secrets.  With wants_host, also adds the host and the folder of a
   database file, for which it reads a few files of /proc and /sys. */
void bn_about_gather(struct bn_facts *f, const struct bn_cli *cli, const struct bn_optset *options,
                     const struct bn_list *labels, const struct bn_workload *ops, bool wants_host);
/* Returns the traits of an option, or 0 if the name is unknown.  The options of scripts, and of
   drivers that are not ours, are unknown. */
bn_opt_traits_of bn_about_traits;

#endif
