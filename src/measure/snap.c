/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes, copies and subtracts snapshots of all sessions' statistics. */
#include "measure/snap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"

/* Allocates the rows of a snapshot whose metrics and number of sessions are set.  Without `hists`,
   the pointers to histograms stay NULL. */
static void snap_allocate(struct bn_snap *s, bool hists)
{
  const struct bn_metrics *m = &s->metrics;

  s->counter = bn_alloc(m->n_counters, sizeof *s->counter);
  s->hist = bn_alloc(m->n_hists, sizeof(struct bn_hist *));
  s->label = bn_alloc(m->n_labelled, sizeof *s->label);
  s->n_labels = bn_alloc(m->n_labelled, sizeof *s->n_labels);
  s->session = bn_alloc(s->n_sessions, sizeof *s->session);
  for (size_t i = 0; i < m->n_labelled; i++)
    s->label[i] = bn_alloc(BN_LABELS_MAX + 1, sizeof *s->label[i]);
  if (hists)
    for (size_t i = 0; i < m->n_hists; i++)
      s->hist[i] = bn_hist_new();
}

void bn_snap_init_for_metrics(struct bn_snap *s, const struct bn_metrics *metrics,
                              unsigned n_sessions, bool hists)
{
  memset(s, 0, sizeof *s);
  s->n_sessions = n_sessions;
  s->min_ns = UINT64_MAX;
  bn_metrics_copy(&s->metrics, metrics);
  snap_allocate(s, hists);
}

void bn_snap_init(struct bn_snap *s, const struct bn_statset *set)
{
  bn_snap_init_for_metrics(s, &set->metrics, set->n_sessions, true /* histograms */);
  if (set->statements != NULL)
    bn_statement_table_init(&s->statements, BN_STATEMENTS_ROWS, true /* histograms */);
}

void bn_snap_done(struct bn_snap *s)
{
  for (size_t i = 0; s->hist != NULL && i < s->metrics.n_hists; i++)
    bn_hist_free(s->hist[i]);
  for (size_t i = 0; s->sparse != NULL && i < s->metrics.n_hists; i++)
    free(s->sparse[i].bucket);
  for (size_t i = 0; s->label != NULL && i < s->metrics.n_labelled; i++)
    free(s->label[i]);
  bn_statement_table_done(&s->statements);
  bn_metrics_done(&s->metrics);
  free(s->counter);
  free(s->hist);
  free(s->sparse);
  free(s->label);
  free(s->n_labels);
  free(s->session);
  memset(s, 0, sizeof *s);
}

/* A session's events in flight, read while it goes on. */
struct in_flight {
  uint64_t n, begun_at; /* begun_at: the sum of their starts, modulo 2^64 */
};

/* Acquire: later loads are not made before this one.  The writers are bn_event_show_start() and
   bn_event_show_end(), which write the time before the number. */
static uint64_t snap_load_ordered(const _Atomic uint64_t *v)
{
  return atomic_load_explicit(v, memory_order_acquire);
}

/* Corrects a reading that was made while a start or an end was half written: its time was, its
   number was not.  Only a session with one event at a time shows that. */
static void snap_mend_in_flight(struct in_flight *f)
{
  if (f->n == 0 && f->begun_at != 0)
    f->n = 1; /* the event has begun */
  else if (f->n == 1 && f->begun_at == 0)
    f->n = 0; /* the event has ended */
}

/* Reads the events in flight of a session, and tries again if one has begun or ended meanwhile.  If
   events of a few ns let no attempt succeed, the result is that none is in flight. */
static struct in_flight snap_read_in_flight(const struct bn_stat *st)
{
  enum { TRIES = 16 };
  struct in_flight f = {.n = 0};

  for (int i = 0; i < TRIES; i++) {
    /* The ends come first: a start that comes between makes the number too large, never negative,
       and is noticed below.  `begun` is not read again, because begun_at changes before it. */
    const uint64_t ended = snap_load_ordered(&st->ended),
                   ended_at = snap_load_ordered(&st->ended_at);
    const uint64_t begun_at = snap_load_ordered(&st->begun_at),
                   begun = snap_load_ordered(&st->begun);

    if (snap_load_ordered(&st->ended) != ended || snap_load_ordered(&st->begun_at) != begun_at ||
        snap_load_ordered(&st->ended_at) != ended_at)
      continue;
    f.n = begun - ended;
    f.begun_at = begun_at - ended_at;
    snap_mend_in_flight(&f);
    break;
  }
  return f;
}

