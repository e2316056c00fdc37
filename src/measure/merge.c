/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums snapshots, views and facts of results, and computes the figures of the sum. */
#include "measure/merge.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "measure/bounds.h"
#include "measure/layout.h"
#include "measure/merge_check.h"
#include "measure/merged_view.h"
#include "measure/messages.h"
#include "measure/sum.h"

/* With less overlap, the sum of the rates of the runs is not the rate of all runs together. */
static const double overlap_min = 0.9;

/* Times since the measurement began are nanoseconds as seconds; this bounds their rounding. */
static const double rounding_s = 1e-6;

/* The arguments of bn_merge(), and the times of the runs. */
struct job {
  struct bn_part *part; /* in the order of their starts, but hosts in that of the caller */
  uint64_t *end_ns;     /* [n]: the time of day at which the total of each part ends */
  size_t n;
  enum bn_merge_how how;
  struct bn_runs runs;
  uint64_t last_ns; /* the latest of end_ns */
  struct bn_result *out;
  struct bn_buf *notes;
  struct bn_err *err;
};

/* Returns the group of all sessions of part i. */
static const struct bn_group *merge_group_of(const struct job *j, size_t i)
{
  return &j->part[i].result->group[0];
}

static const struct bn_plan *merge_plan_of(const struct job *j, size_t i)
{
  return &j->part[i].result->facts.plan;
}

/* --- the total -------------------------------------------------------------------------------- */

/* Returns the totals of all parts, in a list that the caller frees. */
static struct bn_views merge_list_totals(const struct job *j)
{
  struct bn_views all = {.view = bn_alloc(j->n, sizeof *all.view), .n = j->n};

  assert(j->n > 0);
  for (size_t i = 0; i < j->n; i++)
    all.view[i] = &merge_group_of(j, i)->total.view;
  return all;
}

/* Returns whether the total of a result begins at a checkpoint.  The result of a host lacks its
   checkpoints, so those of the plan are looked at too.  A checkpoint of the plan counts only if the
   total begins after its time: the run may have ended earlier, and some tests are not cut by
   checkpoints. */
static bool merge_has_passed_checkpoint(const struct bn_result *r)
{
  const struct bn_plan *p = &r->facts.plan;
  const struct bn_view *v = &r->group[0].total.view;
  const double begin_s = v->at_s - v->span_s; /* of the total, since the measurement began */
  bool has_passed = r->group[0].n_checkpoints > 0;

  for (size_t i = 0; i < p->n_checkpoints; i++)
    has_passed |=
        p->checkpoint_ns[i] > 0 && (double)p->checkpoint_ns[i] * 1e-9 <= begin_s + rounding_s;
  return has_passed;
}

/* Converts a time of day to CLOCK_MONOTONIC of the host of the first run.  The facts of the result
   have the start of that run by both clocks. */
static uint64_t merge_monotonic_of(const struct job *j, uint64_t wall_ns)
{
  const struct bn_facts *f = &j->out->facts;

  return f->start_ns + (wall_ns - f->start_wall_ns);
}

/* Returns the time from the beginning of the measurement of part i to the last end of any part. */
static double merge_until_last_end_s(const struct job *j, size_t i)
{
  return merge_group_of(j, i)->total.view.at_s + (double)(j->last_ns - j->end_ns[i]) * 1e-9;
}

/* Returns the time from the first beginning to the last end of the measurements. */
static double merge_extent_s(const struct job *j)
{
  double extent_s = 0;

  for (size_t i = 0; i < j->n; i++)
    extent_s = fmax(extent_s, merge_until_last_end_s(j, i));
  return extent_s;
}

/* Returns the rules by which the views of all parts were filled. */
static struct bn_view_rules merge_rules_of(const struct job *j)
{
  const struct bn_view *v = &merge_group_of(j, 0)->total.view;

