/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Follows pointers around a random cycle: every load waits for the previous one, so that a turn
   shows the latency of a load. */
#ifndef BN_TESTS_MEMORY_CHASE_H
#define BN_TESTS_MEMORY_CHASE_H

#include <stddef.h>

#include "base/rng.h"

enum {
  BN_CHASE_LINE = 64,   /* bytes between pointers: a pointer in each cache line */
  BN_CHASE_LOADS = 4096 /* loads of an event */
};

/* Links the lines from byte `from` up to byte `to` of an area, multiples of a line, in random order
   into a cycle with the lines before, which are linked; `at` is aligned to a line. */
void bn_chase_link(void *at, size_t from, size_t to, struct bn_rng *rng);
/* Follows BN_CHASE_LOADS pointers and returns the last one. */
const void *bn_chase_follow(const void *at);

#endif
