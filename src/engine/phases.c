/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts events by the phase in which they were due, and finds how long the server took to recover
   from a phase. */
#include "engine/phases.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hist.h"
#include "measure/phases.h"
#include "measure/stat.h"

enum {
  STRIPES = 16,    /* sessions share counters, which are atomic */
  SLICE_BITS = 5,  /* 32 slices for each power of two: 3 % */
  SLICE_UNIT = 20, /* the shortest slice has 2^20 ns, a millisecond */
  /* Times below 64 units have slices of one unit; each higher power of two has 32 slices. */
  FINE_SLICES = 2 << SLICE_BITS,
  SLICES = FINE_SLICES + (64 - SLICE_UNIT - SLICE_BITS - 1) * (1 << SLICE_BITS),
  WINDOW = 10 /* fewer events have no mean that could be compared */
};

/* The level is the latency that 95 % of the events of an earlier phase did not exceed.  If the
   latency of a server hardly varies, its mean is its level, and half of the windows would be above
   the level: so a window is above it only by more than 5 %. */
static const double level_percent = 95, tolerance = 1.05;

/* A quotient of times that is this close to a whole number is that number: it was rounded. */
static const double quotient_error = 1e-9;

/* The events that were due in a part of a phase: the number of events, and the sum of their
   latencies. */
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
  struct bn_pacer *pacer; /* borrowed; NULL: there is no rate */
  struct bn_phases_end end;
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
    p->from_ns[k] = bn_clock_after(from_ns, p->profile->phase[k].from_s);
  p->from_ns[p->n] = UINT64_MAX;
}

/* Returns whether a phase has bursts: one at the begin of each period. */
static bool phase_has_bursts(const struct bn_profile_phase *phase)
{
  return phase->period_s > 0;
}

/* Returns whether the profile is one of a rate; else it is one of threads. */
static bool phases_have_rate(const struct bn_phases *p)
{
  return p->profile->of == BN_PROFILE_RATE;
}

/* --- counting --------------------------------------------------------------------------------- */

/* Returns the index of the phase at a time, which is not before the first phase.  The last phase
   has no end, so that at_ns is less than UINT64_MAX. */
static size_t phases_find_at(const struct bn_phases *p, uint64_t at_ns)
{
  size_t k = 0;

  while (p->from_ns[k + 1] <= at_ns)
    k++;
  return k;
}

/* Returns the counts of phase k that the session of that id shares with every STRIPES-th one. */
static struct phase_counts *phases_get_counts(const struct bn_phases *p, size_t k, unsigned id)
{
  return &p->counts[k * STRIPES + id % STRIPES];
}

/* Adds to a counter, which other threads may add to at the same time. */
static void phases_add(_Atomic uint64_t *to, uint64_t n)
{
  (void)atomic_fetch_add_explicit(to, n, memory_order_relaxed);
}

void bn_phases_note_begun(struct bn_phases *p, unsigned id, uint64_t begun_ns)
{
  phases_add(&phases_get_counts(p, phases_find_at(p, begun_ns), id)->began, 1);
}

void bn_phases_count_dropped(struct bn_phases *p, unsigned id, const struct bn_tick *tick)
{
  const uint64_t begun_ns = phases_have_rate(p) ? tick->begun_ns : tick->start_ns;
  struct phase_counts *c = phases_get_counts(p, phases_find_at(p, begun_ns), id);

  phases_add(&c->dropped, 1);
  if (!phases_have_rate(p))
    phases_add(&c->began, 1);
}

void bn_phases_count_failed(struct bn_phases *p, unsigned id, uint64_t due_ns, unsigned retries)
{
  struct phase_counts *c = phases_get_counts(p, phases_find_at(p, due_ns), id);

  if (!phases_have_rate(p))
    phases_add(&c->began, 1);
  phases_add(&c->failed, 1);
  phases_add(&c->retries, retries);
}

/* Returns the index of the slice of a time since a phase began or its last burst ended. */
static size_t slice_index(uint64_t ns)
{
  return bn_hist_bucket(ns >> SLICE_UNIT, SLICE_BITS);
}

/* Returns the first time of slice i, the inverse of slice_index. */
static uint64_t slice_begin_ns(size_t i)
{
  return bn_hist_bucket_lowest(i, SLICE_BITS) << SLICE_UNIT;
}

