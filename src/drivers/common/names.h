/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The addresses of hosts, asked for once for each name: a worker that asks holds up all of its
   sessions. */
#ifndef BN_DRIVERS_COMMON_NAMES_H
#define BN_DRIVERS_COMMON_NAMES_H

#include "api/driver.h"

struct bn_names;

/* Makes an empty store of names; `host` is borrowed. */
struct bn_names *bn_names_new(const struct bn_driver_host *host);
/* Frees the store; NULL is allowed. */
void bn_names_free(struct bn_names *names);

/* Returns the addresses of a host with commas between them: "::1,127.0.0.1".  The first call for a
   name asks the system, while other threads wait; a later call asks again only if the name had no
   address.  Returns NULL if the host has no address, is an address itself, or names no single host.
   The text is valid until bn_names_free.  Any thread may call this. */
const char *bn_names_resolve(struct bn_names *names, const char *host);

#endif
