/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Subcommands: finds the one that an argument vector asks for, reads its arguments, and runs it.
   Only the main thread calls these functions. */
#ifndef BN_CLI_SUBCOMMAND_H
#define BN_CLI_SUBCOMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "api/subcommand.h"

/* Tables end with a NULL name. */

/* Returns the row of that name, or NULL, also for "./compare" and "compare.lua", which are names of
   scripts. */
const struct bn_subcommand *bn_subcommand_find_named(const struct bn_subcommand *table,
                                                     const char *name);
/* Returns the subcommand that the first word names, or the word after "help".  Returns NULL for the
   command line of a test. */
const struct bn_subcommand *bn_subcommand_find_asked(const struct bn_subcommand *table, int argc,
                                                     char *const *argv);
/* The arguments of the program twice: `shown` is main's vector, which `ps` shows while the program
   runs, and argv is a copy that keeps the passwords. */
struct bn_subcommand_args {
  int argc;
  char *const *argv;
  char *const *shown; /* NULL: there is none to overwrite */
  bn_opt_traits_of *traits_of;
};
/* Parses the options and operands of a subcommand, and runs it, or prints its help to `out`.
   Returns the exit status; after a failure, err has a text for standard error, or is empty if that
   has been printed.  Overwrites the values of secret options (bn_opt_is_secret) in args->shown, and
   values that resemble secrets. */
int bn_subcommand_run(const struct bn_subcommand *sub, const struct bn_subcommand_args *args,
                      FILE *out, struct bn_err *err);
/* Overwrites all values in an argument vector that resemble secrets, also within the value of
   another option. */
void bn_subcommand_scrub(int argc, char *const *argv);
/* Calls fn for each row, and for a study in Lua with what its module declares.  Returns 0, or what
   fn has returned if it failed, or -1 after a message that says what is wrong with a study. */
int bn_subcommand_each(const struct bn_subcommand *table,
                       int (*fn)(void *arg, const struct bn_subcommand *sub), void *arg);
/* Prints "Subcommands:" and a line for each of them. */
void bn_subcommand_print_list(const struct bn_subcommand *table, FILE *out);
/* Prints a section of the manual pages for each subcommand that has options.  Returns as
   bn_subcommand_each does. */
int bn_subcommand_print_man(const struct bn_subcommand *table, FILE *out);

#endif