  /* Without a counter "transactions", which only dialect 0.5 has, .commits changes nothing. */
  return (struct bn_view_rules){.percents = v->percents,
                                .n_percents = v->n_percents,
                                .nearest = !merge_plan_of(j, 0)->native,
                                .commits = true};
}

/* Clears the exact extremes, which are since the beginnings of the measurements, unless the total
   of each part covers all that it measured.  A run that was killed has a tick as its total, which
   covers all. */
static void merge_clear_extremes(const struct job *j, struct bn_merged_view *v)
{
  bool cover_all = true;

  for (size_t i = 0; i < j->n; i++) {
    const struct bn_result *r = j->part[i].result;

    cover_all &= r->end.partial || !merge_has_passed_checkpoint(r);
  }
  if (!cover_all) {
    v->snap.min_ns = UINT64_MAX; /* above the maximum: there are none */
    v->snap.max_ns = 0;
  }
}

/* Sums the totals.  Their counters are added first, and the figures computed from the sum; figures
   that counters do not determine (rates over different spans, longest times) are summed last.  The
   span of the sum is the time in which at least one run was measured.  Returns 0, or -1 and
   j->err. */
static int merge_make_total(const struct job *j, struct bn_merged_view *v,
                            const struct bn_views *parts)
{
  struct bn_view_rules rules = merge_rules_of(j);
  const bool has_ages = merge_plan_of(j, 0)->native; /* dialects have none */
  uint64_t sessions = 0, wall_ns = 0;

  for (size_t i = 0; i < parts->n; i++) {
    const struct bn_view *part = parts->view[i];

    sessions += part->delta->n_sessions;
    wall_ns = bn_clock_max(wall_ns, part->delta->wall_ns);
    rules.oldest_ns = bn_clock_max(rules.oldest_ns, bn_view_seconds_to_ns(part->oldest_s));
  }
  if (sessions > BN_BOUND_SESSIONS)
    return bn_err_set(j->err, EFBIG, "the runs have more than %d threads together",
                      BN_BOUND_SESSIONS);
  if (bn_merged_view_add(v, parts, (unsigned)sessions, j->err) != 0)
    return -1;
  if (has_ages && bn_merged_view_add_ages(v, parts, j->err) != 0)
    return -1;
  v->snap.span_ns = j->runs.union_ns;
  v->snap.at_ns = merge_monotonic_of(j, j->last_ns);
  v->snap.wall_ns = wall_ns;
  merge_clear_extremes(j, v);
  rules.exact = rules.sessions = true;
  rules.ages = v->ages;
  bn_view_fill(&v->view, &v->store, &v->snap, &rules);
  v->view.span = BN_VIEW_TOTAL;
  v->view.at_s = merge_extent_s(j);
  if (bn_sum_complete_view(&v->view, parts, j->err) != 0)
    return -1;
  bn_sum_figures(&v->view, &v->store, parts);
  return 0;
}

/* Gives the sum of a single run its watched figures.  Those of several runs are left out with a
   note, because each is about one host. */
static void merge_set_watched(const struct job *j, const struct bn_views *parts, struct bn_view *v)
{
  bool any_watched = false;

  for (size_t i = 0; i < parts->n; i++)
    any_watched |= parts->view[i]->n_watched > 0;
  if (parts->n == 1) {
    v->watched = parts->view[0]->watched;
    v->n_watched = parts->view[0]->n_watched;
  } else if (any_watched) {
    (void)bn_buf_str(j->notes, "the result has no figures of --watch: they are of each host\n");
  }
}

/* Adds the sum of the totals to the result.  Returns 0, or -1 and j->err. */
static int merge_add_total(const struct job *j)
{
  struct bn_merged_view s = {.ages = NULL};
  struct bn_views parts = merge_list_totals(j);
  const int rc = merge_make_total(j, &s, &parts);

  if (rc == 0) {
    merge_set_watched(j, &parts, &s.view);
    bn_group_add_view(&j->out->group[0], &s.view);
  }
  bn_merged_view_done(&s);
  free(parts.view);
  return rc;
}

