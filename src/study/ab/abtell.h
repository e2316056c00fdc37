/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a study of two sides by pairs has found, as text and as a document.

   Document, version 1:

     {"format": "bench ab", "version": 1,
      "metric": NAME, "unit": TEXT, "better": TEXT,     "more", "less"
      "same": X,                     0.05: sides that differ by less than 5 % are the same
      "seed": N,                     of the order of the runs
      "sides": {"a": SIDE, "b": SIDE},
      "rounds": [{"order": [TEXT],   "a", "b" and "aa", which is the second run of side A
                  "a": X, "b": X, "aa": X,          the metric
                  "repeated": BOOL}],               a run of it failed at first
      "looks": [{"pairs": N, "level": X,            one-sided level of the intervals
                 "a": X, "b": X,                    geometric means
                 "b_a": INTERVAL, "aa_a": INTERVAL, B against A, A against itself
                 "steady": BOOL, "verdict": TEXT}],
      "verdict": TEXT,               "same", "equal", "worse", "better", "cannot tell"; null: the
   study has not ended, or was interrupted, or a run failed "signal": N}                   that
   interrupted it; 0: none

   SIDE: {"command": [TEXT], "statement": TEXT or null}, without secrets.
   INTERVAL: {"ratio": X, "low": X, "high": X, "noise": X}; noise is the standard deviation of the
   logarithm of one ratio. */
#ifndef BN_STUDY_ABTELL_H
#define BN_STUDY_ABTELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "measure/store.h"
#include "study/ab/arm.h"
#include "study/figure.h"
#include "study/stats/sequential.h"

enum { BN_AB_A, BN_AB_B, BN_AB_AGAIN, BN_AB_ARMS };

struct bn_ab_round {
  unsigned order[BN_AB_ARMS]; /* which arm runs first, second, third */
  double value[BN_AB_ARMS];
  bool repeated;
};

struct bn_ab {
  const struct bn_figure_name *metric;
  double same;
  uint64_t seed;
  const struct bn_arm *side; /* A and B */
  struct bn_ab_round round[BN_LOOKS_PAIRS];
  size_t n_rounds;
  struct bn_look look[BN_LOOKS];
  double level[BN_LOOKS];
  size_t n_looks;
  bool ended; /* there is a verdict */
  int signo;
};

extern const char *const bn_ab_names[BN_AB_ARMS]; /* "a", "b", "aa" */

/* One line without its newline: what a round has measured. */
void bn_ab_tell_round(const struct bn_ab *ab, char *out, size_t size);
void bn_ab_print(const struct bn_ab *ab, struct bn_buf *out);
/* NULL: out of memory. */
struct bn_node *bn_ab_document(const struct bn_store *js, const struct bn_ab *ab);

#endif