/* Returns the slice of an event that was due at offset_ns of phase k, counted from the end of the
   last burst before it, or from the begin of a phase without bursts; NULL if it was due in a burst.
   The last phase goes on after its span, but has no further bursts. */
static struct slice *phases_find_slice(const struct bn_phases *p, size_t k, struct phase_counts *c,
                                       uint64_t offset_ns)
{
  const struct bn_profile_phase *phase = &p->profile->phase[k];
  const double offset_s = (double)offset_ns * 1e-9;
  double burst, last_burst; /* numbers of bursts, from 0 on */
  double after_burst_s;

  if (!phase_has_bursts(phase))
    return &c->slice[slice_index(offset_ns)];
  last_burst = ceil(phase->span_s / phase->period_s - quotient_error) - 1;
  burst = fmin(floor(offset_s / phase->period_s), last_burst);
  after_burst_s = offset_s - burst * phase->period_s - phase->burst_s;
  return after_burst_s >= 0 ? &c->slice[slice_index((uint64_t)(after_burst_s * 1e9))] : NULL;
}

size_t bn_phases_count_ended(struct bn_phases *p, unsigned id, uint64_t due_ns, uint64_t took_ns,
                             unsigned retries)
{
  const size_t k = phases_find_at(p, due_ns);
  struct phase_counts *c = phases_get_counts(p, k, id);
  struct slice *slice = phases_find_slice(p, k, c, due_ns - p->from_ns[k]);

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

/* Returns the end of phase k, or the end of the run if that was earlier.  A phase that the run has
   not reached ends where it begins. */
static uint64_t phases_end_ns(const struct bn_phases *p, size_t k)
{
  return bn_clock_max(p->from_ns[k], bn_clock_min(p->from_ns[k + 1], p->end.until_ns));
}

/* Returns the integral of the curve up to at_ns.  A pacer counts the share of this host. */
static double phases_integral(const struct bn_phases *p, uint64_t at_ns)
{
  const struct bn_profile *profile = p->profile;

  if (p->pacer != NULL)
    return bn_pacer_count_expected(p->pacer, at_ns);
  return bn_rate_curve_mass(profile->piece, profile->n_pieces,
                            profile->lead_s + (double)(at_ns - p->from_ns[0]) * 1e-9);
}

/* Returns the arrivals due in the phases up to end_ns, at most those of the run: arrivals after the
   last ticket of --events belong to no event.  Up to the end of the run these are all arrivals. */
static uint64_t phases_due_until(const struct bn_phases *p, uint64_t end_ns)
{
  uint64_t due;

  if (p->pacer == NULL || end_ns >= p->end.until_ns)
    return p->end.due;
  /* An arrival at end_ns itself is the first of the next phase. */
  due = bn_pacer_count_due(p->pacer, p->from_ns[0], end_ns - 1).counted;
  return due < p->end.due ? due : p->end.due;
}

void bn_phases_end(struct bn_phases *p, struct bn_pacer *pacer, const struct bn_phases_end *end)
{
  double integral_before;
  uint64_t due_before = 0;

  p->pacer = pacer;
  p->end = *end;
  integral_before = phases_integral(p, p->from_ns[0]);
  for (size_t k = 0; k < p->n; k++) {
    const uint64_t end_ns = phases_end_ns(p, k), due = phases_due_until(p, end_ns);
    const double integral = phases_integral(p, end_ns);

    p->wanted[k] = integral - integral_before;
    /* An estimate of the pacer may be lower than the one before it. */
    p->due[k] = due > due_before ? due - due_before : 0;
    integral_before = integral;
    due_before += p->due[k];
  }
}

/* Counts n events that have not ended, of which the youngest has this age. */
static void phases_add_unfinished(struct bn_timing *t, uint64_t youngest_ns, uint64_t n)
{
  if (t->unfinished == 0 || (double)youngest_ns * 1e-9 < t->youngest_s)
    t->youngest_s = (double)youngest_ns * 1e-9;
  t->unfinished += n;
}

/* Adds to a phase the ages of n waiting arrivals, those after the first `skip`.  The youngest of
   them, the last, is added by a call of its own, because bn_pacer_add_ages returns the largest age
   that it has added. */
static void phases_add_waiting(const struct bn_phases *p, uint64_t skip, uint64_t n,
                               struct bn_hist *into, struct bn_timing *t)
{
  if (n == 0)
    return;
  (void)bn_pacer_add_ages(p->pacer, p->end.until_ns, skip, n - 1, into);
  phases_add_unfinished(t, bn_pacer_add_ages(p->pacer, p->end.until_ns, skip + n - 1, 1, into), n);
}

/* Adds the ages of all arrivals that wait, each in the phase in which it was due. */
static void phases_add_queue(const struct bn_phases *p, struct bn_snap *delta,
                             struct bn_view_store *store)
{
  const uint64_t first_waiting = p->end.due - p->end.queued;
  uint64_t begin = 0, skip = p->end.skip;

  for (size_t k = 0; k < p->n; k++) {
    /* Phase k has the arrivals from `begin` up to, and without, `end`. */
    const uint64_t end = begin + p->due[k];
    const uint64_t from = begin > first_waiting ? begin : first_waiting;
    const uint64_t n = end > from ? end - from : 0;

    phases_add_waiting(p, skip, n, delta->hist[bn_phases_find_hist(&delta->metrics, k)],
                       bn_phases_timing(store, &delta->metrics, k));
    skip += n;
    begin = end;
  }
}

/* Adds the ages of the events in flight, except those of the warm-up, to the phases in which they
   began. */
static void phases_add_in_flight(const struct bn_phases *p, const struct bn_snap *now,
                                 uint64_t observed_ns, struct bn_snap *delta,
                                 struct bn_view_store *store)
{
  for (unsigned i = 0; i < now->n_sessions; i++) {
    const struct bn_snap_session *s = &now->session[i];
    const uint64_t start_ns = bn_snap_event_start_ns(s);
    const uint64_t age_ns = bn_clock_between(start_ns, observed_ns);
    size_t k;

    if (s->in_flight == 0 || start_ns < s->counts_from_ns)
      continue;
    k = phases_find_at(p, start_ns);
    bn_hist_put(delta->hist[bn_phases_find_hist(&delta->metrics, k)], age_ns, s->in_flight);
    phases_add_unfinished(bn_phases_timing(store, &delta->metrics, k), age_ns, s->in_flight);
    if (!phases_have_rate(p)) /* an event counts as started only when it ends */
      store->phase[k].started += s->in_flight;
  }
}

/* Sets the percentiles and the maximum of phase k again, after ages were added to its
   histogram. */
static void phases_update_timing(const struct bn_view *v, struct bn_view_store *store, size_t k)
{
  const bool nearest = false; /* only dialects round ranks so, and their reports have no phases */
  const struct bn_metrics *m = &v->delta->metrics;
  const size_t index = bn_phases_find_hist(m, k);
  const struct bn_hist *h = v->delta->hist[index];

  for (size_t i = 0; i < v->n_percents; i++)
    store->timing_s[index - BN_H_FIXED][i] = bn_view_hist_percentile_s(h, v->percents[i], nearest);
  bn_phases_timing(store, m, k)->max_s = bn_view_hist_percentile_s(h, 100, nearest);
}

/* Returns the time from the end of phase k, or of its last burst, to at_ns; 0 before that end. */
static double phases_since_peak_s(const struct bn_phases *p, size_t k, uint64_t at_ns)
{
  const struct bn_profile_phase *phase = &p->profile->phase[k];
  const double offset_s = (double)(at_ns - p->from_ns[k]) * 1e-9;
  double burst; /* the number of the last burst that has ended, from 0 on; -1: none */

  if (!phase_has_bursts(phase))
    return fmax(offset_s - phase->span_s, 0);
  burst =
      floor((fmin(offset_s, phase->span_s) - phase->burst_s) / phase->period_s + quotient_error);
  return fmax(offset_s - phase->burst_s - fmax(burst, 0) * phase->period_s, 0);
}

/* The events of a slice, or of several slices; begin_s and end_s count from the end of a peak. */
struct span {
  double begin_s, end_s, sum_ns;
  uint64_t n;
};

/* The last slices, as few as have WINDOW events together.  Empty slices are left out, so that there
   are at most WINDOW slices, and one more until window_add has dropped the first. */
struct window {
  struct span total, slice[WINDOW + 1];
  size_t n_slices;
};

/* Adds a slice, and drops the first slices that the window does not need any more. */
static void window_add(struct window *w, const struct span *slice)
{
  w->slice[w->n_slices++] = *slice;
  w->total.n += slice->n;
  w->total.sum_ns += slice->sum_ns;
  while (w->total.n - w->slice[0].n >= WINDOW) {
    w->total.n -= w->slice[0].n;
    w->total.sum_ns -= w->slice[0].sum_ns;
    w->n_slices--;
    memmove(w->slice, w->slice + 1, w->n_slices * sizeof *w->slice);
  }
}

/* Returns whether the mean latency in the window is not above the level. */
static bool window_is_below(const struct window *w, double level_ns)
{
  return w->total.sum_ns <= level_ns * tolerance * (double)w->total.n;
}

/* Returns the begin of the window, rounded to a power of ten that is not longer than the first
   slice: it is not known when within that slice the latency fell.  `unit` is that power of ten or
   its inverse, whichever is a whole number and therefore exact. */
static double window_begin_s(const struct window *w)
{
  const struct span *first = &w->slice[0];
  const double decimals = -floor(log10(first->end_s - first->begin_s));
  const double unit = pow(10, fabs(decimals));

  if (decimals > 0)
    return round(first->begin_s * unit) / unit;
  return round(first->begin_s / unit) * unit;
}

/* Returns slice i of phase k, which begins base_s after a peak, with the events of all stripes. */
static struct span phases_sum_slice(const struct bn_phases *p, size_t k, size_t i, double base_s)
{
  uint64_t n = 0, sum_ns = 0;

  for (unsigned stripe = 0; stripe < STRIPES; stripe++) {
    const struct slice *part = &phases_get_counts(p, k, stripe)->slice[i];

    n += bn_stat_get(&part->n);
    sum_ns += bn_stat_get(&part->sum_ns);
  }
  return (struct span){.begin_s = base_s + (double)slice_begin_ns(i) * 1e-9,
                       .end_s = base_s + (double)slice_begin_ns(i + 1) * 1e-9,
                       .sum_ns = (double)sum_ns,
                       .n = n};
}

/* Adds the slices of phase k, which begins base_s after a peak, to the window until it has enough
   events and a mean that is not above level_ns.  Returns whether it has. */
static bool phases_find_calm(const struct bn_phases *p, size_t k, double base_s, double level_ns,
                             struct window *w)
{
  for (size_t i = 0; i < SLICES; i++) {
    const struct span slice = phases_sum_slice(p, k, i, base_s);

    if (slice.n == 0)
      continue;
    window_add(w, &slice);
    if (w->total.n >= WINDOW && window_is_below(w, level_ns))
      return true;
  }
  return false;
}

/* Returns how many events of all phases have not ended. */
static uint64_t phases_count_unfinished(const struct bn_view *v)
{
  uint64_t n = 0;

  for (size_t k = 0; k < v->n_phases; k++)
    n += v->phases[k].timing->unfinished;
  return n;
}

/* Searches for the first window after the peak of phase k that is not above the level.  The search
   begins in phase k itself if it has bursts, and goes on in the phases after it.  It stops at the
   next phase of bursts, whose slices count from the bursts of that phase and not from this peak.
   Returns whether there is such a window; if there is none, *stop_ns is the end of the search. */
static bool phases_find_calm_after(const struct bn_phases *p, size_t k, double level_ns,
                                   struct window *w, uint64_t *stop_ns)
{
  const struct bn_profile_phase *phase = p->profile->phase;
  bool is_found = phase_has_bursts(&phase[k]) && phases_find_calm(p, k, 0, level_ns, w);
  size_t next = k + 1;

  for (; !is_found && next < p->n && !phase_has_bursts(&phase[next]); next++)
    is_found = phases_find_calm(p, next, phases_since_peak_s(p, k, p->from_ns[next]), level_ns, w);
  *stop_ns = bn_clock_min(p->from_ns[next], p->end.until_ns);
  return is_found;
}

/* Sets how long the latency was greater than the level after the peak of phase k.  A window of too
   few events is enough at the end of the run, if its mean is not above the level and if fewer
   events than it has are unfinished, which may all be slow. */
static void phases_search_recovery(const struct bn_phases *p, size_t k, double level_ns,
                                   const struct bn_view *v, struct bn_phase_view *out)
{
  struct window w = {.n_slices = 0};
  uint64_t stop_ns;

  out->recovered = phases_find_calm_after(p, k, level_ns, &w, &stop_ns);
  if (!out->recovered && stop_ns == p->end.until_ns)
    out->recovered = w.total.n > phases_count_unfinished(v) && window_is_below(&w, level_ns);
  out->recovery_s = out->recovered ? window_begin_s(&w) : phases_since_peak_s(p, k, stop_ns);
}

/* Returns the mean of the curve in phase k, per nanosecond. */
static double phases_mean_load(const struct bn_phases *p, size_t k)
{
  return p->wanted[k] / (double)(phases_end_ns(p, k) - p->from_ns[k]);
}

/* Returns whether the load falls during phase k, which has bursts, or at its end: the run has
   reached the next phase, whose mean load is smaller. */
static bool phases_is_peak(const struct bn_phases *p, size_t k)
{
  const struct bn_profile_phase *phase = p->profile->phase;

  if (phase_has_bursts(&phase[k]))
    return true;
  if (k + 1 == p->n || phase[k + 1].span_s <= 0 || p->end.until_ns <= p->from_ns[k + 1])
    return false;
  return phases_mean_load(p, k + 1) < phases_mean_load(p, k);
}

/* Returns the latencies of the events that were due in phase k. */
static const struct bn_hist *phases_get_latency(const struct bn_view *v, size_t k)
{
  return v->delta->hist[bn_phases_find_hist(&v->delta->metrics, k)];
}

/* Returns whether the phase was overloaded: its queue, the longer of those at its begin and at its
   end, is longer than chance explains, and the last event of the queue waits longer than the median
   latency.  A Poisson number of arrivals has its square root as standard deviation, and chance is
   taken to explain two of these.  If the queue grows or shrinks steadily, the median latency is
   half of that wait, so that an overload meets the second condition with a margin of two. */
static bool phases_is_overloaded(const struct bn_phase_view *phase, const struct bn_hist *latency)
{
  const uint64_t queue = phase->carried > phase->queued ? phase->carried : phase->queued;
  const double by_chance = 2 * sqrt((double)(phase->due + phase->carried));
  double wait_ns; /* at the rate at which events began */

  if ((double)queue <= by_chance)
    return false;
  wait_ns = (double)queue / phase->started_per_s * 1e9;
  return wait_ns > (double)bn_hist_percentile(latency, 50);
}

/* Returns the level of a phase, or 0 if it has none, because it has bursts or was overloaded. */
static double phases_level_ns(const struct bn_phases *p, size_t k, const struct bn_view *v)
{
  const struct bn_hist *latency = phases_get_latency(v, k);

  if (phase_has_bursts(&p->profile->phase[k]) || phases_is_overloaded(&v->phases[k], latency))
    return 0;
  return (double)bn_hist_percentile(latency, level_percent);
}

/* Adds the values of a bucket, each taken as the middle of the bucket, to the sum at `arg`, a
   double in ns; for bn_hist_each. */
static void phases_add_middles(void *arg, uint64_t lowest, uint64_t highest, uint64_t count)
{
  double *sum_ns = arg;

  *sum_ns += (double)count * ((double)lowest / 2 + (double)highest / 2);
}

/* Sets the recovery of a phase, if it is a peak.  A phase whose mean latency is not above the level
   has recovered at once; its mean counts the ages of events that have not ended as latencies.
   level_ns: the level of the last phase that had a level; 0: no phase had one. */
static void phases_set_recovery(const struct bn_phases *p, size_t k, double level_ns,
                                const struct bn_view *v, struct bn_phase_view *out)
{
  const struct bn_hist *h = phases_get_latency(v, k);
  double sum_ns = 0;

  if (level_ns <= 0 || !phases_is_peak(p, k) || bn_hist_count(h) == 0)
    return;
  bn_hist_each(h, phases_add_middles, &sum_ns);
  out->recovery_s = 0;
  out->recovered = sum_ns <= level_ns * tolerance * (double)bn_hist_count(h);
  if (!out->recovered)
    phases_search_recovery(p, k, level_ns, v, out);
}

/* Adds the counters of the phases from `first` up to, and without, `end` to *out.  An event that
   was dropped has also been counted as begun; a report counts it as dropped alone. */
static void phases_add_counts(const struct bn_phases *p, size_t first, size_t end,
                              struct bn_phase_view *out)
{
  for (size_t i = first * STRIPES; i < end * STRIPES; i++) {
    const struct phase_counts *c = &p->counts[i];
    const uint64_t dropped = bn_stat_get(&c->dropped);

    out->started += bn_stat_get(&c->began) - dropped;
    out->dropped += dropped;
    out->failed_events += bn_stat_get(&c->failed);
    out->retries += bn_stat_get(&c->retries);
  }
}

/* Sets the mean that the profile wants in a phase, as a rate or as a number of threads; the figure
   that the profile is not about is NAN. */
static void phases_set_wanted(const struct bn_phases *p, struct bn_phase_view *phase, double wanted)
{
  phase->wanted_per_s = phases_have_rate(p) ? wanted : NAN;
  phase->wanted_threads = phases_have_rate(p) ? NAN : wanted;
}

/* Sets the figures of the phases up to the last one that the run has reached.  phases_add_in_flight
   may have counted events as started before. */
static void phases_count_all(const struct bn_phases *p, size_t last, struct bn_phase_view *phase)
{
  uint64_t queued = 0;

  for (size_t k = 0; k <= last; k++) {
    struct bn_phase_view *out = &phase[k];
    double span_s;

    out->from_s = (double)(p->from_ns[k] - p->from_ns[0]) * 1e-9;
    out->to_s = (double)(phases_end_ns(p, k) - p->from_ns[0]) * 1e-9;
    span_s = out->to_s - out->from_s;
    /* Events that began after the run was cut belong to the phase in which it was cut. */
    phases_add_counts(p, k, k == last ? p->n : k + 1, out);
    out->due = phases_have_rate(p) ? p->due[k] : out->started + out->dropped;
    out->carried = queued;
    /* due + carried = started + dropped + queued */
    queued = bn_pacer_count_queued(out->due + queued, out->started + out->dropped, UINT64_MAX);
    out->queued = queued;
    if (span_s > 0) {
      phases_set_wanted(p, out, p->wanted[k] / span_s);
      out->started_per_s = (double)out->started / span_s;
    }
  }
}

/* Sets the recoveries of the phases up to the last one that the run has reached.  The latency has
   to come down to the level of the last phase before the peak that has a level.  The phases around
   a peak measure its recovery, so that all phases have been counted before. */
static void phases_set_recoveries(const struct bn_phases *p, size_t last, const struct bn_view *v,
                                  struct bn_phase_view *phase)
{
  double level_ns = 0;

  for (size_t k = 0; k <= last; k++) {
    const double own_level_ns = phases_level_ns(p, k, v);

    phases_set_recovery(p, k, level_ns, v, &phase[k]);
    if (own_level_ns > 0)
      level_ns = own_level_ns;
  }
}

void bn_phases_fill(const struct bn_phases *p, struct bn_view *v, struct bn_view_store *store,
                    struct bn_snap *delta, const struct bn_snap *stuck, uint64_t observed_ns)
{
  const size_t last = phases_find_at(p, p->end.until_ns - 1);

  bn_phases_name_all(v, store, &delta->metrics);
  /* A phase that the run has reached, but in which it has spent no time, keeps this 0.
     phases_count_all sets the other phases that the run has reached. */
  for (size_t k = 0; k < v->n_phases; k++) {
    if (k <= last)
      phases_set_wanted(p, &store->phase[k], 0);
    else
      bn_phases_set_unknown(&store->phase[k]);
  }
  if (stuck != NULL)
    phases_add_in_flight(p, stuck, observed_ns, delta, store);
  phases_count_all(p, last, store->phase);
  phases_add_queue(p, delta, store);
  for (size_t k = 0; k < v->n_phases; k++)
    if (v->phases[k].timing->unfinished > 0)
      phases_update_timing(v, store, k);
  phases_set_recoveries(p, last, v, store->phase);
}
