/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sessions of a run: one for each worker, then the main thread's and the reporting thread's.

   One thread drives each session.  The pointers to shared parts are set here, once. */
#ifndef BN_ENGINE_SESSIONS_H
#define BN_ENGINE_SESSIONS_H

#include "api/workload.h"
#include "engine/host_group.h"
#include "engine/load.h"
#include "engine/pacer.h"
#include "engine/quota.h"
#include "option/conf.h"

struct bn_sessions {
  struct bn_session *all; /* owned; workers + BN_LOAD_SIDE */
  void *state;            /* owned; one block behind all[i].state */
  unsigned workers;
  unsigned first, whole; /* number of the first, and how many all hosts have */
};

/* What sessions point at; borrowed. */
struct bn_sessions_links {
  struct bn_load *load;
  struct bn_quota *quota;
  struct bn_pacer *pacer; /* NULL: no --rate */
  struct bn_outage *outage;
  struct bn_clock *clock;
  const struct bn_services *services;
  size_t state_size;                      /* of the workload's state of a session */
  const struct bn_host_group *host_group; /* NULL: this host is alone */
};

/* 0 or -1: out of memory; done accepts what is half made. */
int bn_sessions_init(struct bn_sessions *s, unsigned workers, const struct bn_sessions_links *l);
void bn_sessions_done(struct bn_sessions *s);
/* Each session counts in its statistics of `load`, which may have moved. */
void bn_sessions_count_in(struct bn_sessions *s, const struct bn_load *load);
struct bn_session *bn_sessions_main(const struct bn_sessions *s);
struct bn_session *bn_sessions_reporting(const struct bn_sessions *s);

/* (Re)seeds every stream for a run or for a command; returns the seed.  A command draws the same
   numbers every time unless a seed is given, so that a prepared data set can be made again. */
uint64_t bn_sessions_seed(struct bn_sessions *s, struct bn_load *load, const struct bn_conf *conf,
                          bool command);

#endif
