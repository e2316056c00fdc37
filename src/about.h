/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about a run that only the composition root knows: the program, its options, the host. */
#ifndef BN_ABOUT_H
#define BN_ABOUT_H

#include "api/workload.h"
#include "cli/cli.h"
#include "measure/facts.h"
#include "option/opt.h"

/* Adds the program, the workload, the time and all options.  Secrets are not kept.  host: also the
   section host, which takes a few files of /proc and /sys.  labels: of bn_named_labels.  luajit:
   the library's version. */
void bn_about_gather(struct bn_facts *f, const struct bn_cli *cli, const struct bn_optset *options,
                     const struct bn_list *labels, const struct bn_workload *ops,
                     const char *luajit, bool host);
/* The traits of all options but those of scripts and of drivers that are not ours. */
bn_opt_traits_of bn_about_traits;

#endif
