/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process of one rank under a launcher: it carries the streams of agents between the ranks.

   The process that the launcher starts does nothing else.  The program runs in a child of rank 0,
   and the agents of other ranks are children of a child, so that what reports and what measures
   does not have the library of the launcher in its memory, and outlives it: if a process dies,
   MPICH's launcher kills all that it has started at once, and the child of rank 0 still reports.
   One thread makes all calls of the library; it sleeps between them.  Ranks are of one program, and
   trust each other. */
#ifndef BN_HOSTS_BRIDGE_H
#define BN_HOSTS_BRIDGE_H

#include "hosts/launcher.h"

/* Comes first in a process.  Returns -1 if the program is to run in this process; *ranks are those
   of the launcher that has started it, or none.  Otherwise this process was a bridge, or the
   environment is wrong, which has been printed: returns the exit status of the process.  `hide`
   overwrites the passwords of a command line, and is called in each process of a rank but the
   program, which still has to read them. */
int bn_bridge_enter(struct bn_ranks *ranks, int argc, char *const *argv,
                    void (*hide)(int argc, char *const *argv));

#endif
