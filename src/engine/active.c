/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walks the pieces of a curve from the present one to the next crossing of a level. */
#include "engine/active.h"

#include <math.h>
#include <stdbool.h>

/* Returns the value of the curve s seconds after the begin of a piece, which is a line; before the
   piece and after it, the value is that of its begin or its end. */
static double active_value(const struct bn_rate_piece *piece, double s)
{
  if (s <= 0)
    return piece->start_rate;
  if (s >= piece->span_s)
    return piece->end_rate;
  return piece->start_rate + (piece->end_rate - piece->start_rate) * s / piece->span_s;
}

/* Returns the first time from at_s on at which the curve is at the level or above it, or below it;
   HUGE_VAL: never.  A curve may jump between its pieces, so that the begin of each piece is looked
   at too. */
static double active_find_time(const struct bn_profile *p, double level, bool is_above, double at_s)
{
  const struct bn_rate_piece *end = p->piece + p->n_pieces;

  for (const struct bn_rate_piece *piece = bn_rate_curve_find_piece(p->piece, p->n_pieces, at_s);
       piece < end; piece++) {
    const double s = fmax(0, at_s - piece->from_s);
    const double rise = piece->end_rate - piece->start_rate;

    if ((active_value(piece, s) >= level) == is_above)
      return piece->from_s + s;
    /* The line crosses the level after s, so that `rise` is not 0. */
    if (s < piece->span_s && (piece->end_rate >= level) == is_above)
      return piece->from_s + (level - piece->start_rate) / rise * piece->span_s;
  }
  return HUGE_VAL;
}

struct bn_active_span bn_active_find(const struct bn_profile *p, unsigned session, double at_s)
{
  /* The session is active while the curve, rounded as in bn_active_count, exceeds its index. */
  const double level = session + 0.5;
  struct bn_active_span span = {.from_s = active_find_time(p, level, true /* is_above */, at_s),
                                .until_s = HUGE_VAL};

  if (span.from_s < HUGE_VAL)
    span.until_s = active_find_time(p, level, false /* is_above */, span.from_s);
  return span;
}

unsigned bn_active_count(const struct bn_profile *p, double at_s)
{
  const struct bn_rate_piece *piece = bn_rate_curve_find_piece(p->piece, p->n_pieces, at_s);

  return (unsigned)(active_value(piece, at_s - piece->from_s) + 0.5);
}
