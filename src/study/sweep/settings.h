/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DIR/study.json (study/sweep/folder.h): what a sweep was asked to do, and whether that is the
 * same. */
#ifndef BN_STUDY_SETTINGS_H
#define BN_STUDY_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "study/invocation.h"
#include "study/sweep/folder.h"
#include "study/sweep/sweep.h"

/* All is borrowed. */
struct bn_settings {
  const struct bn_sweep_conf *conf;
  const struct bn_grid *grid;
  const struct bn_invocation *command;
};

/* Of a folder that has a study already, which is to be gone on with: compares, and sets the seed.
   1: it is the same; 0: the folder has none; -1: err names what differs, or says that the folder
   has one and the sweep does not resume it. */
int bn_settings_check(const struct bn_settings *s, const struct bn_folder *f,
                      const struct bn_store *js, uint64_t *seed, struct bn_err *err);
/* Writes it for a new study. */
int bn_settings_write(const struct bn_settings *s, const struct bn_folder *f,
                      const struct bn_store *js, uint64_t seed, const size_t *order, size_t n_runs,
                      struct bn_err *err);
/* Makes the folder one without a study. */
void bn_settings_remove(const struct bn_folder *f);

#endif
