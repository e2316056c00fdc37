/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the item that is due next, and moves each kind of item on to its next time. */
#include "engine/schedule.h"

#include "base/clock.h"

static const uint64_t never = UINT64_MAX;

/* The first refit of the clock is due this time after the start of the reporting thread. */
static const uint64_t first_refit_ns = BN_NSEC_PER_SEC / 10;

/* The forced shutdown leaves threads at least this time to stop by themselves at the limit. */
static const uint64_t stopping_ns = 200 * BN_NSEC_PER_MSEC;

void bn_schedule_init(struct bn_schedule *s, const struct bn_conf *conf, uint64_t now_ns)
{
  *s = (struct bn_schedule){.conf = conf,
                            .refit_ns = now_ns + first_refit_ns,
                            .interval_ns = never,
                            .tick_ns = never,
                            .forced_ns = never,
                            .grace_ns = never};
}

/* Returns the time of the next checkpoint, or never. */
static uint64_t schedule_checkpoint_ns(const struct bn_schedule *s)
{
  const struct bn_conf *c = s->conf;

  if (s->checkpoint >= c->plan.n_checkpoints)
    return never;
  return s->times.measure_ns + c->plan.checkpoint_ns[s->checkpoint];
}

void bn_schedule_open(struct bn_schedule *s, const struct bn_times *times, bool ticks)
{
  const struct bn_conf *c = s->conf;

  s->times = *times;
  s->measuring = true;
  s->warming = c->plan.warmup_ns != 0;
  if (c->plan.interval_ns != 0)
    s->interval_ns = times->measure_ns + c->plan.interval_ns;
  if (ticks)
    s->tick_ns = times->measure_ns + BN_NSEC_PER_SEC;
  if (c->plan.forced)
    s->forced_ns = times->deadline_ns + bn_clock_max(c->plan.forced_ns, stopping_ns);
  /* A checkpoint at 0 has nothing to report. */
  while (schedule_checkpoint_ns(s) == times->measure_ns)
    s->checkpoint++;
}

uint64_t bn_schedule_next_ns(const struct bn_schedule *s, uint64_t now_ns)
{
  uint64_t next_ns = s->refit_ns;

  if (!s->measuring)
    return next_ns;
  if (s->warming)
    return bn_clock_min(next_ns, s->times.measure_ns);
  next_ns = bn_clock_min(next_ns, s->interval_ns);
  next_ns = bn_clock_min(next_ns, s->tick_ns);
  next_ns = bn_clock_min(next_ns, schedule_checkpoint_ns(s));
  next_ns = bn_clock_min(next_ns, s->forced_ns);
  next_ns = bn_clock_min(next_ns, s->grace_ns);
  /* Work is due at the time limit, but not again after it. */
  return s->times.deadline_ns > now_ns ? bn_clock_min(next_ns, s->times.deadline_ns) : next_ns;
}

bool bn_schedule_take_refit(struct bn_schedule *s, uint64_t now_ns)
{
  if (now_ns < s->refit_ns)
    return false;
  s->refit_ns = now_ns + BN_NSEC_PER_SEC;
  return true;
}

bool bn_schedule_take_warmup_end(struct bn_schedule *s, uint64_t now_ns)
{
  if (!s->warming || now_ns < s->times.measure_ns)
    return false;
  s->warming = false;
  return true;
}

/* Returns the first time after now_ns that is a whole number of steps after from_ns.  from_ns is
   not after now_ns. */
static uint64_t schedule_next_on_grid(uint64_t from_ns, uint64_t step_ns, uint64_t now_ns)
{
  return from_ns + ((now_ns - from_ns) / step_ns + 1) * step_ns;
}

bool bn_schedule_take_interval(struct bn_schedule *s, uint64_t now_ns)
{
  if (s->warming || now_ns < s->interval_ns)
    return false;
  s->interval_ns = schedule_next_on_grid(s->interval_ns, s->conf->plan.interval_ns, now_ns);
  return true;
}

bool bn_schedule_take_checkpoint(struct bn_schedule *s, uint64_t now_ns)
{
  if (!s->measuring || s->warming || now_ns < schedule_checkpoint_ns(s))
    return false;
  while (now_ns >= schedule_checkpoint_ns(s))
    s->checkpoint++;
  return true;
}

void bn_schedule_drop_checkpoints(struct bn_schedule *s)
{
  s->checkpoint = s->conf->plan.n_checkpoints;
}

bool bn_schedule_take_tick(struct bn_schedule *s, uint64_t now_ns)
{
  if (s->warming || now_ns < s->tick_ns)
    return false;
  s->tick_ns = schedule_next_on_grid(s->tick_ns, BN_NSEC_PER_SEC, now_ns);
  return true;
}

/* Returns whether an item is due that is due once only, and makes it never due again. */
static bool schedule_take_once(uint64_t *at_ns, uint64_t now_ns)
{
  if (now_ns < *at_ns)
    return false;
  *at_ns = never;
  return true;
}

bool bn_schedule_take_forced(struct bn_schedule *s, uint64_t now_ns)
{
  return schedule_take_once(&s->forced_ns, now_ns);
}

bool bn_schedule_take_out_of_grace(struct bn_schedule *s, uint64_t now_ns)
{
  return schedule_take_once(&s->grace_ns, now_ns);
}

void bn_patience_renew(struct bn_patience *p, struct bn_progress done, uint64_t now_ns)
{
  if (p->since_ns == 0 || done.ended != p->last.ended)
    p->ended_since_ns = now_ns;
  if (p->since_ns == 0 || done.all != p->last.all)
    p->since_ns = now_ns;
  p->last = done;
}

uint64_t bn_patience_end_ns(const struct bn_patience *p, uint64_t grace_ns, uint64_t longest_ns)
{
  return bn_clock_min(p->since_ns + grace_ns, p->ended_since_ns + longest_ns);
}

void bn_schedule_give_grace(struct bn_schedule *s, uint64_t now_ns, struct bn_progress done,
                            uint64_t grace_ns, uint64_t longest_ns)
{
  bn_patience_renew(&s->patience, done, now_ns);
  s->grace_ns = bn_patience_end_ns(&s->patience, grace_ns, longest_ns);
}
