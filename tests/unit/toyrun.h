/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole runs of a tiny workload, and a reporter that keeps what it is told, for the tests of
   runs. */
#ifndef BN_TESTS_UNIT_TOYRUN_H
#define BN_TESTS_UNIT_TOYRUN_H

#include "cm.h"

#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "dialect/dialect.h"
#include "engine/event.h"
#include "engine/run.h"

/* What the recording reporter saw. */
struct record {
  struct bn_view total;
  double pct, interval_at[64], checkpoint_at[64];
  uint64_t interval_events[64], checkpoint_events[64];
  unsigned interval_running[64];
  size_t intervals, checkpoints, totals, checkpoint_sessions;
  size_t watched_intervals, watched_totals; /* with figures of what is watched */
};

static struct record seen;
static _Atomic bool reported; /* the final report of the run has come */

static inline int note_interval(void *self, const struct bn_view *v, struct bn_err *err)
{
  (void)self;
  (void)err;
  if (seen.intervals < 64) {
    seen.interval_at[seen.intervals] = v->at_s;
    seen.interval_events[seen.intervals] = v->events;
    seen.interval_running[seen.intervals] = v->running;
  }
  seen.intervals++;
  seen.watched_intervals += v->n_watched > 0;
  return 0;
}

static inline int note_checkpoint(void *self, const struct bn_view *v, struct bn_err *err)
{
  (void)self;
  (void)err;
  seen.checkpoint_at[seen.checkpoints] = v->at_s;
  seen.checkpoint_events[seen.checkpoints] = v->events;
  seen.checkpoint_sessions = v->n_sessions;
  seen.checkpoints++;
  return 0;
}

static inline int note_total(void *self, const struct bn_view *v, struct bn_err *err)
{
  (void)self;
  (void)err;
  seen.total = *v;
  seen.pct = v->n_percents > 0 ? v->percentile_s[0] : 0;
  seen.totals++;
  seen.watched_totals += v->n_watched > 0;
  atomic_store(&reported, true);
  return 0;
}

static const struct bn_reporter recorder = {.name = "record",
                                            .interval = note_interval,
                                            .checkpoint = note_checkpoint,
                                            .total = note_total};

struct toy {
  uint64_t sleep_us;
  unsigned fail_open, fail_event; /* session id + 1 that fails */
  unsigned closes;
};

static inline int toy_session_open(void *self, struct bn_session *s, struct bn_err *err)
{
  const struct toy *t = self;

  if (t->fail_open == s->id + 1)
    return bn_err_set(err, 0, "session %u does not open", s->id);
  return 0;
}

static inline enum bn_next toy_event(void *self, struct bn_session *s)
{
  const struct toy *t = self;

  if (t->fail_event == s->id + 1)
    return BN_FAILED;
  if (t->sleep_us > 0)
    bn_clock_sleep_until(bn_clock_mono() + t->sleep_us * 1000);
  bn_stat_count(s->stat, BN_C_READ, 2);
  return BN_CONTINUE;
}

static inline int toy_session_close(void *self, struct bn_session *s, struct bn_err *err)
{
  struct toy *t = self;

  (void)s;
  (void)err;
  __atomic_fetch_add(&t->closes, 1, __ATOMIC_RELAXED);
  return 0;
}

static const struct bn_workload toy_workload = {.name = "toy",
                                                .session_open = toy_session_open,
                                                .event = toy_event,
                                                .session_close = toy_session_close};

static inline struct bn_conf make_conf(unsigned threads)
{
  struct bn_conf c;

  memset(&c, 0, sizeof c);
  c.policy = &bn_policy_bench;
  c.plan.threads = threads;
  c.raw.thread_stack_size = 65536;
  c.plan.percents[0] = 95;
  c.plan.n_percents = 1;
  c.seed = 42;
  c.plan.seed_given = true;
  c.grace_auto = true;
  c.init_timeout_ns = 10 * BN_NSEC_PER_SEC;
  return c;
}

/* Where reporters are to write, which the toys do not; NULL: standard output. */
static const char *toy_path;

/* second, host group: NULL for none. */
static inline struct bn_run *new_run_of(const struct bn_conf *conf, const struct bn_workload *ops,
                                        void *self, const struct bn_reporter *first,
                                        const struct bn_reporter *second,
                                        const struct bn_host_group *host_group)
{
  /* They outlive the run. */
  static struct bn_report_use uses[2];
  const struct bn_run_setup setup = {.conf = conf,
                                     .ops = ops,
                                     .self = self,
                                     .reporters = uses,
                                     .n_reporters = second == NULL ? 1 : 2,
                                     .text = first->summary != NULL ? first : NULL,
                                     .host_group = host_group};
  struct bn_err err = {0};
  struct bn_run *run;

  uses[0] = (struct bn_report_use){.ops = first, .path = toy_path, .out = stdout};
  uses[1] = (struct bn_report_use){.ops = second, .path = toy_path, .out = stdout};
  memset(&seen, 0, sizeof seen);
  atomic_store(&reported, false);
  assert_int_equal(bn_run_new(&run, &setup, &err), 0);
  return run;
}

/* second: NULL for none. */
static inline struct bn_run *new_run(const struct bn_conf *conf, const struct bn_workload *ops,
                                     void *self, const struct bn_reporter *first,
                                     const struct bn_reporter *second)
{
  return new_run_of(conf, ops, self, first, second, NULL);
}

/* One host of several that make a run together. */
struct toy_host {
  struct bn_run *run; /* while it is attached */
  double start_s;     /* after the run was attached; 0: it is not told */
  unsigned detached;
};

static inline void toy_attach(void *of, struct bn_run *run)
{
  struct toy_host *h = of;

  h->run = run;
  if (h->start_s > 0) {
    bn_run_set_start(run, bn_clock_mono() + (uint64_t)(h->start_s * 1e9));
    /* The first call counts. */
    bn_run_set_start(run, 1);
  }
}

static inline void toy_detach(void *of)
{
  struct toy_host *h = of;

  h->run = NULL;
  h->detached++;
}

static inline struct bn_host_group toy_party(struct toy_host *h, unsigned first, unsigned sessions)
{
  return (struct bn_host_group){
      .first = first, .sessions = sessions, .of = h, .attach = toy_attach, .detach = toy_detach};
}

/* With the recorder and perhaps another reporter. */
static inline int run_with(const struct bn_conf *conf, const struct bn_workload *ops, void *self,
                           const struct bn_reporter *other)
{
  struct bn_run *run = new_run(conf, ops, self, &recorder, other);
  const int status = bn_run_execute(run);

  if (!bn_run_is_abandoned(run))
    bn_run_free(run);
  return status;
}

static inline int run_it(const struct bn_conf *conf, const struct bn_workload *ops, void *self)
{
  return run_with(conf, ops, self, NULL);
}

#endif