/* --- intervals -------------------------------------------------------------------------------- */

/* The state of the sum of intervals.  Interval k covers about the same time in each part. */
struct intervals {
  struct bn_views selected; /* an interval of each part, to be summed next; its list is owned */
  double *delay_s;          /* owned; [n]: from the first beginning to that of each part */
  double length_s;          /* of an interval */
  double extent_s;          /* from the first beginning to the last end of the measurements */
  bool has_hists;           /* all intervals so far have histograms */
};

/* Finds the times of the measurements of the parts.  The caller frees the lists. */
static void merge_init_intervals(const struct job *j, struct intervals *in)
{
  *in =
      (struct intervals){.selected = {.view = bn_alloc(j->n, sizeof *in->selected.view), .n = j->n},
                         .delay_s = bn_alloc(j->n, sizeof *in->delay_s),
                         .length_s = (double)merge_plan_of(j, 0)->interval_ns * 1e-9,
                         .extent_s = merge_extent_s(j),
                         .has_hists = true};
  for (size_t i = 0; i < j->n; i++)
    in->delay_s[i] = in->extent_s - merge_until_last_end_s(j, i);
}

/* Returns why the intervals cannot be summed, or NULL if they can. */
static const char *merge_find_obstacle(const struct job *j, const struct intervals *in)
{
  for (size_t i = 0; i < j->n; i++) {
    if (merge_plan_of(j, i)->interval_ns != merge_plan_of(j, 0)->interval_ns)
      return "their lengths differ (--report-interval)";
    if (merge_group_of(j, i)->n_intervals == 0)
      return "not all of the runs have them";
    if (!(in->delay_s[i] <= in->length_s / 2)) /* more, or NaN from a document */
      return "the measurements did not begin within half an interval";
  }
  return NULL;
}

static bool merge_has_intervals(const struct job *j)
{
  for (size_t i = 0; i < j->n; i++)
    if (merge_group_of(j, i)->n_intervals > 0)
      return true;
  return false;
}

/* Selects interval k of each part.  Returns false if a part has none, or if their times differ by
   more than half an interval. */
static bool merge_select_intervals(const struct job *j, struct intervals *in, size_t k)
{
  double first_s = HUGE_VAL, last_s = 0;

  for (size_t i = 0; i < j->n; i++) {
    const struct bn_group *g = merge_group_of(j, i);
    double at_s;

    if (k >= g->n_intervals)
      return false;
    in->selected.view[i] = &g->interval[k].view;
    at_s = in->selected.view[i]->at_s + in->delay_s[i];
    first_s = fmin(first_s, at_s);
    last_s = fmax(last_s, at_s);
  }
  return last_s - first_s <= in->length_s / 2;
}

/* Sums the selected intervals into one, which ends when the last of them does.  Keeps its
   histograms packed if all of them have some.  Returns 0, or -1 and j->err. */
static int merge_make_interval(const struct job *j, struct intervals *in, struct bn_merged_view *v)
{
  const bool has_hists = bn_merged_view_has_hists(&in->selected);
  const struct bn_view_rules rules = merge_rules_of(j);
  struct bn_merge_time t = {.span = BN_VIEW_INTERVAL};

  in->has_hists &= has_hists;
  for (size_t i = 0; i < j->n; i++) {
    const struct bn_view *part = in->selected.view[i];

    t.at_s = fmax(t.at_s, part->at_s + in->delay_s[i]);
    t.span_ns = bn_clock_max(t.span_ns, part->delta->span_ns);
    t.wall_ns = bn_clock_max(t.wall_ns, part->delta->wall_ns);
  }
  t.at_ns = merge_monotonic_of(j, j->last_ns - bn_view_seconds_to_ns(in->extent_s - t.at_s));
  if (bn_merged_view_make(v, &in->selected, NULL, &rules, &t, j->err) != 0)
    return -1;
  if (has_hists)
    bn_snap_pack(&v->snap, &v->snap);
  return 0;
}

