/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contract of subcommands, whose names are used like that of a test and which run no test. */
#ifndef BN_API_SUBCOMMAND_H
#define BN_API_SUBCOMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "api/opt.h"
#include "base/err.h"

/* A row without `run` is a study in Lua: module study.NAME declares the rest, or with `loads_file`
   the file that the first operand names.

   `bench NAME [options]... OPERANDS`.  --help is every subcommand's own and not in its table; after
   the first operand it belongs to the run of a subcommand that takes one. */
struct bn_subcommand {
  const char *name, *title; /* "report", "print the report of a saved result" */
  const char *operands;     /* operands in the usage line: "FILE" */
  size_t min_operands, max_operands;
  bool takes_run; /* the operands are the command line of a run: options that are not in the table
                     stay among them, in their order, and so does everything after "--" */
  const struct bn_opt *options; /* NULL: none */
  size_t conf_size;             /* size of the struct that the offsets of the options refer to */
  size_t traits_of; /* offset of a bn_opt_traits_of *, for documents of older versions; 0: none */
  /* Prints its result on standard output and returns the exit status; err says why it failed.  The
     operands end with NULL. */
  int (*run)(const void *conf, const char *const *operand, struct bn_err *err);
  bool loads_file; /* the first operand is the file of a study */
};

#endif