/* Reads the counters of session i, which may count on meanwhile, and adds them to those of all. */
static void snap_take_session(struct bn_snap *out, const struct bn_stat *st, unsigned i,
                              uint64_t now_ns)
{
  const struct in_flight f = snap_read_in_flight(st);
  struct bn_snap_session *session = &out->session[i];

  session->min_ns = bn_stat_get(&st->min_ns);
  session->max_ns = bn_stat_get(&st->max_ns);
  /* The events are read once, so that the events of all sessions add up to those of the run. */
  session->events = bn_stat_get(&st->counter[BN_C_EVENTS]);
  for (size_t c = 0; c < out->metrics.n_counters; c++)
    out->counter[c] += c == BN_C_EVENTS ? session->events : bn_stat_get(&st->counter[c]);
  session->busy_ns = bn_stat_get(&st->busy_ns);
  session->service_ns = bn_stat_get(&st->service_ns);
  session->warm_events = bn_stat_get(&st->warm_events);
  session->warm_busy_ns = bn_stat_get(&st->warm_busy_ns);
  session->in_flight = f.n;
  session->start_ns = f.n > 0 ? bn_stat_average_start(f.n, f.begun_at, now_ns) : 0;
  session->counts_from_ns = st->counts_from_ns;
  out->busy_ns += session->busy_ns;
  out->service_ns += session->service_ns;
  out->min_ns = bn_clock_min(out->min_ns, session->min_ns);
  out->max_ns = bn_clock_max(out->max_ns, session->max_ns);
  out->late += bn_stat_get(&st->late);
  out->dropped += bn_stat_get(&st->dropped);
  out->overdue += bn_stat_get(&st->overdue);
  out->unfinished += f.n;
  out->unfinished_s += (double)(int64_t)(f.n * now_ns - f.begun_at) * 1e-9;
  out->running += atomic_load_explicit(&st->running, memory_order_relaxed);
}

/* Sums the stripes of each histogram.  Events of a kind are in the histogram of their kind alone,
   so that each event is recorded once; they are added to those of all events here. */
static void snap_take_hists(struct bn_snap *out, const struct bn_statset *set)
{
  for (size_t i = 0; i < set->metrics.n_hists; i++) {
    bn_hist_clear(out->hist[i]);
    for (size_t k = 0; k < set->n_stripes; k++)
      bn_hist_add(out->hist[i], set->stripe[i * set->n_stripes + k]);
    if (set->metrics.hist[i].kind == BN_EVENT_HISTOGRAM)
      bn_hist_add(out->hist[BN_H_LATENCY], out->hist[i]);
  }
}

void bn_snap_take(struct bn_snap *out, const struct bn_statset *set, uint64_t now_ns)
{
  /* snap_take_session() adds to these members, so they begin with 0. */
  memset(out->counter, 0, out->metrics.n_counters * sizeof *out->counter);
  out->at_ns = now_ns;
  out->wall_ns = bn_clock_wall();
  out->span_ns = 0;
  out->busy_ns = out->max_ns = out->unfinished = 0;
  out->late = out->dropped = out->overdue = out->service_ns = 0;
  out->unfinished_s = 0;
  out->min_ns = UINT64_MAX;
  out->running = 0;
  for (unsigned s = 0; s < set->n_sessions; s++)
    snap_take_session(out, set->stat[s], s, now_ns);
  if (set->sample != NULL)
    set->sample(set->sampled, out->counter);
  snap_take_hists(out, set);
  for (size_t i = 0; i < set->metrics.n_labelled; i++)
    out->n_labels[i] = bn_labels_read(set->labels[i], out->label[i], BN_LABELS_MAX + 1);
  if (set->statements != NULL)
    bn_statement_table_take(&out->statements, set->statements);
}

