/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A rate, or another number, that changes linearly in pieces: its integral over time, and the
   inverse of that. */
#ifndef BN_BASE_RATE_CURVE_H
#define BN_BASE_RATE_CURVE_H

#include <stddef.h>

/* The rate goes from start_rate to end_rate (events/s, not negative) in span_s.  The last piece
   goes on with its end_rate for ever. */
struct bn_rate_piece {
  double start_rate, end_rate, span_s;
  double from_s, from_mass; /* sums of the pieces before it; set by bn_rate_curve_sum */
};

/* Sets from_s and from_mass of each piece.  The mass is the integral of the rate: the number of
   events to be expected. */
void bn_rate_curve_sum(struct bn_rate_piece *piece, size_t n);
/* Returns the mass from the beginning up to the time s; 0 for s <= 0.  This function and the next
   one, by bisection of the n >= 1 pieces, take about log2(n) steps. */
double bn_rate_curve_mass(const struct bn_rate_piece *piece, size_t n, double s);
/* Returns the time at which the mass is reached, or infinity if it never is. */
double bn_rate_curve_time(const struct bn_rate_piece *piece, size_t n, double mass);
/* Returns the piece that the time s >= 0 is in; where two pieces meet, the later one. */
const struct bn_rate_piece *bn_rate_curve_find_piece(const struct bn_rate_piece *piece, size_t n,
                                                     double s);

#endif
