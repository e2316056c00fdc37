/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Brackets, narrows and confirms. */
#include "study/search/hunt.h"

#include <math.h>

/* A value that fails is followed by one that is lower by at most this. */
static const double steepest = 8;
/* Whoever probes may round values to six digits. */
static const double rounding = 1e-5;

/* Probes that are kept for confirming: one, and one more at a lower value. */
enum { RESERVED = 2 };

struct point {
  double value, score;
};

void bn_hunt_begin(struct bn_hunt *h, const struct bn_hunt_plan *plan)
{
  *h = (struct bn_hunt){.plan = *plan, .probe_s = plan->time_s, .expected = NAN};
  h->ratio[0] = h->ratio[1] = HUGE_VAL;
  h->next = plan->whole ? (struct bn_hunt_probe){BN_PROBE_STEP, plan->min, plan->time_s}
                        : (struct bn_hunt_probe){BN_PROBE_CAPACITY, 0, plan->time_s};
}

/* --- the next value --------------------------------------------------------------------------- */

static double score_at(const struct bn_hunt *h, double value)
{
  for (size_t i = h->n; i-- > 0;)
    if (h->found[i].value == value)
      return h->found[i].score;
  return NAN;
}

/* The lowest that fails above the held one: measured, or else the capacity. */
static struct point above(const struct bn_hunt *h)
{
  if (h->failed > 0)
    return (struct point){h->failed, score_at(h, h->failed)};
  return (struct point){h->capacity, h->expected};
}

/* The next one above `value` that is far enough for the slope to be more than noise, or else the
   capacity; value 0: there is none. */
static struct point far_above(const struct bn_hunt *h, double value)
{
  static const double far = 1.1;
  struct point p = {h->capacity, h->expected};

  for (size_t i = 0; i < h->n; i++)
    if (h->found[i].value > value * far && h->found[i].value < p.value)
      p = (struct point){h->found[i].value, h->found[i].score};
  return p.value > value ? p : (struct point){0, NAN};
}

/* Where the line through both is 0; NAN: nowhere useful. */
static double zero_between(struct point a, struct point b)
{
  const double slope = (b.score - a.score) / (b.value - a.value);

  return isfinite(slope) && slope > 0 ? a.value - a.score / slope : NAN;
}

static double within(double value, double least, double most)
{
  return fmin(fmax(value, least), most);
}

/* Below a value that failed when nothing has held yet. */
static double step_down(const struct bn_hunt *h)
{
  const struct point p = above(h), higher = far_above(h, p.value);
  const double zero = higher.value > 0 ? zero_between(p, higher) : NAN;
  const double guess = isfinite(zero) ? zero * (1 - h->plan.precision / 2) : p.value / 4;

  return fmax(within(guess, p.value / steepest, p.value / (1 + h->plan.precision / 2)),
              h->plan.min);
}

/* Above a value that held when nothing above it is known to fail. */
static double step_up(const struct bn_hunt *h)
{
  double next = h->held * 2;

  if (h->capacity > h->held)
    next = h->capacity;
  else if (h->capacity > 0)
    next = h->held * (1 + h->plan.precision);
  return h->plan.max > 0 ? fmin(next, h->plan.max) : next;
}

/* Between the bracket's ends: beside the zero of the scores, or where the bracket becomes narrow if
   the goal is kept there or not, as the zero says. */
static double step_between(struct bn_hunt *h)
{
  const struct point low = {h->held, score_at(h, h->held)}, high = above(h);
  const double ratio = high.value / low.value, narrow = 1 + h->plan.precision;
  const double zero = zero_between(low, high);
  const bool slow = log(ratio) * 2 > log(h->ratio[1]);

  h->ratio[1] = h->ratio[0];
  h->ratio[0] = ratio;
  if (slow || !isfinite(zero) || low.score > 0 || high.score < 0)
    return sqrt(low.value * high.value);
  if (zero <= low.value * narrow)
    return low.value * narrow;
  return fmin(zero * (1 - h->plan.precision / 2), high.value / narrow);
}

