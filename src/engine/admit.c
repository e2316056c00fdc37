/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hands out tickets: in batches while events are short, and exactly across the end of the warm-up.
 */
#include "engine/admit.h"

#include <stdlib.h>
#include <string.h>

#include "base/wait.h"

enum { TICKETS_AT_ONCE = 256 };
static const uint64_t short_event_ns = 10000;

/* --- making --- */

static void seat_session(struct bn_admit *a, struct bn_admit_seat *seat)
{
  seat->admit = a;
  seat->counted = atomic_load(&a->state) == BN_ADMIT_COUNTING;
}

int bn_admit_init(struct bn_admit *a, const struct bn_admit_plan *plan)
{
  const size_t size = sizeof *a->seat * (plan->sessions + plan->others);
  unsigned i;

  memset(a, 0, sizeof *a);
  atomic_init(&a->limit.until_ns, UINT64_MAX);
  atomic_init(&a->limit.span_ns, UINT64_MAX);
  atomic_init(&a->state, plan->warmup ? BN_ADMIT_WARMUP : BN_ADMIT_COUNTING);
  a->events = plan->events;
  a->sessions = plan->sessions;
  a->one_by_one = plan->one_by_one;
  a->one_more = plan->one_more;
  a->by_start = plan->by_start;
  a->returns = plan->returns && plan->events != 0;
  a->present = plan->sessions;
  a->seat = aligned_alloc(_Alignof(struct bn_admit_seat), size);
  if (a->seat == NULL)
    return -1;
  memset(a->seat, 0, size);
  for (i = 0; i < plan->sessions + plan->others; i++)
    seat_session(a, &a->seat[i]);
  bn_admit_count_in(a, plan->stat);
  (void)pthread_mutex_init(&a->lock, NULL);
  (void)bn_wait_init(&a->thawed);
  (void)bn_wait_init(&a->given_back);
  return 0;
}

void bn_admit_count_in(struct bn_admit *a, struct bn_stat **stat)
{
  for (unsigned i = 0; i < a->sessions; i++)
    a->seat[i].stat = stat[i];
}

void bn_admit_done(struct bn_admit *a)
{
  if (a->seat == NULL)
    return;
  free(a->seat);
  a->seat = NULL;
  (void)pthread_cond_destroy(&a->given_back);
  (void)pthread_cond_destroy(&a->thawed);
  (void)pthread_mutex_destroy(&a->lock);
}

/* --- the limit --- */

/* Before the limit itself: who sees that it is reached knows when. */
static void end_span(struct bn_admit *a, uint64_t at_ns)
{
  uint64_t end = atomic_load(&a->limit.span_ns);

  while (at_ns < end && !atomic_compare_exchange_weak(&a->limit.span_ns, &end, at_ns))
    ;
}

void bn_admit_open(struct bn_admit *a, uint64_t deadline_ns, uint64_t measure_ns)
{
  uint64_t none = UINT64_MAX;

  a->measure_ns = measure_ns;
  end_span(a, deadline_ns);
  (void)atomic_compare_exchange_strong(&a->limit.until_ns, &none, deadline_ns);
}

void bn_admit_close(struct bn_admit *a, uint64_t now_ns)
{
  end_span(a, now_ns);
  atomic_store(&a->limit.until_ns, 0);
  if (!a->returns)
    return;
  (void)pthread_mutex_lock(&a->lock);
  bn_wait_wake(&a->given_back);
  (void)pthread_mutex_unlock(&a->lock);
}

/* --- tickets --- */

/* A session that sits on many tickets of long events would keep others idle. */
static uint64_t batch_size(const struct bn_admit *a, const struct bn_stat *st, uint64_t left)
{
  const uint64_t share = left / (8 * (uint64_t)a->sessions);
  const uint64_t n = bn_stat_get(&st->ended);
  const uint64_t busy = bn_stat_get(&st->busy_ns) + bn_stat_get(&st->warm_busy_ns);

  if (a->one_by_one || n == 0 || busy / n > short_event_ns || share < 1)
    return 1;
  return share < TICKETS_AT_ONCE ? share : TICKETS_AT_ONCE;
}

