/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process that starts the agents of a rank: what loads MPI never forks, and no agent has memory
   or descriptors of it. */
#ifndef BN_HOSTS_STARTER_H
#define BN_HOSTS_STARTER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

struct bn_starter {
  pid_t pid;  /* 0: none */
  int socket; /* each bn_handover is an agent to start on these pipes; -1: none */
};

/* Before there is a thread.  -1 and err. */
int bn_starter_begin(struct bn_starter *s, struct bn_err *err);
/* No more agents: it ends once they have ended, or some seconds later. */
void bn_starter_end(struct bn_starter *s);
/* Whether it has ended. */
bool bn_starter_has_ended(struct bn_starter *s);

#endif
