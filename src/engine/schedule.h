/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The schedule of the reporting thread while a run lasts.

   Pure: callers pass the time (CLOCK_MONOTONIC).  Each function below says once that its item is
   due.  A late interval stays on the grid of intervals and skips the points that it missed.  No
   report is due during the warm-up. */
#ifndef BN_ENGINE_SCHEDULE_H
#define BN_ENGINE_SCHEDULE_H

#include "engine/threads.h"
#include "option/conf.h"

/* How far a run has come: how many statements, events and threads have ended, and how many of them
   were events and threads. */
struct bn_progress {
  uint64_t all, ended;
};

/* With what is in flight.  Whoever makes progress gets more time, but one event that sends
   statements for ever does not get it for ever.  All zero: it has not begun. */
struct bn_patience {
  struct bn_progress last;
  uint64_t since_ns, ended_since_ns; /* the last change of either */
};

void bn_patience_renew(struct bn_patience *p, struct bn_progress done, uint64_t now_ns);
/* When it is over: so long after the last progress, and after the last event or thread. */
uint64_t bn_patience_until(const struct bn_patience *p, uint64_t grace_ns, uint64_t longest_ns);

struct bn_schedule {
  const struct bn_conf *conf; /* borrowed */
  struct bn_times times;
  bool measuring; /* the start barrier has opened */
  bool warming;
  uint64_t refit_ns, interval_ns, tick_ns, forced_ns, grace_ns; /* UINT64_MAX: never */
  size_t checkpoint;                                            /* index of the next one */
  struct bn_patience patience;                                  /* of the grace */
};

void bn_schedule_init(struct bn_schedule *a, const struct bn_conf *conf, uint64_t now_ns);
/* The start barrier has opened.  ticks: somebody wants to be told every second. */
void bn_schedule_open(struct bn_schedule *a, const struct bn_times *times, bool ticks);
/* When there is something to do next. */
uint64_t bn_schedule_next(const struct bn_schedule *a, uint64_t now_ns);

/* The last worker has left: no checkpoint is due any more.  The final report covers the time since
   the last one that was reported, and another one would leave it nothing. */
void bn_schedule_end(struct bn_schedule *a);

/* Is it due?  The first is so even before the start barrier opens. */
bool bn_schedule_refit(struct bn_schedule *a, uint64_t now_ns); /* once a second: of the clock */
bool bn_schedule_warmup_ends(struct bn_schedule *a, uint64_t now_ns);
bool bn_schedule_interval(struct bn_schedule *a, uint64_t now_ns);
bool bn_schedule_checkpoint(struct bn_schedule *a, uint64_t now_ns);
bool bn_schedule_tick(struct bn_schedule *a, uint64_t now_ns);
bool bn_schedule_forced(struct bn_schedule *a, uint64_t now_ns);
bool bn_schedule_out_of_grace(struct bn_schedule *a, uint64_t now_ns);

/* Nothing new may begin, and what is in flight has come as far as `done`: it gets grace_ns, again
   whenever that has changed, and longest_ns while only statements end. */
void bn_schedule_give_grace(struct bn_schedule *a, uint64_t now_ns, struct bn_progress done,
                            uint64_t grace_ns, uint64_t longest_ns);

#endif
