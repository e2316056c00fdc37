/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hands the ends of pipes to another process of this program, over a socket between them. */
#ifndef BN_HOSTS_HANDOVER_H
#define BN_HOSTS_HANDOVER_H

#include <stdint.h>

/* A handover: a number, and the ends that its taker owns. */
struct bn_handover {
  uint32_t number;
  int in, out; /* the taker reads `in` and writes `out`; -1: none */
};

/* The socket: [2] ends that keep messages apart.  They are closed when a program is started.  0 or
   -1: errno. */
int bn_handover_socket(int end[2]);
/* Sends a handover; what it has stays the caller's.  0, or -1: errno. */
int bn_handover_send(int socket, const struct bn_handover *h);
/* Makes two pipes and sends their far ends.  The near ends do not block: what is written to *in can
   be read there, and what is written there comes out of *out.  0, or -1: errno. */
int bn_handover_pipes(int socket, uint32_t number, int *in, int *out);
/* Takes the next one, and waits for it.  1, or 0: there is nobody who sends. */
int bn_handover_take(int socket, struct bn_handover *h);

#endif
