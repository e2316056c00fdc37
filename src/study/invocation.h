/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of a run that a study varies: what is added for each run, and what may be shown.
 */
#ifndef BN_STUDY_INVOCATION_H
#define BN_STUDY_INVOCATION_H

#include <stdbool.h>
#include <stddef.h>

#include "api/opt.h"
#include "base/buf.h"
#include "base/err.h"
#include "study/sweep/grid.h"

/* The general option that a word sets: "--tx_rate=5"; NULL: none. */
const struct bn_opt *bn_word_option(const char *word);
/* Whether a run with these words, which end with NULL, is one of a dialect. */
bool bn_words_choose_dialect(const char *const *word);

/* All but the texts of its own is borrowed. */
struct bn_invocation {
  const char *program;
  const char *const *word; /* "oltp_read_write", "--tables=4", "run"; ends with NULL */
  size_t n, run;           /* words, and which one is "run" */
};

/* word: the operands of the subcommand.  -1: err says that there is no "run", or which option a
   sweep gives itself. */
int bn_invocation_read(struct bn_invocation *c, const char *program, const char *const *word,
                       struct bn_err *err);
/* A word with secrets masked. */
int bn_invocation_show(const struct bn_invocation *c, size_t word, struct bn_buf *out);
/* The arguments for a point and those behind it, for `act` instead of "run": an array that ends
   with NULL.  more ends with NULL.  NULL: out of memory; free with bn_invocation_free. */
char **bn_invocation_argv(const struct bn_invocation *c, const char *act, const struct bn_grid *g,
                          size_t point, const char *const *more);
void bn_invocation_free(char **argv);

#endif
