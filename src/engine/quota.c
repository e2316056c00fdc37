/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hands out tickets: in batches while events are short, and exactly across the end of the
   warm-up. */
#include "engine/quota.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/wait.h"

/* A session takes an eighth of its part of the tickets that are left, so that all sessions have
   work until the end; 256 are enough to make the shared counter cheap. */
enum { TICKETS_AT_ONCE = 256, PART = 8 };
/* The mean time of events of which sessions take several tickets at once. */
static const uint64_t short_event_ns = 10000;

/* --- making --- */

void bn_quota_init(struct bn_quota *q, const struct bn_quota_plan *plan)
{
  const unsigned n_shares = plan->sessions + plan->others;

  memset(q, 0, sizeof *q);
  atomic_init(&q->limit.until_ns, UINT64_MAX);
  atomic_init(&q->limit.span_ns, UINT64_MAX);
  atomic_init(&q->state, plan->warmup ? BN_QUOTA_WARMUP : BN_QUOTA_COUNTING);
  q->events = plan->events;
  q->per_session = plan->per_session;
  q->sessions = plan->sessions;
  q->one_by_one = plan->one_by_one;
  q->one_more = plan->one_more;
  q->by_start = plan->by_start;
  /* A returned ticket is of use to other sessions only if tickets are limited and shared. */
  q->returns = plan->returns && plan->events != 0 && plan->per_session == 0;
  q->present = plan->sessions;
  q->share = bn_alloc_aligned(_Alignof(struct bn_quota_share), n_shares * sizeof *q->share);
  for (unsigned i = 0; i < n_shares; i++) {
    q->share[i].quota = q;
    q->share[i].untaken = (int64_t)plan->per_session;
    q->share[i].charged = !plan->warmup;
  }
  bn_quota_set_stats(q, plan->stat);
  (void)pthread_mutex_init(&q->lock, NULL);
  bn_wait_init_cond(&q->thawed);
  bn_wait_init_cond(&q->given_back);
}

void bn_quota_set_stats(struct bn_quota *q, struct bn_stat **stat)
{
  for (unsigned i = 0; i < q->sessions; i++)
    q->share[i].stat = stat[i];
}

void bn_quota_done(struct bn_quota *q)
{
  free(q->share);
  (void)pthread_cond_destroy(&q->given_back);
  (void)pthread_cond_destroy(&q->thawed);
  (void)pthread_mutex_destroy(&q->lock);
}

/* --- the limit --- */

/* Ends the span at at_ns; the earliest end counts.  Callers end the span before they lower the
   limit, so that a thread that sees the limit reached finds the end of the span. */
static void quota_end_span(struct bn_quota *q, uint64_t at_ns)
{
  uint64_t end_ns = atomic_load(&q->limit.span_ns);

  while (at_ns < end_ns && !atomic_compare_exchange_weak(&q->limit.span_ns, &end_ns, at_ns))
    ;
}

void bn_quota_open(struct bn_quota *q, uint64_t deadline_ns, uint64_t measure_ns)
{
  uint64_t none = UINT64_MAX;

  q->measure_ns = measure_ns;
  quota_end_span(q, deadline_ns);
  /* This fails if the run was closed: the limit stays 0. */
  (void)atomic_compare_exchange_strong(&q->limit.until_ns, &none, deadline_ns);
}

void bn_quota_close(struct bn_quota *q, uint64_t now_ns)
{
  quota_end_span(q, now_ns);
  atomic_store(&q->limit.until_ns, 0);
  if (!q->returns)
    return;
  (void)pthread_mutex_lock(&q->lock);
  bn_wait_wake(&q->given_back);
  (void)pthread_mutex_unlock(&q->lock);
}

/* --- tickets --- */

/* Returns how many tickets to claim at once, at least 1, if `untaken` tickets are a session's part
   of those that remain.  A session that reserved many tickets of long events would keep other
   sessions idle. */
static inline uint64_t quota_batch_size(const struct bn_quota *q, const struct bn_stat *st,
                                        uint64_t untaken)
{
  const uint64_t part = untaken / PART;
  const uint64_t ended = bn_stat_get(&st->ended);
  const uint64_t busy_ns = bn_stat_get(&st->busy_ns) + bn_stat_get(&st->warm_busy_ns);
  const bool are_short = ended > 0 && busy_ns / ended <= short_event_ns;

  if (q->one_by_one || !are_short || part < 1)
    return 1;
  return part < TICKETS_AT_ONCE ? part : TICKETS_AT_ONCE;
}