/* Returns the value of counter c that a session has reached in its loop.  After the loop it may
   count on, so at_end has the counters of the moment at which it left.  Acquire: pairs with
   bn_stat_leave(). */
static uint64_t snap_counted_in_loop(const struct bn_stat *st, size_t c)
{
  const bool left = atomic_load_explicit(&st->left, memory_order_acquire);

  return left ? st->at_end[c] : bn_stat_get(&st->counter[c]);
}

/* Returns the time up to which the counters of a session count, at least end_ns.  Acquire: as in
   snap_counted_in_loop(). */
static uint64_t snap_covered_until(const struct bn_stat *st, uint64_t end_ns, uint64_t now_ns)
{
  const bool left = atomic_load_explicit(&st->left, memory_order_acquire);
  const uint64_t until_ns = left ? st->at_end_ns : now_ns;

  return bn_clock_max(until_ns, end_ns);
}

uint64_t bn_snap_raise_counters(uint64_t *counter, const struct bn_statset *set, uint64_t end_ns,
                                uint64_t now_ns)
{
  double excess_ns = 0; /* the time after end_ns of all sessions, which may not fit into 64 bits */

  /* The times are read first: a session that leaves meanwhile has counted a little more than they
     say. */
  for (unsigned s = 0; s < set->n_sessions; s++)
    excess_ns += (double)(snap_covered_until(set->stat[s], end_ns, now_ns) - end_ns);
  for (size_t c = 0; c < set->metrics.n_counters; c++) {
    uint64_t sum = 0;

    for (unsigned s = 0; s < set->n_sessions; s++)
      sum += snap_counted_in_loop(set->stat[s], c);
    counter[c] = sum > counter[c] ? sum : counter[c];
  }
  return end_ns + (set->n_sessions > 0 ? (uint64_t)(excess_ns / set->n_sessions) : 0);
}

void bn_snap_add_warmup(struct bn_snap *s, const struct bn_statset *set)
{
  for (unsigned i = 0; i < s->n_sessions; i++) {
    struct bn_snap_session *session = &s->session[i];

    session->events += session->warm_events;
    session->busy_ns += session->warm_busy_ns;
    s->counter[BN_C_EVENTS] += session->warm_events;
    s->busy_ns += session->warm_busy_ns;
  }
  /* The stripes of the warm-up, if it has a histogram, follow those of the metrics. */
  for (size_t k = set->metrics.n_hists * set->n_stripes; k < set->n_rows * set->n_stripes; k++)
    bn_hist_add(s->hist[BN_H_LATENCY], set->stripe[k]);
}

/* Clears the histograms of waiting, which are the last ones, except the lag of wake-ups, which are
   not of events. */
static void snap_clear_waiting(struct bn_snap *s)
{
  const size_t first = s->metrics.n_hists - BN_STAT_WAITS, lag = s->metrics.n_hists - 1;

  for (size_t i = first; i < lag; i++)
    bn_hist_clear(s->hist[i]);
}

void bn_snap_end_warmup(struct bn_snap *s)
{
  /* Either all sessions count the events of the warm-up apart, or none does. */
  if (s->n_sessions > 0 && s->session[0].counts_from_ns == 0)
    return;
  for (unsigned i = 0; i < s->n_sessions; i++)
    s->session[i].events = s->session[i].busy_ns = s->session[i].service_ns = 0;
  s->counter[BN_C_EVENTS] = s->busy_ns = s->service_ns = s->late = s->dropped = 0;
  for (size_t i = 0; i < s->metrics.n_counters; i++)
    if (s->metrics.counter[i].of_events)
      s->counter[i] = 0;
  bn_hist_clear(s->hist[BN_H_LATENCY]);
  for (size_t i = 0; i < s->metrics.n_hists; i++)
    if (s->metrics.hist[i].of_events)
      bn_hist_clear(s->hist[i]);
  if (bn_statset_has_waiting(&s->metrics))
    snap_clear_waiting(s);
}

uint64_t bn_snap_event_start_ns(const struct bn_snap_session *s)
{
  return s->in_flight > 0 ? s->start_ns : UINT64_MAX;
}

