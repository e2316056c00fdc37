/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The subcommand `report`: prints results that were saved. */
#ifndef BN_REPORT_SAVED_H
#define BN_REPORT_SAVED_H

#include "api/opt.h"
#include "base/err.h"
#include "measure/store.h"

struct bn_saved_conf {
  int format;    /* index into the choices of --format */
  uint64_t most; /* bytes of a document */
};

extern const struct bn_opt bn_saved_options[];

/* Says which lines of a damaged journal were passed over, if any. */
void bn_saved_warn_skipped(const char *path, const struct bn_skipped_lines *p);
/* Implements `run` of struct bn_subcommand. */
int bn_saved_run(const void *conf, const char *const *operand, struct bn_err *err);

#endif
