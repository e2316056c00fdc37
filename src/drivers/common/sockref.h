/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A client library's socket, to be shut down by another thread.  The library closes it when a
   connection breaks, and the number may then belong to another socket, whose cookie differs. */
#ifndef BN_DRIVERS_COMMON_SOCKREF_H
#define BN_DRIVERS_COMMON_SOCKREF_H

#include <stdatomic.h>
#include <stdint.h>

struct bn_sockref {
  _Atomic int fd; /* -1: none */
  uint64_t cookie;
};

/* Only the owner of the connection calls bn_sockref_clear() and bn_sockref_set(). */
void bn_sockref_clear(struct bn_sockref *s);
void bn_sockref_set(struct bn_sockref *s, int fd);
/* Called by any thread that keeps the owner from closing the connection: reads and writes of the
   socket then find its end. */
void bn_sockref_shut(const struct bn_sockref *s);

#endif