uint64_t bn_snap_oldest_age_ns(const struct bn_snap *s, uint64_t now_ns)
{
  uint64_t first_ns = UINT64_MAX;

  for (unsigned i = 0; i < s->n_sessions; i++)
    first_ns = bn_clock_min(first_ns, bn_snap_event_start_ns(&s->session[i]));
  return bn_clock_between(first_ns, now_ns); /* 0 if there is none: UINT64_MAX is after now */
}

uint64_t bn_snap_collect_ages(const struct bn_snap *s, uint64_t now_ns, bool warming,
                              struct bn_hist *ages, uint64_t *oldest_ns)
{
  uint64_t n = 0;

  *oldest_ns = 0;
  for (unsigned i = 0; i < s->n_sessions; i++) {
    const struct bn_snap_session *session = &s->session[i];
    const bool is_of_warmup = session->start_ns < session->counts_from_ns;

    if (session->in_flight == 0 || (is_of_warmup && !warming))
      continue;

    const uint64_t age_ns = bn_clock_between(session->start_ns, now_ns);

    n += session->in_flight;
    *oldest_ns = bn_clock_max(*oldest_ns, age_ns);
    bn_hist_put(ages, age_ns, session->in_flight);
  }
  return n;
}

/* Subtracts the counts of labels.  New labels are appended, so that a label of `base` has the same
   place in `now`. */
static void snap_subtract_labels(struct bn_snap *now, const struct bn_snap *base)
{
  for (size_t i = 0; i < now->metrics.n_labelled; i++)
    for (size_t k = 0; k < base->n_labels[i]; k++)
      now->label[i][k].n -= base->label[i][k].n;
}

/* Returns a - b.  A counter that is absent in either snapshot is absent in the difference. */
static uint64_t snap_counter_minus(uint64_t a, uint64_t b)
{
  return a == BN_ABSENT || b == BN_ABSENT ? BN_ABSENT : a - b;
}

static void snap_add_moment(struct bn_moments *m, long double x)
{
  m->n += 1;
  m->sum += x;
  m->sum_sq += x * x;
}

/* The extremes and the overdue events are since the measurement began, and the events in flight are
   those of an instant: they stay those of `now`, as do the times. */
void bn_snap_subtract(struct bn_snap *now, const struct bn_snap *base)
{
  static const struct bn_moments none = {.n = 0};
  const bool has_waiting = bn_statset_has_waiting(&now->metrics);

  /* The span is 0 if the run ended before the time of a checkpoint that was reported late. */
  now->span_ns = bn_clock_between(base->at_ns, now->at_ns);
  now->busy_ns -= base->busy_ns;
  now->service_ns -= base->service_ns;
  now->late -= base->late;
  now->dropped -= base->dropped;
  for (size_t i = 0; i < now->metrics.n_counters; i++)
    now->counter[i] = snap_counter_minus(now->counter[i], base->counter[i]);
  for (size_t i = 0; i < now->metrics.n_hists; i++)
    bn_hist_sub(now->hist[i], base->hist[i]);
  snap_subtract_labels(now, base);
  bn_statement_table_sub(&now->statements, &base->statements);
  now->fair_events = now->fair_busy_s = none;
  for (unsigned i = 0; i < now->n_sessions; i++) {
    struct bn_snap_session *s = &now->session[i];

    s->events -= base->session[i].events;
    s->busy_ns -= base->session[i].busy_ns;
    s->service_ns -= base->session[i].service_ns;

    const uint64_t executing_ns = has_waiting ? s->service_ns : s->busy_ns; /* not queueing */

    snap_add_moment(&now->fair_events, (long double)s->events);
    snap_add_moment(&now->fair_busy_s, (long double)executing_ns * 1e-9L);
  }
}

static void snap_copy_hist(struct bn_hist *to, const struct bn_hist *from)
{
  bn_hist_clear(to);
  bn_hist_add(to, from);
}

