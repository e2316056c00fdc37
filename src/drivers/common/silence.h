/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hosts that lose their power or their network close no connection.  Without a limit, TCP repeats
   unacknowledged data for a quarter of an hour, and probes an idle connection after two hours. */
#ifndef BN_DRIVERS_COMMON_SILENCE_H
#define BN_DRIVERS_COMMON_SILENCE_H

/* The connection of this socket fails from now on, with ETIMEDOUT or with the network's error, if
   its peer's host has acknowledged neither data nor probes for 10 s.  A slow or stopped server
   keeps its connection, because its host acknowledges, unless the host's buffers stay full for so
   long.  An existing limit (TCP_USER_TIMEOUT) stays.  Sockets that are not TCP are left as they
   are. */
void bn_silence_limit(int fd);

#endif
