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
/* An argument vector and a copy of it.  `shown` is main's, which `ps` shows for as long as a study
   lasts. */
struct bn_subcommand_args {
  int argc;
  char *const *argv;
  char *const *shown; /* NULL: nobody sees it */
  bn_opt_traits_of *traits_of;
};
/* Parses its options and operands and runs it, or prints its help to `out`.  The exit status; err:
   what is wrong, for standard error.  In `shown`, the values of secret options (bn_opt_is_secret)
   are overwritten, and those that resemble secrets. */
int bn_subcommand_run(const struct bn_subcommand *sub, const struct bn_subcommand_args *args,
                      FILE *out, struct bn_err *err);
/* Overwrites the values of an argument vector that resemble secrets, also within the value of
   another option. */
void bn_subcommand_scrub(int argc, char *const *argv);
/* Calls fn for each row; that of a study in Lua as its module declares it.  -1: fn has failed, or
   it has been said what is wrong with a study. */
int bn_subcommand_each(const struct bn_subcommand *table,
                       int (*fn)(void *arg, const struct bn_subcommand *sub), void *arg);
/* "Subcommands:" and a line for each. */
void bn_subcommand_list(const struct bn_subcommand *table, FILE *out);
/* A section of the manual pages for each that has options.  Returns as bn_subcommand_each. */
int bn_subcommand_man(const struct bn_subcommand *table, FILE *out);

#endif