/* As quota_take_tickets, with per_session: no other session takes these tickets. */
static enum bn_admission quota_take_own_tickets(struct bn_quota_share *share)
{
  uint64_t batch;

  if (share->untaken <= 0)
    return BN_QUOTA_SPENT;
  batch = quota_batch_size(share->quota, share->stat, (uint64_t)share->untaken);
  share->untaken -= (int64_t)batch;
  (void)atomic_fetch_add_explicit(&share->quota->taken, batch, memory_order_relaxed);
  share->reserved = batch - 1; /* this event uses one */
  return BN_QUOTA_YES;
}

/* Claims tickets for this event and, as a reserve, for the next ones of the session.  Returns YES
   or SPENT. */
static enum bn_admission quota_take_tickets(struct bn_quota_share *share)
{
  struct bn_quota *q = share->quota;
  uint64_t taken = atomic_load_explicit(&q->taken, memory_order_relaxed), batch;

  if (q->per_session != 0)
    return quota_take_own_tickets(share);
  do {
    if (taken >= q->events)
      return BN_QUOTA_SPENT;
    batch = quota_batch_size(q, share->stat, (q->events - taken) / q->sessions);
  } while (!atomic_compare_exchange_weak_explicit(&q->taken, &taken, taken + batch,
                                                  memory_order_relaxed, memory_order_relaxed));
  share->reserved = batch - 1;
  return BN_QUOTA_YES;
}

/* Returns how many of n tickets that a session has taken count in q->taken. */
static uint64_t quota_count_taken(const struct bn_quota *q, uint64_t n)
{
  return q->per_session != 0 && n > q->per_session ? q->per_session : n;
}

/* Charges a session n tickets in place of those that were kept for it.  `change` may stand for a
   negative number: unsigned sums wrap around.  `untaken` is used with per_session only. */
static void quota_replace_kept(struct bn_quota_share *share, uint64_t n)
{
  struct bn_quota *q = share->quota;
  const uint64_t change = quota_count_taken(q, n) - quota_count_taken(q, share->kept);

  (void)atomic_fetch_add_explicit(&q->taken, change, memory_order_relaxed);
  share->untaken = (int64_t)(q->per_session - n);
  share->charged = true;
}

/* Returns how many of n events of a session since the baseline need a ticket: with one_more, the
   first needs none. */
static uint64_t quota_count_charged(const struct bn_quota *q, uint64_t n)
{
  return q->one_more && n > 0 ? n - 1 : n;
}

/* Charges a session once, after the baseline: its events that have ended since then and those in
   flight use the tickets kept for it.  Kept tickets of events that have been dropped go to the
   reserve.  If a script ends events that it never began, fewer tickets than events were kept. */
static void quota_charge_by_end(struct bn_quota_share *share)
{
  const struct bn_stat *st = share->stat;
  const uint64_t ended = bn_stat_get(&st->counter[BN_C_EVENTS]) - share->warm_events;
  const uint64_t in_flight = bn_stat_get(&st->begun) - bn_stat_get(&st->ended);
  const uint64_t n_charged = quota_count_charged(share->quota, ended + in_flight);

  if (n_charged < share->kept)
    share->reserved = share->kept - n_charged;
  quota_replace_kept(share, n_charged > share->kept ? n_charged : share->kept);
}

/* As quota_charge_by_end, with by_start: tickets are needed by events that started after the
   warm-up. */
static void quota_charge_by_start(struct bn_quota_share *share)
{
  const struct bn_stat *st = share->stat;
  const uint64_t early = atomic_load_explicit(&share->early, memory_order_relaxed);
  const uint64_t ended = bn_stat_get(&st->counter[BN_C_EVENTS]);
  const uint64_t in_flight = bn_stat_get(&st->begun) - bn_stat_get(&st->ended);
  const uint64_t with_ticket = early - ended; /* in flight, and started after the warm-up */

  quota_replace_kept(share, early + atomic_load(&share->failed));
  share->ticketless = in_flight - with_ticket;
}

/* Charges a session for the events that it has begun so far, at the end of the warm-up or after
   it. */
