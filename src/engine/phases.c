/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts events by the phase in which they were due, and finds how long the server took to recover
   from a phase. */
#include "engine/phases.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "measure/phases.h"

enum {
  STRIPES = 16,    /* sessions share counters, which are atomic */
  SLICE_BITS = 5,  /* 32 slices for each power of two: 3 % */
  SLICE_UNIT = 20, /* the shortest slice has 2^20 ns, a millisecond */
  SLICES = (2 << SLICE_BITS) + (64 - SLICE_UNIT - SLICE_BITS - 1) * (1 << SLICE_BITS),
  WINDOW = 10 /* fewer events have no mean that could be compared */
};

/* The phase before is the measure: 5 % of its events took longer than that. */
static const double level_percent = 95;

/* The events that were due in a part of a phase: their number, and the sum of their latencies. */
struct slice {
  _Atomic uint64_t n, sum_ns;
};

struct phase_counts {
  _Atomic uint64_t began, dropped, retries, failed;
  struct slice slice[SLICES]; /* by the time since the phase began, or since its last burst ended */
};

struct bn_phases {
  const struct bn_profile *profile;
  size_t n;
  uint64_t from_ns[BN_PROFILE_PHASES + 1]; /* of each phase; the last one has no end */
  struct phase_counts *counts;             /* owned; [n][STRIPES] */
  /* Set after the end. */
  uint64_t until_ns;
  double wanted[BN_PROFILE_PHASES]; /* the integral of the curve: events, or seconds of threads */
  uint64_t due[BN_PROFILE_PHASES];  /* arrivals */
};

struct bn_phases *bn_phases_new(const struct bn_profile *profile)
{
  struct bn_phases *p;

  if (profile == NULL)
    return NULL;
  p = bn_alloc(1, sizeof *p);
  p->profile = profile;
  p->n = profile->n_phases;
  p->counts = bn_alloc(p->n * STRIPES, sizeof *p->counts);
  return p;
}

void bn_phases_free(struct bn_phases *p)
{
  if (p == NULL)
    return;
  free(p->counts);
  free(p);
}

void bn_phases_start(struct bn_phases *p, uint64_t from_ns)
{
  if (p == NULL)
    return;
  for (size_t k = 0; k < p->n; k++)
    p->from_ns[k] = from_ns + (uint64_t)(p->profile->phase[k].from_s * 1e9);
  p->from_ns[p->n] = UINT64_MAX;
}

static bool phases_have_rate(const struct bn_phases *p)
{
  return p->profile->of == BN_PROFILE_RATE;
}

/* --- counting --------------------------------------------------------------------------------- */

static size_t phases_find(const struct bn_phases *p, uint64_t at_ns)
{
  size_t k = 0;

  while (p->from_ns[k + 1] <= at_ns)
    k++;
  return k;
}

static struct phase_counts *phases_counts_of(const struct bn_phases *p, size_t k, unsigned id)
{
  return &p->counts[k * STRIPES + id % STRIPES];
}

static void phases_add(_Atomic uint64_t *to, uint64_t n)
{
  (void)atomic_fetch_add_explicit(to, n, memory_order_relaxed);
}

void bn_phases_began(struct bn_phases *p, unsigned id, uint64_t begun_ns)
{
  phases_add(&phases_counts_of(p, phases_find(p, begun_ns), id)->began, 1);
}

/* Returns the counts of the phase in which an event began. */
static struct phase_counts *phases_of_begin(const struct bn_phases *p, unsigned id,
                                            const struct bn_tick *tick)
{
  return phases_counts_of(p, phases_find(p, phases_have_rate(p) ? tick->begun_ns : tick->start_ns),
                          id);
}

void bn_phases_dropped(struct bn_phases *p, unsigned id, const struct bn_tick *tick)
{
  struct phase_counts *c = phases_of_begin(p, id, tick);

  phases_add(&c->dropped, 1);
  if (!phases_have_rate(p))
    phases_add(&c->began, 1);
}

void bn_phases_failed(struct bn_phases *p, unsigned id, const struct bn_tick *tick,
                      unsigned retries)
{
  struct phase_counts *c = phases_counts_of(p, phases_find(p, tick->start_ns), id);

  phases_add(&phases_of_begin(p, id, tick)->dropped, UINT64_MAX);
  phases_add(&c->failed, 1);
  phases_add(&c->retries, retries);
}

/* The slices are buckets of a histogram of times. */
static size_t slice_index(uint64_t ns)
{
  const uint64_t u = ns >> SLICE_UNIT;

  if (u < 2 << SLICE_BITS)
    return (size_t)u;
  const unsigned shift = 63u - (unsigned)__builtin_clzll(u) - SLICE_BITS;

  return ((size_t)shift << SLICE_BITS) + (size_t)(u >> shift);
}

