/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the piece by bisection of the sums, and solves a quadratic equation within it. */
#include "base/rate_curve.h"

#include <math.h>

static double rate_piece_mass(const struct bn_rate_piece *p)
{
  return (p->start_rate + p->end_rate) / 2 * p->span_s;
}

void bn_rate_curve_sum(struct bn_rate_piece *piece, size_t n)
{
  double s = 0, mass = 0;

  for (size_t i = 0; i < n; i++) {
    piece[i].from_s = s;
    piece[i].from_mass = mass;
    s += piece[i].span_s;
    mass += rate_piece_mass(&piece[i]);
  }
}

/* Returns the last piece that begins before the value, or else the first piece.  `key` is the
   offset of from_s if the value is a time, and that of from_mass if it is a mass. */
static const struct bn_rate_piece *rate_curve_bisect(const struct bn_rate_piece *piece, size_t n,
                                                     size_t key, double value)
{
  size_t low = 0, high = n;

  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    const double *begin = (const void *)((const char *)&piece[middle] + key);

    if (*begin < value)
      low = middle;
    else
      high = middle;
  }
  return &piece[low];
}

const struct bn_rate_piece *bn_rate_curve_find_piece(const struct bn_rate_piece *piece, size_t n,
                                                     double s)
{
  const struct bn_rate_piece *p =
      rate_curve_bisect(piece, n, offsetof(struct bn_rate_piece, from_s), s);

  /* The bisection stops before the pieces that begin at s itself, of which the last is returned.
     There are several if some have no length. */
  while (p + 1 < piece + n && p[1].from_s <= s)
    p++;
  return p;
}

/* The rate is linear within a piece, and stays at its last value after the last piece. */
double bn_rate_curve_mass(const struct bn_rate_piece *piece, size_t n, double s)
{
  const struct bn_rate_piece *p;

  if (s <= 0)
    return 0;
  p = rate_curve_bisect(piece, n, offsetof(struct bn_rate_piece, from_s), s);
  s -= p->from_s;
  if (s > p->span_s) /* also for a piece without a length, by which nothing may be divided */
    return p->from_mass + rate_piece_mass(p) + p->end_rate * (s - p->span_s);
  return p->from_mass + p->start_rate * s + (p->end_rate - p->start_rate) * s * s / (2 * p->span_s);
}

/* Returns the time within a piece at which its mass is `mass` > 0: the mass divided by the mean of
   the start rate and of the rate at that time, whose square is start_rate^2 + 2 slope mass.  In
   this form, nothing cancels if the rate is constant.  If end_rate is 0, rounding may make the
   square negative for the last mass. */
static double rate_piece_time(const struct bn_rate_piece *p, double mass)
{
  const double slope = (p->end_rate - p->start_rate) / p->span_s;
  const double square = fmax(0, p->start_rate * p->start_rate + 2 * slope * mass);

  return 2 * mass / (p->start_rate + sqrt(square));
}

double bn_rate_curve_time(const struct bn_rate_piece *piece, size_t n, double mass)
{
  const struct bn_rate_piece *p = piece;
  double piece_mass;

  /* A rate that never changes is one piece without a length.  This case is the most frequent by
     far, and is decided for each arrival. */
  if (n == 1 && p->span_s <= 0)
    return mass / p->end_rate;
  if (mass <= 0)
    return 0;
  p = rate_curve_bisect(piece, n, offsetof(struct bn_rate_piece, from_mass), mass);
  piece_mass = rate_piece_mass(p);
  mass -= p->from_mass;
  if (mass <= piece_mass)
    return p->from_s + rate_piece_time(p, mass);
  if (p + 1 == piece + n)
    return p->from_s + p->span_s + (mass - piece_mass) / p->end_rate;
  /* The sums are rounded, so that a mass may lie between two pieces. */
  return p[1].from_s;
}
