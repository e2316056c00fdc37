/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of one host in a run that several hosts make together. */
#ifndef BN_ENGINE_HOST_GROUP_H
#define BN_ENGINE_HOST_GROUP_H

#include <stdbool.h>
#include <stddef.h>

struct bn_run;

/* Sessions are numbered over all hosts.  The start barrier opens at the same time on all hosts, and
   the sessions of a command meet at a barrier over all hosts. */
struct bn_host_group {
  unsigned first;    /* number of the first session of this run */
  unsigned sessions; /* of all hosts, at least first + --threads; 0: only those of this run */
  void *of;          /* argument of the functions below */
  /* The main thread calls attach and detach.  Between them, bn_run_stop(), bn_run_set_start() and
     bn_run_release_barrier() may be called. */
  void (*attach)(void *of, struct bn_run *run);
  void (*detach)(void *of);
  /* Announces that all sessions of this host wait for the sessions of the other hosts, until
     bn_run_release_barrier().  Any thread. */
  void (*meet)(void *of);
};

/* Returns the number of sessions of all hosts; `own` is the number of those of this run. */
static inline unsigned bn_host_group_sessions(const struct bn_host_group *g, unsigned own)
{
  return g != NULL && g->sessions > 0 ? g->sessions : own;
}

/* Returns whether all sessions are those of this run: it has no hosts, or its group is on this
   host.  Such a run judges itself; a run that shares its work is judged by the sum of all hosts. */
static inline bool bn_host_group_is_alone(const struct bn_host_group *g)
{
  return g == NULL || g->sessions == 0;
}

#endif