static uint64_t slice_begin_ns(size_t i)
{
  const size_t shift = i < 2 << SLICE_BITS ? 0 : (i >> SLICE_BITS) - 1;

  return ((uint64_t)i - (shift << SLICE_BITS)) << shift << SLICE_UNIT;
}

/* Returns the slice of an event that was due at offset_s of a phase; NULL: in a burst. */
static struct slice *phases_slice(const struct bn_phases *p, size_t k, struct phase_counts *c,
                                  uint64_t offset_ns)
{
  const struct bn_profile_phase *f = &p->profile->phase[k];
  double s;

  if (f->period_s <= 0)
    return &c->slice[slice_index(offset_ns)];
  s = fmod((double)offset_ns * 1e-9, f->period_s) - f->burst_s;
  return s >= 0 ? &c->slice[slice_index((uint64_t)(s * 1e9))] : NULL;
}

size_t bn_phases_ended(struct bn_phases *p, unsigned id, uint64_t due_ns, uint64_t took_ns,
                       unsigned retries)
{
  const size_t k = phases_find(p, due_ns);
  struct phase_counts *c = phases_counts_of(p, k, id);
  struct slice *slice = phases_slice(p, k, c, due_ns - p->from_ns[k]);

  if (!phases_have_rate(p))
    phases_add(&c->began, 1);
  if (retries > 0)
    phases_add(&c->retries, retries);
  if (slice != NULL) {
    phases_add(&slice->n, 1);
    phases_add(&slice->sum_ns, took_ns);
  }
  return k;
}

/* --- after the end ---------------------------------------------------------------------------- */

/* Returns the end of phase k as far as it was run. */
static uint64_t phases_end_ns(const struct bn_phases *p, size_t k)
{
  const uint64_t end_ns = p->from_ns[k + 1] < p->until_ns ? p->from_ns[k + 1] : p->until_ns;

  return end_ns > p->from_ns[k] ? end_ns : p->from_ns[k];
}

/* Returns the integral of the curve up to at_ns.  A pacer may have a share of it. */
static double phases_integral(const struct bn_phases *p, const struct bn_pacer *pacer,
                              uint64_t at_ns)
{
  const struct bn_profile *f = p->profile;

  if (pacer != NULL)
    return bn_pacer_expected(pacer, at_ns);
  return bn_rate_curve_mass(f->piece, f->n_pieces,
                            f->lead_s + (double)(at_ns - p->from_ns[0]) * 1e-9);
}

/* Arrivals after the last ticket of --events belong to no event.  The last phase has the rest. */
static uint64_t phases_due_until(const struct bn_phases *p, struct bn_pacer *pacer, uint64_t end_ns,
                                 uint64_t due)
{
  uint64_t all = due;

  if (pacer != NULL && end_ns < p->until_ns)
    all = bn_pacer_due(pacer, p->from_ns[0], end_ns - 1).counted;
  return all < due ? all : due;
}

void bn_phases_end(struct bn_phases *p, struct bn_pacer *pacer, uint64_t until_ns, uint64_t due)
{
  double wanted = phases_integral(p, pacer, p->from_ns[0]);
  uint64_t before = 0;

  p->until_ns = until_ns;
  for (size_t k = 0; k < p->n; k++) {
    const uint64_t end_ns = phases_end_ns(p, k), all = phases_due_until(p, pacer, end_ns, due);
    const double integral = phases_integral(p, pacer, end_ns);

    p->wanted[k] = integral - wanted;
    p->due[k] = all > before ? all - before : 0;
    wanted = integral;
    before += p->due[k];
  }
}

static uint64_t phases_sum(const struct bn_phases *p, size_t k, size_t offset)
{
  uint64_t sum = 0;

  for (unsigned i = 0; i < STRIPES; i++)
    sum += atomic_load_explicit(
        (_Atomic uint64_t *)(void *)((char *)phases_counts_of(p, k, i) + offset),
        memory_order_relaxed);
  return sum;
}

/* Returns the time from the end of the last burst, or of the phase, to that time. */
static double phases_since_peak_s(const struct bn_phases *p, size_t k, uint64_t at_ns)
{
  const struct bn_profile_phase *f = &p->profile->phase[k];
  const double s = (double)(at_ns - p->from_ns[k]) * 1e-9;

  if (f->period_s <= 0)
    return s - f->span_s;
  return s - f->burst_s - floor((f->span_s - f->burst_s) / f->period_s + 1e-9) * f->period_s;
}

/* Some successive slices, which together have enough events. */
struct window {
  uint64_t n;
  double begin_s, sum_ns;
};

/* Adds the slices of a phase, which begin at base_s, until a window has a mean of at most level_ns.
   Returns whether one has. */
