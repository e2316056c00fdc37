/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Judges by what was counted whether sessions get on. */
#include "engine/grace.h"

/* Hundreds of sessions that close their statements one after another are not stuck. */
uint64_t bn_grace_progress(const struct bn_parts *p)
{
  return bn_crew_gone(p->crew) + bn_load_progress(p->load);
}

bool bn_grace_is_limited(const struct bn_parts *p)
{
  return !p->conf->grace_auto || bn_book_kind(p->book) == BN_KIND_SQL;
}

uint64_t bn_grace_ns(const struct bn_parts *p, uint64_t least_ns)
{
  /* Events without SQL are what statements are to the others; under --rate they include waiting. */
  const bool events = bn_book_kind(p->book) != BN_KIND_SQL && p->pacer == NULL;
  uint64_t longest;

  if (!p->conf->grace_auto)
    return p->conf->grace_ns;
  longest = events ? bn_load_longest_event(p->load) : bn_load_longest_statement(p->load);
  return 3 * longest > least_ns ? 3 * longest : least_ns;
}
