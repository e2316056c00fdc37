/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Start barrier that can be failed by any party; waits on a condition variable, never polls. */
#ifndef BN_BASE_GATE_H
#define BN_BASE_GATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum bn_gate_state { BN_GATE_CLOSED, BN_GATE_OPEN, BN_GATE_FAILED };

struct bn_gate {
  pthread_mutex_t lock;
  pthread_cond_t arrived; /* the opener waits here */
  pthread_cond_t opened;  /* the parties wait here */
  unsigned expected, here;
  enum bn_gate_state state;
};

int bn_gate_init(struct bn_gate *g, unsigned expected); /* 0 or an errno value */
void bn_gate_done(struct bn_gate *g);                   /* nobody may be waiting any more */
/* A party arrives and waits; true: opened, false: failed. */
bool bn_gate_wait(struct bn_gate *g);
/* Any party gives up: all waiters, present and future, return false.  No effect once opened. */
void bn_gate_fail(struct bn_gate *g);
/* The opener waits until all have arrived or one has failed, at most until deadline_ns
   (CLOCK_MONOTONIC; UINT64_MAX: for ever).  Returns CLOSED after the deadline, FAILED, or OPEN
   meaning "all are here". */
enum bn_gate_state bn_gate_await(struct bn_gate *g, uint64_t deadline_ns);
/* Opens the gate (no effect once failed). */
void bn_gate_open(struct bn_gate *g);

#endif
