/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Outages: times of at least one second in which events were in flight and no event succeeded.

   A worker looks for an outage when it ends an event that took that long, or an event after failed
   events, or under --rate an event that ends so long after the session's last one.  It looks for
   the latest earlier end among all sessions, until it finds an end within the last second; while
   ends are closer together this costs nothing.  It looks before other threads can see its own end:
   if several events end together, the worker whose end becomes visible first has seen none of the
   other ends, and finds the outage.

   An event that fails or is dropped is no end: a server that refuses all statements is out.  A
   session between two events has just ended an event. */
#ifndef BN_ENGINE_OUTAGE_H
#define BN_ENGINE_OUTAGE_H

#include <pthread.h>
#include <stdint.h>

#include "measure/stat.h"

#define BN_OUTAGE_NS UINT64_C(1000000000) /* the shortest outage */

struct bn_outage {
  const struct bn_statset *stats;   /* borrowed */
  _Atomic uint64_t gone_last_ok_ns; /* latest end of an event of a session that has left its loop */
  _Atomic unsigned showed;          /* the session that showed last that there is no outage */
  pthread_mutex_t lock;
  uint64_t n, longest_ns; /* guarded by the lock */
  uint64_t ended_ns;      /* guarded by the lock; the end of the last outage, CLOCK_MONOTONIC */
};

struct bn_outages {
  uint64_t n, longest_ns;
};

void bn_outage_init(struct bn_outage *o, const struct bn_statset *stats);
void bn_outage_done(struct bn_outage *o);
/* Looks for an outage that ends, or goes on, with an event of the session at now_ns.  Events of the
   session have been in flight since since_ns, and its last success before that was at last_ok_ns.
   The span ends at span_ns.  The session's worker calls it before its counters show the end. */
void bn_outage_search(struct bn_outage *o, const struct bn_stat *self, uint64_t since_ns,
                      uint64_t last_ok_ns, uint64_t now_ns, uint64_t span_ns);
/* Records that a session leaves its loop; its last event that succeeded ended at end_ns.  The
   worker of the session calls it before other threads can see that. */
void bn_outage_leave(struct bn_outage *o, uint64_t end_ns);
/* Looks for an outage that lasts until span_ns, for a run that has ended with events in flight. */
void bn_outage_search_at_end(struct bn_outage *o, uint64_t span_ns);
/* Returns the outages so far.  Any thread. */
struct bn_outages bn_outage_get(struct bn_outage *o);

#endif
