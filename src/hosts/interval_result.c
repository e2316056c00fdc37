/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a result of the ticks of a host that was lost, and divides that of a host that has ended
   between a later checkpoint and the final report. */
#include <errno.h>
#include <string.h>

#include "hosts/interval_merge.h"
#include "measure/journal.h"
#include "measure/merge_check.h"

/* --- a host that was lost --------------------------------------------------------------------- */

/* Completes the result of a lost host, whose facts *out has, with a total: the view v, but with the
   counters and histograms of `counted`. */
static void intervals_make_cut_result(const struct bn_intervals_host *h,
                                      const struct bn_snap *counted, const struct bn_view *v,
                                      struct bn_result *out)
{
  struct bn_view total = *v;

  total.delta = counted;
  total.latency = counted->hist[BN_H_LATENCY];
  bn_journal_complete_cut(out, h->spec.name, &total);
  bn_result_escape(out);
}

/* Copies the figures of a tick that do not follow from a snapshot: the figures that
   reports_complete_view() of the engine sets. */
static void intervals_copy_instant(struct bn_view *v, const struct bn_view *tick)
{
  v->kind = tick->kind;
  v->at_s = tick->at_s;
  v->failed_threads = tick->failed_threads;
  v->paced = tick->paced;
  v->backlog = tick->backlog;
  v->concurrency = tick->concurrency;
  v->oldest_s = tick->oldest_s;
  v->unfinished = tick->unfinished;
  v->span = BN_VIEW_TICK;
}

/* Moves the start of the run back by a time, unless a clock would come to 0 or less. */
static void intervals_move_start(struct bn_facts *f, uint64_t by_ns)
{
  f->start_ns -= by_ns < f->start_ns ? by_ns : 0;
  f->start_wall_ns -= by_ns < f->start_wall_ns ? by_ns : 0;
}

/* Returns whether a counter that every run has is less now than at the base, so that the difference
   would wrap. */
static bool intervals_have_counters_decreased(const struct bn_snap *now, const struct bn_snap *base)
{
  for (size_t i = 0; i < BN_C_FIXED; i++)
    if (now->counter[i] < base->counter[i])
      return true;
  return false;
}

/* Makes a snapshot of what a lost host has counted between h->base and its last tick.  It lacks the
   statistics of sessions and the extremes, which are known only since the start.  The histograms of
   h->ticked have no values before the base. */
static void intervals_make_snap_since_base(const struct bn_intervals_host *h, struct bn_snap *since)
{
  bn_snap_init_for_metrics(since, &h->tick.delta.metrics, 0 /* sessions */, true /* histograms */);
  bn_snap_copy(since, &h->tick.delta);
  bn_snap_subtract(since, &h->base);
  for (size_t i = 0; h->ticked.hist != NULL && i < h->ticked.n; i++)
    bn_hist_add(since->hist[i], h->ticked.hist[i]);
  since->min_ns = UINT64_MAX;
  since->max_ns = 0;
}

/* Fills the view of a snapshot from intervals_make_snap_since_base(), which begins before_ns after
   the start of the measurement.  The view borrows from the snapshot and the store, for which
   bn_view_store_done() follows. */
static void intervals_fill_view_since_base(const struct bn_intervals_host *h,
                                           const struct bn_snap *since, uint64_t before_ns,
                                           struct bn_view_store *store, struct bn_view *v)
{
  const struct bn_view *tick = &h->tick.view;
  const struct bn_view_rules rules = {.percents = tick->percents,
                                      .n_percents = tick->n_percents,
                                      .span_s = tick->span_s - (double)before_ns * 1e-9};

  bn_view_store_init(store, since);
  bn_view_fill(v, store, since, &rules);
  intervals_copy_instant(v, tick);
}

/* Makes the result of a lost host of the time since h->base.  bn_journal_complete_cut() takes that
   time for the whole run, so the start is moved back to where it was.  Returns 1, or -1 and err if
   the figures make no sense. */
static int intervals_make_result_since_base(const struct bn_intervals_host *h,
                                            struct bn_result *out, struct bn_err *err)
{
  struct bn_view_store store;
  struct bn_snap since;
  struct bn_view v;
  uint64_t before_ns; /* from the start to the base */
  int rc;

