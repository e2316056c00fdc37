/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decides which events may begin: the time limit, the tickets of --events, the end of the warm-up.

   Tickets exist from the baseline of the warm-up on; without a warm-up, from the start.  Invariant:
   taken = finished + in flight + reserved.  `finished` counts events that ended after the baseline,
   also those that failed for good.  The ticket of a dropped event returns to the reserve of the
   session.  A session that leaves returns its reserve.  If a ticket that is used again counts as
   claimed again, this is claimed = finished + dropped + returned + in flight + kept.  Therefore
   `finished` is at most --events, or at most the number of events in flight at the baseline if that
   is larger.  With `one_more`, each session may finish one more: the event that it had in flight at
   the baseline.

   With `by_start`, an event that started before the end of the warm-up needs no ticket, however
   late it ends.  A session that reaches the end of the warm-up before the baseline has been taken
   waits for the baseline.  An event that was claimed before and starts after the warm-up uses a
   ticket that is kept for it.

   With `returns`, a session that finds no ticket waits until a ticket is returned, for example by a
   session that has failed, or until no session can return one: the remaining sessions do all events
   of --events.

   With `per_session`, each session has that many tickets for itself, so that no session waits for a
   ticket of another.  The invariants then hold for each session.  `taken` counts at most
   `per_session` tickets of each session, so that bn_quota_unused is what sessions may still take.

   No function reads a clock.  Only bn_quota_await_baseline and bn_quota_await_ticket wait. */
#ifndef BN_ENGINE_QUOTA_H
#define BN_ENGINE_QUOTA_H

#include <pthread.h>

#include "api/session.h"
#include "measure/stat.h"

enum bn_admission {
  BN_QUOTA_YES,
  BN_QUOTA_CLOSED,  /* the run was ended */
  BN_QUOTA_TIME_UP, /* the time limit has been reached */
  BN_QUOTA_SPENT,   /* all tickets are taken */
  BN_QUOTA_FROZEN   /* the baseline is being taken: bn_quota_await_baseline, then ask again */
};

enum bn_quota_state { BN_QUOTA_WARMUP, BN_QUOTA_BASELINE, BN_QUOTA_COUNTING };

/* The share of one session; used by its worker unless noted. */
struct bn_quota_share {
  _Alignas(64) struct bn_quota *quota;
  const struct bn_stat *stat;
  uint64_t reserved;        /* tickets that were taken and not used yet */
  _Atomic uint64_t granted; /* admitted in the warm-up, not dropped; read by bn_quota_thaw */
  bool charged;             /* has been charged for its events in flight at the baseline */
  uint64_t ticketless;      /* by_start: events in flight that need no ticket, once charged */
  _Atomic uint64_t early;   /* by_start: admitted in the warm-up, but started after it */
  _Atomic uint64_t failed;  /* by_start: counted in `early`, and failed for good before `charged` */
  bool waits;               /* guarded by the lock: the session is counted in `waiting` */
  uint64_t warm_events;     /* events that had ended at the baseline */
  uint64_t kept;            /* tickets that are kept for the events in flight at the baseline */
  int64_t untaken;          /* per_session: tickets that it may still take, once it is charged;
                               below 0: more events were in flight at the baseline */
  bool exempt;              /* written before its first event: its events take no tickets */
  bool given_up;            /* failed in the warm-up, so that it will not take its tickets */
};

struct bn_quota {
  struct bn_limit limit;
  _Alignas(64) _Atomic uint64_t taken;
  _Alignas(64) _Atomic int state; /* enum bn_quota_state; written under the lock */
  uint64_t events;                /* 0: no limit */
  uint64_t per_session;           /* 0: the sessions share the tickets */
  unsigned sessions;
  bool one_by_one, one_more, by_start; /* as in the plan */
  uint64_t measure_ns;          /* by_start: end of the warm-up; set before the first claim */
  struct bn_quota_share *share; /* owned */
  pthread_mutex_t lock;
  pthread_cond_t thawed;
  pthread_cond_t given_back;
  unsigned present; /* guarded by the lock: sessions that have not left */
  unsigned waiting; /* guarded by the lock: present sessions that wait for a ticket */
  bool returns;     /* sessions wait for returned tickets */
  bool done;        /* guarded by the lock: no ticket will be returned any more */
};

