/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrival times by inverting the cumulative rate at the sums of unit exponential gaps. */
#include "engine/pacer.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/dist.h"
#include "base/wait.h"
#include "measure/stat.h"

/* Replayed at once at most, which takes 40 ms: four seconds of the highest rate that can be served.
   While the replay is behind, the expected number is the answer, within a part in a thousand. */
enum { REPLAY_MAX = 4000000 };
/* A replay that is further behind does not come up with such a rate. */
enum { REPLAY_HOPELESS = 100 * REPLAY_MAX };

void bn_arrivals_init(struct bn_arrivals *a, uint64_t seed, const struct bn_pacer_phase *phase,
                      size_t n_phases)
{
  memset(a, 0, sizeof *a);
  bn_rng_seed(&a->rng, seed, BN_RNG_PACER, 0);
  a->phase = phase;
  a->n_phases = n_phases;
}

/* Time within a phase at which its cumulative rate is `mass`: r0 t + (r1 - r0) t^2 / (2 span) =
   mass, solved in the form that does not cancel for r0 = r1. */
static double invert(const struct bn_pacer_phase *p, double mass)
{
  const double slope = p->span_s > 0 ? (p->end_rate - p->start_rate) / p->span_s : 0;

  return 2 * mass / (p->start_rate + sqrt(p->start_rate * p->start_rate + 2 * slope * mass));
}

double bn_arrivals_next(struct bn_arrivals *a)
{
  double mass, from_s = 0;
  size_t i;

  a->mass += bn_dist_exponential(&a->rng);
  mass = a->mass;
  for (i = 0; i < a->n_phases; i++) {
    const struct bn_pacer_phase *p = &a->phase[i];
    const double area = (p->start_rate + p->end_rate) / 2 * p->span_s;

    if (mass <= area)
      return from_s + invert(p, mass);
    mass -= area;
    from_s += p->span_s;
  }
  return from_s + mass / a->phase[a->n_phases - 1].end_rate;
}

/* The expected number of arrivals up to s: what `mass` is compared with. */
static double mass_at(const struct bn_arrivals *a, double s)
{
  double mass = 0;
  size_t i;

  for (i = 0; i < a->n_phases && s > 0; i++) {
    const struct bn_pacer_phase *p = &a->phase[i];

    if (s <= p->span_s)
      return mass + p->start_rate * s + (p->end_rate - p->start_rate) * s * s / (2 * p->span_s);
    mass += (p->start_rate + p->end_rate) / 2 * p->span_s;
    s -= p->span_s;
  }
  return s > 0 ? mass + a->phase[a->n_phases - 1].end_rate * s : mass;
}

static int make_sleep(struct bn_pacer *p)
{
  (void)pthread_mutex_init(&p->lock, NULL);
  (void)pthread_mutex_init(&p->sleeping, NULL);
  return bn_wait_init(&p->woken);
}

int bn_pacer_init(struct bn_pacer *p, uint64_t seed, const struct bn_pacer_phase *phase,
                  size_t n_phases)
{
  memset(p, 0, sizeof *p);
  bn_arrivals_init(&p->claims, seed, phase, n_phases);
  bn_arrivals_init(&p->replay, seed, phase, n_phases);
  p->replay_next_s = bn_arrivals_next(&p->replay);
  return make_sleep(p);
}

int bn_pacer_init_rate(struct bn_pacer *p, uint64_t seed, double rate)
{
  const struct bn_pacer_phase phase = {rate, rate, 0};
  const int rc = bn_pacer_init(p, seed, &phase, 1);

  p->constant = phase;
  p->claims.phase = p->replay.phase = &p->constant;
  return rc;
}

void bn_pacer_done(struct bn_pacer *p)
{
  (void)pthread_cond_destroy(&p->woken);
  (void)pthread_mutex_destroy(&p->sleeping);
  (void)pthread_mutex_destroy(&p->lock);
}

void bn_pacer_start(struct bn_pacer *p, uint64_t start_ns)
{
  p->start_ns = start_ns;
}

/* An arrival further away than a century never comes. */
static uint64_t to_ns(const struct bn_pacer *p, double s)
{
  return s < 3e9 ? p->start_ns + (uint64_t)(s * 1e9) : UINT64_MAX;
}

uint64_t bn_pacer_claim(struct bn_pacer *p)
{
  double s;

  (void)pthread_mutex_lock(&p->lock);
  s = bn_arrivals_next(&p->claims);
  (void)pthread_mutex_unlock(&p->lock);
  return to_ns(p, s);
}

static uint64_t at_least(uint64_t n, double x)
{
  return x > (double)n && x < 0x1p63 ? (uint64_t)x : n;
}

/* true: the replay has come up with now_ns. */
static bool replay_until(struct bn_pacer *p, uint64_t now_ns, double expected)
{
  uint64_t steps = 0;

  if (expected - (double)p->replayed > REPLAY_HOPELESS)
    return false;
  for (; to_ns(p, p->replay_next_s) <= now_ns; steps++) {
    if (steps == REPLAY_MAX)
      return false;
    p->replayed++;
    p->replay_next_s = bn_arrivals_next(&p->replay);
  }
  return true;
}

uint64_t bn_pacer_passed(struct bn_pacer *p, uint64_t now_ns)
{
  const double now_s = now_ns > p->start_ns ? (double)(now_ns - p->start_ns) * 1e-9 : 0;
  const double expected = mass_at(&p->replay, now_s);

  if (!replay_until(p, now_ns, expected))
    p->passed = at_least(p->passed, expected);
  if (p->passed < p->replayed)
    p->passed = p->replayed;
  return p->passed;
}

static const struct bn_wait arrival = {"the next arrival", BN_BOUND_END};

bool bn_pacer_sleep(struct bn_pacer *p, const struct bn_limit *limit, uint64_t due_ns)
{
  bool due = false;

  (void)pthread_mutex_lock(&p->sleeping);
  while (bn_stat_get(&limit->until_ns) >= due_ns && !due)
    due = !bn_wait_until(&arrival, &p->woken, &p->sleeping, due_ns);
  (void)pthread_mutex_unlock(&p->sleeping);
  return due;
}

void bn_pacer_wake(struct bn_pacer *p)
{
  (void)pthread_mutex_lock(&p->sleeping);
  bn_wait_wake(&p->woken);
  (void)pthread_mutex_unlock(&p->sleeping);
}
