/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The socket that a client library has connected. */
#ifndef BN_DRIVERS_COMMON_SOCKET_H
#define BN_DRIVERS_COMMON_SOCKET_H

#include <stdatomic.h>
#include <stdint.h>

/* Lets the connection of this socket fail from now on, with ETIMEDOUT or with the network's error,
   if its peer's host has acknowledged neither data nor probes for 10 s.  A host that loses its
   power or its network closes no connection: without a limit, TCP repeats unacknowledged data for a
   quarter of an hour, and probes an idle connection after two hours.  A slow or stopped server
   keeps its connection, because its host acknowledges, unless the host's buffers stay full for so
   long.  An existing limit (TCP_USER_TIMEOUT) stays.  Sockets that are not TCP are left as they
   are. */
void bn_socket_limit_silence(int fd);

/* Returns "TCP", "Unix socket", or "" if the socket is neither. */
const char *bn_socket_transport(int fd);

/* A reference by which another thread may shut the socket down.  The library closes the socket when
   the connection breaks, and the system may give its number to another socket: the cookie, which no
   two sockets share, tells them apart. */
struct bn_sockref {
  _Atomic int fd; /* -1: no socket, or a system without cookies */
  uint64_t cookie;
};

/* Make the reference refer to no socket, or to fd.  Only the owner of the connection calls
   them. */
void bn_sockref_clear(struct bn_sockref *s);
void bn_sockref_set(struct bn_sockref *s, int fd);
/* Shuts the socket down, so that reads and writes find its end, unless the library has closed it.
   Any thread may call this while it keeps the owner from closing the connection. */
void bn_sockref_shut(const struct bn_sockref *s);

#endif
