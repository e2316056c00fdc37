/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Launchers of parallel programs, as their variables in the environment show them, and their ranks,
   as the program sees them that runs in rank 0. */
#ifndef BN_HOSTS_LAUNCHER_H
#define BN_HOSTS_LAUNCHER_H

#include <stdbool.h>

#include "base/err.h"
#include "hosts/work_split.h"

/* A process that a launcher has started with others. */
struct bn_launcher {
  const char *carrier; /* the module that speaks to the others: "openmpi", "mpich" */
  const char *title;   /* "Open MPI" */
  unsigned rank, ranks;
};

/* Returns whether this process is such a process. */
bool bn_launcher_read(struct bn_launcher *l);
/* Removes the variables, so that no child of this process is taken for such a process. */
void bn_launcher_forget(void);

/* The ranks of a launcher, as the program sees them that runs in rank 0, and its children. */
struct bn_ranks {
  unsigned n;  /* 0: there is no launcher */
  int request; /* the socket to the bridge: each bn_handover is an agent of that rank */
};

/* Puts them into the environment.  -1: errno. */
int bn_ranks_tell(const struct bn_ranks *r);
/* Finds them there.  -1: err. */
int bn_ranks_read(struct bn_ranks *r, struct bn_err *err);
/* Removes them from there: a program that an agent starts makes runs of its own. */
void bn_ranks_forget(void);
/* Adds them as hosts: "rank0" and so on.  -1 and err. */
int bn_ranks_add(const struct bn_ranks *r, struct bn_work_split_list *list, struct bn_err *err);

#endif
