/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The totals of a run as metrics for Prometheus: a file that is replaced when the run ends. */
#ifndef BN_REPORT_OPENMETRICS_OPENMETRICS_H
#define BN_REPORT_OPENMETRICS_OPENMETRICS_H

#include "api/report.h"

extern const struct bn_reporter bn_reporter_openmetrics;

#endif
