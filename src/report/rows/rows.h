/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports with one row of values (measure/row.h) for each interval, or for each run. */
#ifndef BN_REPORT_ROWS_ROWS_H
#define BN_REPORT_ROWS_ROWS_H

#include "api/report.h"

/* Intervals as they happen: RFC 4180 with a first row of names, and an object of JSON a line. */
extern const struct bn_reporter bn_reporter_csv, bn_reporter_jsonl;
/* One row for the run, at its end.  With a file: it is added to the rows of other runs in a single
   write(2) under a lock; the first one brings the names.  Else names and row go to `out`. */
extern const struct bn_reporter bn_reporter_csv_total;

#endif
