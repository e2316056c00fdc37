/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ranks of a launcher, as the program sees them that runs in rank 0, and its children. */
#ifndef BN_HOSTS_RANKS_H
#define BN_HOSTS_RANKS_H

#include "base/err.h"
#include "hosts/work_split.h"

struct bn_ranks {
  unsigned n;  /* 0: there is no launcher */
  int request; /* the socket to the bridge: each bn_handover is an agent of that rank */
};

/* Puts them into the environment.  -1: errno. */
int bn_ranks_tell(const struct bn_ranks *r);
/* Finds them there.  -1: err. */
int bn_ranks_read(struct bn_ranks *r, struct bn_err *err);
/* Adds them as hosts: "rank0" and so on.  -1 and err. */
int bn_ranks_add(const struct bn_ranks *r, struct bn_work_split_list *list, struct bn_err *err);

#endif
