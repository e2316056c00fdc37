/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Outages: times of a second and more in which events were under way and none succeeded.

   Whoever ends an event that took so long, or after events that failed, and under --rate whoever
   ends one so long after the session's last, looks for the latest end before it, among all
   sessions.  That costs nothing while ends are closer together.  It looks before others can see its
   own end: of several that end together, the first to be seen has seen none of the others, and
   finds the outage.  An event that fails or is dropped is no end: a server that refuses all
   statements is out.  A session that is between two events has just ended one. */
#ifndef BN_ENGINE_OUTAGE_H
#define BN_ENGINE_OUTAGE_H

#include <pthread.h>
#include <stdint.h>

#include "measure/stat.h"

#define BN_OUTAGE_NS UINT64_C(1000000000)

struct bn_outage {
  const struct bn_statset *stats; /* borrowed */
  _Atomic uint64_t left_ns;       /* the latest end of an event of sessions that have left */
  pthread_mutex_t lock;
  uint64_t n, longest_ns, ended_ns; /* with the lock */
};

struct bn_outages {
  uint64_t n, longest_ns;
};

void bn_outage_init(struct bn_outage *o, const struct bn_statset *stats);
void bn_outage_done(struct bn_outage *o);
/* A session's event that began at start_ns, and was due or begun after the end before it at
   before_ns, has ended at now_ns; its counters do not show it yet.  The end of the span is at
   span_ns.  That session's worker. */
void bn_outage_look(struct bn_outage *o, const struct bn_stat *self, uint64_t start_ns,
                    uint64_t before_ns, uint64_t now_ns, uint64_t span_ns);
/* A session leaves its loop; its last event that succeeded ended at end_ns.  Its worker, before
   others see that. */
void bn_outage_leave(struct bn_outage *o, uint64_t end_ns);
/* The run is over at span_ns, and events are left behind. */
void bn_outage_end(struct bn_outage *o, uint64_t span_ns);
/* Any thread. */
struct bn_outages bn_outage_get(struct bn_outage *o);

#endif
