/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the code with which bash, zsh and fish complete command lines of bench.  The code has a
   table of all tests, commands and options. */
#ifndef BN_CLI_COMPLETION_H
#define BN_CLI_COMPLETION_H

#include <stdio.h>

#include "api/workload.h"
#include "option/conf.h"
#include "option/opt.h"

/* A completion that is being printed.  bn_completion_begin comes first, bn_completion_end last. */
struct bn_completion {
  FILE *out;
  const char *const *rest; /* the lines of the shell's code after the table; ends with NULL */
};

/* Prints the code for a shell, not BN_SHELL_NONE, up to the table. */
void bn_completion_begin(struct bn_completion *c, enum bn_shell shell, FILE *out);
/* Prints the rows of the built-in tests, the subcommands and every option of the set, which has the
   options of all built-in tests.  Returns 0, or -1 after a message. */
int bn_completion_print_bench(const struct bn_completion *c, const struct bn_optset *options);
/* Prints the rows of a bundled script that is loaded, and of its own options in the set. */
void bn_completion_print_script(const struct bn_completion *c, const char *name, const char *title,
                                const struct bn_workload *ops, void *self,
                                const struct bn_optset *options);
/* Prints the code after the table. */
void bn_completion_end(const struct bn_completion *c);

#endif
