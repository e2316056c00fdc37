/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The subcommand `report`: prints results that were saved. */
#ifndef BN_REPORT_SAVED_H
#define BN_REPORT_SAVED_H

#include "api/opt.h"
#include "base/err.h"

struct bn_saved_conf {
  int format; /* index into the choices of --format */
};

extern const struct bn_opt bn_saved_options[];

/* struct bn_subcommand's run. */
int bn_saved_run(const void *conf, const char *const *operand, struct bn_err *err);

#endif
