/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The phases of --rate-profile or --threads-profile, as the sessions count them.

   An event belongs to the phase in which it was due, however late it begins or ends: its latency
   counts from that time, and the latencies of a backlog count for the phase that left it, not for
   the phase that serves it.  Events that begin or are dropped are counted apart, in the phase in
   which they began, so that at the end of each phase
   due + carried in = started + dropped + queued.
   With --threads-profile, an event is due when it begins, and nothing waits. */
#ifndef BN_ENGINE_PHASES_H
#define BN_ENGINE_PHASES_H

#include <stdint.h>

#include "engine/arrivals.h"
#include "measure/view.h"
#include "option/profile.h"

struct bn_phases;
/* Makes the counters of the phases of a profile, which is borrowed.  NULL makes NULL, which the
   next two functions accept. */
struct bn_phases *bn_phases_new(const struct bn_profile *profile);
void bn_phases_free(struct bn_phases *p);
/* Sets when the first phase begins (CLOCK_MONOTONIC).  The caller does so before any event. */
void bn_phases_start(struct bn_phases *p, uint64_t from_ns);

/* Any thread may call the next four functions for an event of its session, whose id it passes.  The
   event was due after the start of the phases. */
/* With a rate, counts an event in the phase in which it has begun.  Without a rate, an event begins
   in the phase in which it is due, and the function below that ends it counts its start too. */
void bn_phases_note_begun(struct bn_phases *p, unsigned id, uint64_t begun_ns);
/* Counts an event that has been dropped, in the phase in which it began. */
void bn_phases_count_dropped(struct bn_phases *p, unsigned id, const struct bn_tick *tick);
/* Counts an event that has failed for good, with its retries, in the phase in which it was due. */
void bn_phases_count_failed(struct bn_phases *p, unsigned id, uint64_t due_ns, unsigned retries);
/* Counts an event that has succeeded, with its retries and its latency, in the phase in which it
   was due.  Returns the index of the phase. */
size_t bn_phases_count_ended(struct bn_phases *p, unsigned id, uint64_t due_ns, uint64_t took_ns,
                             unsigned retries);

/* The arrivals up to the end of a run. */
struct bn_phases_end {
  uint64_t until_ns; /* the end of the run (CLOCK_MONOTONIC) */
  uint64_t due;      /* arrivals since the phases began, without those that belong to no event */
  uint64_t queued;   /* the last arrivals of `due`, whose events have not begun */
  uint64_t skip;     /* arrivals before the queued ones, since the pacer's start */
};

/* The main thread calls these two functions after the end.  bn_phases_end counts the arrivals of
   each phase.  The pacer is borrowed; NULL: there is no rate, and nothing is due. */
void bn_phases_end(struct bn_phases *p, struct bn_pacer *pacer, const struct bn_phases_end *end);
/* Sets the phases of a view that has been filled from this difference, and adds the ages of events
   that have not ended to its histograms.  stuck: the events in flight at observed_ns, when the run
   stopped to wait for them; NULL: all have ended. */
void bn_phases_fill(const struct bn_phases *p, struct bn_view *v, struct bn_view_store *store,
                    struct bn_snap *delta, const struct bn_snap *stuck, uint64_t observed_ns);

#endif
