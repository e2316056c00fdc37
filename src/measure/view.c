/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Seconds, rates' divisors, percentiles, extremes and fairness from a snapshot difference. */
#include "measure/view.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"

static double seconds(uint64_t ns)
{
  return ns == UINT64_MAX ? HUGE_VAL : (double)ns * 1e-9;
}

/* The extremes of a difference are its outermost non-empty buckets; an exact extreme replaces an
   edge when it lies in that bucket (an event that ended between the warm-up and its snapshot may
   own one that does not). */
static void find_extremes(struct bn_view *v, const struct bn_snap *delta, bool exact)
{
  uint64_t low, high;

  if (!bn_hist_bounds(v->latency, &low, &high))
    return;
  if (exact && delta->min_ns >= low && delta->min_ns != UINT64_MAX &&
      bn_hist_index(delta->min_ns) == bn_hist_index(low))
    low = delta->min_ns;
  if (exact && delta->max_ns != 0 &&
      (high == UINT64_MAX || bn_hist_index(delta->max_ns) == bn_hist_index(high)))
    high = delta->max_ns;
  v->min_s = seconds(low);
  v->max_s = seconds(high);
}

static const double turn_ns = 0x1p64;

static void add_middles(void *arg, uint64_t lowest, uint64_t highest, uint64_t count)
{
  double *sum = arg;

  *sum += (double)count *
          (highest == UINT64_MAX ? (double)lowest : (double)lowest / 2 + (double)highest / 2);
}

/* Sums of latencies are kept modulo 2^64 ns, 584 years.  Under --rate they include waiting and a
   few minutes of overload go round it; about how large they are tells how often. */
static double unwrapped(uint64_t sum_ns, double about_ns)
{
  const double turns = round((about_ns - (double)sum_ns) / turn_ns);

  return (double)sum_ns + (turns > 0 ? turns * turn_ns : 0);
}

static void find_sums(struct bn_view *v, const struct bn_snap *delta)
{
  double about_ns = 0;

  bn_hist_each(v->latency, add_middles, &about_ns);
  v->sum_s = unwrapped(delta->busy_ns, about_ns) * 1e-9;
  v->avg_s = v->events > 0 ? v->sum_s / (double)v->events : 0;
}

/* Of the sessions' busy times; a session's sum is about as many events of the common average. */
static void find_fairness_of_time(struct bn_view *v, const struct bn_snap *delta)
{
  long double sum = 0, sum_sq = 0, variance;
  unsigned i;

  for (i = 0; i < delta->n_sessions; i++) {
    const struct bn_snap_session *s = &delta->session[i];
    const double busy_s = unwrapped(s->busy_ns, v->avg_s * 1e9 * (double)s->events) * 1e-9;

    sum += busy_s;
    sum_sq += (long double)busy_s * busy_s;
  }
  if (delta->n_sessions == 0)
    return;
  sum /= delta->n_sessions;
  variance = sum_sq / delta->n_sessions - sum * sum;
  v->fair_time_avg = (double)sum;
  v->fair_time_dev = variance > 0 ? (double)sqrtl(variance) : 0;
}

/* A percentile is its bucket's highest equivalent value, clamped to the extremes. */
static void find_percentiles(struct bn_view *v, struct bn_view_store *store,
                             const struct bn_conf *conf)
{
  size_t i;

  v->percents = conf->percents;
  v->percentile_s = store->percentile_s;
  v->n_percents = conf->n_percents;
  for (i = 0; i < conf->n_percents; i++) {
    double s = seconds(bn_hist_percentile(v->latency, conf->percents[i]));

    if (s > v->max_s && s != HUGE_VAL)
      s = v->max_s;
    if (s < v->min_s)
      s = v->min_s;
    store->percentile_s[i] = s;
  }
}

static double mean(const struct bn_moments *m)
{
  return m->n > 0 ? (double)(m->sum / m->n) : 0;
}

/* Population standard deviation. */
static double deviation(const struct bn_moments *m)
{
  const long double average = m->n > 0 ? m->sum / m->n : 0;
  const long double variance = m->n > 0 ? m->sum_sq / m->n - average * average : 0;

  return variance > 0 ? (double)sqrtl(variance) : 0;
}

void bn_view_fill(struct bn_view *v, struct bn_view_store *store, const struct bn_snap *delta,
                  const struct bn_conf *conf, bool exact)
{
  memset(v, 0, sizeof *v);
  v->delta = delta;
  v->version = conf->version;
  v->counter = delta->counter;
  v->latency = delta->hist[BN_H_LATENCY];
  v->events = delta->counter[BN_C_EVENTS];
  v->span_s = delta->span_ns > 0 ? (double)delta->span_ns * 1e-9 : 1e-9;
  find_sums(v, delta);
  v->running = delta->running;
  find_extremes(v, delta, exact);
  find_percentiles(v, store, conf);
  v->fair_events_avg = mean(&delta->fair_events);
  v->fair_events_dev = deviation(&delta->fair_events);
  v->fair_time_avg = mean(&delta->fair_busy_s);
  v->fair_time_dev = deviation(&delta->fair_busy_s);
  if (v->sum_s * 1e9 >= turn_ns)
    find_fairness_of_time(v, delta);
}