/* Adds the sum of the selected intervals to the result.  Returns 0, or -1 and j->err. */
static int merge_add_interval(const struct job *j, struct intervals *in)
{
  struct bn_merged_view s = {.ages = NULL};
  const int rc = merge_make_interval(j, in, &s);

  if (rc == 0)
    bn_group_add_view(&j->out->group[0], &s.view);
  bn_merged_view_done(&s);
  return rc;
}

/* Adds the sums of all intervals that all parts have, with notes about what is missing.  Returns 0,
   or -1 and j->err. */
static int merge_sum_intervals(const struct job *j, struct intervals *in)
{
  size_t n_common = 0;  /* intervals that all parts have */
  size_t n_longest = 0; /* intervals of the part that has the most */

  for (; merge_select_intervals(j, in, n_common); n_common++)
    if (merge_add_interval(j, in) != 0)
      return -1;
  for (size_t i = 0; i < j->n; i++)
    if (merge_group_of(j, i)->n_intervals > n_longest)
      n_longest = merge_group_of(j, i)->n_intervals;
  if (n_common < n_longest)
    (void)bn_buf_printf(j->notes,
                        "the result has %zu interval(s): after them, not all runs have "
                        "one of the same time\n",
                        n_common);
  if (n_common > 0 && !in->has_hists && merge_rules_of(j).n_percents > 0)
    (void)bn_buf_str(j->notes, "the intervals have no percentiles: the results do not hold their "
                               "histograms (--report-bins=all)\n");
  return 0;
}

/* Adds intervals to the result if the parts have any that can be summed, else a note.  Returns 0,
   or -1 and j->err. */
static int merge_add_intervals(const struct job *j)
{
  struct intervals in;
  const char *why;
  int rc = 0;

  if (!merge_has_intervals(j))
    return 0;
  merge_init_intervals(j, &in);
  why = merge_find_obstacle(j, &in);
  if (why != NULL) {
    (void)bn_buf_printf(j->notes, "the result has no intervals: %s\n", why);
    j->out->facts.plan.interval_ns = 0;
  } else {
    rc = merge_sum_intervals(j, &in);
  }
  free(in.selected.view);
  free(in.delay_s);
  return rc;
}

/* Copies the intervals and checkpoints of a single result unchanged. */
static void merge_copy_records(const struct job *j)
{
  const struct bn_group *g = merge_group_of(j, 0);

  for (size_t i = 0; i < g->n_intervals; i++)
    bn_group_add_view(&j->out->group[0], &g->interval[i].view);
  for (size_t i = 0; i < g->n_checkpoints; i++)
    bn_group_add_view(&j->out->group[0], &g->checkpoint[i].view);
}

/* Leaves checkpoints out of the result, with a note if there are any: they have no histograms, so
   no percentile of their sum would be known. */
static void merge_leave_out_checkpoints(const struct job *j)
{
  bool any_checkpoint = false;

  for (size_t i = 0; i < j->n; i++)
    any_checkpoint |= merge_group_of(j, i)->n_checkpoints > 0;
  if (any_checkpoint)
    (void)bn_buf_str(j->notes, "the result has no checkpoints: they cannot be merged\n");
  j->out->facts.plan.n_checkpoints = 0;
}

/* --- facts ------------------------------------------------------------------------------------ */

/* Adds the rate of a run to the plan of all, raises the times and the verbosity to those of the
   run, and adds everything that the run was told to do. */
static void merge_add_plan(struct bn_plan *all, const struct bn_plan *p)
{
  all->rate += p->rate;
  all->time_ns = bn_clock_max(all->time_ns, p->time_ns);
  all->warmup_ns = bn_clock_max(all->warmup_ns, p->warmup_ns);
  all->verbosity = p->verbosity > all->verbosity ? p->verbosity : all->verbosity;
  all->debug |= p->debug;
  all->validate |= p->validate;
  all->histogram |= p->histogram;
  all->watch_lines |= p->watch_lines;
  all->kind_lines |= p->kind_lines;
}

