/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One side of a study: the command line of its runs, and the statement that goes before each. */
#ifndef BN_STUDY_ARM_H
#define BN_STUDY_ARM_H

#include <limits.h>
#include <stdbool.h>

#include "api/opt.h"
#include "base/err.h"
#include "study/child.h"

/* What the user has said about it; NULL: nothing. */
struct bn_arm_wish {
  const char *name;      /* of the option with its options: "a" */
  const char *program;   /* NULL: this one */
  const char *options;   /* a text to be split into words */
  const char *statement; /* SQL */
};

struct bn_arm {
  struct bn_list words; /* owned: the program and its arguments */
  const char *statement;
};

/* Files that are of no use after a run. */
struct bn_arm_scratch {
  char folder[PATH_MAX];
  char messages[PATH_MAX + 16], script[PATH_MAX + 16]; /* in the folder */
};

/* In $TMPDIR, or /tmp. */
int bn_arm_scratch_make(struct bn_arm_scratch *s, struct bn_err *err);
void bn_arm_scratch_remove(const struct bn_arm_scratch *s);

/* Operands: the command line that all sides have in common.  Words of the options that begin with
   '-' stand behind it, where they win, and others in front, where the name of a test is. */
int bn_arm_init(struct bn_arm *arm, const struct bn_arm_wish *wish, const char *const *operand,
                struct bn_err *err);
void bn_arm_done(struct bn_arm *arm);
/* Whether the same program runs with the same arguments after the same statement. */
bool bn_arm_equals(const struct bn_arm *a, const struct bn_arm *b);
/* Executes the statement, then the run, which writes `document`.  -1: err has the sentence of what
   failed.  A run that was interrupted has failed too. */
int bn_arm_run(const struct bn_arm *arm, struct bn_children *c, const struct bn_arm_scratch *s,
               const char *document, struct bn_err *err);

#endif
