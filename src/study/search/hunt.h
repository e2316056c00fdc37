/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The search for the highest value (a rate, a number of threads) that keeps a goal: it is told what
   each probe found, and says what to probe next, or the answer.

   The goal is taken to be monotone: what holds at a value holds at each lower one.  The first probe
   of a rate is half of the capacity.  Then each probe halves, or better, the ratio of the lowest
   value that did not hold to the highest that did.  If probes have a score, which grows with the
   value and is 0 at the limit, the next value lies beside the zero of the line through the two
   scores (regula falsi; Dowell and Jarratt 1971, "A modified regula falsi method for computing the
   root of an equation", BIT 11); if that did not halve the ratio, it is their geometric mean
   (bisection).  When the ratio is at most 1 + precision, the highest value that held is probed
   again, for the longest time.  If it does not hold then, a value that is lower by the precision is
   probed in the same way.

   Pure. */
#ifndef BN_STUDY_HUNT_H
#define BN_STUDY_HUNT_H

#include <stdbool.h>
#include <stddef.h>

#include "study/stats/batch.h"

enum { BN_HUNT_PROBES_MIN = 4, BN_HUNT_PROBES_MAX = 64 };

struct bn_hunt_plan {
  double min, max;       /* values to try; max 0: no bound */
  double precision;      /* 0.03: 3 % */
  bool whole;            /* values are whole numbers, and there is no capacity */
  double time_s, most_s; /* of a probe, at first and at most */
  unsigned probes;       /* at most, with the one of the capacity and the confirming ones */
};

enum bn_hunt_purpose { BN_PROBE_CAPACITY, BN_PROBE_STEP, BN_PROBE_LONGER, BN_PROBE_CONFIRM };

struct bn_hunt_probe {
  enum bn_hunt_purpose purpose;
  double value; /* 0: of the capacity */
  double time_s;
};

/* What a probe found. */
struct bn_hunt_found {
  double value;              /* as probed; of the capacity, what was reached */
  enum bn_decision decision; /* BN_UNDECIDED: it was too short */
  bool holds;                /* what to believe if no probe decides */
  double score;              /* NAN: unknown; of the capacity, what is expected there */
  double longer;             /* as in struct bn_judged */
};

enum bn_hunt_state {
  BN_HUNT_RUNS,  /* `next` is to be probed */
  BN_HUNT_FOUND, /* `answer` has been confirmed */
  BN_HUNT_NONE,  /* not even the lowest value holds */
  BN_HUNT_SPENT  /* the probes are used up, and nothing is confirmed */
};

/* All members may be read. */
struct bn_hunt {
  struct bn_hunt_plan plan;
  enum bn_hunt_state state;
  struct bn_hunt_probe next;
  double answer;
  double held, failed; /* the highest value that held, the lowest above it that did not; 0: none */
  double capacity;     /* 0: unknown */
  struct bn_hunt_found found[BN_HUNT_PROBES_MAX];
  size_t n;
  /* Private. */
  double expected, probe_s, ratio[2];
};

void bn_hunt_begin(struct bn_hunt *h, const struct bn_hunt_plan *plan);
void bn_hunt_tell(struct bn_hunt *h, const struct bn_hunt_found *found);

#endif
