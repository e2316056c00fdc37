/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a random cycle of pointers and follows it. */
#include "tests/memory_chase.h"

struct line {
  const struct line *next;
  char unused[BN_CHASE_LINE - sizeof(const struct line *)];
};

/* Sattolo's algorithm: as a shuffle, but a line never stays where it is, which leaves permutations
   of one cycle only. */
void bn_chase_link(void *at, size_t size, struct bn_rng *rng)
{
  struct line *line = at;
  const size_t n = size / sizeof *line;

  for (size_t i = 0; i < n; i++)
    line[i].next = &line[i];
  for (size_t i = n - 1; i > 0; i--) {
    struct line *other = &line[bn_rng_below(rng, i)];
    const struct line *next = line[i].next;

    line[i].next = other->next;
    other->next = next;
  }
}

const void *bn_chase_follow(const void *at)
{
  const struct line *line = at;

  for (int i = 0; i < BN_CHASE_LOADS; i += 8)
    line = line->next->next->next->next->next->next->next->next;
  return line;
}
