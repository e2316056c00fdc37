/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Launchers of parallel programs, as their variables in the environment show them. */
#ifndef BN_HOSTS_LAUNCHER_H
#define BN_HOSTS_LAUNCHER_H

#include <stdbool.h>

/* One of several processes that a launcher has started. */
struct bn_launcher {
  const char *carrier; /* the module that speaks to the others: "openmpi", "mpich" */
  const char *title;   /* "Open MPI" */
  unsigned rank, ranks;
};

/* Whether this process is one of several. */
bool bn_launcher_read(struct bn_launcher *l);
/* What this process starts is not to be taken for such a process. */
void bn_launcher_forget(void);

#endif