void bn_snap_copy(struct bn_snap *to, const struct bn_snap *from)
{
  const struct bn_snap owned = *to;
  const unsigned sessions =
      owned.n_sessions < from->n_sessions ? owned.n_sessions : from->n_sessions;

  /* All plain numbers are copied at once.  Every member that the snapshot owns has to be restored,
     a new one too: else two snapshots would free the same memory. */
  *to = *from;
  to->n_sessions = sessions;
  to->metrics = owned.metrics;
  to->counter = owned.counter;
  to->hist = owned.hist;
  to->sparse = owned.sparse;
  to->label = owned.label;
  to->n_labels = owned.n_labels;
  to->session = owned.session;
  to->statements = owned.statements;
  bn_statement_table_copy(&to->statements, &from->statements);
  memcpy(to->counter, from->counter, from->metrics.n_counters * sizeof *to->counter);
  memcpy(to->n_labels, from->n_labels, from->metrics.n_labelled * sizeof *to->n_labels);
  memcpy(to->session, from->session, sessions * sizeof *to->session);
  for (size_t i = 0; i < from->metrics.n_labelled; i++)
    memcpy(to->label[i], from->label[i], from->n_labels[i] * sizeof *to->label[i]);
  for (size_t i = 0; i < from->metrics.n_hists; i++)
    if (to->hist[i] != NULL && from->hist[i] != NULL)
      snap_copy_hist(to->hist[i], from->hist[i]);
}

void bn_snap_copy_hists(struct bn_snap *to, const struct bn_snap *from, enum bn_metric_kind kind)
{
  for (size_t i = 0; i < to->metrics.n_hists; i++)
    if (to->metrics.hist[i].kind == kind)
      snap_copy_hist(to->hist[i], from->hist[i]);
}

/* --- merging ---------------------------------------------------------------------------------- */

/* Adds n to a count.  If either is absent, so is the sum.  Returns false if the sum does not fit:
   it is too large, or its value would mean that it is absent. */
static bool snap_add_count(uint64_t *into, uint64_t n)
{
  const uint64_t before = *into;

  if (before == BN_ABSENT || n == BN_ABSENT) {
    *into = BN_ABSENT;
    return true;
  }
  *into = before + n;
  return *into >= before && *into != BN_ABSENT;
}

/* Adds a histogram in the sparse form.  Returns false, after adding it all the same, if the number
   of values does not fit. */
static bool snap_merge_packed(struct bn_hist *into, const struct bn_hist_sparse *from)
{
  uint64_t total = bn_hist_count(into);
  bool fits = true;

  for (size_t i = 0; i < from->n; i++) {
    const struct bn_bucket *b = &from->bucket[i];

    bn_hist_put(into, b->lowest, b->count);
    fits &= snap_add_count(&total, b->count);
  }
  return fits;
}

/* Adds labels by name.  Returns false if a sum does not fit. */
static bool snap_merge_labels(struct bn_snap *into, const struct bn_snap *from)
{
  bool fits = true;

  for (size_t i = 0; i < into->metrics.n_labelled; i++)
    for (size_t k = 0; k < from->n_labels[i]; k++) {
      const struct bn_label *label = &from->label[i][k];
      struct bn_label *sum = bn_label_find_or_add(into->label[i], &into->n_labels[i], label->name);

      fits &= snap_add_count(&sum->n, label->n);
    }
  return fits;
}

static void snap_merge_moments(struct bn_moments *into, const struct bn_moments *from)
{
  into->n += from->n;
  into->sum += from->sum;
  into->sum_sq += from->sum_sq;
}

/* Copies sessions to the places from `first` on, as far as `into` has places.  The moments of all
   sessions are added, with and without a place. */
static void snap_merge_sessions(struct bn_snap *into, const struct bn_snap *from, unsigned first)
{
  for (unsigned i = 0; i < from->n_sessions && first + i < into->n_sessions; i++)
    into->session[first + i] = from->session[i];
  snap_merge_moments(&into->fair_events, &from->fair_events);
  snap_merge_moments(&into->fair_busy_s, &from->fair_busy_s);
}

/* Adds the counts of events and the counters.  Returns false if a sum does not fit. */
static bool snap_merge_counts(struct bn_snap *into, const struct bn_snap *from)
{
  bool fits = snap_add_count(&into->late, from->late) &&
              snap_add_count(&into->dropped, from->dropped) &&
              snap_add_count(&into->overdue, from->overdue) &&
              snap_add_count(&into->unfinished, from->unfinished);

  for (size_t i = 0; i < into->metrics.n_counters; i++)
    fits &= snap_add_count(&into->counter[i], from->counter[i]);
  return fits && !__builtin_add_overflow(into->running, from->running, &into->running);
}

