/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a run knows that is a part of a larger one, which several hosts make together. */
#ifndef BN_ENGINE_HOST_GROUP_H
#define BN_ENGINE_HOST_GROUP_H

struct bn_run;

/* Sessions are numbered over all hosts, and the start barrier opens when the others' do.  In a
   command all sessions of all hosts meet where those of one host would. */
struct bn_host_group {
  unsigned first;    /* number of the first session of this run */
  unsigned sessions; /* of all hosts; first + --threads at most */
  void *of;          /* handed back to the functions below */
  /* From here to detach, bn_run_stop(), bn_run_start_at() and bn_run_pass() may be called. */
  void (*attach)(void *of, struct bn_run *run); /* main thread, as detach */
  void (*detach)(void *of);
  /* All sessions of this host wait for those of the others, until bn_run_pass().  Any thread. */
  void (*meet)(void *of);
};

#endif
