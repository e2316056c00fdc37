/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All reports; BN_REPORTERS() has the values of --report, and of --format in the subcommand
   `report`. */
#ifndef BN_REPORT_REPORTERS_H
#define BN_REPORT_REPORTERS_H

#include "api/report.h"

/* The human-readable report, in the wording of the reference version that the run speaks.  Prints
   on level NOTICE: nothing at all below --verbosity=3.  Every report is flushed.  `close` reports a
   write that failed, so that a full disk stops neither the run nor other reporters. */
extern const struct bn_reporter bn_reporter_text;
/* The result as a JSON document (measure/store.h).  With a file, the journal FILE.partial is
   appended to once a second.  At the end FILE is written and the journal removed; if FILE cannot be
   written, the journal stays.  Without a file, or with "-", the document goes to standard output,
   without a journal. */
extern const struct bn_reporter bn_reporter_json;
/* Rows of values (measure/row.h), one for each interval as it ends: RFC 4180 with a first row of
   names, and one JSON object per line. */
extern const struct bn_reporter bn_reporter_csv, bn_reporter_jsonl;
/* One row for the run when it ends.  With a file, the row is appended to the rows of other runs in
   a single write(2) under a lock, and the first run adds the names.  Without a file, names and row
   go to `out`. */
extern const struct bn_reporter bn_reporter_csv_total;
/* The totals of one run, or of several side by side, as a table for a discussion of them. */
extern const struct bn_reporter bn_reporter_markdown;
/* The latency histograms as an interval log of HdrHistogram, which its tools read. */
extern const struct bn_reporter bn_reporter_hdr;
/* The totals of a run as metrics for Prometheus: a file that is replaced when the run ends. */
extern const struct bn_reporter bn_reporter_openmetrics;

/* These are no values of --report. */

/* Writes the total of a part of a run as JSON, without a file: intervals of hours are large. */
extern const struct bn_reporter bn_reporter_json_total;
/* A line on a terminal that shows once a second how a run goes: the time, the remaining time, and
   the rate, the greatest percentile, the errors and the waiting arrivals since the measurement
   began.  It has no file: the line is that of bn_log_progress(), which shows nothing if standard
   error is no terminal. */
extern const struct bn_reporter bn_reporter_live;

/* Expands to X(name, struct bn_reporter) for each reporter in the order of the help, with SEP
   between two.  A name is a literal, so that the choices and the help of an option can be made of
   it. */
#define BN_REPORTERS(X, SEP)                                                                       \
  X("text", bn_reporter_text)                                                                      \
  SEP X("json", bn_reporter_json)                                                                  \
  SEP X("csv", bn_reporter_csv)                                                                    \
  SEP X("jsonl", bn_reporter_jsonl)                                                                \
  SEP X("csv-total", bn_reporter_csv_total)                                                        \
  SEP X("markdown", bn_reporter_markdown)                                                          \
  SEP X("hdr", bn_reporter_hdr)                                                                    \
  SEP X("openmetrics", bn_reporter_openmetrics)

#endif
