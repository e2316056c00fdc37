/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Drives a reporter with results, as the runs did that they came from. */
#ifndef BN_MEASURE_REPLAY_H
#define BN_MEASURE_REPLAY_H

#include <stdbool.h>
#include <stdio.h>

#include "api/report.h"
#include "measure/result.h"

struct bn_replay;

/* Without options, into `out`.  err stays valid until bn_replay_close(): it gets what goes wrong.
   NULL: it has. */
struct bn_replay *bn_replay_open(const struct bn_reporter *ops, FILE *out, struct bn_err *err);
/* The standard reports, also where a script's hooks had printed others.  Several results need a
   reporter that joins them.  0 or -1. */
int bn_replay_result(struct bn_replay *p, const struct bn_result *r);
/* complete: nothing has failed.  0 or -1. */
int bn_replay_close(struct bn_replay *p, bool complete);

#endif
