/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a figure of a run is on the right side of its limit, or the run was too short to tell.

   The figure is a ratio of sums, num / den, over successive batches of the run: the share of events
   slower than a limit (p99 < 20 ms holds if at most 1 % are not below 20 ms), the share of errors,
   a mean.  Its interval is that of batch means (Conway 1963, "Some Tactical Problems in Digital
   Simulation", Management Science 10; Law and Kelton, "Simulation Modeling and Analysis", 9.5.3)
   with the variance of a ratio (Cochran 1977, "Sampling Techniques", 6.3) and Student's t.
   Successive events are not independent: batches are joined in pairs while von Neumann's ratio
   finds, at the 5 % level, that neighbours are alike (Fishman 1978, "Grouping Observations in
   Digital Simulation", Management Science 24).  The variance of a share is that of independent
   events at the limit or at the share, whichever is larger (Wilson 1927, "Probable Inference, the
   Law of Succession, and Statistical Inference", Journal of the American Statistical Association
   22), times the design effect, which is the variance seen between batches divided by that of
   independent events, and at least 1 (Kish 1965, "Survey Sampling", 8.2).  So a few events without
   a slow one decide nothing.  test_batch.c measures how often a run exactly at the limit is judged
   to be beside it: 2 % for independent events, 5 % and 7 % for M/M/1 queues at utilizations of 0.3
   and 0.6, and at 0.9 20 % where the run has a few bursts of slow events only, 6 % with ten times
   as many events.

   Pure. */
#ifndef BN_STUDY_BATCH_H
#define BN_STUDY_BATCH_H

#include <stdbool.h>
#include <stddef.h>

/* More batches than the most are joined; fewer than the least decide nothing. */
enum { BN_BATCHES_MAX = 20, BN_BATCHES_MIN = 5 };

struct bn_batch {
  double num, den;
};

struct bn_bound {
  double at;
  bool below; /* which side is the right one; at the limit itself is right */
  bool share; /* num counts some of what den counts */
};

enum bn_decision { BN_UNDECIDED, BN_HOLDS, BN_VIOLATED };

struct bn_judged {
  double value, error;       /* the ratio and its standard error; of no events 0 */
  double events;             /* what it is a share or mean of */
  size_t batches;            /* after joining */
  enum bn_decision decision; /* at 95 % of confidence: 2.5 % on either side */
  bool holds;                /* by the value alone */
  double longer; /* undecided: a run so many times as long is about to decide; at least 1 */
};

void bn_batch_judge(const struct bn_batch *batch, size_t n, const struct bn_bound *limit,
                    struct bn_judged *out);
/* How far the value of a share is on the wrong side, as the logarithm of its ratio to the limit;
   less than 0: on the right one.  NAN: the limit is no share, or none or all. */
double bn_batch_score(const struct bn_judged *j, const struct bn_bound *limit);

#endif
