/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hosts that lose their power or their network close no connection: TCP sends what they have not
   acknowledged again for a quarter of an hour, and asks one that owes an answer after two hours. */
#ifndef BN_DRIVERS_COMMON_SILENCE_H
#define BN_DRIVERS_COMMON_SILENCE_H

/* From now on the connection of this socket fails, with ETIMEDOUT or with what the network says,
   once its peer's host has acknowledged nothing for 10 s, though it was sent data or asked.  A
   server that is slow or stopped keeps it, because its host acknowledges, unless it does not read
   for so long what its host has no room for.  Where there is a limit already (TCP_USER_TIMEOUT),
   that one stays.  Sockets that are not TCP are left as they are. */
void bn_silence_limit(int fd);

#endif
