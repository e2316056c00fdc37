/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process of one rank under a launcher: it carries the streams of agents between the ranks.

   The program itself runs in a child of rank 0, and agents are children of a third process, so that
   nothing that reports or measures has the library of the launcher in its memory, and outlives its
   failures.  One thread makes all calls of the library; it sleeps between them.  Ranks and this
   controller are of one program, and trust each other. */
#ifndef BN_HOSTS_BRIDGE_H
#define BN_HOSTS_BRIDGE_H

#include "hosts/ranks.h"

/* First of all in a process.  -1: the program runs in this process, and *ranks are those of the
   launcher that has started it, if there is one.  Otherwise this was a bridge, or the environment
   is wrong, which has been printed, and the result is the status of the process. */
int bn_bridge_enter(struct bn_ranks *ranks);

#endif
