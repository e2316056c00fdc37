/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counters of all sessions of a run, and the numbers that sessions share.

   Each counter has one writer: the worker that drives the session.  Labelled counts have their own
   lock.  In every session, begun = ended + in flight (measure/stat.h). */
#ifndef BN_ENGINE_LOAD_H
#define BN_ENGINE_LOAD_H

#include "api/workload.h"
#include "base/dist.h"
#include "measure/stat.h"
#include "option/conf.h"

enum { BN_LOAD_SIDE = 2 }; /* sessions of the main thread and of the reporting thread */

struct bn_load {
  struct bn_statset stats;          /* statistics of the workers' sessions */
  struct bn_statset side;           /* statistics of the BN_LOAD_SIDE sessions; not reported */
  const struct bn_profile *profile; /* borrowed; NULL: phases are not told apart */
  struct bn_unique unique;          /* the shared sequence without repetition */
};

/* Returns the kinds of counts that the statistics of a run keep apart, in bits BN_STAT_…: in a
   dialect, only statements. */
unsigned bn_load_stat_bits(const struct bn_conf *c, const struct bn_workload *ops);
/* Returns the profile whose phases a run tells apart, or NULL: dialects have none. */
const struct bn_profile *bn_load_phase_profile(const struct bn_conf *c);
/* n_writers: as of bn_statset_init.  stat_bits: as of bn_load_stat_bits.  Each phase of the
   profile, which is borrowed, has a histogram; NULL: there are none.  Returns 0, or -1 if out of
   memory.  bn_load_done accepts a load that init left half made, and zeroes it. */
int bn_load_init(struct bn_load *l, unsigned sessions, unsigned n_writers,
                 const struct bn_metric *metrics, unsigned stat_bits,
                 const struct bn_profile *profile);
void bn_load_done(struct bn_load *l);

/* Moves all statistics to another table of metrics, before there are workers.  Returns 0, or -1 if
   out of memory, in which case nothing has changed. */
int bn_load_set_metrics(struct bn_load *l, const struct bn_metric *metrics, unsigned stat_bits);

/* Moves the statements that the main thread's session has counted to the first worker.  The main
   thread calls it while every worker waits. */
void bn_load_adopt_main(struct bn_load *l);

/* Returns whether a counter is one of statements, which may count before the start, too. */
static inline bool bn_load_counts_statements(unsigned counter)
{
  return counter <= BN_C_RECONNECT && counter != BN_C_EVENTS;
}

/* Returns how many events all sessions have begun.  Any thread may call this function and those
   below. */
uint64_t bn_load_count_begun(const struct bn_load *l);
/* The events that have ended in the span. */
struct bn_served {
  uint64_t events;     /* failed events too */
  uint64_t service_ns; /* --rate: sum of the service times of the events that did not fail */
};
struct bn_served bn_load_count_served(const struct bn_load *l);
/* Returns the number of statements and events of all sessions that have ended.  It grows with any
   progress. */
uint64_t bn_load_count_progress(const struct bn_load *l);
/* Returns how many events of the workers' sessions have ended. */
uint64_t bn_load_count_ended(const struct bn_load *l);
/* Return the time of the longest completed statement, and of the longest event, which does not
   include its wait under --rate. */
uint64_t bn_load_find_longest_statement(const struct bn_load *l);
uint64_t bn_load_find_longest_event(const struct bn_load *l);

#endif
