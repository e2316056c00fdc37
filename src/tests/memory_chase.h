/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chasing pointers around one random cycle: every load waits for the one before, so that a turn
 * shows how long a load takes. */
#ifndef BN_TESTS_MEMORY_CHASE_H
#define BN_TESTS_MEMORY_CHASE_H

#include <stddef.h>

#include "base/rng.h"

enum {
  BN_CHASE_LINE = 64,   /* bytes from one pointer to the next: one in each cache line */
  BN_CHASE_LOADS = 4096 /* of one event */
};

/* Links the lines of an area into one cycle that visits all of them in random order; at is aligned
   to a line, size a multiple of it and not 0. */
void bn_chase_link(void *at, size_t size, struct bn_rng *rng);
/* Follows BN_CHASE_LOADS pointers and returns where that led. */
const void *bn_chase_follow(const void *at);

#endif