/* Returns whether all runs had the same seed, and it was given in the same way. */
static bool merge_have_same_seed(const struct job *j)
{
  const struct bn_plan *first = merge_plan_of(j, 0);

  for (size_t i = 1; i < j->n; i++) {
    const struct bn_plan *p = merge_plan_of(j, i);

    if (p->seed != first->seed || p->seed_given != first->seed_given ||
        p->seed_typed != first->seed_typed)
      return false;
  }
  return true;
}

/* Gives the result the plan of the runs together: the sums of threads, events and rates, the
   longest times, and everything that any run was told to do; the rest is that of the first run.  If
   a run has no limit of events, the result has none; if their seeds differ, it has no seed.
   Returns 0, or -1 and j->err. */
static int merge_sum_plan(const struct job *j)
{
  struct bn_plan *plan = &j->out->facts.plan;
  uint64_t threads = 0, events = 0;
  bool is_endless = false;

  *plan = *merge_plan_of(j, 0);
  plan->metrics = NULL; /* those of the part would only be borrowed */
  plan->rate = 0;
  for (size_t i = 0; i < j->n; i++) {
    const struct bn_plan *p = merge_plan_of(j, i);

    threads += p->threads;
    if (p->events > UINT64_MAX - events)
      return bn_sum_refuse(j->err);
    events += p->events;
    is_endless |= p->events == 0;
    merge_add_plan(plan, p);
  }
  plan->threads = threads < UINT_MAX ? (unsigned)threads : UINT_MAX;
  plan->events = is_endless ? 0 : events;
  if (!merge_have_same_seed(j)) {
    plan->seed_given = false;
    plan->seed = 0;
    plan->seed_typed = 0;
  }
  return 0;
}

/* Returns whether the facts and the end of part i count.  A host that was lost has reported only
   the facts of the start, so it counts only if all hosts were lost. */
static bool merge_report_counts(const struct job *j, size_t i)
{
  const bool is_lost_host = j->how == BN_MERGE_HOSTS && j->part[i].result->end.partial;

  if (!is_lost_host)
    return true;
  for (size_t k = 0; k < j->n; k++)
    if (!j->part[k].result->end.partial)
      return false;
  return true; /* all hosts were lost */
}

/* Adds the facts that all parts whose facts count have in common. */
static void merge_add_common_facts(const struct job *j, struct bn_facts *f)
{
  struct bn_part *counted = bn_alloc(j->n, sizeof *counted);
  size_t n = 0;

  for (size_t i = 0; i < j->n; i++)
    if (merge_report_counts(j, i))
      counted[n++] = j->part[i];
  bn_merge_add_common(counted, n, f);
  free(counted);
}

/* Sets the facts and the plan of the result.  Returns 0, or -1 and j->err. */
static int merge_set_facts(const struct job *j)
{
  struct bn_facts *f = &j->out->facts;
  const struct bn_facts *first = &j->part[0].result->facts;

  f->start_ns = first->start_ns;
  f->start_wall_ns = first->start_wall_ns;
  for (size_t i = 0; i < j->n; i++)
    f->end_wall_ns = bn_clock_max(f->end_wall_ns, j->part[i].result->facts.end_wall_ns);
  if (j->how != BN_MERGE_HOSTS)
    bn_runs_add_facts(&j->runs, f);
  merge_add_common_facts(j, f);
  bn_messages_merge(j->part, j->n, f);
  return merge_sum_plan(j);
}

/* Returns the rank of an exit status (engine/outcome.h) in the order of bn_outcome_status().  From
   the top: a signal, a timeout, a status of the script's own, a failure, no event, too few of the
   events that were due, a violated assertion, success. */
