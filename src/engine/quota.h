/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decides which events may begin: the time limit, the tickets of --events, the end of the warm-up.

   Tickets exist from the warm-up's baseline on; without a warm-up, from the start.  Invariant:
     taken = finished + in flight + reserved
   `finished` counts events that ended after the baseline, also those that failed for good.  The
   ticket of a dropped event returns to the session's reserve.  A session that leaves returns its
   reserve. If a ticket that is used again counts as claimed again, this is claimed = finished +
   dropped + returned + in flight + kept Therefore `finished` is at most --events, or at most the
   number of events in flight at the baseline if that is larger.  With `one_more`, each session may
   have one more: the event that it had in flight at the baseline.

   With `by_start`, an event that started before the end of the warm-up needs no ticket, however
   late it ends.  A session that meets the end of the warm-up before the baseline has been taken
   waits for it.  What was claimed before and starts after uses a ticket that is kept for it.

   With `returns`, a session that finds no ticket waits until one is given back, as by a session
   that has failed, or until nobody can do so any more: the events of --events are done by those
   that are left.

   No function reads a clock.  Only bn_quota_await and bn_quota_linger wait. */
#ifndef BN_ENGINE_QUOTA_H
#define BN_ENGINE_QUOTA_H

#include <pthread.h>

#include "api/session.h"
#include "measure/stat.h"

enum bn_admission {
  BN_QUOTA_YES,
  BN_QUOTA_CLOSED,  /* somebody ended the run */
  BN_QUOTA_TIME_UP, /* the time limit has been reached */
  BN_QUOTA_SPENT,   /* all tickets are taken */
  BN_QUOTA_FROZEN   /* the baseline is being taken: bn_quota_await, then ask again */
};

enum bn_quota_state { BN_QUOTA_WARMUP, BN_QUOTA_BASELINE, BN_QUOTA_COUNTING };

/* What one session has of it; used by its worker unless noted. */
struct bn_quota_share {
  _Alignas(64) struct bn_quota *quota;
  const struct bn_stat *stat;
  uint64_t reserved;        /* tickets taken and not used */
  _Atomic uint64_t granted; /* events that were let begin in the warm-up and not dropped; thaw reads
                               it */
  bool counted;             /* what this session had in flight at the baseline has been charged */
  uint64_t open;            /* by_start: of that, events without a ticket that have not ended */
  _Atomic uint64_t early;   /* by_start: of `granted`, those that started after the warm-up */
  _Atomic uint64_t failed;  /* by_start: those that did so and failed for good before `counted` */
  uint64_t warm_events, kept; /* by thaw: its events at the baseline; tickets for those in flight */
};

struct bn_quota {
  struct bn_limit limit;
  _Alignas(64) _Atomic uint64_t taken;
  _Alignas(64) _Atomic int state; /* enum bn_quota_state; written under the lock */
  uint64_t events;                /* 0: no limit */
  unsigned sessions;
  bool one_by_one, one_more, by_start;
  uint64_t measure_ns;          /* by_start: the end of the warm-up; set before there are claims */
  struct bn_quota_share *share; /* owned */
  pthread_mutex_t lock;
  pthread_cond_t thawed;
  pthread_cond_t given_back;
  unsigned present, idle; /* with the lock: sessions that have not left; of those, who waits */
  bool returns, done;     /* done, with the lock: no ticket comes back */
};

struct bn_quota_plan {
  uint64_t events;       /* 0: no limit */
  unsigned sessions;     /* that share them */
  unsigned others;       /* sessions that begin no events: a seat, which is only closed */
  bool warmup;           /* tickets wait for the baseline */
  bool one_by_one;       /* tickets are never taken in batches: events are long (--rate) */
  bool one_more;         /* see above */
  bool returns;          /* see above */
  bool by_start;         /* see above: events of the warm-up are counted apart */
  struct bn_stat **stat; /* by session; borrowed */
};

/* 0 or -1: out of memory.  *q is at the start of a cache line. */
int bn_quota_init(struct bn_quota *q, const struct bn_quota_plan *plan);
void bn_quota_done(struct bn_quota *q);
/* Before there are claims: the statistics of the plan have moved. */
void bn_quota_count_in(struct bn_quota *q, struct bn_stat **stat);

/* Sets the time limit, unless it was closed before, and the end of the warm-up.  Any thread, once,
   before there are claims. */
void bn_quota_open(struct bn_quota *q, uint64_t deadline_ns, uint64_t measure_ns);
/* No event begins any more.  Any thread. */
void bn_quota_close(struct bn_quota *q, uint64_t now_ns);

/* May an event begin at now_ns? */
enum bn_admission bn_quota_claim(struct bn_quota_share *share, uint64_t now_ns);
/* YES, if it can be told at once: after the baseline, while there are tickets.  false: ask
   bn_quota_claim. */
bool bn_quota_take(struct bn_quota_share *share, uint64_t now_ns);
/* The same, inline for the tickets in the session's reserve, which it has only after the baseline.
 */
static inline bool bn_quota_use(struct bn_quota_share *share, uint64_t now_ns)
{
  if (share->reserved == 0 || now_ns >= bn_stat_get(&share->quota->limit.until_ns))
    return bn_quota_take(share, now_ns);
  share->reserved--;
  return true;
}
/* The event of a claim was begun after the warm-up; one that was begun at once need not be told of.
 */
void bn_quota_began(struct bn_quota_share *share);
/* The event of a claim was dropped: it is not counted and its ticket is not spent.  warm: it was
   begun in the warm-up. */
void bn_quota_unclaim(struct bn_quota_share *share, bool warm);
/* The event of a claim has failed for good, and has ended: its ticket is spent, unless it was begun
   in the warm-up. */
void bn_quota_fail(struct bn_quota_share *share, bool warm);
/* by_start: an event of the warm-up has ended. */
void bn_quota_was_warm(struct bn_quota_share *share);
/* After SPENT, with no event of the session in flight: true: ask again; false: the tickets are
   spent for good. */
bool bn_quota_linger(struct bn_quota_share *share);
/* The session begins no event any more: gives back what it holds.  YES or FROZEN. */
enum bn_admission bn_quota_leave(struct bn_quota_share *share);
/* Events of the session since the baseline, 0 in the warm-up; by_start, those that started after
   it.  YES or FROZEN.  Inline: some workloads ask before every event. */
static inline enum bn_admission bn_quota_counted(const struct bn_quota_share *share,
                                                 uint64_t *events)
{
  const int state = atomic_load_explicit(&share->quota->state, memory_order_acquire);

  *events = 0;
  if (share->quota->by_start) {
    *events = bn_stat_get(&share->stat->counter[BN_C_EVENTS]);
    return BN_QUOTA_YES;
  }
  if (state == BN_QUOTA_BASELINE)
    return BN_QUOTA_FROZEN;
  if (state == BN_QUOTA_COUNTING)
    *events = bn_stat_get(&share->stat->counter[BN_C_EVENTS]) - share->warm_events;
  return BN_QUOTA_YES;
}
/* Returns when the baseline has been taken. */
void bn_quota_await(struct bn_quota *q);

/* The end of the warm-up: from freeze on no event begins; after it ended[] is read, the events of
   each session that are not to be counted (by start they are counted apart: ended is not looked
   at); thaw begins to count.  One thread, once, in this order. */
void bn_quota_freeze(struct bn_quota *q);
void bn_quota_thaw(struct bn_quota *q, const uint64_t *ended);

/* Tickets that nobody has taken; UINT64_MAX: no limit yet.  Any thread. */
uint64_t bn_quota_unused(const struct bn_quota *q);

#endif
