/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrival times by inverting the cumulative rate at the sums of unit exponential gaps, or at the
   integers.

   A thread claims an arrival by moving one atomic word from its position to the next one.  A
   thread that loses the race draws again from the new position, so that no thread ever waits for
   another one, and the sequence does not depend on who draws it. */
#include "engine/arrivals.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/dist.h"
#include "base/rng.h"
#include "base/wait.h"
#include "measure/stat.h"

/* Most arrivals that one call replays, which takes 40 ms: four seconds of the highest rate that can
   be served.  While the replay is behind, the expected number is returned, which is right within a
   part in a thousand. */
enum { REPLAY_MAX = 4000000 };
/* A replay that is so many arrivals behind would not catch up, and is not tried. */
enum { REPLAY_HOPELESS = 100 * REPLAY_MAX };
/* Most arrivals replayed for the final report, which takes a second. */
enum { REPLAY_LAST = 25 * REPLAY_MAX };
/* Most ages that are computed one by one, and about the number of groups for more ages. */
enum { AGES_MAX = 5 * REPLAY_MAX, AGES_GROUPS = 100000 };

void bn_arrivals_init(struct bn_arrivals *a, uint64_t seed, const struct bn_rate_piece *piece,
                      size_t n_pieces)
{
  struct bn_rng rng;

  bn_rng_seed(&rng, seed, BN_RNG_PACER, 0);
  *a = (struct bn_arrivals){
      .key = bn_rng_next(&rng), .per_share = 1, .piece = piece, .n_pieces = n_pieces};
}

/* Returns the time at which the cumulative rate is `mass`, in seconds from the start. */
static double arrivals_time_at(const struct bn_arrivals *a, double mass)
{
  return bn_rate_curve_time(a->piece, a->n_pieces, mass * a->per_share);
}

/* Returns the distance from a position to the next one, at least 1, because positions grow
   strictly. */
static uint64_t arrivals_random_gap(const struct bn_arrivals *a, uint64_t position)
{
  const double gap = bn_dist_exponential(bn_rng_mix(a->key ^ position)) / BN_ARRIVALS_UNIT;

  return gap > 1 ? (uint64_t)(gap + 0.5) : 1;
}

uint64_t bn_arrivals_next(const struct bn_arrivals *a, uint64_t position)
{
  const bool is_random = a->first == 0;
  uint64_t gap = (uint64_t)(1 / BN_ARRIVALS_UNIT); /* a constant gap: one arrival */

  if (is_random)
    gap = arrivals_random_gap(a, position);
  else if (position == 0)
    gap = a->first; /* earlier by the lead of bn_pacer_make_constant */
  return position < UINT64_MAX - gap ? position + gap : UINT64_MAX;
}

double bn_arrivals_time(const struct bn_arrivals *a, uint64_t position)
{
  return arrivals_time_at(a, (double)position * BN_ARRIVALS_UNIT);
}

/* Adds a mark, from which arrivals can be drawn again.  If all marks are used, every second mark is
   dropped and their distance doubles. */
static void pacer_add_mark(struct bn_pacer *p, uint64_t position)
{
  if (p->n_marks == BN_PACER_MARKS) {
    for (size_t i = 0; i < BN_PACER_MARKS / 2; i++)
      p->mark[i] = p->mark[2 * i];
    p->n_marks = BN_PACER_MARKS / 2;
    p->step *= 2;
  }
  p->mark[p->n_marks++] = position;
}

void bn_pacer_init(struct bn_pacer *p, uint64_t seed, const struct bn_rate_piece *piece,
                   size_t n_pieces)
{
  memset(p, 0, sizeof *p);
  bn_arrivals_init(&p->sequence, seed, piece, n_pieces);
  p->step = 1;
  pacer_add_mark(p, 0);
  p->next = bn_arrivals_next(&p->sequence, 0);
  (void)pthread_mutex_init(&p->replaying, NULL);
  (void)pthread_mutex_init(&p->sleeping, NULL);
  bn_wait_init_cond(&p->woken);
}

void bn_pacer_init_rate(struct bn_pacer *p, uint64_t seed, double rate)
{
  const struct bn_rate_piece constant = {.start_rate = rate, .end_rate = rate};

  bn_pacer_init(p, seed, &constant, 1);
  /* The sequence borrows its piece, which has to live as long as the pacer. */
  p->constant = constant;
  p->sequence.piece = &p->constant;
}

void bn_pacer_make_constant(struct bn_pacer *p, double lead)
{
  p->sequence.first = (uint64_t)((1 - lead) / BN_ARRIVALS_UNIT);
  /* bn_pacer_init has drawn the first position with a random gap. */
  p->next = bn_arrivals_next(&p->sequence, 0);
}

void bn_pacer_set_share(struct bn_pacer *p, double share)
{
  p->sequence.per_share = 1 / share;
}

void bn_pacer_done(struct bn_pacer *p)
{
  (void)pthread_cond_destroy(&p->woken);
  (void)pthread_mutex_destroy(&p->sleeping);
  (void)pthread_mutex_destroy(&p->replaying);
}

