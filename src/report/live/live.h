/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A line on a terminal that shows once a second how a run goes. */
#ifndef BN_REPORT_LIVE_LIVE_H
#define BN_REPORT_LIVE_LIVE_H

#include "api/report.h"

/* Shows the time, the remaining time, and the rate, the greatest percentile, the errors and the
   waiting arrivals since the measurement began.  It has no file: the line is that of
   bn_log_progress(), which shows nothing if standard error is no terminal. */
extern const struct bn_reporter bn_reporter_live;

#endif
