/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a search has found: a row for each probe, the table, the answer. */
#ifndef BN_STUDY_SEARCHED_H
#define BN_STUDY_SEARCHED_H

#include "api/store.h"
#include "base/buf.h"
#include "measure/result.h"
#include "study/search/goal.h"
#include "study/search/hunt.h"

struct bn_searched_row {
  struct bn_hunt_probe probe; /* with the value that the capacity turned out to be */
  bool closed;                /* without --rate: the goal is not judged */
  bool overload;              /* it ended early, or could not keep up */
  bool holds, decided;
  int status; /* exit status */
  double rate, avg_s, p50_s, p95_s, p99_s, errors;
  double figure[BN_GOALS_MAX]; /* of each condition, in its unit; NAN: not measured */
};

struct bn_searched {
  const struct bn_goal *goal;
  const char *unit;  /* "/s", " threads" */
  const char *what;  /* "rate", "threads" */
  const char *title; /* "rate", "number of threads" */
  struct bn_searched_row row[BN_HUNT_PROBES_MAX];
  size_t n;
  struct bn_buf csv; /* owned */
};

/* NULL: out of memory.  The goal is borrowed. */
struct bn_searched *bn_searched_new(const struct bn_goal *goal, bool threads);
void bn_searched_free(struct bn_searched *s);
/* Adds a probe whose goal was judged as `found` says, with its line of table.csv.  The result may
   have no total.  0, or -1: out of memory. */
int bn_searched_add(struct bn_searched *s, const struct bn_searched_row *row,
                    const struct bn_result *r, const struct bn_goal_found *found);
/* "probe 3: rate 1200/s, 20 s: p99 12.3 ms, errors 0 %: kept" of the last row, added to out. */
void bn_searched_line(const struct bn_searched *s, struct bn_buf *out);
/* Adds the table in the order of values, and what follows from it.  `h`: as the search ended. */
void bn_searched_print(const struct bn_searched *s, const struct bn_hunt *h, struct bn_buf *out);
/* The same as a document, version 1; what is not known is null:

     {"format": "bench search", "version": 1, "goal": …, "over": …, "answer": …, "decided": …,
      "broken_at": …, "capacity_per_s": …, "knee": …,
      "probes": [{"purpose": …, "value": …, "time_s": …, "status": …, "goal": …, "overload": …,
                  "events_per_s": …, "avg_s": …, "p50_s": …, "p95_s": …, "p99_s": …, "errors": …,
                  "conditions": [{"text": …, "value": …, "unit": …}]}]}

   NULL: out of memory. */
struct bn_node *bn_searched_document(const struct bn_store *js, const struct bn_searched *s,
                                     const struct bn_hunt *h);

#endif