static bool phases_look(const struct bn_phases *p, size_t k, double base_s, double level_ns,
                        struct window *w)
{
  for (size_t i = 0; i < SLICES; i++) {
    const size_t at = offsetof(struct phase_counts, slice) + i * sizeof(struct slice);
    const uint64_t n = phases_sum(p, k, at + offsetof(struct slice, n));

    if (n == 0)
      continue;
    if (w->n >= WINDOW || w->n == 0)
      *w = (struct window){.begin_s = base_s + (double)slice_begin_ns(i) * 1e-9};
    w->n += n;
    w->sum_ns += (double)phases_sum(p, k, at + offsetof(struct slice, sum_ns));
    if (w->n >= WINDOW && w->sum_ns <= level_ns * (double)w->n)
      return true;
  }
  return false;
}

/* Sets how long the latency was greater than that of the phase before.  A phase of bursts shows it
   itself, as the mean of its bursts; another one shows it in the phases after it. */
static void phases_recover(const struct bn_phases *p, size_t k, double level_ns,
                           struct bn_phase_view *out)
{
  const bool bursts = p->profile->phase[k].period_s > 0;
  struct window w = {.n = 0};

  if (bursts)
    out->recovered = phases_look(p, k, 0, level_ns, &w);
  for (size_t i = k + 1; i < p->n && !out->recovered && p->profile->phase[i].period_s <= 0; i++)
    out->recovered = phases_look(p, i, phases_since_peak_s(p, k, p->from_ns[i]), level_ns, &w);
  if (!out->recovered && w.n > 0 && w.n < WINDOW)
    out->recovered = w.sum_ns <= level_ns * (double)w.n;
  out->recovery_s = out->recovered ? w.begin_s : phases_since_peak_s(p, k, p->until_ns);
}

/* Returns whether the load falls with the end of the phase, or within it. */
static bool phases_is_peak(const struct bn_phases *p, size_t k)
{
  const struct bn_profile_phase *f = &p->profile->phase[k], *next = f + 1;

  if (f->period_s > 0)
    return true;
  return k + 1 < p->n && p->until_ns > p->from_ns[k + 1] &&
         p->wanted[k + 1] / (double)(phases_end_ns(p, k + 1) - p->from_ns[k + 1]) <
             p->wanted[k] / (double)(p->from_ns[k + 1] - p->from_ns[k]) &&
         next->span_s > 0;
}

static void phases_judge(const struct bn_phases *p, size_t k, const struct bn_view *v,
                         struct bn_phase_view *out)
{
  const struct bn_hist *before;
  double level_ns;

  if (k == 0 || !phases_is_peak(p, k))
    return;
  before = v->delta->hist[bn_phases_hist(&v->delta->metrics, k - 1)];
  level_ns = (double)bn_hist_percentile(before, level_percent);
  if (bn_hist_count(before) == 0 || out->timing->count == 0)
    return;
  out->recovery_s = 0;
  out->recovered = out->timing->avg_s * 1e9 <= level_ns;
  if (!out->recovered)
    phases_recover(p, k, level_ns, out);
}

/* Events that began after the run was cut belong to the phase in which it was cut. */
static void phases_count(const struct bn_phases *p, size_t k, bool last, struct bn_phase_view *out)
{
  for (size_t i = k; i < (last ? p->n : k + 1); i++) {
    const uint64_t failed = phases_sum(p, i, offsetof(struct phase_counts, failed));
    const uint64_t dropped = phases_sum(p, i, offsetof(struct phase_counts, dropped));

    out->started += phases_sum(p, i, offsetof(struct phase_counts, began)) - dropped;
    out->dropped += dropped;
    out->failed_events += failed;
    out->retries += phases_sum(p, i, offsetof(struct phase_counts, retries));
  }
}

void bn_phases_fill(const struct bn_phases *p, struct bn_view *v, struct bn_view_store *store)
{
  const size_t last = phases_find(p, p->until_ns - 1);
  uint64_t queued = 0;

  bn_phases_name_all(v, store, &v->delta->metrics);
  for (size_t k = 0; k < v->n_phases; k++)
    *(phases_have_rate(p) ? &store->phase[k].wanted_threads : &store->phase[k].wanted_per_s) = NAN;
  for (size_t k = 0; k < v->n_phases && k <= last; k++) {
    struct bn_phase_view *out = &store->phase[k];
    double span_s;

    out->from_s = (double)(p->from_ns[k] - p->from_ns[0]) * 1e-9;
    out->to_s = (double)(phases_end_ns(p, k) - p->from_ns[0]) * 1e-9;
    span_s = out->to_s - out->from_s;
    phases_count(p, k, k == last, out);
    out->due = phases_have_rate(p) ? p->due[k] : out->started + out->dropped;
    out->carried = queued;
    queued = bn_pacer_queued(out->due + queued, out->started + out->dropped, UINT64_MAX);
    out->queued = queued;
    if (span_s > 0) {
      *(phases_have_rate(p) ? &out->wanted_per_s : &out->wanted_threads) = p->wanted[k] / span_s;
      out->started_per_s = (double)out->started / span_s;
    }
    phases_judge(p, k, v, out);
  }
}
