/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The data that a sweep prepares for its runs: which there are, and when others are needed.

   DIR/data.json says what was prepared, so that a sweep that was killed can clean it up:
   {"format": "bench sweep data", "version": 1, "point": N, "whole": BOOL}; whole: `prepare` has
   ended well. */
#ifndef BN_STUDY_DATA_H
#define BN_STUDY_DATA_H

#include <stddef.h>

#include "study/child.h"
#include "study/invocation.h"
#include "study/sweep/folder.h"

/* All is borrowed. */
struct bn_data {
  const struct bn_store *js;
  const struct bn_folder *folder;
  const struct bn_invocation *command;
  const struct bn_grid *grid;
  struct bn_children *children;
};

/* Marks the options that change the data: all but general options of bench, and those that a test
   or its script declares to keep the data (BN_OPT_KEEPS_DATA), which a child process tells.  g:
   that of d. */
int bn_data_mark(const struct bn_data *d, struct bn_grid *g, struct bn_err *err);
/* Has the data of a point: cleans up others and prepares them where needed.  Only what the sweep
   has prepared is cleaned up.  1 and err: they could not be prepared.  -1 and err: nor can others;
   also when a signal came. */
int bn_data_have(const struct bn_data *d, size_t point, struct bn_err *err);
/* Cleans up what there is. */
int bn_data_drop(const struct bn_data *d, struct bn_err *err);

#endif