static int merge_rank_of_status(int status)
{
  enum { OK, FAILED, TIMEOUT, VIOLATED, UNSERVED, EMPTY, STATUSES };
  enum { SIGNAL = 128 }; /* the number of the signal is added */
  enum { BY_SCRIPT = 5, BY_SIGNAL = 7 };
  static const int ranks[STATUSES] = {
      [OK] = 0, [VIOLATED] = 1, [UNSERVED] = 2, [EMPTY] = 3, [FAILED] = 4, [TIMEOUT] = 6};

  if (status > SIGNAL)
    return BY_SIGNAL;
  return status >= 0 && status < STATUSES ? ranks[status] : BY_SCRIPT;
}

int bn_merge_join_status(int a, int b)
{
  return merge_rank_of_status(b) > merge_rank_of_status(a) ? b : a;
}

/* Notes that the assertions of the runs are left out: each was about one run. */
static void merge_note_assertions(const struct job *j)
{
  for (size_t i = 0; i < j->n; i++)
    if (j->part[i].result->facts.n_verdicts > 0) {
      (void)bn_buf_str(j->notes, "the result has no assertions: they were about each run\n");
      return;
    }
}

/* Returns the reason for the end that all parts have in common, or BN_END_UNKNOWN if the reasons
   differ.  Parts whose end does not count are left out. */
static enum bn_end_reason merge_find_common_reason(const struct job *j)
{
  const struct bn_end *first = NULL;

  for (size_t i = 0; i < j->n; i++) {
    const struct bn_end *e = &j->part[i].result->end;

    if (!merge_report_counts(j, i))
      continue;
    if (first != NULL && e->reason != first->reason)
      return BN_END_UNKNOWN;
    first = e;
  }
  return first != NULL ? first->reason : BN_END_UNKNOWN;
}

/* Sets how the result ended: with the status of the highest rank, the first signal, and every bool
   that is true of any part. */
static void merge_sum_end(const struct job *j)
{
  struct bn_end *end = &j->out->end;

  end->reason = merge_find_common_reason(j);
  for (size_t i = 0; i < j->n; i++) {
    const struct bn_end *e = &j->part[i].result->end;

    if (!merge_report_counts(j, i))
      continue;
    end->status = bn_merge_join_status(end->status, e->status);
    end->signo = end->signo != 0 ? end->signo : e->signo;
    /* Every bool of struct bn_end is in its layout. */
    for (const struct bn_layout *l = bn_layout_end; l->name != NULL; l++)
      if (l->type == BN_LAY_BOOL && *(const bool *)((const char *)e + l->offset))
        *(bool *)((char *)end + l->offset) = true;
  }
}

/* --- all of it -------------------------------------------------------------------------------- */

/* Refuses runs that overlap too little, because then their rates do not add up; --force merges them
   anyway.  Notes the overlap of several runs.  The hosts of one run are not checked.  Returns 0, or
   -1 and j->err. */
static int merge_check_overlap(const struct job *j)
{
  const double union_s = (double)j->runs.union_ns * 1e-9;
  const bool is_forced = j->how == BN_MERGE_FORCED;

  if (j->how == BN_MERGE_HOSTS)
    return 0;
  if (j->runs.overlap < overlap_min && !is_forced)
    return bn_err_set(j->err, EINVAL,
                      "the spans of the runs overlap for %.1f %% of %.4g s, but rates add "
                      "up only from %.0f %% on; --force merges them anyway",
                      100 * j->runs.overlap, union_s, 100 * overlap_min);
  if (j->runs.n > 1)
    (void)bn_buf_printf(j->notes, "merged %zu runs, which took %.4g s; overlap: %.1f %%\n",
                        j->runs.n, union_s, 100 * j->runs.overlap);
  return 0;
}

