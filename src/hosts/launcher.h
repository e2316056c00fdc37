/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The launchers of parallel programs, which a process recognizes by variables in the environment,
   and the ranks that they start. */
#ifndef BN_HOSTS_LAUNCHER_H
#define BN_HOSTS_LAUNCHER_H

#include <stdbool.h>

#include "base/err.h"
#include "hosts/work_split.h"

/* What a process that a launcher has started with others knows of itself. */
struct bn_launcher {
  const char *carrier; /* the module that speaks to the others: "openmpi", "mpich" */
  const char *title;   /* "Open MPI" */
  unsigned rank, ranks;
};

/* Returns whether a launcher has started this process with others, and stores what it says. */
bool bn_launcher_read(struct bn_launcher *l);
/* Removes the variables, so that no child of this process takes itself for one that the launcher
   has started. */
void bn_launcher_forget(void);

/* The ranks of a launcher, as the program sees them that runs in rank 0, and its children. */
struct bn_ranks {
  unsigned n;  /* 0: there is no launcher */
  int request; /* the socket to the bridge, which is asked for an agent of a rank by its number */
};

/* Puts the ranks into the environment.  Returns 0, or -1 and errno. */
int bn_ranks_export(const struct bn_ranks *r);
/* Reads the ranks from the environment, or stores none if it has none.  Returns 0, or -1 and err if
   the variable there is not one that bench has set. */
int bn_ranks_read(struct bn_ranks *r, struct bn_err *err);
/* Removes the ranks from the environment, because a program that an agent starts makes runs of its
   own. */
void bn_ranks_unset(void);
/* Adds the ranks as hosts, "rank0" and so on.  Returns 0, or -1 and err. */
int bn_ranks_add_hosts(const struct bn_ranks *r, struct bn_work_split_list *list,
                       struct bn_err *err);

#endif
