/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Subcommands: which one an argument vector asks for, and its own grammar. */
#ifndef BN_CLI_SUBCOMMAND_H
#define BN_CLI_SUBCOMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "api/subcommand.h"

/* Tables end with a NULL name. */

/* The row that is named so, or NULL.  A path or an extension makes a name a script's. */
const struct bn_subcommand *bn_subcommand_named(const struct bn_subcommand *table,
                                                const char *name);
/* The one to run instead of a test: the first argument that is no option names it.  NULL: none. */
const struct bn_subcommand *bn_subcommand_find(const struct bn_subcommand *table, int argc,
                                               char *const *argv);
/* Parses its options and operands and runs it, or prints its help to `out`.  traits_of: for its
   conf.  The exit status; err: what is wrong, for standard error. */
int bn_subcommand_run(const struct bn_subcommand *sub, int argc, char *const *argv,
                      bn_opt_traits_of *traits_of, FILE *out, struct bn_err *err);
/* Overwrites the values of an argument vector that resemble secrets, also within the value of
   another option: `ps` shows the command line of a study for as long as it lasts. */
void bn_subcommand_scrub(int argc, char **argv);
/* "Subcommands:" and a line for each. */
void bn_subcommand_list(const struct bn_subcommand *table, FILE *out);
/* A section of the manual pages for each.  -1: out of memory. */
int bn_subcommand_man(const struct bn_subcommand *table, FILE *out);

#endif
