/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sessions of a run: each worker's, then the main thread's and the reporting thread's.

   One thread drives each session.  The pointers to shared parts are set here, once. */
#ifndef BN_ENGINE_SESSIONS_H
#define BN_ENGINE_SESSIONS_H

#include "api/workload.h"
#include "engine/run_state.h"

struct bn_sessions {
  struct bn_session *all; /* owned; workers + BN_LOAD_SIDE */
  void *state;            /* owned; one block for all states */
  size_t state_size;      /* bytes of the workload's state per session, in whole cache lines */
  unsigned workers;       /* sessions of workers */
  unsigned first;         /* number of the first session */
  unsigned n_all_hosts;   /* sessions of the workers of all hosts */
};

/* Makes the sessions of this host, of which `workers` are of workers.  group: NULL if this host is
   alone.  Returns 0, or -1 if out of memory; bn_sessions_done accepts what was made. */
int bn_sessions_init(struct bn_sessions *s, unsigned workers, const struct bn_host_group *group,
                     size_t state_size);
/* Fills the table of the services that sessions may ask for (api/session.h), by the parts of the
   run; everything is borrowed. */
void bn_services_bind(struct bn_services *out, struct bn_run_parts *parts,
                      const struct bn_sessions *sessions, const struct bn_workload *ops);
/* Links the sessions to the shared parts, which are borrowed. */
void bn_sessions_link(struct bn_sessions *s, const struct bn_run_parts *p,
                      const struct bn_services *services);
void bn_sessions_done(struct bn_sessions *s);
/* Points each session at its statistics in `load`, which may have moved. */
void bn_sessions_set_stats(struct bn_sessions *s, const struct bn_load *load);
/* Return the session of the main thread and that of the reporting thread. */
struct bn_session *bn_sessions_main(const struct bn_sessions *s);
struct bn_session *bn_sessions_reporting(const struct bn_sessions *s);

/* Seeds every stream, before anything that may draw from one: for a run (BN_RNG_WORKLOAD), or for a
   command (BN_RNG_DATA), which draws the same numbers every time unless a seed is given, so that a
   prepared data set can be made again.  Returns the seed. */
uint64_t bn_sessions_seed(struct bn_sessions *s, struct bn_load *load, const struct bn_conf *conf,
                          enum bn_rng_purpose purpose);

#endif
