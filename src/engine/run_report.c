/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes a snapshot, subtracts the baseline that fits, and hands the view to every reporter. */
#include "base/log.h"
#include "engine/run_internal.h"

static void swap(struct bn_snap *a, struct bn_snap *b)
{
  const struct bn_snap t = *a;

  *a = *b;
  *b = t;
}

/* Sessions in their loop; at the time limit all that reached it, although they are just leaving. */
static unsigned count_running(struct bn_run *run, const struct bn_snap *snap, uint64_t now_ns)
{
  unsigned i, early = 0;

  if (now_ns < run->deadline_ns)
    return snap->running;
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

static void add_pacing(struct bn_run *run, const struct bn_snap *snap, struct bn_view *v,
                       uint64_t now_ns)
{
  v->paced = run->pacer_made;
  if (!v->paced)
    return;
  v->backlog = bn_run_backlog(run, now_ns, UINT64_MAX);
  v->concurrency = snap->unfinished;
}

static void add_sessions(const struct bn_run *run, struct bn_report_desk *desk)
{
  unsigned i;

  for (i = 0; i < run->conf->threads; i++) {
    struct bn_session_view *s = &desk->store.session[i];
    const struct bn_snap_session *d = &desk->delta.session[i];
    const struct bn_stat *st = run->stats.stat[i];
    const uint64_t min = bn_stat_get(&st->min_ns);

    s->events = d->events;
    s->busy_s = (double)d->busy_ns * 1e-9;
    s->avg_s = d->events > 0 ? s->busy_s / (double)d->events : 0;
    s->min_s = min == UINT64_MAX ? 0 : (double)min * 1e-9;
    s->max_s = (double)bn_stat_get(&st->max_ns) * 1e-9;
  }
  desk->view.sessions = desk->store.session;
  desk->view.n_sessions = run->conf->threads;
}

static void build_view(struct bn_run *run, struct bn_report_desk *d, enum bn_view_span span,
                       uint64_t now_ns)
{
  const bool interval = span == BN_VIEW_INTERVAL;
  const uint64_t from = now_ns > run->measure_ns ? run->measure_ns : run->start_ns;
  struct bn_view *v = &d->view;

  bn_snap_take(&d->now, &run->stats, now_ns);
  bn_snap_copy(&d->delta, &d->now);
  bn_snap_diff(&d->delta, interval ? &run->last : &run->base);
  bn_view_fill(v, &d->store, &d->delta, run->conf, !interval && run->base_is_start);
  v->kind = bn_run_kind(run);
  v->at_s = (double)(now_ns - from) * 1e-9;
  v->final = span == BN_VIEW_TOTAL;
  v->running = v->final ? 0 : count_running(run, &d->now, now_ns);
  add_pacing(run, &d->now, v, now_ns);
  v->unfinished = v->final && run->abandoned ? d->now.unfinished : 0;
  if (!interval && run->conf->raw.debug)
    add_sessions(run, d);
  if (run->ops->figures != NULL) {
    v->n_figures = run->ops->figures(v, d->store.figure, BN_FIGURES_MAX);
    v->figures = d->store.figure;
  }
}

static int call(const struct bn_report_slot *r, enum bn_view_span span, const struct bn_view *v,
                struct bn_err *err)
{
  const struct bn_reporter *ops = r->use.ops;

  switch (span) {
  case BN_VIEW_INTERVAL:
    return ops->interval == NULL ? 0 : ops->interval(r->state, v, err);
  case BN_VIEW_CHECKPOINT:
    return ops->checkpoint == NULL ? 0 : ops->checkpoint(r->state, v, err);
  case BN_VIEW_TOTAL:
    return ops->total == NULL ? 0 : ops->total(r->state, v, err);
  }
  return 0;
}

/* In 0.5 tests without statistics of their own have no checkpoints: their total is of the whole. */
static bool has_checkpoints(const struct bn_run *run)
{
  const enum bn_kind kind = bn_run_kind(run);

  return run->conf->version != BN_V05 || (kind != BN_KIND_PLAIN && kind != BN_KIND_CPU);
}

/* A reporter that hangs is none of the others. */
static void print_instead(struct bn_run *run, const struct bn_view *v)
{
  size_t i;

  for (i = 0; i < run->n_reports; i++) {
    const struct bn_report_slot *r = &run->reports[i];
    struct bn_err err = {0};

    if (r->use.ops->instead != NULL && atomic_load(&r->busy) == 0 &&
        r->use.ops->instead(r->state, v, &err) != 0 && err.text[0] != '\0')
      bn_log(BN_FATAL, "%s", err.text);
  }
}

void bn_run_report_instead(struct bn_run *run)
{
  print_instead(run, &run->total.view);
}

/* false: it has failed, in words of its own. */
static bool hand_over(struct bn_run *run, struct bn_report_slot *r, enum bn_view_span span,
                      const struct bn_view *v)
{
  const bool hook = span == BN_VIEW_TOTAL && (r->use.ops->replaces & BN_REPLACES_TOTAL) != 0;
  struct bn_err err = {0};
  int rc;

  if (hook)
    atomic_store(&run->stage, BN_STAGE_HOOK);
  atomic_fetch_add(&r->busy, 1);
  rc = call(r, span, v, &err);
  atomic_fetch_sub(&r->busy, 1);
  if (hook)
    atomic_store(&run->stage, BN_STAGE_REPORT);
  if (rc != 0 && err.text[0] != '\0')
    bn_log(BN_FATAL, "%s", err.text);
  return rc == 0;
}

/* The reporting thread comes back from a call after nobody expected it to any more. */
static bool is_too_late(struct bn_run *run, enum bn_view_span span)
{
  bool yes;

  (void)pthread_mutex_lock(&run->lock);
  yes = span != BN_VIEW_TOTAL && run->sampler_left;
  (void)pthread_mutex_unlock(&run->lock);
  return yes;
}

static void set_baseline(struct bn_run *run, struct bn_snap *now, enum bn_view_span span)
{
  if (span == BN_VIEW_INTERVAL) {
    swap(&run->last, now);
  } else if (span == BN_VIEW_CHECKPOINT) {
    swap(&run->base, now);
    run->base_is_start = false;
  }
}

void bn_run_report(struct bn_run *run, enum bn_view_span span, uint64_t now_ns)
{
  const unsigned bit = span == BN_VIEW_INTERVAL ? BN_REPLACES_INTERVAL : BN_REPLACES_TOTAL;
  struct bn_report_desk *desk = span == BN_VIEW_TOTAL ? &run->total : &run->desk;
  bool replacement_failed = false;
  size_t i;

  if (span == BN_VIEW_CHECKPOINT && !has_checkpoints(run))
    return;
  build_view(run, desk, span, now_ns);
  for (i = 0; i < run->n_reports; i++) {
    struct bn_report_slot *r = &run->reports[i];
    const bool replaces = (r->use.ops->replaces & bit) != 0;

    desk->view.replaced = (run->replaced & bit) != 0 && !replaces;
    if (!hand_over(run, r, span, &desk->view)) {
      run->report_failed = true;
      replacement_failed |= replaces;
    }
    if (is_too_late(run, span))
      return;
  }
  if (replacement_failed && span != BN_VIEW_INTERVAL)
    print_instead(run, &desk->view);
  set_baseline(run, &desk->now, span);
}
