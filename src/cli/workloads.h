/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several workloads on the command line, each with its weight. */
#ifndef BN_CLI_WORKLOADS_H
#define BN_CLI_WORKLOADS_H

#include "cli/cli.h"

/* Adds the workload `word` to those in cli->test.  Messages show `shown` in the place of the word.
   Returns 0, or -1 after a message that says why they cannot be in one run. */
int bn_cli_add_workload(struct bn_cli *cli, const char *word, const char *shown);
/* Returns 0, or -1 after a message that says which workload of cli->test cannot be one of
   several. */
int bn_cli_check_workloads(const struct bn_cli *cli);

/* If there are groups, makes the single word of the command line, which was taken for the test, the
   command.  Returns 0, or -1 after a message: there are two words, or the dialect has no groups. */
int bn_cli_use_word_for_groups(struct bn_cli *cli, size_t n_groups);

#endif
