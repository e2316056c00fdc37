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

/* Links the lines from byte `from` up to byte `to` of an area, multiples of a line, into one cycle
   with all lines before them, which were linked by earlier calls, in random order; at is aligned to
   a line. */
void bn_chase_link(void *at, size_t from, size_t to, struct bn_rng *rng);
/* Follows BN_CHASE_LOADS pointers and returns where that led. */
const void *bn_chase_follow(const void *at);

#endif