static enum bn_admission take(struct bn_admit_seat *seat)
{
  struct bn_admit *a = seat->admit;
  uint64_t taken = atomic_load_explicit(&a->taken, memory_order_relaxed), want;

  do {
    if (taken >= a->events)
      return BN_ADMIT_SPENT;
    want = batch_size(a, seat->stat, a->events - taken);
  } while (!atomic_compare_exchange_weak_explicit(&a->taken, &taken, taken + want,
                                                  memory_order_relaxed, memory_order_relaxed));
  seat->hand = want - 1;
  return BN_ADMIT_YES;
}

/* Of a session's events since the baseline, how many need a ticket. */
static uint64_t charged(const struct bn_admit *a, uint64_t n)
{
  return a->one_more && n > 0 ? n - 1 : n;
}

/* Once, after the baseline: what has ended since and what is in flight use the tickets that were
   kept for them.  Some may have been dropped.  Too few are kept only for a script that ends events
   which it never began. */
static void charge(struct bn_admit_seat *seat)
{
  const struct bn_stat *st = seat->stat;
  const uint64_t ended = bn_stat_get(&st->counter[BN_C_EVENTS]) - seat->warm_events;
  const uint64_t in_flight = bn_stat_get(&st->begun) - bn_stat_get(&st->ended);
  const uint64_t n = charged(seat->admit, ended + in_flight);

  if (n > seat->kept)
    (void)atomic_fetch_add_explicit(&seat->admit->taken, n - seat->kept, memory_order_relaxed);
  else
    seat->hand = seat->kept - n;
  seat->counted = true;
}

/* The same by start. */
static void charge_by_start(struct bn_admit_seat *seat)
{
  const struct bn_stat *st = seat->stat;
  const uint64_t early = atomic_load_explicit(&seat->early, memory_order_relaxed);
  const uint64_t ended = bn_stat_get(&st->counter[BN_C_EVENTS]);
  const uint64_t in_flight = bn_stat_get(&st->begun) - bn_stat_get(&st->ended);

  (void)atomic_fetch_add_explicit(
      &seat->admit->taken, early + atomic_load(&seat->failed) - seat->kept, memory_order_relaxed);
  seat->open = in_flight - (early - ended);
  seat->counted = true;
}

static void charge_once(struct bn_admit_seat *seat)
{
  if (seat->counted)
    return;
  if (seat->admit->by_start)
    charge_by_start(seat);
  else
    charge(seat);
}

/* In the warm-up.  Of this store and load, and freeze's, one side sees the other's: a claim is
   either granted and known to thaw, or not granted. */
static bool grant(struct bn_admit_seat *seat)
{
  (void)atomic_fetch_add(&seat->granted, 1);
  if (atomic_load(&seat->admit->state) == BN_ADMIT_WARMUP)
    return true;
  (void)atomic_fetch_sub(&seat->granted, 1);
  return false;
}

/* What begins now is measured, though nobody has said so yet. */
static bool is_early(const struct bn_admit *a, uint64_t now_ns)
{
  return a->by_start && now_ns >= a->measure_ns;
}

static enum bn_admission claim_ticket(struct bn_admit_seat *seat, uint64_t now_ns)
{
  if (!seat->counted) {
    int state = atomic_load_explicit(&seat->admit->state, memory_order_acquire);

    if (state == BN_ADMIT_WARMUP && is_early(seat->admit, now_ns))
      return BN_ADMIT_FROZEN;
    if (state == BN_ADMIT_WARMUP && grant(seat))
      return BN_ADMIT_YES;
    state = atomic_load_explicit(&seat->admit->state, memory_order_acquire);
    if (state == BN_ADMIT_BASELINE)
      return BN_ADMIT_FROZEN;
    charge_once(seat);
  }
  if (seat->hand == 0)
    return take(seat);
  seat->hand--;
  return BN_ADMIT_YES;
}

