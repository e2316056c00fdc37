/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --rate and --rate-profile: arrivals at random or constant gaps, handed out in order; the backlog
   is found by replay.

   due = started + dropped + queued: the event of an arrival that is due has been started and
   counted, or started and dropped, or it waits. */
#ifndef BN_ENGINE_ARRIVALS_H
#define BN_ENGINE_ARRIVALS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/session.h"
#include "base/hist.h"
#include "base/rate_curve.h"

/* The sequence of arrivals: a pure function of the seed and the pieces.  The position of an arrival
   is the cumulative rate at which it comes, in units of BN_ARRIVALS_UNIT expected arrivals: an
   integer, so that sums are exact and a position fits one atomic word.  A random gap to the next
   arrival is a function of the position, by a hash: there is no other state. */
struct bn_arrivals {
  uint64_t key;
  uint64_t first;   /* constant gaps: the position of the first arrival; 0: random gaps */
  double per_share; /* the mass of the curve for each arrival: 1, or more for a share of the rate */
  const struct bn_rate_piece *piece; /* borrowed */
  size_t n_pieces;
};

#define BN_ARRIVALS_UNIT 0x1p-20

/* Makes the sequence of a seed, with random gaps; the pieces are borrowed. */
void bn_arrivals_init(struct bn_arrivals *a, uint64_t seed, const struct bn_rate_piece *piece,
                      size_t n_pieces);
/* Returns the position of the arrival after the one at `position`; 0: of the first arrival.
   Positions grow strictly until UINT64_MAX, after 1.7e13 arrivals, which stands for an arrival that
   never comes. */
uint64_t bn_arrivals_next(const struct bn_arrivals *a, uint64_t position);
/* Returns when the arrival at that position comes, in seconds from the start. */
double bn_arrivals_time(const struct bn_arrivals *a, uint64_t position);

enum { BN_PACER_MARKS = 4096 };

struct bn_pacer {
  struct bn_arrivals sequence;
  uint64_t start_ns;
  struct bn_rate_piece constant; /* the curve of bn_pacer_init_rate */
  /* The position of the last arrival that was claimed.  All threads write it: it has a cache line
     for itself. */
  _Alignas(64) _Atomic uint64_t claimed;
  _Alignas(64) pthread_mutex_t sleeping; /* guards `woken`; no call is made with it */
  pthread_cond_t woken;

  pthread_mutex_t replaying; /* guards the rest; held for some seconds at most */
  uint64_t next;             /* the first position that has not been replayed */
  uint64_t replayed;         /* arrivals before `next` */
  uint64_t passed;           /* the last answer of bn_pacer_count_passed */
  /* mark[i] is the position after i * step arrivals.  When all marks are used, every second mark is
     given up and step is doubled. */
  uint64_t step;
  size_t n_marks;
  uint64_t mark[BN_PACER_MARKS];
};

/* Makes a pacer of a curve, which is borrowed, and whose pieces have their sums set. */
void bn_pacer_init(struct bn_pacer *p, uint64_t seed, const struct bn_rate_piece *piece,
                   size_t n_pieces);
/* As bn_pacer_init, with one constant rate. */
void bn_pacer_init_rate(struct bn_pacer *p, uint64_t seed, double rate);
/* Makes an arrival come at each integer of the cumulative rate, less `lead` (from 0, less than 1),
   by which hosts with the same rate take turns.  The caller does so before the first claim. */
void bn_pacer_make_constant(struct bn_pacer *p, double lead);
/* Gives the pacer this share (more than 0, up to 1) of the curve's rates, because the hosts of a
   run share one curve.  The caller does so before the first claim. */
void bn_pacer_set_share(struct bn_pacer *p, double share);
void bn_pacer_done(struct bn_pacer *p);
/* Sets the time from which arrivals count (CLOCK_MONOTONIC), before the first claim. */
void bn_pacer_start(struct bn_pacer *p, uint64_t start_ns);
/* Takes the next arrival and returns its time (CLOCK_MONOTONIC; UINT64_MAX: never).  Any thread;
   takes no lock. */
uint64_t bn_pacer_claim(struct bn_pacer *p);
/* Returns the number of arrivals due up to now_ns, which must not fall.  Any thread.  The reporting
   thread calls it every second, so that little remains to be replayed at the end.  If millions are
   due since the last call, the expected number is returned; later calls replay those arrivals. */
uint64_t bn_pacer_count_passed(struct bn_pacer *p, uint64_t now_ns);

/* Returns the number of arrivals to be expected up to at_ns.  Any thread. */
double bn_pacer_count_expected(const struct bn_pacer *p, uint64_t at_ns);

struct bn_pacer_due {
  uint64_t warmup;  /* arrivals before from_ns */
  uint64_t counted; /* from from_ns to to_ns */
  bool estimated;   /* applies to `counted`, and to `warmup` unless the replay has come that far */
};
/* Counts the arrivals due.  Exact, or the expected number if the replay is more than a hundred
   million arrivals behind to_ns.  Both times may be before a time passed to bn_pacer_count_passed.
   Takes about two seconds at most.  Any thread. */
struct bn_pacer_due bn_pacer_count_due(struct bn_pacer *p, uint64_t from_ns, uint64_t to_ns);
/* Adds to `into` the ages at to_ns of the n arrivals after the first `skip`, which are due. Returns
   the largest of these ages, or 0 if n is 0.  As far as the sequence has been replayed, the oldest
   and the youngest age are exact, and so are all ages if there are at most twenty million.
   Otherwise the ages between the oldest and the youngest lie at equal distances.  Any thread. */
uint64_t bn_pacer_add_ages(struct bn_pacer *p, uint64_t to_ns, uint64_t skip, uint64_t n,
                           struct bn_hist *into);

/* Sleeps until due_ns (CLOCK_MONOTONIC) and returns true, or returns false once the limit is below
   due_ns.  Whoever lowers the limit calls bn_pacer_wake.  Any thread. */
bool bn_pacer_sleep(struct bn_pacer *p, const struct bn_limit *limit, uint64_t due_ns);
/* Wakes all sleepers after the limit has been lowered. */
void bn_pacer_wake(struct bn_pacer *p);

/* Returns how many of the due arrivals wait if `begun` events have begun (dropped ones too) and at
   most `remaining` more can begin. */
static inline uint64_t bn_pacer_count_queued(uint64_t due, uint64_t begun, uint64_t remaining)
{
  const uint64_t waiting = due > begun ? due - begun : 0;

  return waiting < remaining ? waiting : remaining;
}

#endif