static void quota_charge_once(struct bn_quota_share *share)
{
  if (share->charged)
    return;
  if (share->quota->by_start)
    quota_charge_by_start(share);
  else
    quota_charge_by_end(share);
}

/* Admits an event in the warm-up, or returns false if that has ended.  This writes `granted` and
   then reads `state`; bn_quota_freeze() writes `state`, and bn_quota_thaw() reads `granted` after
   that.  All four are sequentially consistent, so that at least one side sees the other: either
   this sees the end of the warm-up and takes the grant back, or bn_quota_thaw() counts it. */
static bool quota_grant(struct bn_quota_share *share)
{
  (void)atomic_fetch_add(&share->granted, 1);
  if (atomic_load(&share->quota->state) == BN_QUOTA_WARMUP)
    return true;
  (void)atomic_fetch_sub(&share->granted, 1);
  return false;
}

/* As bn_quota_claim with --events, before the time limit.  In the warm-up an event needs no ticket
   and is granted, unless it belongs to the measurement: it then waits for the baseline. */
static enum bn_admission quota_claim_ticket(struct bn_quota_share *share, uint64_t now_ns)
{
  if (!share->charged) {
    const bool is_warmup =
        atomic_load_explicit(&share->quota->state, memory_order_acquire) == BN_QUOTA_WARMUP;

    if (is_warmup && share->quota->by_start && now_ns >= share->quota->measure_ns)
      return BN_QUOTA_FROZEN;
    if (is_warmup && quota_grant(share))
      return BN_QUOTA_YES;
    /* The warm-up has ended, perhaps before the grant: the state is read again. */
    if (atomic_load_explicit(&share->quota->state, memory_order_acquire) == BN_QUOTA_BASELINE)
      return BN_QUOTA_FROZEN;
    quota_charge_once(share);
  }
  if (share->reserved == 0)
    return quota_take_tickets(share);
  share->reserved--;
  return BN_QUOTA_YES;
}

enum bn_admission bn_quota_claim(struct bn_quota_share *share, uint64_t now_ns)
{
  const struct bn_quota *q = share->quota;
  const uint64_t until_ns = bn_stat_get(&q->limit.until_ns);

  if (now_ns >= until_ns)
    return until_ns == 0 ? BN_QUOTA_CLOSED : BN_QUOTA_TIME_UP;
  return q->events == 0 ? BN_QUOTA_YES : quota_claim_ticket(share, now_ns);
}

bool bn_quota_refill(struct bn_quota_share *share, uint64_t now_ns)
{
  return share->charged && share->reserved == 0 &&
         now_ns < bn_stat_get(&share->quota->limit.until_ns) &&
         quota_take_tickets(share) == BN_QUOTA_YES;
}

/* A charged session takes tickets instead.  Only by_start with --events reads `early`. */
void bn_quota_note_begun(struct bn_quota_share *share)
{
  if (!share->charged)
    (void)atomic_fetch_add_explicit(&share->early, 1, memory_order_relaxed);
}

/* Before the session is charged, no ticket has been taken: the grant is taken back.  After that,
   the ticket returns to the reserve, unless the event is one of the warm-up and has none. */
void bn_quota_unclaim(struct bn_quota_share *share, bool warm)
{
  if (share->quota->events == 0)
    return;
  if (!share->charged) {
    (void)atomic_fetch_sub(&share->granted, 1);
    if (share->quota->by_start && !warm)
      (void)atomic_fetch_sub_explicit(&share->early, 1, memory_order_relaxed);
  } else if (warm) {
    bn_quota_note_warm_end(share);
  } else {
    share->reserved++;
  }
}

/* `failed` is raised before the claim goes: quota_count_measured, which may read in between, then
   keeps a ticket too many rather than one too few. */
void bn_quota_fail(struct bn_quota_share *share, bool warm)
{
  const bool keeps_spent = share->charged && !warm; /* its ticket stays spent */

  if (share->quota->events == 0 || keeps_spent)
    return;
  if (share->quota->by_start && !warm)
    (void)atomic_fetch_add(&share->failed, 1);
  bn_quota_unclaim(share, warm);
}

/* Events of the warm-up that have no ticket are taken to end first.  The others were due in the
   warm-up but began after it: each has taken a ticket, which returns to the reserve. */
