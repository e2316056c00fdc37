/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The turns of --reconnect-rate=R: the times at which sessions close their connections and open
   them again, R a second over all sessions, at equal distances.

   Turn i of session k, of n sessions on all hosts, is due (k + 1/2 + i * n) / R seconds after the
   start.  A session takes it before the next event that it begins.  If several turns have passed by
   then, it takes the last and misses the others: due = taken + missed + at most one that is
   pending. */
#ifndef BN_ENGINE_RENEWAL_H
#define BN_ENGINE_RENEWAL_H

#include "engine/sessions.h"

/* Returns when turn i of the session is due (CLOCK_MONOTONIC). */
uint64_t bn_renewal_due_ns(const struct bn_session *s, uint64_t i);

/* Finds the first turn, after the start of the run is known. */
void bn_renewal_start(struct bn_session *s);

/* Notes that the script says where its connections may be opened again.  Returns false if there are
   no turns.  The session's worker calls this function and the next one. */
bool bn_renewal_allow(struct bn_session *s);
/* Takes the turn that was due when the event in flight began, after bn_renewal_allow has returned
   true.  Returns false if no turn was due, or if the event is repeated. */
bool bn_renewal_take(struct bn_session *s);

/* Logs that turns were missed, if that is more than a hundredth of those due up to end_ns and no
   session pauses for --threads-profile.  The main thread calls it after the workers have gone, or
   were abandoned. */
void bn_renewal_log_missed(const struct bn_sessions *s, uint64_t end_ns);

#endif