int bn_snap_merge(struct bn_snap *into, const struct bn_snap *from, unsigned first)
{
  /* A sum that does not fit ends the chain, and the rest is left out: `into` is of no use then. */
  bool fits = snap_merge_counts(into, from) && snap_merge_labels(into, from) &&
              bn_statement_table_merge(&into->statements, &from->statements);

  for (size_t i = 0; i < from->metrics.n_hists; i++) {
    if (from->hist[i] != NULL) {
      fits &= bn_hist_sum_fits(into->hist[i], from->hist[i]);
      bn_hist_add(into->hist[i], from->hist[i]);
    }
    if (from->sparse != NULL)
      fits &= snap_merge_packed(into->hist[i], &from->sparse[i]);
  }
  /* Sums of times are kept modulo 2^64 everywhere. */
  into->busy_ns += from->busy_ns;
  into->service_ns += from->service_ns;
  into->unfinished_s += from->unfinished_s;
  into->min_ns = bn_clock_min(into->min_ns, from->min_ns);
  into->max_ns = bn_clock_max(into->max_ns, from->max_ns);
  snap_merge_sessions(into, from, first);
  return fits ? 0 : -1;
}

bool bn_snap_is_within(uint64_t count, uint64_t most)
{
  return count == BN_ABSENT || count <= most;
}

static bool snap_rows_fit(const struct bn_snap *s, uint64_t most)
{
  bool fit = true;

  for (size_t i = 0; i < s->metrics.n_labelled; i++)
    for (size_t k = 0; k < s->n_labels[i]; k++)
      fit &= bn_snap_is_within(s->label[i][k].n, most);
  for (size_t i = 0; i < s->statements.n; i++) {
    const struct bn_statement_sum *sum = &s->statements.sum[i];

    fit &= bn_snap_is_within(sum->rows, most) && bn_snap_is_within(sum->errors, most) &&
           (sum->hist == NULL || bn_hist_has_at_most(sum->hist, most));
  }
  return fit;
}

_Static_assert((int)BN_LABELS_MAX < (int)BN_STATEMENTS_ROWS, "labels have no more rows");

bool bn_snap_fits(const struct bn_snap *s, uint64_t most)
{
  const uint64_t counts[] = {s->late, s->dropped, s->overdue, s->unfinished};
  /* All rows may be summed as "other".  Statements have the most rows. */
  bool fit = snap_rows_fit(s, most / BN_STATEMENTS_ROWS);

  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    fit &= bn_snap_is_within(counts[i], most);
  for (size_t i = 0; i < s->metrics.n_counters; i++)
    fit &= bn_snap_is_within(s->counter[i], most);
  for (size_t i = 0; i < s->metrics.n_hists; i++)
    fit &= s->hist[i] == NULL || bn_hist_has_at_most(s->hist[i], most);
  return fit;
}

void bn_snap_pack(struct bn_snap *to, const struct bn_snap *from)
{
  const struct bn_hist_sparse *packed = from->sparse; /* read first: `to` may be `from` */

  if (packed == NULL && from->hist[BN_H_LATENCY] == NULL)
    return;
  to->sparse = bn_alloc(to->metrics.n_hists, sizeof *to->sparse);
  for (size_t i = 0; i < to->metrics.n_hists; i++)
    if (packed != NULL)
      bn_hist_sparse_copy(&to->sparse[i], &packed[i]);
    else
      bn_hist_sparse_pack(&to->sparse[i], from->hist[i]);
}

void bn_snap_trim(struct bn_snap *s)
{
  for (size_t i = 0; i < s->metrics.n_labelled; i++)
    s->label[i] = bn_alloc_resize(s->label[i], s->n_labels[i], sizeof *s->label[i]);
}

size_t bn_snap_count_buckets(const struct bn_snap *s)
{
  size_t n = 0;

  if (s->sparse == NULL)
    return 0;
  for (size_t i = 0; i < s->metrics.n_hists; i++)
    n += s->sparse[i].n;
  return n;
}