/* Notes which parts are of runs that have not ended.  Hosts that were lost need no note. */
static void merge_note_partial_runs(const struct job *j)
{
  if (j->how == BN_MERGE_HOSTS)
    return;
  for (size_t i = 0; i < j->n; i++)
    if (j->part[i].result->end.partial)
      (void)bn_buf_printf(j->notes,
                          "'%s' is from a run that has not ended, or contains such a run\n",
                          j->part[i].name);
}

/* Orders parts by their starts, so that the order of the arguments makes no difference. */
static int merge_compare_parts(const void *a, const void *b)
{
  const struct bn_part *p = a, *q = b;
  const struct bn_facts *pf = &p->result->facts, *qf = &q->result->facts;

  if (pf->start_wall_ns != qf->start_wall_ns)
    return pf->start_wall_ns < qf->start_wall_ns ? -1 : 1;
  if (pf->start_ns != qf->start_ns)
    return pf->start_ns < qf->start_ns ? -1 : 1;
  if (pf->plan.seed != qf->plan.seed)
    return pf->plan.seed < qf->plan.seed ? -1 : 1;
  return strcmp(p->name, q->name);
}

/* Puts the parts in order, collects their runs and the times at which they end, and refuses two
   parts with the same run.  The hosts of one run are in the order of the caller, and differ.
   Returns 0, or -1 and j->err. */
static int merge_collect_runs(struct job *j)
{
  if (j->how != BN_MERGE_HOSTS)
    qsort(j->part, j->n, sizeof *j->part, merge_compare_parts);
  for (size_t i = 0; i < j->n; i++) {
    if (bn_runs_add(&j->runs, &j->part[i], j->err) != 0)
      return -1;
    if (bn_runs_find_end(j->part[i].result, &j->end_ns[i]) != 0)
      return bn_err_set(j->err, EINVAL, "'%s' does not contain the times of its run",
                        j->part[i].name);
    j->last_ns = bn_clock_max(j->last_ns, j->end_ns[i]);
  }
  bn_runs_settle(&j->runs);
  return j->how == BN_MERGE_HOSTS ? 0 : bn_runs_check_distinct(&j->runs, j->err);
}

/* Makes the result of parts whose times are known.  The sum of hosts has a total alone: the
   controller has made intervals of all hosts during the run.  Returns 0, or -1 and j->err. */
static int merge_make_result(const struct job *j)
{
  if (merge_set_facts(j) != 0)
    return -1;
  (void)bn_result_add_group(j->out, merge_group_of(j, 0)->name);
  if (j->how == BN_MERGE_HOSTS) {
    j->out->facts.plan.n_checkpoints = 0;
  } else if (j->n == 1) {
    merge_copy_records(j);
  } else {
    merge_leave_out_checkpoints(j);
    if (merge_add_intervals(j) != 0)
      return -1;
  }
  merge_sum_end(j);
  merge_note_assertions(j);
  return merge_add_total(j);
}

int bn_merge(const struct bn_part *part, size_t n, enum bn_merge_how how, struct bn_result *out,
             struct bn_buf *notes, struct bn_err *err)
{
  const bool force = how != BN_MERGE_ALIKE; /* options that differ are noted, not refused */
  struct job *j = bn_alloc(1, sizeof *j);   /* large, because of its runs */
  int rc = -1;

  memset(out, 0, sizeof *out);
  *j = (struct job){.part = bn_alloc(n, sizeof *j->part),
                    .end_ns = bn_alloc(n, sizeof *j->end_ns),
                    .n = n,
                    .how = how,
                    .out = out,
                    .notes = notes,
                    .err = err};
  memcpy(j->part, part, n * sizeof *part);
  if (bn_merge_check_parts(part, n, force, notes, err) == 0 && merge_collect_runs(j) == 0 &&
      merge_check_overlap(j) == 0) {
    merge_note_partial_runs(j);
    rc = merge_make_result(j);
  }
  if (rc != 0)
    bn_result_done(out);
  free(j->part);
  free(j->end_ns);
  free(j);
  return rc;
}