  intervals_make_snap_since_base(h, &since);
  before_ns = h->tick.delta.span_ns - since.span_ns;
  intervals_fill_view_since_base(h, &since, before_ns, &store, &v);
  rc = bn_valid_check_view(&h->spec, &v, err);
  if (rc == 0) {
    intervals_make_cut_result(h, &since, &v, out);
    if (h->tick.delta.span_ns > since.span_ns) /* before_ns has not wrapped */
      intervals_move_start(&out->facts, before_ns);
  }
  bn_view_store_done(&store);
  bn_snap_done(&since);
  return rc == 0 ? 1 : -1;
}

int bn_intervals_make_result(const struct bn_intervals *r, size_t host, struct bn_result *out,
                             struct bn_err *err)
{
  const struct bn_intervals_host *h = &r->host[host];
  struct bn_snap since_start = h->tick.delta; /* borrows what the tick owns */

  /* Without a tick after the last checkpoint, nothing is known of the time after it. */
  if (h->ticks == 0 || h->needs_base || (h->has_base && since_start.at_ns <= h->base.at_ns))
    return 0;
  if (h->has_base && intervals_have_counters_decreased(&since_start, &h->base))
    return bn_err_set(err, EPROTO, "its figures have become less");
  if (h->has_base)
    return intervals_make_result_since_base(h, out, err);
  since_start.hist = h->ticked.hist;
  intervals_make_cut_result(h, &since_start, &h->tick.view, out);
  return 1;
}

/* --- a host that has ended before a checkpoint ------------------------------------------------ */

void bn_intervals_keep_result(struct bn_intervals *r, size_t host, struct bn_result *result)
{
  if (result != NULL && bn_result_total(result) != NULL)
    r->host[host].result = result;
}

void bn_intervals_drop_state(struct bn_record *record)
{
  struct bn_view *v = &record->view;

  v->backlog = v->concurrency = v->unfinished = 0;
  v->oldest_s = 0;
  v->running = record->delta.running = 0;
}

/* Returns whether a counter is one of --verify-commits, which counts the commits of the whole run
   at its end.  Its name is that of a figure with the trait BN_FIGURE_COMMITS, or begins with it
   ("unknown_commits_stored"). */
static bool intervals_is_counted_at_end(const struct bn_metric *counter)
{
  for (const struct bn_view_field *f = bn_view_fields; f->name != NULL; f++)
    if ((f->traits & BN_FIGURE_COMMITS) != 0 &&
        strncmp(counter->name, f->name, strlen(f->name)) == 0)
      return counter->kind == BN_COUNTER;
  return false;
}

/* Copies what a total has counted since the last checkpoint.  Phases and verified commits, which
   each total has of the whole run, are 0 in the copy. */
static void intervals_copy_counted(struct bn_record *to, const struct bn_view *total)
{
  struct bn_snap *s = &to->delta;

  bn_record_copy(to, total);
  for (size_t i = 0; i < s->metrics.n_hists; i++)
    if (s->metrics.hist[i].kind == BN_PHASE_HISTOGRAM)
      bn_hist_clear(s->hist[i]);
  for (size_t i = 0; i < s->metrics.n_counters; i++)
    if (intervals_is_counted_at_end(&s->metrics.counter[i]))
      s->counter[i] = 0;
}

/* Makes the part of a checkpoint for a host that has ended before it: the total of the host without
   what only totals have. */
static void intervals_make_part(const struct bn_intervals *r, size_t host, struct bn_record *to)
{
  intervals_copy_counted(to, bn_result_total(r->host[host].result));
  bn_statement_table_done(&to->delta.statements);
  to->view.n_statements = to->view.n_phases = to->view.n_watched = 0;
  to->view.max_at_least = false;
  bn_intervals_drop_state(to);
  /* A result that was made of ticks has the rows of all groups already. */
  if (r->layout.n > 0 && !bn_merge_have_same_metrics(&to->delta.metrics, &r->layout.all))
    bn_group_layout_convert_record(&r->layout, host, to);
}

/* Returns whether the host has ended by the next checkpoint, which is at at_s, and has not sent it.
   BN_INTERVALS_LATE_S are allowed.  A host that has ended even later was held up, and its part of
   this time is in a later report. */
