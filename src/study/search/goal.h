/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A goal, such as "p99<20ms,errors<0.1%": several conditions in the grammar of measure/assert.h,
   and whether a stored result keeps all of them.

   A percentile, the median, the mean of a latency, the share of errors and rates are judged by
   study/stats/batch.h, with the intervals of the result as batches: pN < T holds if at most 100 - N
   percent of the events took T or longer.  Other figures, and the latencies of statements, are of
   the whole run, and their value alone decides. */
#ifndef BN_STUDY_GOAL_H
#define BN_STUDY_GOAL_H

#include "base/buf.h"
#include "measure/assert.h"
#include "measure/result.h"
#include "study/stats/batch.h"

enum { BN_GOALS_MAX = 16 };

struct bn_goal {
  struct bn_assert condition[BN_GOALS_MAX];
  size_t n;
  const char *typed; /* borrowed */
  char *text;        /* owned; the conditions' */
};

struct bn_goal_found {
  enum bn_decision decision;               /* BN_HOLDS: all do; BN_VIOLATED: one is */
  bool holds;                              /* by the values alone */
  double score;                            /* the largest of bn_batch_score(); NAN: unknown */
  double longer;                           /* as in struct bn_judged */
  struct bn_finding finding[BN_GOALS_MAX]; /* of the total; `holds` is by the value alone */
};

/* -1: err names the condition and what is wrong with it.  bn_goal_done() is to be called in either
   case. */
int bn_goal_parse(struct bn_goal *g, const char *text, struct bn_err *err);
void bn_goal_done(struct bn_goal *g);
/* -1: err says what the result lacks. */
int bn_goal_judge(const struct bn_goal *g, const struct bn_result *r, struct bn_goal_found *out,
                  struct bn_err *err);
/* The score where every event is too slow; NAN: unknown. */
double bn_goal_worst_score(const struct bn_goal *g);
/* Adds what a run may assert in order to end early, because the backlog grows: each is violated in
   a second in which the median is above four times the limit of a higher percentile.  "": nothing.
   Separated by commas. */
void bn_goal_abort(const struct bn_goal *g, struct bn_buf *out);

#endif
