/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a random cycle of pointers and follows it. */
#include "tests/memory_chase.h"

struct line {
  const struct line *next;
  char unused[BN_CHASE_LINE - sizeof(const struct line *)];
};

/* Every line follows a random earlier line: this makes each of the (n - 1)! cycles of n lines in
   one way. */
void bn_chase_link(void *at, size_t from, size_t to, struct bn_rng *rng)
{
  struct line *line = at;

  if (from == 0)
    line[0].next = &line[0];
  for (size_t i = from == 0 ? 1 : from / sizeof *line; i < to / sizeof *line; i++) {
    struct line *other = &line[bn_rng_below(rng, i)];

    line[i].next = other->next;
    other->next = &line[i];
  }
}

const void *bn_chase_follow(const void *at)
{
  const struct line *line = at;

  for (int i = 0; i < BN_CHASE_LOADS; i += 8)
    line = line->next->next->next->next->next->next->next->next;
  return line;
}
