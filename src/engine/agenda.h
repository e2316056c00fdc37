/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The schedule of the reporting thread while a run lasts.

   Pure: callers pass the time (CLOCK_MONOTONIC).  Each function below says once that its item is
   due.  A late interval stays on the grid of intervals and skips the points that it missed.  No
   report is due during the warm-up. */
#ifndef BN_ENGINE_AGENDA_H
#define BN_ENGINE_AGENDA_H

#include "engine/crew.h"
#include "option/conf.h"

struct bn_agenda {
  const struct bn_conf *conf; /* borrowed */
  struct bn_times times;
  bool measuring; /* the gate has opened */
  bool warming;
  uint64_t refit_ns, interval_ns, tick_ns, forced_ns, grace_ns; /* UINT64_MAX: never */
  size_t checkpoint;                                            /* index of the next one */
  uint64_t last_progress;                                       /* which renews the grace */
};

void bn_agenda_init(struct bn_agenda *a, const struct bn_conf *conf, uint64_t now_ns);
/* The gate has opened.  ticks: somebody wants to be told every second. */
void bn_agenda_open(struct bn_agenda *a, const struct bn_times *times, bool ticks);
/* When there is something to do next. */
uint64_t bn_agenda_next(const struct bn_agenda *a, uint64_t now_ns);

/* The last worker has left: no checkpoint is due any more.  The final report covers the time since
   the last one that was reported, and another one would leave it nothing. */
void bn_agenda_end(struct bn_agenda *a);

/* Is it due?  The first is so even before the gate opens. */
bool bn_agenda_refit(struct bn_agenda *a, uint64_t now_ns); /* once a second: of the clock */
bool bn_agenda_warmup_ends(struct bn_agenda *a, uint64_t now_ns);
bool bn_agenda_interval(struct bn_agenda *a, uint64_t now_ns);
bool bn_agenda_checkpoint(struct bn_agenda *a, uint64_t now_ns);
bool bn_agenda_tick(struct bn_agenda *a, uint64_t now_ns);
bool bn_agenda_forced(struct bn_agenda *a, uint64_t now_ns);
bool bn_agenda_out_of_grace(struct bn_agenda *a, uint64_t now_ns);

/* Nothing new may begin, and what is in flight has come as far as `done`: it gets grace_ns, again
   whenever that has changed. */
void bn_agenda_give_grace(struct bn_agenda *a, uint64_t now_ns, uint64_t done, uint64_t grace_ns);

#endif
