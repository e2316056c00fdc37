/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A simulated clock: replaces base/clock and base/wait in tests of whole runs.

   The threads of a run are real, but one runs at a time, until it waits.  When all wait, the time
   becomes that of the earliest deadline.  Of several threads that could run, the first is the one
   that has been ready, or has waited, for longest.  So a minute takes no time and every figure is
   exact.  If all wait and none has a deadline, 1000 s have passed, or a million
   turns have been taken at the same time, the program prints what they wait for and aborts. */
#ifndef BN_TESTS_UNIT_SIMCLOCK_H
#define BN_TESTS_UNIT_SIMCLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/wait.h"

/* What has been seen of the waits with one descriptor. */
struct sim_seen {
  const struct bn_wait *wait;
  size_t entered, endless; /* endless: entered without a deadline */
  uint64_t longest_ns;
  uint64_t farthest_ns; /* the deadline that was the longest time ahead, of those that were given */
};

/* Forgets what was seen and what is to come; the time is 0 s.  Nothing of a run lives. */
void sim_begin(void);
/* Seconds since then. */
double sim_s(void);
/* The process gets a signal then. */
void sim_send_at(double at_s, int signo);
/* From then on no thread can be started. */
void sim_refuse_threads_from(double at_s);
/* The calling thread sleeps, or hangs until sim_release. */
void sim_sleep_ms(double ms);
void sim_hang(void);
/* After a run that was abandoned: those that hang go on, and all threads end. */
void sim_release(void);

/* Whether every first one of two waits of a thread for a condition variable returns at once without
   a reason, as it may. */
void sim_wake_without_reason(bool on);

/* By the order of their first use; NULL: no more. */
const struct sim_seen *sim_seen_at(size_t i);
const struct sim_seen *sim_seen_what(const char *what);

#endif
