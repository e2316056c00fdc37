/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The human-readable report, in the wording of the reference version that the run speaks. */
#ifndef BN_REPORT_TEXT_TEXT_H
#define BN_REPORT_TEXT_TEXT_H

#include "api/report.h"

/* Prints on level NOTICE: nothing at all below --verbosity=3.  Every report is flushed.  `close`
   reports a write that failed, so that a full disk stops neither the run nor other reporters. */
extern const struct bn_reporter bn_reporter_text;

#endif
