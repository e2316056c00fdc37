/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walks the pieces of a curve from the present one to the next crossing of a level. */
#include "engine/active.h"

#include <math.h>

/* Returns the value of the curve s seconds after the begin of a piece. */
static double active_value(const struct bn_rate_piece *p, double s)
{
  if (s <= 0)
    return p->start_rate;
  return s < p->span_s ? p->start_rate + (p->end_rate - p->start_rate) * s / p->span_s
                       : p->end_rate;
}

/* Returns the first time from at_s on at which the curve is at the level or above it (up), or below
   it. */
static double active_cross(const struct bn_profile *p, double level, bool up, double at_s)
{
  const struct bn_rate_piece *end = p->piece + p->n_pieces;

  for (const struct bn_rate_piece *c = bn_rate_curve_at(p->piece, p->n_pieces, at_s); c < end;
       c++) {
    const double s = fmax(0, at_s - c->from_s);

    if ((active_value(c, s) >= level) == up)
      return c->from_s + s;
    if (s < c->span_s && (c->end_rate >= level) == up)
      return c->from_s + (level - c->start_rate) / (c->end_rate - c->start_rate) * c->span_s;
  }
  return HUGE_VAL;
}

struct bn_active_span bn_active_find(const struct bn_profile *p, unsigned session, double at_s)
{
  const double level = session + 0.5; /* bn_active_count rounds to the nearest number too */
  struct bn_active_span span = {.from_s = active_cross(p, level, true, at_s), .until_s = HUGE_VAL};

  if (span.from_s < HUGE_VAL)
    span.until_s = active_cross(p, level, false, span.from_s);
  return span;
}

unsigned bn_active_count(const struct bn_profile *p, double at_s)
{
  const struct bn_rate_piece *c = bn_rate_curve_at(p->piece, p->n_pieces, at_s);

  return (unsigned)(active_value(c, at_s - c->from_s) + 0.5);
}
