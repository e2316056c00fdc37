/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The latency histograms of a run as an interval log of HdrHistogram, which its tools read. */
#ifndef BN_REPORT_HDR_HDR_H
#define BN_REPORT_HDR_HDR_H

#include "api/report.h"

extern const struct bn_reporter bn_reporter_hdr;

#endif
