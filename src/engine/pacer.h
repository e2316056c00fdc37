/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --rate: a Poisson process of arrivals handed out in order; the backlog is found by replay.

   due = started + dropped + queued: the event of an arrival that is due has been started and
   counted, or started and dropped, or it waits. */
#ifndef BN_ENGINE_PACER_H
#define BN_ENGINE_PACER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/session.h"
#include "base/rng.h"

/* The rate changes linearly from start_rate to end_rate (events/s, > 0) over span_s; the last phase
   goes on with its end_rate for ever. */
struct bn_pacer_phase {
  double start_rate, end_rate, span_s;
};

/* A position in the sequence of arrivals: a pure function of the seed and the phases. */
struct bn_arrivals {
  struct bn_rng rng;
  double
      mass; /* sum of the exponential gaps of mean 1 so far: the cumulative rate at the arrival */
  const struct bn_pacer_phase *phase;
  size_t n_phases;
};

void bn_arrivals_init(struct bn_arrivals *a, uint64_t seed, const struct bn_pacer_phase *phase,
                      size_t n_phases);
/* Seconds from the start to the next arrival; strictly growing. */
double bn_arrivals_next(struct bn_arrivals *a);

struct bn_pacer {
  pthread_mutex_t lock; /* guards claims */
  struct bn_arrivals claims;
  struct bn_arrivals replay; /* the sampler's own copy */
  double replay_next_s;
  uint64_t replayed;
  uint64_t passed; /* the last answer: `replayed`, or the expected number if that was too much */
  uint64_t start_ns;
  struct bn_pacer_phase constant; /* of bn_pacer_init_rate */
  pthread_mutex_t sleeping;       /* nothing is waited for and nothing called with it */
  pthread_cond_t woken;
};

/* phase is borrowed.  0 or an errno value. */
int bn_pacer_init(struct bn_pacer *p, uint64_t seed, const struct bn_pacer_phase *phase,
                  size_t n_phases);
/* The same with one rate for ever. */
int bn_pacer_init_rate(struct bn_pacer *p, uint64_t seed, double rate);
void bn_pacer_done(struct bn_pacer *p);
void bn_pacer_start(struct bn_pacer *p, uint64_t start_ns); /* before anybody claims */
/* The next arrival's time (CLOCK_MONOTONIC; UINT64_MAX: never); any thread. */
uint64_t bn_pacer_claim(struct bn_pacer *p);
/* Arrivals due up to now_ns, which must not fall; one thread (the sampler).  Exact unless there are
   millions since the last call; later calls replay them. */
uint64_t bn_pacer_passed(struct bn_pacer *p, uint64_t now_ns);

/* Sleeps until due_ns (CLOCK_MONOTONIC), or until bn_pacer_wake with a limit that is below it:
   false.  Any thread. */
bool bn_pacer_sleep(struct bn_pacer *p, const struct bn_limit *limit, uint64_t due_ns);
/* The limit has been lowered. */
void bn_pacer_wake(struct bn_pacer *p);

/* Arrivals that wait, of those due, when so many events have begun (dropped ones too) and `left` is
   how many more ever will. */
static inline uint64_t bn_pacer_queued(uint64_t due, uint64_t begun, uint64_t left)
{
  const uint64_t waiting = due > begun ? due - begun : 0;

  return waiting < left ? waiting : left;
}

#endif
