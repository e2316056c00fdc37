/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts the agents over the shell of --hosts-shell, or over the processes of a launcher.

   A host has been started, or it is lost: none is left that nobody waits for. */
#ifndef BN_HOSTS_LAUNCH_H
#define BN_HOSTS_LAUNCH_H

#include "hosts/fleet.h"

/* Starts the hosts from number `first` on, and begins the phase BN_FLEET_CONNECT.  -1: err says
   which host could not be started. */
int bn_launch(struct bn_fleet *f, size_t first, struct bn_err *err);

#endif
