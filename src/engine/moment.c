/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks each part for what the book needs. */
#include "engine/moment.h"

uint64_t bn_moment_backlog(const struct bn_parts *p, const struct bn_times *times, uint64_t now_ns,
                           uint64_t left)
{
  const uint64_t end_ns = bn_outcome_limit(p->outcome, times->deadline_ns);
  const uint64_t due = bn_pacer_passed(p->pacer, now_ns < end_ns ? now_ns : end_ns);

  return bn_pacer_queued(due, bn_load_begun(p->load), left);
}

/* Events that may yet begin, as far as reports care. */
static uint64_t left_to_report(const struct bn_parts *p)
{
  return p->conf->policy->queue_ignores_events ? UINT64_MAX : bn_admit_left(p->admit);
}

struct bn_moment bn_moment_at(const struct bn_parts *p, const struct bn_times *times,
                              uint64_t now_ns)
{
  const bool measured = now_ns > times->measure_ns;
  struct bn_moment m = {.now_ns = now_ns,
                        .from_ns = measured ? times->measure_ns : times->start_ns,
                        .at_limit = now_ns >= times->deadline_ns,
                        .paced = p->pacer != NULL,
                        .abandoned = bn_outcome_has(p->outcome, BN_OUTCOME_ABANDONED)};

  /* Including workers that are just leaving. */
  if (m.at_limit)
    m.running = bn_crew_reached_limit(p->crew);
  if (m.paced)
    m.backlog = bn_moment_backlog(p, times, now_ns, left_to_report(p));
  return m;
}