struct bn_quota_plan {
  uint64_t events;       /* of all sessions; 0: no limit */
  uint64_t per_session;  /* see above; `events` is then per_session * sessions; 0: no limit */
  unsigned sessions;     /* sessions that take tickets */
  unsigned others;       /* sessions that begin no events; their shares are only closed */
  bool warmup;           /* tickets exist from the baseline on */
  bool one_by_one;       /* tickets are never taken in batches: events are long (--rate) */
  bool one_more;         /* see above */
  bool returns;          /* see above */
  bool by_start;         /* see above: events of the warm-up are counted apart */
  struct bn_stat **stat; /* one per session; borrowed */
};

/* *q begins at a cache line, and is not moved. */
void bn_quota_init(struct bn_quota *q, const struct bn_quota_plan *plan);
void bn_quota_done(struct bn_quota *q);
/* Sets the statistics of the sessions, which have moved, before the first claim. */
void bn_quota_set_stats(struct bn_quota *q, struct bn_stat **stat);

/* Sets the end of the warm-up and, unless bn_quota_close came first, the time limit.  Any thread,
   once, before the first claim. */
void bn_quota_open(struct bn_quota *q, uint64_t deadline_ns, uint64_t measure_ns);
/* Admits no event from now_ns on, which ends the span unless it has ended before.  Any thread. */
void bn_quota_close(struct bn_quota *q, uint64_t now_ns);

/* Asks for the admission of an event at now_ns, and takes a ticket for it if events are limited. */
enum bn_admission bn_quota_claim(struct bn_quota_share *share, uint64_t now_ns);
/* Takes tickets at now_ns for a session whose reserve is empty, after the baseline.  Returns
   whether an event is admitted.  After false, bn_quota_claim decides. */
bool bn_quota_refill(struct bn_quota_share *share, uint64_t now_ns);
/* The short way of bn_quota_claim: uses the reserve, which is empty before the baseline, or refills
   it.  Returns as bn_quota_refill. */
static inline bool bn_quota_claim_fast(struct bn_quota_share *share, uint64_t now_ns)
{
  if (share->reserved == 0 || now_ns >= bn_stat_get(&share->quota->limit.until_ns))
    return bn_quota_refill(share, now_ns);
  share->reserved--;
  return true;
}
/* Notes that the event of a claim began after the warm-up.  An event that began at once with its
   claim needs no note. */
void bn_quota_note_begun(struct bn_quota_share *share);
/* Returns the ticket of an event that was dropped. warm: it began in the warm-up. */
void bn_quota_unclaim(struct bn_quota_share *share, bool warm);
/* Notes that an event has failed for good: its ticket is spent, unless it began in the warm-up. */
void bn_quota_fail(struct bn_quota_share *share, bool warm);
/* by_start: notes that an event that started in the warm-up has ended.  If it has a ticket, that is
   free again. */
void bn_quota_note_warm_end(struct bn_quota_share *share);
/* Waits for a ticket after SPENT, with no event of the session in flight.  Returns true if a claim
   may succeed now, false if the tickets are spent for good. */
bool bn_quota_await_ticket(struct bn_quota_share *share);
/* As bn_quota_await_ticket, for a session that must not block its thread.  The session passes each
   answer of bn_quota_claim, and counts as waiting for a ticket from SPENT until another answer.
   Returns whether the answer was SPENT and a later claim may succeed. */
bool bn_quota_note_answer(struct bn_quota_share *share, enum bn_admission answer);
/* Notes, before its first event, that the events of a session take no tickets, so that no session
   waits for a ticket of it. */
void bn_quota_exempt(struct bn_quota_share *share);
/* Returns the reserve of a session that begins no event any more.  Returns YES or FROZEN. failed:
   the session could have begun more events; with per_session, its other tickets count as taken. */
enum bn_admission bn_quota_leave(struct bn_quota_share *share, bool failed);
/* Sets *events to the events of the session since the baseline, 0 in the warm-up; by_start, to
   those that started after the warm-up.  Returns YES or FROZEN.  Inline: some workloads ask before
   every event. */
static inline enum bn_admission bn_quota_get_counted(const struct bn_quota_share *share,
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
/* Waits until the baseline has been taken. */
void bn_quota_await_baseline(struct bn_quota *q);

/* Ends the warm-up.  From freeze on no event begins.  Then the caller sets ended[] to the events of
   each session that are not to be counted (by_start ignores it). thaw begins to count.  One thread
   calls both, once. */
void bn_quota_freeze(struct bn_quota *q);
void bn_quota_thaw(struct bn_quota *q, const uint64_t *ended);

/* Returns the number of tickets not taken yet; UINT64_MAX: no limit yet.  Any thread. */
uint64_t bn_quota_unused(const struct bn_quota *q);

#endif
