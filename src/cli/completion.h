/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints programs with which bash, zsh and fish complete command lines; each has a table of all
   tests, commands and options. */
#ifndef BN_CLI_COMPLETION_H
#define BN_CLI_COMPLETION_H

#include <stdio.h>

#include "api/workload.h"
#include "option/conf.h"
#include "option/opt.h"

/* A program in progress.  bn_completion_begin comes first, bn_completion_end last. */
struct bn_completion {
  FILE *out;
  const char *const *rest; /* lines of the shell's program, behind the table */
};

/* Prints the program of a shell, not BN_SHELL_NONE, up to the table. */
void bn_completion_begin(struct bn_completion *c, enum bn_shell shell, FILE *out);
/* Prints the rows of the built-in tests, the subcommands and every option of the set, which has the
   options of all built-in tests.  Returns 0, or -1 after a message. */
int bn_completion_print_program(const struct bn_completion *c, const struct bn_optset *options);
/* Prints the rows of a bundled script that is loaded, and of its own options in the set. */
void bn_completion_print_script(const struct bn_completion *c, const char *name, const char *title,
                                const struct bn_workload *ops, void *self,
                                const struct bn_optset *options);
/* Prints the program behind the table. */
void bn_completion_end(const struct bn_completion *c);

#endif
