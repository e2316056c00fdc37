/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a run at one instant, collected from its parts for the book. */
#ifndef BN_ENGINE_MOMENT_H
#define BN_ENGINE_MOMENT_H

#include "engine/book.h"
#include "engine/crew.h"
#include "engine/interrupt.h"
#include "engine/load.h"

/* The parts of a run that its watching threads use; borrowed.  Each has its own lock. */
struct bn_parts {
  const struct bn_conf *conf;
  struct bn_clock *clock;
  struct bn_outcome *outcome;
  struct bn_load *load;
  struct bn_admit *admit;
  struct bn_pacer *pacer; /* NULL: no --rate */
  struct bn_crew *crew;
  struct bn_interrupt *interrupt;
  struct bn_book *book;
};

/* --rate: how many arrivals wait for one of the `left` events that may yet begin.  The reporting
   thread, or the main thread without it. */
uint64_t bn_moment_backlog(const struct bn_parts *p, const struct bn_times *times, uint64_t now_ns,
                           uint64_t left);
/* After the gate has opened; the same threads. */
struct bn_moment bn_moment_at(const struct bn_parts *p, const struct bn_times *times,
                              uint64_t now_ns);

#endif
