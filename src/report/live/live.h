/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One line on a terminal that says once a second how a run goes. */
#ifndef BN_REPORT_LIVE_LIVE_H
#define BN_REPORT_LIVE_LIVE_H

#include "api/report.h"

/* Shows the time, the time that is left, and the rate, the first percentile and the errors since
   the measurement began.  It has no file: the line is that of bn_log_progress(), which shows
   nothing where standard error is no terminal. */
extern const struct bn_reporter bn_reporter_live;

#endif