void bn_pacer_start(struct bn_pacer *p, uint64_t start_ns)
{
  p->start_ns = start_ns;
}

/* Returns when the arrival at a position is due; UINT64_MAX: never. */
static uint64_t pacer_due_ns(const struct bn_pacer *p, uint64_t position)
{
  return position < UINT64_MAX
             ? bn_clock_after(p->start_ns, bn_arrivals_time(&p->sequence, position))
             : UINT64_MAX;
}

/* Relaxed: a position says all about its arrival, and nothing else is published with it. */
uint64_t bn_pacer_claim(struct bn_pacer *p)
{
  uint64_t last = atomic_load_explicit(&p->claimed, memory_order_relaxed), next;

  do {
    next = bn_arrivals_next(&p->sequence, last);
  } while (!atomic_compare_exchange_weak_explicit(&p->claimed, &last, next, memory_order_relaxed,
                                                  memory_order_relaxed));
  return pacer_due_ns(p, next);
}

/* --- the replay: static functions that get the pacer are called with `replaying` held --- */

/* Rounds an expected number of arrivals down, but not below `counted`, the arrivals that have come
   for certain.  A number from 2^63 on is that of a run without an end, and says nothing: returns
   `counted`. */
static uint64_t pacer_round_expected(uint64_t counted, double expected)
{
  return expected > (double)counted && expected < 0x1p63 ? (uint64_t)expected : counted;
}

double bn_pacer_count_expected(const struct bn_pacer *p, uint64_t at_ns)
{
  const struct bn_arrivals *a = &p->sequence;

  if (at_ns <= p->start_ns)
    return 0;
  /* The inverse of arrivals_time_at. */
  return bn_rate_curve_mass(a->piece, a->n_pieces, (double)(at_ns - p->start_ns) * 1e-9) /
         a->per_share;
}

/* Replays arrivals up to to_ns, at most `n_most` of them.  Returns whether the replay has reached
   to_ns. */
static bool pacer_replay_until(struct bn_pacer *p, uint64_t to_ns, uint64_t n_most)
{
  while (pacer_due_ns(p, p->next) <= to_ns) {
    if (n_most == 0)
      return false;
    n_most--;
    p->replayed++;
    /* The next mark is due: mark[i] is the position after i * step arrivals. */
    if (p->replayed == p->n_marks * p->step)
      pacer_add_mark(p, p->next);
    p->next = bn_arrivals_next(&p->sequence, p->next);
  }
  return true;
}

/* Returns whether more than n_most arrivals are expected between the replay and to_ns. */
static bool pacer_is_behind(const struct bn_pacer *p, uint64_t to_ns, double n_most)
{
  return bn_pacer_count_expected(p, to_ns) - (double)p->replayed > n_most;
}

uint64_t bn_pacer_count_passed(struct bn_pacer *p, uint64_t now_ns)
{
  uint64_t passed;

  (void)pthread_mutex_lock(&p->replaying);
  /* If the replay does not reach now_ns, the number is estimated. */
  if (pacer_is_behind(p, now_ns, REPLAY_HOPELESS) || !pacer_replay_until(p, now_ns, REPLAY_MAX))
    p->passed = pacer_round_expected(p->passed, bn_pacer_count_expected(p, now_ns));
  /* An earlier estimate may be ahead of the replay, and answers do not fall. */
  if (p->passed < p->replayed)
    p->passed = p->replayed;
  passed = p->passed;
  (void)pthread_mutex_unlock(&p->replaying);
  return passed;
}

/* Returns the index of the last mark whose arrival is due at at_ns.  The first mark is before all
   arrivals. */
