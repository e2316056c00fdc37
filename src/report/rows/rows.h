/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports with one row of values (measure/row.h) for each interval, or for each run. */
#ifndef BN_REPORT_ROWS_ROWS_H
#define BN_REPORT_ROWS_ROWS_H

#include "api/report.h"

/* Print intervals as they end: RFC 4180 with a first row of names, and one JSON object per line. */
extern const struct bn_reporter bn_reporter_csv, bn_reporter_jsonl;
/* Prints one row for the run when it ends.  With a file, the row is appended to the rows of other
   runs in a single write(2) under a lock, and the first run adds the names.  Without a file, names
   and row go to `out`. */
extern const struct bn_reporter bn_reporter_csv_total;

#endif
