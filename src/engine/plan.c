/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies the values of a configuration that reports show. */
#include "engine/plan.h"

void bn_plan_fill(struct bn_plan *p, const struct bn_conf *c)
{
  *p = (struct bn_plan){.version = c->policy->version,
                        .own = c->policy->own_report,
                        .verbosity = (int)c->raw.verbosity,
                        .threads = c->threads,
                        .events = c->events,
                        .time_ns = c->time_ns,
                        .warmup_ns = c->warmup_ns,
                        .interval_ns = c->interval_ns,
                        .interval_decimals = c->interval_decimals,
                        .n_checkpoints = c->n_checkpoints,
                        .n_percents = c->n_percents,
                        .rate = c->raw.rate,
                        .forced = c->forced,
                        .forced_ns = c->forced_ns,
                        .debug = c->raw.debug,
                        .validate = c->raw.validate,
                        .histogram = c->raw.histogram,
                        .watch_lines = c->raw.watch_lines,
                        .seed_given = c->seed_given,
                        .seed_typed = c->raw.rand_seed,
                        .seed_from_timer = c->raw.rand_init};
  for (size_t i = 0; i < c->n_checkpoints; i++)
    p->checkpoint_ns[i] = c->checkpoint_ns[i];
  for (size_t i = 0; i < c->n_percents; i++)
    p->percents[i] = c->percents[i];
}
