/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hands the ends of pipes to another process of this program, over a socket between them. */
#ifndef BN_HOSTS_HANDOVER_H
#define BN_HOSTS_HANDOVER_H

#include <stdbool.h>
#include <stdint.h>

/* A message of a handover: a number, and the ends of two pipes, or none. */
struct bn_handover {
  uint32_t number;
  int in, out; /* the process that takes them reads `in` and writes `out`; -1: none */
};

/* Makes the two ends of a socket that keeps messages apart.  They are closed when a program is
   started.  Returns 0, or -1 and errno. */
int bn_handover_make_socket(int end[2]);
/* Sends a handover; its ends stay the caller's, too.  Returns 0, or -1 and errno. */
int bn_handover_send(int socket, const struct bn_handover *h);
/* Makes two pipes and sends their far ends with the number.  The near ends, which the caller owns,
   do not block: what is written to *in can be read at the other side, and what is written there
   comes out of *out.  Returns 0, or -1 and errno; *in and *out are then -1. */
int bn_handover_send_pipes(int socket, uint32_t number, int *in, int *out);
/* Waits for the next handover, and takes it: the caller owns its ends.  Returns false if the other
   side has closed the socket. */
bool bn_handover_take(int socket, struct bn_handover *h);

#endif
