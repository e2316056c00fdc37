/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An instant of a run, put together from its parts for the book. */
#include "engine/run_internal.h"

/* Sessions that reached the time limit, although they are just leaving. */
static unsigned count_reached(struct bn_run *run)
{
  unsigned i, early = 0;

  (void)pthread_mutex_lock(&run->lock);
  for (i = 0; i < run->conf->threads; i++)
    early += run->workers[i].early;
  (void)pthread_mutex_unlock(&run->lock);
  return run->conf->threads - early;
}

/* When arrivals end: at the time limit, or when the run was ended before. */
static uint64_t end_of_arrivals(struct bn_run *run)
{
  uint64_t cut_ns;

  (void)pthread_mutex_lock(&run->lock);
  cut_ns = run->cut_ns;
  (void)pthread_mutex_unlock(&run->lock);
  return cut_ns != 0 ? bn_least(cut_ns, run->deadline_ns) : run->deadline_ns;
}

uint64_t bn_run_backlog(struct bn_run *run, uint64_t now_ns, uint64_t left)
{
  const uint64_t passed = bn_pacer_passed(&run->pacer, bn_least(now_ns, end_of_arrivals(run)));
  uint64_t begun = 0;
  unsigned i;

  for (i = 0; i < run->conf->threads; i++)
    begun += bn_stat_get(&run->stats.stat[i]->begun);
  return bn_pacer_queued(passed, begun, left);
}

struct bn_moment bn_run_moment(struct bn_run *run, uint64_t now_ns)
{
  struct bn_moment m = {.now_ns = now_ns,
                        .from_ns = now_ns > run->measure_ns ? run->measure_ns : run->start_ns,
                        .at_limit = now_ns >= run->deadline_ns,
                        .paced = run->pacer_made,
                        .abandoned = run->abandoned};

  if (m.at_limit)
    m.running = count_reached(run);
  if (m.paced)
    m.backlog = bn_run_backlog(run, now_ns, UINT64_MAX);
  return m;
}

void bn_run_note(struct bn_run *run, bool ok)
{
  if (!ok)
    run->report_failed = true;
}
