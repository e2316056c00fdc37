/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Computes sums over all sessions for the engine while they run. */
#include "engine/load.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/escape.h"

/* Most bytes of a phase's text in the name of a metric. */
enum { PHASE_TEXT = 48 };

unsigned bn_load_stat_bits(const struct bn_conf *c, const struct bn_workload *ops)
{
  unsigned bits = ops->statements ? BN_STAT_STATEMENTS : 0;

  if (!bn_policy_is_native(c->policy))
    return bits;
  if (c->plan.warmup_ns != 0)
    bits |= BN_STAT_WARMUP;
  if (c->plan.rate > 0)
    bits |= BN_STAT_WAITING;
  if (bn_conf_has_pauses(c) || ops->sets_pauses)
    bits |= BN_STAT_LAG;
  return bits;
}

const struct bn_profile *bn_load_phase_profile(const struct bn_conf *c)
{
  return bn_policy_is_native(c->policy) && c->profile.n_phases > 0 ? &c->profile : NULL;
}

/* A table of metrics in which each phase has a histogram of latencies, named by the number and the
   text of the phase. */
struct phase_metrics {
  struct bn_metric *row; /* owned; the workload's metrics come first */
  size_t n;
  size_t first_phase; /* the row of the first phase */
};

/* Returns the workload's metrics (NULL: none) and then those of the phases.  The rows end with a
   NULL name. */
static struct phase_metrics load_add_phases(const struct bn_metric *metrics,
                                            const struct bn_profile *profile)
{
  struct phase_metrics table = {.n = 0};

  while (metrics != NULL && metrics[table.n].name != NULL)
    table.n++;
  table.first_phase = table.n;
  table.row = bn_alloc(table.n + profile->n_phases + 1, sizeof *table.row);
  if (table.n > 0)
    memcpy(table.row, metrics, table.n * sizeof *table.row);
  for (size_t k = 0; k < profile->n_phases; k++) {
    char text[PHASE_TEXT + 1];

    /* The name of a file may be in another encoding, whose bytes take more room in a document. */
    (void)bn_escape(text, sizeof text, profile->phase[k].text, "");
    table.row[table.n++] =
        (struct bn_metric){.name = bn_alloc_print(BN_PHASE_PART "%zu %s", k + 1, text),
                           .unit = "ns",
                           .kind = BN_PHASE_HISTOGRAM,
                           .of_events = true};
  }
  return table;
}

/* Frees the rows, and the names of the rows of the phases, which load_add_phases has allocated. */
static void load_free_phases(const struct phase_metrics *table)
{
  for (size_t i = table->first_phase; i < table->n; i++)
    free((void *)(uintptr_t)table->row[i].name);
  free(table->row);
}

/* Makes the two sets; stat_bits are for the workers' sessions alone.  Returns 0, or -1 if out of
   memory. */
static int load_init_sets(struct bn_load *l, unsigned sessions, unsigned n_writers,
                          const struct bn_metric *metrics, unsigned stat_bits)
{
  if (bn_statset_init(&l->stats, sessions, n_writers, metrics, stat_bits) != 0)
    return -1;
  return bn_statset_init(&l->side, BN_LOAD_SIDE, BN_LOAD_SIDE, metrics, 0);
}

int bn_load_init(struct bn_load *l, unsigned sessions, unsigned n_writers,
                 const struct bn_metric *metrics, unsigned stat_bits,
                 const struct bn_profile *profile)
{
  struct phase_metrics table;
  int rc;

  l->profile = profile;
  if (profile == NULL)
    return load_init_sets(l, sessions, n_writers, metrics, stat_bits);
  table = load_add_phases(metrics, profile);
  rc = load_init_sets(l, sessions, n_writers, table.row, stat_bits);
  load_free_phases(&table);
  return rc;
}

void bn_load_done(struct bn_load *l)
{
  bn_statset_done(&l->stats);
  bn_statset_done(&l->side);
}