static size_t pacer_find_mark(const struct bn_pacer *p, uint64_t at_ns)
{
  size_t low = 0, high = p->n_marks;

  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;

    if (pacer_due_ns(p, p->mark[middle]) <= at_ns)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* Returns how many arrivals are due up to at_ns.  The replay has passed that time. */
static uint64_t pacer_count_until(const struct bn_pacer *p, uint64_t at_ns)
{
  const size_t i = pacer_find_mark(p, at_ns);
  uint64_t count = i * p->step, next = bn_arrivals_next(&p->sequence, p->mark[i]);

  while (pacer_due_ns(p, next) <= at_ns) {
    next = bn_arrivals_next(&p->sequence, next);
    count++;
  }
  return count;
}

/* Replays arrivals up to to_ns and returns true, or returns false if that would take too long. */
static bool pacer_catch_up(struct bn_pacer *p, uint64_t to_ns)
{
  return !pacer_is_behind(p, to_ns, REPLAY_LAST) && pacer_replay_until(p, to_ns, UINT64_MAX);
}

/* Returns how many arrivals are due up to at_ns.  If the replay would take too long, this is the
   expected number, and *estimated is set. */
static uint64_t pacer_count_or_estimate(struct bn_pacer *p, uint64_t at_ns, bool *estimated)
{
  if (pacer_catch_up(p, at_ns))
    return pacer_count_until(p, at_ns);
  *estimated = true;
  return pacer_round_expected(p->replayed, bn_pacer_count_expected(p, at_ns));
}

struct bn_pacer_due bn_pacer_count_due(struct bn_pacer *p, uint64_t from_ns, uint64_t to_ns)
{
  struct bn_pacer_due due = {.estimated = false};
  uint64_t total;

  (void)pthread_mutex_lock(&p->replaying);
  if (from_ns > p->start_ns) /* an arrival at from_ns itself is counted */
    due.warmup = pacer_count_or_estimate(p, from_ns - 1, &due.estimated);
  total = pacer_count_or_estimate(p, to_ns, &due.estimated);
  (void)pthread_mutex_unlock(&p->replaying);
  if (due.warmup > total)
    due.warmup = total;
  due.counted = total - due.warmup;
  return due;
}

/* --- ages: static functions that get the pacer are called with `replaying` held --- */

/* Returns the age at to_ns of an arrival that comes where the cumulative rate is `mass`. */
static uint64_t pacer_age_at(const struct bn_pacer *p, double mass, uint64_t to_ns)
{
  return bn_clock_between(bn_clock_after(p->start_ns, arrivals_time_at(&p->sequence, mass)), to_ns);
}

/* Returns the position of the n-th arrival, which has been replayed; 0 for n = 0.  Draws the
   arrivals from the last mark before it on. */
static uint64_t pacer_find_position(const struct bn_pacer *p, uint64_t n)
{
  const uint64_t last_mark = p->n_marks - 1;
  const uint64_t i = n / p->step < last_mark ? n / p->step : last_mark;
  uint64_t position = p->mark[i];

  for (uint64_t k = i * p->step; k < n; k++)
    position = bn_arrivals_next(&p->sequence, position);
  return position;
}

/* Returns the cumulative rate at the n-th arrival, which has come due by to_ns.  If it has not been
   replayed, this is n, the expected value, but not more than the cumulative rate at to_ns. */
static double pacer_find_mass(const struct bn_pacer *p, uint64_t n, uint64_t to_ns)
{
  if (n <= p->replayed)
    return (double)pacer_find_position(p, n) * BN_ARRIVALS_UNIT;
  return fmin((double)n, bn_pacer_count_expected(p, to_ns));
}

/* Puts the ages of the n arrivals after the first `skip`, one by one. */
static void pacer_put_each(const struct bn_pacer *p, uint64_t to_ns, uint64_t skip, uint64_t n,
                           struct bn_hist *into)
{
  uint64_t position = pacer_find_position(p, skip);

  for (; n > 0; n--) {
    position = bn_arrivals_next(&p->sequence, position);
    bn_hist_put(into, bn_clock_between(pacer_due_ns(p, position), to_ns), 1);
  }
}

/* Puts n ages at equal distances of the cumulative rate between `first_mass` and `last_mass`, in
   groups: all ages of a group are put as that of its middle. */
static void pacer_put_groups(const struct bn_pacer *p, uint64_t to_ns, double first_mass,
                             double last_mass, uint64_t n, struct bn_hist *into)
{
  const uint64_t group_size = n / AGES_GROUPS + 1;
  const double gap =
      n > 1 && last_mass > first_mass ? (last_mass - first_mass) / (double)(n - 1) : 0;

  for (uint64_t i = 0; i < n; i += group_size) {
    const uint64_t size = n - i < group_size ? n - i : group_size; /* the last may be smaller */
    const double middle = (double)i + (double)(size - 1) / 2;

    bn_hist_put(into, pacer_age_at(p, first_mass + gap * middle, to_ns), size);
  }
}

/* Computes each age if the arrivals have been replayed and are few, else ages of groups. */
uint64_t bn_pacer_add_ages(struct bn_pacer *p, uint64_t to_ns, uint64_t skip, uint64_t n,
                           struct bn_hist *into)
{
  double first_mass;

  if (n == 0)
    return 0;
  (void)pthread_mutex_lock(&p->replaying);
  (void)pacer_catch_up(p, to_ns); /* p->replayed tells below how far the replay has come */
  first_mass = pacer_find_mass(p, skip + 1, to_ns);
  if (n <= AGES_MAX && skip + n <= p->replayed)
    pacer_put_each(p, to_ns, skip, n, into);
  else
    pacer_put_groups(p, to_ns, first_mass, pacer_find_mass(p, skip + n, to_ns), n, into);
  (void)pthread_mutex_unlock(&p->replaying);
  return pacer_age_at(p, first_mass, to_ns);
}

/* --- sleeping --- */

static const struct bn_wait arrival = {"the next arrival", BN_BOUND_END};

bool bn_pacer_sleep(struct bn_pacer *p, const struct bn_limit *limit, uint64_t due_ns)
{
  bool is_due = false;

  (void)pthread_mutex_lock(&p->sleeping);
  while (bn_stat_get(&limit->until_ns) >= due_ns && !is_due)
    is_due = !bn_wait_until(&arrival, &p->woken, &p->sleeping, due_ns);
  (void)pthread_mutex_unlock(&p->sleeping);
  return is_due;
}

void bn_pacer_wake(struct bn_pacer *p)
{
  (void)pthread_mutex_lock(&p->sleeping);
  bn_wait_wake(&p->woken);
  (void)pthread_mutex_unlock(&p->sleeping);
}