enum bn_admission bn_admit_claim(struct bn_admit_seat *seat, uint64_t now_ns)
{
  const struct bn_admit *a = seat->admit;
  const uint64_t until = bn_stat_get(&a->limit.until_ns);

  if (now_ns >= until)
    return until == 0 ? BN_ADMIT_CLOSED : BN_ADMIT_TIME_UP;
  return a->events == 0 ? BN_ADMIT_YES : claim_ticket(seat, now_ns);
}

bool bn_admit_take(struct bn_admit_seat *seat, uint64_t now_ns)
{
  return seat->counted && seat->hand == 0 && now_ns < bn_stat_get(&seat->admit->limit.until_ns) &&
         take(seat) == BN_ADMIT_YES;
}

void bn_admit_began(struct bn_admit_seat *seat)
{
  if (!seat->counted)
    (void)atomic_fetch_add_explicit(&seat->early, 1, memory_order_relaxed);
}

void bn_admit_unclaim(struct bn_admit_seat *seat, bool warm)
{
  if (seat->admit->events == 0)
    return;
  if (seat->counted && warm)
    bn_admit_was_warm(seat);
  else if (seat->counted)
    seat->hand++;
  else
    (void)atomic_fetch_sub(&seat->granted, 1);
  if (!seat->counted && seat->admit->by_start && !warm)
    (void)atomic_fetch_sub_explicit(&seat->early, 1, memory_order_relaxed);
}

/* `failed` first: who looks meanwhile sees too many rather than too few. */
void bn_admit_fail(struct bn_admit_seat *seat, bool warm)
{
  if (seat->admit->events == 0 || (seat->counted && !warm))
    return;
  if (seat->admit->by_start && !warm)
    (void)atomic_fetch_add(&seat->failed, 1);
  bn_admit_unclaim(seat, warm);
}

/* One that was due in the warm-up and begun after it has taken a ticket. */
void bn_admit_was_warm(struct bn_admit_seat *seat)
{
  if (seat->admit->events == 0 || !seat->counted)
    return;
  if (seat->open > 0)
    seat->open--;
  else
    seat->hand++;
}

/* All that have ended and were not dropped. */
static uint64_t ended_events(const struct bn_stat *st)
{
  return bn_stat_get(&st->counter[BN_C_EVENTS]) + bn_stat_get(&st->warm_events);
}

/* With the lock, so that thaw comes before or after. */
static enum bn_admission leave(struct bn_admit *a, struct bn_admit_seat *seat)
{
  switch ((enum bn_admit_state)atomic_load(&a->state)) {
  case BN_ADMIT_WARMUP:
    /* Without claims that came to nothing. */
    atomic_store(&seat->granted, ended_events(seat->stat));
    return BN_ADMIT_YES;
  case BN_ADMIT_BASELINE:
    return BN_ADMIT_FROZEN;
  case BN_ADMIT_COUNTING:
    break;
  }
  charge_once(seat);
  (void)atomic_fetch_sub_explicit(&a->taken, seat->hand, memory_order_relaxed);
  seat->hand = 0;
  return BN_ADMIT_YES;
}

static bool none_is_left(const struct bn_admit *a)
{
  return atomic_load_explicit(&a->taken, memory_order_relaxed) >= a->events;
}

/* With the lock, when fewer can give tickets back.  Thousands come here one after another at the
   end of a run: they wake the others only if there is something to do. */
static void look_who_is_left(struct bn_admit *a)
{
  a->done |= a->idle == a->present && none_is_left(a);
  if (a->done || !none_is_left(a))
    bn_wait_wake(&a->given_back);
}

enum bn_admission bn_admit_leave(struct bn_admit_seat *seat)
{
  struct bn_admit *a = seat->admit;
  enum bn_admission answer;

