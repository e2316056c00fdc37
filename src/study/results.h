/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files of results that an operand of a study names: one, or those of a folder. */
#ifndef BN_STUDY_RESULTS_H
#define BN_STUDY_RESULTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "measure/store.h"

enum { BN_RESULTS_MAX = 10000 };

/* All zero is none. */
struct bn_results {
  char **path; /* owned, with the paths */
  size_t n;
  bool folder; /* the operand is a folder */
};

/* Of a folder, the regular files called *.json in it, and then those in its folder runs/, as bench
   sweep has one; each in the order of their names, numbers by size.  There may be none.  -1: err
   names what cannot be read.  bn_results_done() in any case. */
int bn_results_find(struct bn_results *out, const char *operand, struct bn_err *err);
void bn_results_done(struct bn_results *r);
bool bn_results_is_folder(const char *path);

/* Loads a result.  1: it is there; 0: a whole document that says that it is something else, such as
   the table.json of a sweep; -1: err says why it cannot be read.  After 0, too, err says why. The
   caller releases what was loaded.  totals: as bn_store_load_totals(). */
int bn_results_load(const struct bn_store *js, const char *path, bool totals, struct bn_stored *out,
                    struct bn_err *err);

#endif
