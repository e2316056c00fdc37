/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All reports: the values of --report, and of --format in the subcommand `report`. */
#ifndef BN_REPORT_REPORTERS_H
#define BN_REPORT_REPORTERS_H

#include "report/hdr/hdr.h"
#include "report/json/json.h"
#include "report/markdown/markdown.h"
#include "report/openmetrics/openmetrics.h"
#include "report/rows/rows.h"
#include "report/text/text.h"

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
