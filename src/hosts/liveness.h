/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When a host is lost: it is late, says nothing, or has ended without a result.

   Each state that a host can be in has an end: a deadline, or the silence that is one. */
#ifndef BN_HOSTS_LIVENESS_H
#define BN_HOSTS_LIVENESS_H

#include "hosts/fleet.h"

/* At any time: asks the hosts whether they are there, and loses those that are late. */
void bn_liveness_check(struct bn_fleet *f, uint64_t now_ns);
/* Says once of each host that was lost what the run lacks, and stops the others unless they go on
   without it. */
void bn_liveness_settle(struct bn_fleet *f);

#endif