void bn_quota_note_warm_end(struct bn_quota_share *share)
{
  if (share->quota->events == 0 || !share->charged)
    return;
  if (share->ticketless > 0)
    share->ticketless--;
  else
    share->reserved++;
}

/* Returns the events of a session, those of the warm-up included, that have ended and were not
   dropped. */
static uint64_t quota_count_ended(const struct bn_stat *st)
{
  return bn_stat_get(&st->counter[BN_C_EVENTS]) + bn_stat_get(&st->warm_events);
}

/* Gives the tickets in reserve back.  With gives_up, which needs per_session, the tickets that the
   session could still take count as taken, because no other session takes them.  `change` may stand
   for a negative number: unsigned sums wrap around. */
static void quota_return_reserve(struct bn_quota_share *share, bool gives_up)
{
  struct bn_quota *q = share->quota;
  uint64_t change = -share->reserved;

  if (q->per_session != 0) {
    const uint64_t taken = q->per_session - (uint64_t)share->untaken;
    const uint64_t used = gives_up ? q->per_session : taken - share->reserved;

    change = quota_count_taken(q, used) - quota_count_taken(q, taken);
  }
  (void)atomic_fetch_add_explicit(&q->taken, change, memory_order_relaxed);
  share->reserved = 0;
}

/* As bn_quota_leave.  The caller holds the lock, so that bn_quota_thaw comes before or after. */
static enum bn_admission quota_leave_locked(struct bn_quota_share *share, bool gives_up)
{
  switch ((enum bn_quota_state)atomic_load(&share->quota->state)) {
  case BN_QUOTA_WARMUP:
    /* The session may have claimed an event that it will not begin: that grant is taken back. */
    atomic_store(&share->granted, quota_count_ended(share->stat));
    share->given_up = gives_up;
    return BN_QUOTA_YES;
  case BN_QUOTA_BASELINE:
    return BN_QUOTA_FROZEN;
  case BN_QUOTA_COUNTING:
    break;
  }
  quota_charge_once(share);
  quota_return_reserve(share, gives_up);
  return BN_QUOTA_YES;
}

/* Returns whether all tickets are taken; some may be returned. */
static bool quota_is_spent(const struct bn_quota *q)
{
  return atomic_load_explicit(&q->taken, memory_order_relaxed) >= q->events;
}

/* Wakes the sessions that wait for a ticket if one was returned, or if none will be, because all
   present sessions wait.  The caller holds the lock, and has changed the number of sessions that
   could return one.  Thousands of sessions call it one after another at the end of a run: most of
   the calls wake no session. */
static void quota_wake_if_needed(struct bn_quota *q)
{
  if (q->waiting == q->present && quota_is_spent(q))
    q->done = true;
  if (q->done || !quota_is_spent(q))
    bn_wait_wake(&q->given_back);
}

void bn_quota_exempt(struct bn_quota_share *share)
{
  struct bn_quota *q = share->quota;

  (void)pthread_mutex_lock(&q->lock);
  share->exempt = true;
  q->present--;
  (void)pthread_mutex_unlock(&q->lock);
}

enum bn_admission bn_quota_leave(struct bn_quota_share *share, bool failed)
{
  struct bn_quota *q = share->quota;
  enum bn_admission answer;

  if (q->events == 0 || share->exempt)
    return BN_QUOTA_YES;
  (void)pthread_mutex_lock(&q->lock);
  answer = quota_leave_locked(share, failed && q->per_session != 0);
  if (answer == BN_QUOTA_YES && q->returns) {
    q->present--;
    quota_wake_if_needed(q);
  }
  (void)pthread_mutex_unlock(&q->lock);
  return answer;
}

static const struct bn_wait returned_tickets = {"tickets that other sessions give back",
                                                BN_BOUND_END};

bool bn_quota_await_ticket(struct bn_quota_share *share)
{
  struct bn_quota *q = share->quota;
  bool in_time = true, may_ask_again;

  if (!q->returns)
    return false;
  (void)pthread_mutex_lock(&q->lock);
  q->waiting++;
  quota_wake_if_needed(q);
  while (!q->done && quota_is_spent(q) && in_time && bn_stat_get(&q->limit.until_ns) != 0)
    in_time =
        bn_wait_until(&returned_tickets, &q->given_back, &q->lock, bn_stat_get(&q->limit.until_ns));
  /* After the limit, too, the session asks again: bn_quota_claim tells which limit it is. */
  may_ask_again = !q->done;
  q->waiting--;
  (void)pthread_mutex_unlock(&q->lock);
  return may_ask_again;
}

