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

void bn_start_barrier_init(struct bn_start_barrier *b, unsigned expected);
void bn_start_barrier_done(struct bn_start_barrier *b); /* comes after all waits have returned */
/* n parties arrive and wait.  Returns true if the barrier opened, false if it failed. */
bool bn_start_barrier_wait(struct bn_start_barrier *b, unsigned n);
/* Makes all waiters, present and future, return false.  No effect once it has opened. */
void bn_start_barrier_fail(struct bn_start_barrier *b);
/* The opener waits until all parties have arrived or one has failed, at most until deadline_ns
   (CLOCK_MONOTONIC; UINT64_MAX: for ever).  Returns CLOSED after the deadline, FAILED, or OPEN if
   all have arrived. */
enum bn_start_barrier_state bn_start_barrier_await(struct bn_start_barrier *b,
                                                   uint64_t deadline_ns);
/* Opens the start barrier.  No effect once it has failed. */
void bn_start_barrier_open(struct bn_start_barrier *b);

#endif