static bool intervals_has_ended_before(const struct bn_intervals *r,
                                       const struct bn_intervals_host *h, double at_s)
{
  const bool has_sent = h->last_check >= r->next_check; /* that checkpoint or a later one */

  if (h->result == NULL || has_sent)
    return false;
  return bn_result_total(h->result)->at_s <= at_s + BN_INTERVALS_LATE_S;
}

void bn_intervals_add_results(struct bn_intervals *r, double at_s, struct bn_views *parts)
{
  for (size_t i = 0; i < r->n; i++) {
    struct bn_intervals_host *h = &r->host[i];
    struct bn_record *part;

    if (h->is_counted || !intervals_has_ended_before(r, h, at_s))
      continue;
    h->is_counted = true;
    part = &h->check[r->next_check - 1]; /* free, because the host has not sent that checkpoint */
    intervals_make_part(r, i, part);
    parts->view[parts->n++] = &part->view;
    bn_view_counts_add(&h->before, bn_view_count(&part->view));
    bn_facts_add_errors(&r->errors, &h->result->facts);
  }
}

/* Copies to a view from bn_view_fill() all that it lacks of a total, because it does not follow
   from a snapshot: figures of the whole run, and what is listed beside the figures.  The view
   borrows from the total. */
static void intervals_copy_total_only(struct bn_view *v, struct bn_view_store *store,
                                      const struct bn_view *from)
{
  _Static_assert(sizeof(uint64_t) == sizeof(double), "memcpy() copies figures of both types");
  for (const struct bn_view_field *f = bn_view_fields; f->name != NULL; f++)
    if (f->rule == BN_RULE_SUM || f->rule == BN_RULE_LONGEST)
      memcpy((char *)v + f->offset, (const char *)from + f->offset, sizeof(double));
  v->at_s = from->at_s;
  v->served = from->served; /* a share of `due`, which has just been copied */
  v->kind = from->kind;
  v->span = from->span;
  v->paced = from->paced;
  v->replaced = from->replaced;
  v->lines = from->lines;
  v->watched = from->watched;
  v->n_watched = from->n_watched;
  v->phases = from->phases;
  v->n_phases = from->n_phases;
  v->figures = from->figures;
  v->n_figures = from->n_figures;
  for (size_t i = 0; i < v->n_timings; i++)
    if (store->timing[i].of_phase)
      store->timing[i] = from->timings[i];
}

/* Copies a total without what intervals_copy_counted() copies of it, so that the copy has no event.
   The figures of the workload become 0.  They are not dropped, because the sum of the results needs
   them. */
static void intervals_copy_uncounted(struct bn_record *to, const struct bn_view *total)
{
  struct bn_record counted;

  intervals_copy_counted(&counted, total);
  bn_record_copy(to, total);
  bn_snap_subtract(&to->delta, &counted.delta);
  bn_record_done(&counted);
  to->delta.min_ns = UINT64_MAX;
  to->delta.max_ns = 0;
  for (size_t i = 0; i < to->view.n_figures; i++)
    to->store.figure[i].value = 0;
}

/* Subtracts from the total of a result all that it has counted, because a checkpoint has that.  The
   figures that only totals have stay. */
static void intervals_subtract_counted(struct bn_result *result)
{
  struct bn_record uncounted;
  struct bn_view_store store;
  struct bn_view v;

  intervals_copy_uncounted(&uncounted, bn_result_total(result));
  const struct bn_view_rules rules = {.percents = uncounted.view.percents,
                                      .n_percents = uncounted.view.n_percents,
                                      .nearest = !result->facts.plan.native,
                                      .commits = true,
                                      .sessions = true,
                                      .ages = uncounted.ages,
                                      .oldest_ns = bn_view_seconds_to_ns(uncounted.view.oldest_s)};
  bn_view_store_init(&store, &uncounted.delta);
  bn_view_fill(&v, &store, &uncounted.delta, &rules);
  intervals_copy_total_only(&v, &store, &uncounted.view);
  bn_group_add_view(&result->group[0], &v);
  bn_view_store_done(&store);
  bn_record_done(&uncounted);
}

void bn_intervals_drop_counted(const struct bn_intervals *r)
{
  for (size_t i = 0; i < r->n; i++)
    if (r->host[i].is_counted)
      intervals_subtract_counted(r->host[i].result);
}
