/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The grammar of a rate, or of a number of threads, that changes in time: "ramp:0..5000/60s;
   hold:5000/5m". */
#ifndef BN_OPTION_PROFILE_H
#define BN_OPTION_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/rate_curve.h"

/* A phase, as it is typed between semicolons. */
struct bn_profile_phase {
  char *text;               /* owned */
  double from_s, span_s;    /* from_s: since the phases began */
  double burst_s, period_s; /* of bursts: each period begins with one; else 0 */
};

/* The curve of a profile: events per second, or threads that are active. */
enum bn_profile_of { BN_PROFILE_NONE, BN_PROFILE_RATE, BN_PROFILE_THREADS };

/* All zero: none. */
struct bn_profile {
  enum bn_profile_of of;
  struct bn_rate_piece *piece; /* owned; the pieces of all phases, with their sums */
  size_t n_pieces;
  struct bn_profile_phase *phase; /* owned */
  size_t n_phases;
  double lead_s, span_s; /* before the phases, and of all phases */
  double most;           /* the greatest value of the curve */
  bool has_trace;
};

enum {
  BN_PROFILE_PIECES = 1000000, /* the most pieces of a profile */
  BN_PROFILE_PHASES = 32,      /* the most phases: reports have a histogram for each */
  BN_PROFILE_WRONG = 384       /* bytes of the sentence of bn_profile_parse */
};

/* Reads a profile; the files of traces are read too.  For lead_s seconds before the phases, the
   curve has the value with which they begin.  Numbers of threads are whole.  Returns 0, or -1 and
   in `message` the phase, its column, and what is wrong there; *out is then all zero, but for
   has_trace, which tells whether the phase is a trace. */
int bn_profile_parse(const char *text, enum bn_profile_of kind, double lead_s,
                     struct bn_profile *out, char message[BN_PROFILE_WRONG]);
/* Frees what the profile owns, and makes it all zero. */
void bn_profile_done(struct bn_profile *p);

#endif