static double next_value(struct bn_hunt *h)
{
  double next;

  if (h->n == 1 && h->capacity > 0)
    return within(h->capacity / 2, h->plan.min, h->plan.max > 0 ? h->plan.max : HUGE_VAL);
  if (h->held == 0)
    next = step_down(h);
  else if (h->failed == 0 && (h->capacity <= h->held * (1 + h->plan.precision)))
    next = step_up(h);
  else
    next = step_between(h);
  if (h->plan.max > 0)
    next = fmin(next, h->plan.max);
  return h->plan.whole ? within(round(next), h->held + 1, h->failed > 0 ? h->failed - 1 : HUGE_VAL)
                       : next;
}

/* --- what follows a probe --------------------------------------------------------------------- */

static void confirm(struct bn_hunt *h, double value)
{
  h->next = (struct bn_hunt_probe){BN_PROBE_CONFIRM, value, h->plan.most_s};
}

static bool is_narrow(const struct bn_hunt *h)
{
  if (h->plan.max > 0 && h->held >= h->plan.max)
    return true;
  if (h->failed == 0)
    return false;
  return h->failed <= h->held * (1 + h->plan.precision) * (1 + rounding) ||
         (h->plan.whole && h->failed - h->held <= 1);
}

static void step(struct bn_hunt *h)
{
  const bool last = h->n + RESERVED >= h->plan.probes;

  if (h->held > 0 && (last || is_narrow(h))) {
    confirm(h, h->held);
    return;
  }
  if (h->held == 0 && h->failed > 0 && h->failed <= h->plan.min) {
    h->state = BN_HUNT_NONE;
    return;
  }
  h->next = (struct bn_hunt_probe){BN_PROBE_STEP, next_value(h), h->probe_s};
}

static bool try_longer(struct bn_hunt *h, const struct bn_hunt_found *f)
{
  const double time_s = h->next.time_s;

  if (f->decision != BN_UNDECIDED || time_s >= h->plan.most_s || h->n + RESERVED >= h->plan.probes)
    return false;
  /* In quarters of the first time, so that people can read it. */
  h->probe_s =
      fmin(ceil(4 * fmax(2, 1.5 * f->longer) * time_s / h->plan.time_s) / 4 * h->plan.time_s,
           h->plan.most_s);
  h->next = (struct bn_hunt_probe){BN_PROBE_LONGER, f->value, h->probe_s};
  return true;
}

/* What held at a lower value is kept, unless it is too close to tell. */
static void step_back(struct bn_hunt *h, double value)
{
  double lower = value * (1 - h->plan.precision / 2);

  if (h->plan.whole)
    lower = fmin(round(lower), value - 1);
  h->failed = value;
  h->held = 0;
  if (lower < h->plan.min)
    h->state = BN_HUNT_NONE;
  else
    confirm(h, lower);
}

static void take(struct bn_hunt *h, const struct bn_hunt_found *f)
{
  const bool holds = f->decision == BN_HOLDS || (f->decision == BN_UNDECIDED && f->holds);

  if (h->next.purpose == BN_PROBE_CONFIRM && holds) {
    h->state = BN_HUNT_FOUND;
    h->held = h->answer = f->value;
  } else if (h->next.purpose == BN_PROBE_CONFIRM) {
    step_back(h, f->value);
  } else if (!try_longer(h, f)) {
    *(holds ? &h->held : &h->failed) = f->value;
    step(h);
  }
}

void bn_hunt_tell(struct bn_hunt *h, const struct bn_hunt_found *found)
{
  h->found[h->n++] = *found;
  if (h->next.purpose == BN_PROBE_CAPACITY) {
    h->capacity = found->value;
    h->expected = found->score;
    if (h->plan.min == 0)
      h->plan.min = h->capacity / 128;
    step(h);
  } else {
    take(h, found);
  }
  if (h->state == BN_HUNT_RUNS && h->n == h->plan.probes)
    h->state = BN_HUNT_SPENT;
}
