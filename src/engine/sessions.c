/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Allocates sessions on separate cache lines, links and seeds them. */
#include "engine/sessions.h"

#include <stdlib.h>

#include "base/alloc.h"

enum { CACHE_LINE = 64 };

/* Sets the id of a session, its index among the sessions of this host, and its number among the
   sessions of all hosts.  Scripts see the main thread as thread 0, as in sysbench.  The reporting
   thread's session comes after the sessions of all workers. */
static void sessions_set_numbers(const struct bn_sessions *s, struct bn_session *session)
{
  if (session == bn_sessions_main(s)) {
    session->id = session->number = 0;
  } else if (session == bn_sessions_reporting(s)) {
    session->id = s->workers;
    session->number = s->n_all_hosts;
  } else {
    session->id = (unsigned)(session - s->all);
    session->number = s->first + session->id;
  }
}

int bn_sessions_init(struct bn_sessions *s, unsigned workers, const struct bn_host_group *group,
                     size_t state_size)
{
  const unsigned n_all = workers + BN_LOAD_SIDE;

  *s = (struct bn_sessions){.workers = workers,
                            .state_size = (state_size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE,
                            .first = group != NULL ? group->first : 0,
                            .n_all_hosts = bn_host_group_sessions(group, workers),
                            .all = bn_alloc_try_aligned(CACHE_LINE, n_all, sizeof *s->all)};
  if (state_size > 0)
    s->state = bn_alloc_try_aligned(CACHE_LINE, n_all, s->state_size);
  return s->all == NULL || (state_size > 0 && s->state == NULL) ? -1 : 0;
}

/* Only the sessions of workers look for outages. */
void bn_sessions_link(struct bn_sessions *s, const struct bn_run_parts *p,
                      const struct bn_services *services)
{
  for (unsigned i = 0; i < s->workers + BN_LOAD_SIDE; i++) {
    struct bn_session *session = &s->all[i];

    sessions_set_numbers(s, session);
    session->limit = &p->quota->limit;
    session->mark = &p->quota->limit.until_ns;
    session->share = &p->quota->share[i];
    session->pacer = p->pacer;
    session->phases = p->phases;
    session->outage = i < s->workers ? p->outage : NULL;
    session->services = services;
    session->state = s->state != NULL ? (char *)s->state + s->state_size * i : NULL;
    session->think.own_ns = session->think.active_until_ns = UINT64_MAX;
    bn_clock_reader_init(&session->clock, p->clock);
    atomic_store_explicit(&session->doing, "starting", memory_order_relaxed);
  }
  bn_sessions_set_stats(s, p->load);
}

void bn_sessions_set_stats(struct bn_sessions *s, const struct bn_load *load)
{
  const unsigned n = s->workers;

  for (unsigned i = 0; i < n + BN_LOAD_SIDE; i++)
    s->all[i].stat = i < n ? load->stats.stat[i] : load->side.stat[i - n];
}

void bn_sessions_done(struct bn_sessions *s)
{
  free(s->all);
  free(s->state);
  *s = (struct bn_sessions){.workers = 0};
}

struct bn_session *bn_sessions_main(const struct bn_sessions *s)
{
  return &s->all[s->workers];
}

struct bn_session *bn_sessions_reporting(const struct bn_sessions *s)
{
  return &s->all[s->workers + 1];
}

uint64_t bn_sessions_seed(struct bn_sessions *s, struct bn_load *load, const struct bn_conf *conf,
                          enum bn_rng_purpose purpose)
{
  enum { MAIN_STREAM, REPORTING_STREAM }; /* of the sessions that belong to no worker */
  const bool is_data = purpose == BN_RNG_DATA;
  /* Data is the same each time it is made, unless the user gives a seed. */
  const uint64_t seed = is_data && !conf->plan.seed_given ? 0 : conf->seed;

  for (unsigned i = 0; i < s->workers; i++) {
    struct bn_session *session = &s->all[i];

    bn_rng_seed(&session->rng, seed, purpose, session->number);
    bn_rng_seed(&session->think.rng, seed, BN_RNG_THINK, session->number);
  }
  bn_rng_seed(&bn_sessions_main(s)->rng, seed, is_data ? BN_RNG_DATA : BN_RNG_COMMAND, MAIN_STREAM);
  bn_rng_seed(&bn_sessions_reporting(s)->rng, seed, BN_RNG_COMMAND, REPORTING_STREAM);
  bn_unique_init(&load->unique, seed);
  if (conf->policy->version == BN_V05) /* whose sb_rand_uniq() does not depend on the seed */
    load->unique.start = 0;
  bn_unique_skip(&load->unique, (double)s->first / (double)s->n_all_hosts);
  return seed;
}
