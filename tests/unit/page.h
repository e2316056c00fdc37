/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A text report written to memory, and a view to fill, for the tests of the report. */
#ifndef BN_TESTS_UNIT_PAGE_H
#define BN_TESTS_UNIT_PAGE_H

#include <stdint.h>
#include <stdio.h>

#include "api/report.h"
#include "measure/facts.h"
#include "measure/view.h"

/* A reporter that writes to memory, with a view to fill. */
struct bn_page {
  struct bn_facts facts;
  struct bn_plan *plan; /* of the facts */
  void *state;
  FILE *out;
  char *text;
  size_t len, seen;
  uint64_t counter[BN_C_FIXED + 1];
  double percents[8], percentiles[8];
  struct bn_snap delta; /* has `counter` and, for tests that set them, metrics */
  struct bn_view view;
};

/* Makes a page of one thread, the 95th percentile and one second; all else is 0. */
struct bn_page *bn_page_new(enum bn_version version, enum bn_kind kind);
/* Closes the reporter, which must find no error, and frees the page. */
void bn_page_free(struct bn_page *p);

/* Checks that exactly `text` was printed since the last call, and that it was flushed. */
void bn_page_expect(struct bn_page *p, const char *text);

void bn_page_begin(struct bn_page *p);
void bn_page_skip_header(struct bn_page *p); /* begins; the header is not compared */
void bn_page_interval(struct bn_page *p);
void bn_page_checkpoint(struct bn_page *p);
void bn_page_total(struct bn_page *p);

/* In milliseconds, as the reports show them; the last is the value of the first percentile. */
void bn_page_set_latency(struct bn_page *p, double min, double avg, double max, double sum,
                         double rank);
void bn_page_set_fairness(struct bn_page *p, double events, double events_dev, double time,
                          double time_dev);
void bn_page_set_queries(struct bn_page *p, uint64_t reads, uint64_t writes, uint64_t other,
                         uint64_t errors);

#endif
