/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The course of a sweep: makes the runs that are not done yet, one after the other, and tells how
   far it is. */
#ifndef BN_STUDY_COURSE_H
#define BN_STUDY_COURSE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "measure/assert.h"
#include "measure/store.h"
#include "study/child.h"
#include "study/invocation.h"
#include "study/sweep/folder.h"
#include "study/sweep/tally.h"

/* What is pointed at is borrowed. */
struct bn_course {
  const struct bn_store *js;
  const struct bn_folder *folder;
  const struct bn_invocation *command;
  const struct bn_assert *stop; /* NULL: no --stop-when */
  struct bn_tally *tally;
  struct bn_children *children; /* after bn_children_begin() */
  double warmup_s, cooldown_s;  /* warmup_s < 0: as the command line has it */
  bool prepare, cleanup;
};

/* Takes the results that are there.  -1: out of memory. */
int bn_course_resume(struct bn_course *c, struct bn_err *err);
/* Makes the other runs.  -1 and err: it cannot go on.  A signal ends it (children.signo). */
int bn_course_go(struct bn_course *c, struct bn_err *err);

#endif
