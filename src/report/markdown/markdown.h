/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The totals of one run, or of several side by side, as a table for a discussion of them. */
#ifndef BN_REPORT_MARKDOWN_MARKDOWN_H
#define BN_REPORT_MARKDOWN_MARKDOWN_H

#include "api/report.h"

extern const struct bn_reporter bn_reporter_markdown;

#endif
