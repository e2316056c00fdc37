/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file of several sweeps, for --from: a configuration file whose lines are

     NAME = WORD, WORD …

   The words are the options of the sweep and the command line of its run.  NAME is that of its
   folder.  A word with a comma or a blank is quoted. */
#ifndef BN_STUDY_RECIPE_H
#define BN_STUDY_RECIPE_H

#include <limits.h>
#include <stddef.h>

#include "api/opt.h"
#include "base/err.h"

struct bn_optset;

enum { BN_RECIPE_MAX = 64 };

struct bn_recipe_line {
  char *name;
  unsigned number;
  struct bn_list words;
};

struct bn_recipe {
  char path[PATH_MAX];
  struct bn_recipe_line line[BN_RECIPE_MAX]; /* in the order of the file */
  size_t n;
};

/* name: the path of a file, or of a bundled one: "concurrency".  -1: err names the file, and the
   line, and what is wrong. */
int bn_recipe_read(struct bn_recipe *r, const char *name, struct bn_err *err);
void bn_recipe_done(struct bn_recipe *r);

/* The words of a line as options and operands of a subcommand. */
struct bn_recipe_words {
  struct bn_optset *set; /* owns what is in the values */
  const char **operand;  /* of the line, then those of `more`; ends with NULL */
};

/* values: zeroed; as `options` has it.  -1: err. */
int bn_recipe_parse(const struct bn_recipe *r, size_t line, const struct bn_opt *options,
                    void *values, const char *const *more, struct bn_recipe_words *out,
                    struct bn_err *err);
void bn_recipe_forget(struct bn_recipe_words *w);

#endif
