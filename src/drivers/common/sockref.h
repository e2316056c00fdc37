/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A client library's socket, to be shut down by another thread.  The library closes it when a
   connection breaks, and the number may be another socket's by then; its cookie never is. */
#ifndef BN_DRIVERS_COMMON_SOCKREF_H
#define BN_DRIVERS_COMMON_SOCKREF_H

#include <stdatomic.h>
#include <stdint.h>

struct bn_sockref {
  _Atomic int fd; /* -1: none */
  uint64_t cookie;
};

/* All but shut are for the owner of the connection. */
void bn_sockref_clear(struct bn_sockref *s);
void bn_sockref_set(struct bn_sockref *s, int fd);
/* From any thread that keeps the connection from being closed by its owner: whoever reads from or
   writes to the socket sees its end. */
void bn_sockref_shut(const struct bn_sockref *s);

#endif
