/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The subcommand `merge`: writes one result that is the sum of several. */
#ifndef BN_REPORT_MERGED_H
#define BN_REPORT_MERGED_H

#include <stdbool.h>

#include "api/opt.h"
#include "base/err.h"

/* The values of bn_merged_options, and what the program gives the subcommand. */
struct bn_merged_conf {
  char *output;                /* file for the sum; NULL: standard output */
  bool force;                  /* merges runs that do not fit together, too */
  uint64_t document_max;       /* bytes of a document that is read */
  bn_opt_traits_of *traits_of; /* what the program declares; NULL: nothing */
};

extern const struct bn_opt bn_merged_options[];

/* Implements `run` of struct bn_subcommand.  conf: struct bn_merged_conf; operand: the files, and a
   NULL.  Returns EXIT_SUCCESS, or EXIT_FAILURE and err. */
int bn_merged_run(const void *conf, const char *const *operand, struct bn_err *err);

#endif
