/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A start barrier that any party can fail; it waits on a condition variable and never polls. */
#ifndef BN_BASE_START_BARRIER_H
#define BN_BASE_START_BARRIER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum bn_start_barrier_state {
  BN_START_BARRIER_CLOSED,
  BN_START_BARRIER_OPEN,
  BN_START_BARRIER_FAILED
};

struct bn_start_barrier {
  pthread_mutex_t lock;
  pthread_cond_t arrived; /* the opener waits here */
  pthread_cond_t opened;  /* the parties wait here */
  unsigned expected, n_arrived;
  enum bn_start_barrier_state state;
};

/* Makes a closed barrier for `expected` parties. */
void bn_start_barrier_init(struct bn_start_barrier *b, unsigned expected);
/* Frees a barrier, after all waits have returned. */
void bn_start_barrier_done(struct bn_start_barrier *b);
/* Announces that n parties have arrived, and waits.  Returns true once the barrier has opened,
   false once it has failed. */
bool bn_start_barrier_arrive(struct bn_start_barrier *b, unsigned n);
/* Makes all calls of bn_start_barrier_arrive, present and future, return false.  No effect once the
   barrier has opened. */
void bn_start_barrier_fail(struct bn_start_barrier *b);
/* Waits, on behalf of the opener, until all parties have arrived or one has failed the barrier, at
   most until deadline_ns (CLOCK_MONOTONIC; UINT64_MAX: for ever).  Returns FAILED, or OPEN if all
   have arrived, which bn_start_barrier_open may now let go on, or CLOSED after the deadline. */
enum bn_start_barrier_state bn_start_barrier_wait_for_all(struct bn_start_barrier *b,
                                                          uint64_t deadline_ns);
/* Lets all parties go on.  No effect once the barrier has failed. */
void bn_start_barrier_open(struct bn_start_barrier *b);

#endif
