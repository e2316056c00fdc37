/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares the waits that a simulated run has made with a list of them. */
#ifndef BN_TESTS_UNIT_KNOWNWAITS_H
#define BN_TESTS_UNIT_KNOWNWAITS_H

#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "simclock.h"

struct known {
  const char *what;
  double most_s; /* how far ahead its deadline is at most, if it has one of its own */
  size_t entered;
};

static inline struct known *known_what(struct known *known, size_t n, const char *what)
{
  for (size_t i = 0; i < n; i++)
    if (strcmp(known[i].what, what) == 0)
      return &known[i];
  fail_msg("a wait that is not in the list: %s", what);
  abort();
}

static inline void known_check(struct known *known, size_t n)
{
  const struct sim_seen *s;

  for (size_t i = 0; (s = sim_seen_at(i)) != NULL; i++) {
    struct known *k = known_what(known, n, s->wait->what);

    k->entered += s->entered;
    if (s->wait->bound == BN_BOUND_RETURNING && s->longest_ns != 0)
      fail_msg("%s: %.3f s", k->what, (double)s->longest_ns / 1e9);
    if (s->wait->bound != BN_BOUND_DEADLINE)
      continue;
    assert_int_equal(s->endless, 0);
    if ((double)s->farthest_ns > k->most_s * 1e9 || (double)s->longest_ns > k->most_s * 1e9)
      fail_msg("%s: the deadline is %.3f s ahead", k->what, (double)s->farthest_ns / 1e9);
  }
}

#endif
