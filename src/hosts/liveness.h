/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decides when a host is lost: it is late, is silent, or has ended without a result.

   No state of a host lasts for ever: each has a deadline, or ends with the silence of the host. */
#ifndef BN_HOSTS_LIVENESS_H
#define BN_HOSTS_LIVENESS_H

#include "hosts/fleet.h"

/* Asks the hosts for signs of life, tells all to end at once if one is late, and loses those that
   are too late or silent, or whose streams have ended.  May be called at any time. */
void bn_liveness_check(struct bn_fleet *f, uint64_t now_ns);
/* Settles, once, each host that has ended or was lost: prints what has failed and what the report
   lacks, and stops the other hosts unless they go on without that host. */
void bn_liveness_settle(struct bn_fleet *f);

#endif