  if (a->events == 0)
    return BN_ADMIT_YES;
  (void)pthread_mutex_lock(&a->lock);
  answer = leave(a, seat);
  if (answer == BN_ADMIT_YES && a->returns) {
    a->present--;
    look_who_is_left(a);
  }
  (void)pthread_mutex_unlock(&a->lock);
  return answer;
}

static const struct bn_wait returned = {"tickets that other sessions give back", BN_BOUND_END};

bool bn_admit_linger(struct bn_admit_seat *seat)
{
  struct bn_admit *a = seat->admit;
  bool in_time = true, again;

  if (!a->returns)
    return false;
  (void)pthread_mutex_lock(&a->lock);
  a->idle++;
  look_who_is_left(a);
  while (!a->done && none_is_left(a) && in_time && bn_stat_get(&a->limit.until_ns) != 0)
    in_time = bn_wait_until(&returned, &a->given_back, &a->lock, bn_stat_get(&a->limit.until_ns));
  again = !a->done;
  a->idle--;
  (void)pthread_mutex_unlock(&a->lock);
  return again;
}

/* --- the end of the warm-up --- */

static const struct bn_wait baseline = {"the end of the warm-up", BN_BOUND_LEFT_BEHIND};

void bn_admit_await(struct bn_admit *a)
{
  (void)pthread_mutex_lock(&a->lock);
  while (atomic_load(&a->state) != BN_ADMIT_COUNTING)
    (void)bn_wait_until(&baseline, &a->thawed, &a->lock, UINT64_MAX);
  (void)pthread_mutex_unlock(&a->lock);
}

void bn_admit_freeze(struct bn_admit *a)
{
  (void)pthread_mutex_lock(&a->lock);
  atomic_store(&a->state, BN_ADMIT_BASELINE);
  (void)pthread_mutex_unlock(&a->lock);
}

/* By start: tickets for what was claimed and is not of the warm-up: it has started after it or is
   in a session's hands.  In this order, so that what moves meanwhile makes them too many. */
static uint64_t measured(const struct bn_admit_seat *seat, uint64_t granted)
{
  const uint64_t done = ended_events(seat->stat);
  const uint64_t in_flight = bn_stat_get(&seat->stat->begun) - bn_stat_get(&seat->stat->ended);
  const uint64_t early = atomic_load(&seat->early);

  const uint64_t claimed = granted + early, of_warmup = done + in_flight;

  /* A script may begin events that it did not ask for. */
  return (claimed > of_warmup ? claimed - of_warmup : 0) + atomic_load(&seat->failed);
}

static uint64_t tickets_kept(const struct bn_admit *a, const struct bn_admit_seat *seat,
                             uint64_t ended)
{
  const uint64_t granted = atomic_load(&seat->granted);

  if (a->by_start)
    return measured(seat, granted);
  return granted > ended ? charged(a, granted - ended) : 0;
}

void bn_admit_thaw(struct bn_admit *a, const uint64_t *ended)
{
  uint64_t kept = 0;

  (void)pthread_mutex_lock(&a->lock);
  for (unsigned i = 0; i < a->sessions; i++) {
    struct bn_admit_seat *seat = &a->seat[i];

    seat->warm_events = a->by_start ? 0 : ended[i];
    seat->kept = tickets_kept(a, seat, ended[i]);
    kept += seat->kept;
  }
  atomic_store_explicit(&a->taken, kept, memory_order_relaxed);
  atomic_store(&a->state, BN_ADMIT_COUNTING);
  bn_wait_wake(&a->thawed);
  (void)pthread_mutex_unlock(&a->lock);
}

uint64_t bn_admit_left(const struct bn_admit *a)
{
  const uint64_t taken = atomic_load_explicit(&a->taken, memory_order_relaxed);

  if (a->events == 0 || atomic_load(&a->state) != BN_ADMIT_COUNTING)
    return UINT64_MAX;
  return a->events > taken ? a->events - taken : 0;
}