int bn_load_set_metrics(struct bn_load *l, const struct bn_metric *metrics, unsigned stat_bits)
{
  struct bn_load moved = {.unique = l->unique};
  const int rc =
      bn_load_init(&moved, l->stats.n_sessions, l->stats.n_writers, metrics, stat_bits, l->profile);

  if (rc != 0) {
    bn_load_done(&moved);
    return -1;
  }
  /* The top level of a script may have executed statements in a side session. */
  for (unsigned i = 0; i < BN_LOAD_SIDE; i++)
    for (unsigned k = 0; k < BN_C_FIXED; k++)
      bn_stat_count(moved.side.stat[i], k, bn_stat_get(&l->side.stat[i]->counter[k]));
  bn_load_done(l);
  *l = moved;
  return 0;
}

void bn_load_adopt_main(struct bn_load *l)
{
  struct bn_stat *main_stat = l->side.stat[0], *worker_stat = l->stats.stat[0];

  for (unsigned i = 0; i < BN_C_FIXED; i++) {
    if (!bn_load_counts_statements(i))
      continue;
    bn_stat_count(worker_stat, i, bn_stat_get(&main_stat->counter[i]));
    atomic_store_explicit(&main_stat->counter[i], 0, memory_order_relaxed);
  }
}

uint64_t bn_load_count_begun(const struct bn_load *l)
{
  uint64_t n = 0;

  for (unsigned i = 0; i < l->stats.n_sessions; i++)
    n += bn_stat_get(&l->stats.stat[i]->begun);
  return n;
}

struct bn_served bn_load_count_served(const struct bn_load *l)
{
  struct bn_served all = {.events = 0};

  for (unsigned i = 0; i < l->stats.n_sessions; i++) {
    const struct bn_stat *st = l->stats.stat[i];

    /* Late events ended after the span; `failed` has the failures in it alone. */
    all.events +=
        bn_stat_get(&st->counter[BN_C_EVENTS]) - bn_stat_get(&st->late) + bn_stat_get(&st->failed);
    all.service_ns += bn_stat_get(&st->service_ns) - bn_stat_get(&st->late_service_ns);
  }
  return all;
}

/* Returns the number of statements and events that have ended in a set of sessions. */
static uint64_t load_count_set_progress(const struct bn_statset *set)
{
  uint64_t n = 0;

  for (unsigned i = 0; i < set->n_sessions; i++) {
    const struct bn_stat *st = set->stat[i];

    n += bn_stat_get(&st->counter[BN_C_READ]) + bn_stat_get(&st->counter[BN_C_WRITE]) +
         bn_stat_get(&st->counter[BN_C_OTHER]) + bn_stat_get(&st->ended);
  }
  return n;
}

uint64_t bn_load_count_progress(const struct bn_load *l)
{
  return load_count_set_progress(&l->stats) + load_count_set_progress(&l->side);
}

uint64_t bn_load_count_ended(const struct bn_load *l)
{
  uint64_t n = 0;

  for (unsigned i = 0; i < l->stats.n_sessions; i++)
    n += bn_stat_get(&l->stats.stat[i]->ended);
  return n;
}

uint64_t bn_load_find_longest_statement(const struct bn_load *l)
{
  uint64_t ns = 0;

  for (unsigned i = 0; i < l->stats.n_sessions; i++)
    ns = bn_clock_max(ns, bn_stat_get(&l->stats.stat[i]->longest_statement_ns));
  return ns;
}

/* Returns the longest time in a histogram.  Reads its stripes, which are few, instead of every
   session. */
static uint64_t load_find_longest_service(const struct bn_statset *set, size_t hist)
{
  uint64_t longest = 0, lowest, highest;

  for (size_t k = 0; k < set->n_stripes; k++)
    if (bn_hist_bounds(set->stripe[hist * set->n_stripes + k], &lowest, &highest))
      longest = bn_clock_max(longest, highest);
  return longest;
}

uint64_t bn_load_find_longest_event(const struct bn_load *l)
{
  const struct bn_statset *set = &l->stats;
  uint64_t ns = 0;

  /* Under --rate, max_ns includes the wait.  All sessions have the same histograms. */
  if (set->n_sessions > 0 && set->stat[0]->service_hist != 0)
    return load_find_longest_service(set, set->stat[0]->service_hist);
  for (unsigned i = 0; i < set->n_sessions; i++)
    ns = bn_clock_max(ns, bn_stat_get(&set->stat[i]->max_ns));
  return ns;
}
