/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a run at one instant, collected from its parts for the reports. */
#ifndef BN_ENGINE_RUN_STATE_H
#define BN_ENGINE_RUN_STATE_H

#include "engine/interrupt.h"
#include "engine/load.h"
#include "engine/outage.h"
#include "engine/reports.h"
#include "engine/threads.h"
#include "engine/watch.h"

/* The parts of a run that its watching threads use; borrowed.  Each has its own lock. */
struct bn_run_parts {
  const struct bn_conf *conf;
  const struct bn_host_group *host_group; /* NULL: the run has one host */
  struct bn_clock *clock;
  struct bn_outcome *outcome;
  struct bn_load *load;
  struct bn_quota *quota;
  struct bn_pacer *pacer;   /* NULL: no --rate */
  struct bn_phases *phases; /* NULL: none */
  struct bn_outage *outage;
  struct bn_threads *threads;
  struct bn_interrupt *interrupt;
  struct bn_reports *reports;
  struct bn_watch *watch;
  const struct bn_report_use *reporters;
  size_t n_reporters;
  const struct bn_reporter *text; /* prints the report if the process is ended by force; or NULL */
  uint64_t made_ns;               /* when the set-up began */
  bool scripted;                  /* a script makes the events */
};

/* Returns how many arrivals of --rate wait, but at most `remaining`, the events that may still
   begin.  The reporting thread calls it, or the main thread after that thread has ended. */
uint64_t bn_run_state_count_backlog(const struct bn_run_parts *p, const struct bn_times *times,
                                    uint64_t now_ns, uint64_t remaining);
/* Returns whether the run ended, or was closed for new events, before the warm-up was over.  Any
   thread, after the start barrier has opened. */
bool bn_run_state_in_warmup(const struct bn_run_parts *p, const struct bn_times *times);
/* Returns the state at now_ns, after the start barrier has opened.  Threads as for
   bn_run_state_count_backlog. */
struct bn_run_state bn_run_state_at(const struct bn_run_parts *p, const struct bn_times *times,
                                    uint64_t now_ns);
/* Returns the state at the end of the span, for the final report, after all workers have gone or
   were abandoned.  Puts the ages of waiting arrivals into `ages`, which belongs to the caller and
   outlives the state.  The main thread calls it, or the watchdog in its place. */
struct bn_run_state bn_run_state_end(const struct bn_run_parts *p, const struct bn_times *times,
                                     struct bn_hist *ages);
/* Returns whether the arrivals of --rate were not served: more than 1 % of the events due in the
   span did not end in it, and more than can be in flight at any time: L + 4 sqrt(L) + 1, where L is
   the mean number of events in service (Little's law; the number of customers of an M/G/infinity
   queue has a Poisson distribution).  *ended: how many events ended in the span. */
bool bn_run_state_is_unserved(const struct bn_run_parts *p, const struct bn_run_state *end,
                              uint64_t *ended);

#endif