bool bn_quota_note_answer(struct bn_quota_share *share, enum bn_admission answer)
{
  struct bn_quota *q = share->quota;
  const bool is_spent = answer == BN_QUOTA_SPENT;
  const bool waits_or_waited = is_spent || share->waits; /* only this worker changes `waits` */
  bool may_ask_again;

  if (!q->returns || !waits_or_waited)
    return false;
  (void)pthread_mutex_lock(&q->lock);
  if (is_spent && !share->waits)
    q->waiting++;
  if (!is_spent && share->waits)
    q->waiting--;
  share->waits = is_spent;
  quota_wake_if_needed(q);
  may_ask_again = is_spent && !q->done;
  (void)pthread_mutex_unlock(&q->lock);
  return may_ask_again;
}

/* --- the end of the warm-up --- */

static const struct bn_wait baseline = {"the end of the warm-up", BN_BOUND_LEFT_BEHIND};

void bn_quota_await_baseline(struct bn_quota *q)
{
  (void)pthread_mutex_lock(&q->lock);
  while (atomic_load(&q->state) != BN_QUOTA_COUNTING)
    (void)bn_wait_until(&baseline, &q->thawed, &q->lock, UINT64_MAX);
  (void)pthread_mutex_unlock(&q->lock);
}

void bn_quota_freeze(struct bn_quota *q)
{
  (void)pthread_mutex_lock(&q->lock);
  atomic_store(&q->state, BN_QUOTA_BASELINE);
  (void)pthread_mutex_unlock(&q->lock);
}

/* With by_start, returns how many claimed events of a session do not belong to the warm-up, because
   they started after it or have not begun.  `granted` is read first, then the events, then `early`
   and `failed`: a change in between makes the result too large, not too small. */
static uint64_t quota_count_measured(const struct bn_quota_share *share, uint64_t granted)
{
  const uint64_t done = quota_count_ended(share->stat);
  const uint64_t in_flight = bn_stat_get(&share->stat->begun) - bn_stat_get(&share->stat->ended);
  const uint64_t early = atomic_load(&share->early);
  const uint64_t claimed = granted + early, warmup_events = done + in_flight;

  /* A script may begin events without a claim, so that there are more events than claims. */
  return (claimed > warmup_events ? claimed - warmup_events : 0) + atomic_load(&share->failed);
}

/* Returns how many tickets to keep for the events of a session that are in flight at the baseline.
   ended: as in bn_quota_thaw. */
static uint64_t quota_count_kept(const struct bn_quota_share *share, uint64_t ended)
{
  const uint64_t granted = atomic_load(&share->granted);

  if (share->quota->by_start)
    return quota_count_measured(share, granted);
  return granted > ended ? quota_count_charged(share->quota, granted - ended) : 0;
}

/* From now on tickets count.  Those of the events in flight are taken already. */
void bn_quota_thaw(struct bn_quota *q, const uint64_t *ended)
{
  uint64_t kept = 0;

  (void)pthread_mutex_lock(&q->lock);
  for (unsigned i = 0; i < q->sessions; i++) {
    struct bn_quota_share *share = &q->share[i];

    share->warm_events = q->by_start ? 0 : ended[i];
    share->kept = quota_count_kept(share, ended[i]);
    kept += share->given_up ? q->per_session : quota_count_taken(q, share->kept);
  }
  atomic_store_explicit(&q->taken, kept, memory_order_relaxed);
  atomic_store(&q->state, BN_QUOTA_COUNTING);
  bn_wait_wake(&q->thawed);
  (void)pthread_mutex_unlock(&q->lock);
}

uint64_t bn_quota_unused(const struct bn_quota *q)
{
  uint64_t taken;

  /* The state comes first: thaw has set `taken` before it. */
  if (q->events == 0 || atomic_load(&q->state) != BN_QUOTA_COUNTING)
    return UINT64_MAX;
  taken = atomic_load_explicit(&q->taken, memory_order_relaxed);
  return q->events > taken ? q->events - taken : 0;
}
