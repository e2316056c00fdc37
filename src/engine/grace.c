/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decides by counters whether sessions make progress. */
#include "engine/grace.h"

#include "base/clock.h"

static bool grace_is_sql(const struct bn_run_parts *p)
{
  return bn_reports_get_kind(p->reports) == BN_KIND_SQL;
}

/* A thread that has gone is progress, too: hundreds of sessions that close their statements one
   after another are not stuck. */
struct bn_progress bn_grace_read_progress(const struct bn_run_parts *p)
{
  const uint64_t gone = bn_threads_count_gone(p->threads);

  return (struct bn_progress){.all = gone + bn_load_count_progress(p->load),
                              .ended = gone + bn_load_count_ended(p->load)};
}

/* sysbench never ends a script without SQL for its lack of progress. */
bool bn_grace_is_limited(const struct bn_run_parts *p)
{
  const bool is_set_by_user = !p->conf->grace_auto;
  const bool is_native_script = p->scripted && bn_policy_is_native(p->conf->policy);

  return is_set_by_user || grace_is_sql(p) || is_native_script;
}

uint64_t bn_grace_least_ns(const struct bn_run_parts *p, bool is_cut)
{
  enum { SQL_S = 2, OTHER_S = 10, DIALECT_S = 60 };

  if (!is_cut && !bn_policy_is_native(p->conf->policy))
    return DIALECT_S * BN_NSEC_PER_SEC;
  return (grace_is_sql(p) ? SQL_S : OTHER_S) * BN_NSEC_PER_SEC;
}

/* Some centuries, to which a time can be added without overflow. */
static const uint64_t grace_most_ns = UINT64_MAX / 4;

/* A call may take this many times as long as the longest one so far before it counts as stuck, and
   statements alone may renew the grace for this many graces. */
enum { LONGEST_FACTOR = 3, RENEWALS = 10 };

/* Returns n * ns, but at most grace_most_ns. */
static uint64_t grace_multiply(uint64_t n, uint64_t ns)
{
  return ns < grace_most_ns / n ? n * ns : grace_most_ns;
}

uint64_t bn_grace_ns(const struct bn_run_parts *p, uint64_t least_ns)
{
  const bool is_sql = grace_is_sql(p);
  uint64_t longest_ns;

  if (!p->conf->grace_auto)
    return p->conf->grace_ns;
  longest_ns =
      is_sql ? bn_load_find_longest_statement(p->load) : bn_load_find_longest_event(p->load);
  return bn_clock_max(grace_multiply(LONGEST_FACTOR, longest_ns), least_ns);
}

uint64_t bn_grace_longest_ns(const struct bn_run_parts *p, uint64_t grace_ns)
{
  if (p->conf->grace_auto && !bn_policy_is_native(p->conf->policy))
    return grace_most_ns;
  return bn_clock_max(grace_multiply(LONGEST_FACTOR, bn_load_find_longest_event(p->load)),
                      grace_multiply(RENEWALS, grace_ns));
}
