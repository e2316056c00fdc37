/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The schedule of the reporting thread while a run lasts.

   Pure: callers pass the time (CLOCK_MONOTONIC).  The bn_schedule_take_… functions return true once
   for each item that is due.  After a late interval, the next is due at the next point of the
   grid of intervals; the points that were missed are skipped.  No report is due during the
   warm-up. */
#ifndef BN_ENGINE_SCHEDULE_H
#define BN_ENGINE_SCHEDULE_H

#include "engine/threads.h"
#include "option/conf.h"

/* Progress: `all` counts the statements, events and threads that have ended, `ended` only the
   events and threads. */
struct bn_progress {
  uint64_t all, ended;
};

/* Patience with the events in flight.  Progress renews it, but one event that sends statements for
   ever does not renew it for ever.  since_ns 0: it begins with the next bn_patience_renew. */
struct bn_patience {
  struct bn_progress last;
  uint64_t since_ns, ended_since_ns; /* when `last.all` and `last.ended` changed last */
};

/* Notes the progress at now_ns; a change renews the patience. */
void bn_patience_renew(struct bn_patience *p, struct bn_progress done, uint64_t now_ns);
/* Returns when the patience ends: grace_ns after the last progress, or longest_ns after the end of
   the last event or thread, whichever is earlier. */
uint64_t bn_patience_end_ns(const struct bn_patience *p, uint64_t grace_ns, uint64_t longest_ns);

struct bn_schedule {
  const struct bn_conf *conf; /* borrowed */
  struct bn_times times;
  bool measuring; /* the start barrier has opened */
  bool warming;   /* the end of the warm-up is still to come */
  uint64_t refit_ns, interval_ns, tick_ns, forced_ns, grace_ns; /* UINT64_MAX: never */
  size_t checkpoint;                                            /* index of the next checkpoint */
  struct bn_patience patience;                                  /* the patience of the time grace */
};

void bn_schedule_init(struct bn_schedule *s, const struct bn_conf *conf, uint64_t now_ns);
/* Sets the times when the start barrier has opened. ticks: a tick is due every second. */
void bn_schedule_open(struct bn_schedule *s, const struct bn_times *times, bool ticks);
/* Returns the time of the next item. */
uint64_t bn_schedule_next_ns(const struct bn_schedule *s, uint64_t now_ns);

/* Drops the remaining checkpoints after the last worker has left.  The final report covers the time
   since the last reported checkpoint, and a further checkpoint would leave it nothing. */
void bn_schedule_drop_checkpoints(struct bn_schedule *s);

/* Each returns whether its item is due, and moves the schedule on to the next one.  A refit may be
   due before the start barrier opens. */
bool bn_schedule_take_refit(struct bn_schedule *s, uint64_t now_ns); /* once a second */
bool bn_schedule_take_warmup_end(struct bn_schedule *s, uint64_t now_ns);
bool bn_schedule_take_interval(struct bn_schedule *s, uint64_t now_ns);
bool bn_schedule_take_checkpoint(struct bn_schedule *s, uint64_t now_ns);
bool bn_schedule_take_tick(struct bn_schedule *s, uint64_t now_ns);
bool bn_schedule_take_forced(struct bn_schedule *s, uint64_t now_ns);
bool bn_schedule_take_out_of_grace(struct bn_schedule *s, uint64_t now_ns);

/* Gives the events in flight their grace after the last event has begun.  `done` is the progress so
   far: a change of it renews the grace, and longest_ns bounds the time in which only statements
   end. */
void bn_schedule_give_grace(struct bn_schedule *s, uint64_t now_ns, struct bn_progress done,
                            uint64_t grace_ns, uint64_t longest_ns);

#endif
