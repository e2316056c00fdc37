/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several workloads on the command line, each with its weight. */
#ifndef BN_CLI_WORKLOADS_H
#define BN_CLI_WORKLOADS_H

#include "cli/cli.h"

/* Adds another workload to cli->test, if these can be one run.  shown: what may be printed of it.
   Returns 0, or -1 after saying why they cannot. */
int bn_cli_add_workload(struct bn_cli *cli, const char *word, const char *shown);
/* Returns 0, or -1 after saying which workload of cli->test is none that can be mixed. */
int bn_cli_check_workloads(const struct bn_cli *cli);

/* The command line with --group.  -1: a test stands outside of the groups, which a message has
   said. */
int bn_cli_take_groups(struct bn_cli *cli, size_t groups);

#endif
