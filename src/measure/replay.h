/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Drives a reporter with a result, as the run did that it came from. */
#ifndef BN_MEASURE_REPLAY_H
#define BN_MEASURE_REPLAY_H

#include <stdio.h>

#include "api/report.h"
#include "measure/result.h"

/* The standard reports, also where a script's hooks had printed others.  0, or -1 and err. */
int bn_result_replay(const struct bn_result *r, const struct bn_reporter *ops, FILE *out,
                     struct bn_err *err);

#endif
