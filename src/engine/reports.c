/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes a snapshot, subtracts the matching baseline, and passes the view to every reporter. */
#include "engine/reports.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/escape.h"
#include "engine/active.h"
#include "engine/asserts.h"
#include "engine/load.h"
#include "engine/phases.h"
#include "engine/run.h"
#include "engine/span_end.h"
#include "engine/stop.h"
#include "engine/watch.h"
#include "measure/reporters.h"
#include "measure/snap.h"

/* A snapshot, its difference to a baseline, and the view of that. */
struct report {
  struct bn_snap now, delta;
  struct bn_hist *ages; /* owned; ages of unfinished events, for the final report */
  struct bn_view_store store;
  struct bn_facts error_facts; /* the facts that view.error_facts points at */
  struct bn_view view;
};

struct bn_reports {
  const struct bn_conf *conf;
  const struct bn_workload *ops;
  const struct bn_statset *stats;
  struct bn_reporters reporters; /* reporters.text NULL: nothing prints a report by force */
  struct bn_asserts asserts;
  struct bn_watch *watch;
  bool wants_ticks;     /* a reporter does */
  bool load_announced;  /* guarded by the lock; the heading of the load is printed */
  _Atomic int kind;     /* enum bn_kind */
  pthread_mutex_t lock; /* guards facts, and checkpoint_base against the watchdog */
  struct bn_facts facts;
  unsigned n_failures; /* guarded by the lock; kinds of failures while other threads went on */
  /* The baselines of ticks, at the start of the measurement; of checkpoints and the total, at the
     last checkpoint; of intervals, at the last one; and of assertions, when last judged. */
  struct bn_snap tick_base, checkpoint_base, interval_base, second_base;
  struct bn_view_counts counts_before; /* up to the last checkpoint */
  bool checkpoint_base_is_start; /* no checkpoint yet: the extremes since the start are exact */
  _Atomic bool warming;          /* events belong to the warm-up, which is counted apart */
  struct bn_span_end span_end;
  struct report report, forced; /* forced: the watchdog's */
};

/* --- life ------------------------------------------------------------------------------------- */

static void report_init(struct report *r, const struct bn_statset *stats)
{
  r->ages = bn_hist_new();
  bn_snap_init(&r->now, stats);
  bn_snap_init(&r->delta, stats);
  bn_view_store_init(&r->store, &r->now);
}

static void report_done(struct report *r)
{
  bn_snap_done(&r->now);
  bn_snap_done(&r->delta);
  bn_view_store_done(&r->store);
  bn_hist_free(r->ages);
  bn_facts_done(&r->error_facts);
  *r = (struct report){.ages = NULL};
}

/* Makes the snapshots, those of ticks and of --abort-on-assert only if they are wanted. */
static void reports_make_snaps(struct bn_reports *r)
{
  if (r->wants_ticks)
    bn_snap_init(&r->tick_base, r->stats);
  if (r->asserts.patience_s > 0)
    bn_snap_init(&r->second_base, r->stats);
  bn_snap_init(&r->checkpoint_base, r->stats);
  bn_snap_init(&r->interval_base, r->stats);
  bn_span_end_init(&r->span_end, r->stats);
  report_init(&r->report, r->stats);
  report_init(&r->forced, r->stats);
}

struct bn_reports *bn_reports_new(const struct bn_run_setup *setup, const struct bn_statset *stats,
                                  struct bn_watch *watch)
{
  struct bn_reports *r = bn_alloc(1, sizeof *r);

  (void)pthread_mutex_init(&r->lock, NULL);
  r->conf = setup->conf;
  r->ops = setup->ops;
  r->stats = stats;
  r->watch = watch;
  bn_reporters_init(&r->reporters, setup->reporters, setup->n_reporters);
  r->reporters.text = setup->text;
  r->reporters.reader_left = bn_stop_has_lost_reader;
  r->reporters.lock = &r->lock;
  r->wants_ticks = bn_reporters_want(&r->reporters, BN_VIEW_TICK);
  bn_asserts_init(&r->asserts, setup->asserts, setup->n_asserts,
                  setup->conf->raw.abort_on_assert_s);
  atomic_init(&r->kind, (int)setup->ops->kind);
  reports_make_snaps(r);
  return r;
}

/* Frees what reports_make_snaps has made. */
static void reports_free_snaps(struct bn_reports *r)
{
  report_done(&r->report);
  report_done(&r->forced);
  bn_span_end_done(&r->span_end);
  bn_snap_done(&r->tick_base);
  bn_snap_done(&r->checkpoint_base);
  bn_snap_done(&r->interval_base);
  bn_snap_done(&r->second_base);
}

/* Snapshots have room for the table that the statistics have when they are made. */
void bn_reports_set_metrics(struct bn_reports *r)
{
  reports_free_snaps(r);
  reports_make_snaps(r);
}

void bn_reports_free(struct bn_reports *r)
{
  bn_reporters_done(&r->reporters);
  reports_free_snaps(r);
  bn_facts_done(&r->facts);
  (void)pthread_mutex_destroy(&r->lock);
  free(r);
}

void bn_reports_set_kind(struct bn_reports *r, enum bn_kind kind)
{
  atomic_store(&r->kind, (int)kind);
}

enum bn_kind bn_reports_get_kind(const struct bn_reports *r)
{
  return (enum bn_kind)atomic_load(&r->kind);
}

/* If the heading did not name the server, records what it named, the driver or nothing, as the fact
   database.at_start: the report of a saved result then has the same heading. */
static void reports_add_at_start(struct bn_facts *f)
{
  const bool has_driver = bn_facts_find(f, "database", "driver") != NULL;

  if (bn_facts_find(f, "database", "server_version") == NULL &&
      bn_facts_find(f, "database", "client_version") == NULL)
    bn_facts_set_text(f, "database", "at_start", has_driver ? "driver" : "nothing");
}

void bn_reports_set_fact(struct bn_reports *r, const char *section, const char *key,
                         const char *text)
{
  (void)pthread_mutex_lock(&r->lock);
  const bool is_first_of_database =
      strcmp(section, "database") == 0 && bn_facts_find(&r->facts, "database", "driver") == NULL;

  if (is_first_of_database && r->load_announced) /* the heading is printed already */
    reports_add_at_start(&r->facts);
  bn_facts_set_text(&r->facts, section, key, text);
  (void)pthread_mutex_unlock(&r->lock);
}

void bn_reports_set_fact_f64(struct bn_reports *r, const char *section, const char *key,
                             double value)
{
  (void)pthread_mutex_lock(&r->lock);
  bn_facts_set_real(&r->facts, section, key, value);
  (void)pthread_mutex_unlock(&r->lock);
}

bool bn_reports_add_failure(struct bn_reports *r, const char *kind, const char *text, double at_s)
{
  char label[BN_LABEL_LEN];
  bool is_new;

  (void)bn_escape(label, sizeof label, kind[0] != '\0' ? kind : "unknown", "\n\t");
  (void)pthread_mutex_lock(&r->lock);
  is_new =
      r->n_failures < BN_FAILURE_KINDS && bn_facts_find(&r->facts, BN_THREAD_ERRORS, label) == NULL;
  if (is_new) {
    r->n_failures++;
    bn_facts_set_text(&r->facts, BN_THREAD_ERRORS, label, text);
    bn_facts_set_real(&r->facts, BN_THREAD_ERROR_TIMES, label, at_s);
  }
  (void)pthread_mutex_unlock(&r->lock);
  return is_new;
}

/* --- before the measurement ------------------------------------------------------------------- */

int bn_reports_check(const struct bn_reports *r, struct bn_err *err)
{
  const bool is_script = r->ops->find_command != NULL; /* whose kind is not known yet */
  const struct bn_assert_scope scope = {.metrics = &r->stats->metrics,
                                        .kinds = is_script ? UINT_MAX : 1U << r->ops->kind,
                                        .paced = r->conf->plan.rate > 0,
                                        .native = bn_policy_is_native(r->conf->policy),
                                        .statements = r->stats->statements != NULL,
                                        .proves = r->ops->proves};

  return bn_asserts_check(&r->asserts, &scope, err);
}

bool bn_reports_open(struct bn_reports *r)
{
  struct bn_plan plan = r->conf->plan;

  plan.metrics = &r->stats->metrics;
  return bn_reporters_open(&r->reporters, &plan);
}

void bn_reports_add_facts(struct bn_reports *r, struct bn_facts *facts)
{
  struct bn_facts earlier;

  (void)pthread_mutex_lock(&r->lock);
  earlier = r->facts;
  r->facts = *facts;
  /* The top level of a script may have opened a connection already. */
  for (size_t i = 0; i < earlier.n_facts; i++)
    bn_facts_set_text(&r->facts, earlier.fact[i].section, earlier.fact[i].key,
                      earlier.fact[i].text);
  (void)pthread_mutex_unlock(&r->lock);
  bn_facts_done(&earlier);
  memset(facts, 0, sizeof *facts);
}

void bn_reports_print_heading(struct bn_reports *r, const void *workload, uint64_t seed)
{
  r->facts.plan = r->conf->plan;
  r->facts.plan.metrics = &r->stats->metrics;
  r->facts.plan.seed = seed;
  if (r->ops->describe != NULL)
    r->ops->describe(workload, &r->facts);
  bn_reporters_begin(&r->reporters, &r->facts);
}

/* The lock is not held: the top level of a script that a reporter loads may add facts itself. */
void bn_reports_announce_workers(struct bn_reports *r)
{
  bn_reporters_starting(&r->reporters, &r->facts);
}

/* The lock is held: sessions that connect late may add facts. */
void bn_reports_announce_opening(struct bn_reports *r)
{
  (void)pthread_mutex_lock(&r->lock);
  r->load_announced = true;
  if (bn_facts_find(&r->facts, "database", "driver") != NULL)
    reports_add_at_start(&r->facts);
  bn_reporters_started(&r->reporters, &r->facts);
  (void)pthread_mutex_unlock(&r->lock);
}

void bn_reports_pass_place(struct bn_reports *r)
{
  (void)pthread_mutex_lock(&r->lock);
  bn_watch_set_place(r->watch, &r->facts);
  (void)pthread_mutex_unlock(&r->lock);
}

/* --- baselines -------------------------------------------------------------------------------- */

/* Exchanges two snapshots with the memory that they own. */
static void reports_swap(struct bn_snap *a, struct bn_snap *b)
{
  const struct bn_snap t = *a;

  *a = *b;
  *b = t;
}

/* Copies the baseline at the start of the measurement to the baselines of the other reports. */
static void reports_copy_baseline(struct bn_reports *r)
{
  bn_snap_copy(&r->interval_base, &r->checkpoint_base);
  if (r->wants_ticks)
    bn_snap_copy(&r->tick_base, &r->checkpoint_base);
  if (r->asserts.patience_s > 0)
    bn_snap_copy(&r->second_base, &r->checkpoint_base);
  r->checkpoint_base_is_start = true;
}

void bn_reports_take_baseline(struct bn_reports *r, uint64_t now_ns)
{
  (void)pthread_mutex_lock(&r->lock);
  r->facts.start_ns = now_ns;
  r->facts.start_wall_ns = bn_clock_wall();
  bn_snap_take(&r->checkpoint_base, r->stats, now_ns);
  atomic_store(&r->warming, bn_policy_is_native(r->conf->policy) && r->conf->plan.warmup_ns != 0);
  /* The first report then counts the statements before the start, too. */
  for (unsigned i = 0; r->conf->policy->start_counts_too && i < BN_C_FIXED; i++)
    if (bn_load_counts_statements(i))
      r->checkpoint_base.counter[i] = 0;
  reports_copy_baseline(r);
  (void)pthread_mutex_unlock(&r->lock);
}

const struct bn_snap *bn_reports_end_warmup(struct bn_reports *r, uint64_t now_ns)
{
  (void)pthread_mutex_lock(&r->lock);
  bn_snap_take(&r->checkpoint_base, r->stats, now_ns);
  bn_snap_end_warmup(&r->checkpoint_base);
  reports_copy_baseline(r);
  atomic_store(&r->warming, false);
  (void)pthread_mutex_unlock(&r->lock);
  return &r->checkpoint_base;
}

void bn_reports_end_span(struct bn_reports *r, uint64_t end_ns, uint64_t now_ns)
{
  bn_span_end_count(&r->span_end, end_ns, now_ns);
}

void bn_reports_follow_counters(struct bn_reports *r)
{
  if (r->stats->sample != NULL) /* into the snapshot of the next report, which reads them anew */
    r->stats->sample(r->stats->sampled, r->report.now.counter);
  bn_watch_follow_counters(r->watch);
}

/* --- reports ---------------------------------------------------------------------------------- */

/* Takes the snapshot of a report, with the events of the warm-up while it lasts. */
static void report_take_snapshot(struct report *report, const struct bn_reports *r,
                                 const struct bn_statset *stats, uint64_t now_ns)
{
  bn_snap_take(&report->now, stats, now_ns);
  if (atomic_load(&r->warming))
    bn_snap_add_warmup(&report->now, stats);
}

static void report_subtract(struct report *report, const struct bn_snap *base)
{
  bn_snap_copy(&report->delta, &report->now);
  bn_snap_subtract(&report->delta, base);
}

/* Returns how many of the running sessions --threads-profile wants in the middle of the span. */
static unsigned reports_count_active(const struct bn_reports *r, unsigned running, uint64_t now_ns,
                                     uint64_t span_ns)
{
  const double at_s = (double)(now_ns - r->facts.start_ns - span_ns / 2) * 1e-9;
  const unsigned active = bn_active_count(&r->conf->profile, at_s);

  return active < running ? active : running;
}

/* Sets the members of a view that are not part of the difference. */
static void reports_complete_view(const struct bn_reports *r, struct report *report,
                                  const struct bn_run_state *s)
{
  const uint64_t run_ns = bn_clock_between(r->facts.start_ns, s->now_ns);
  const bool begins_before_limit = report->delta.at_ns - report->delta.span_ns < s->deadline_ns;
  struct bn_view *v = &report->view;

  v->kind = bn_reports_get_kind(r);
  v->at_s = (double)(s->now_ns - s->from_ns) * 1e-9;
  v->failed_threads = s->failed_threads;
  v->paced = s->paced;
  if (v->paced) {
    v->backlog = s->backlog;
    v->concurrency = report->now.unfinished;
  }
  /* If a session has several events in flight, only their average start is known, which may be any
     time while an event starts or ends; but no event is older than the run. */
  v->oldest_s = (double)bn_clock_min(bn_snap_oldest_age_ns(&report->now, s->now_ns), run_ns) * 1e-9;
  if (s->at_limit && begins_before_limit) /* those that have left because of it count, too */
    v->running = s->running;
  if (r->conf->profile.of == BN_PROFILE_THREADS)
    v->running = reports_count_active(r, v->running, s->now_ns, report->delta.span_ns);
  if (r->ops->figures != NULL) {
    v->n_figures = r->ops->figures(v, report->store.figure, BN_FIGURES_MAX);
    v->figures = report->store.figure;
  }
}

/* Returns whether a tick may count events that ended after the span.  The state of the last tick is
   that of the end of the span, but its snapshot is later: by then the end has been counted. */
static bool reports_is_after_span(const struct bn_reports *r, const struct bn_run_state *s)
{
  if (s->span_end_ns < s->now_ns)
    return true;
  return bn_policy_is_native(r->conf->policy) && r->span_end.at_ns != 0;
}

/* Fills the view of the difference to a baseline of r, which tells the kind of the view.  Only
   checkpoints and totals show sessions.  A tick after the span has the rates of the span.  Returns
   the rules that the view was filled with. */
static struct bn_view_rules reports_fill_view(struct bn_reports *r, struct report *report,
                                              const struct bn_snap *base,
                                              const struct bn_run_state *s)
{
  struct bn_view_rules rules = bn_reports_rules(r->conf);

  rules.exact =
      base == &r->tick_base || (base == &r->checkpoint_base && r->checkpoint_base_is_start);
  rules.sessions = base == &r->checkpoint_base;
  rules.in_span = base == &r->interval_base;
  if (base == &r->tick_base && reports_is_after_span(r, s)) {
    rules.span_s = (double)bn_clock_between(base->at_ns, s->span_end_ns) * 1e-9;
    bn_span_end_count(&r->span_end, s->span_end_ns, s->now_ns);
    bn_span_end_set_rates(&r->span_end, base, &rules);
  }
  report_subtract(report, base);
  bn_view_fill(&report->view, &report->store, &report->delta, &rules);
  reports_complete_view(r, report, s);
  return rules;
}

/* Takes a new snapshot and fills the view of its difference to a baseline. */
static void reports_take_view(struct bn_reports *r, struct report *report,
                              const struct bn_snap *base, const struct bn_run_state *s)
{
  report_take_snapshot(report, r, r->stats, s->now_ns);
  (void)reports_fill_view(r, report, base, s);
}

bool bn_reports_is_in_hook(const struct bn_reports *r)
{
  return atomic_load(&r->reporters.in_hook);
}

bool bn_reports_is_shown(const struct bn_reports *r)
{
  return atomic_load(&r->reporters.shown);
}

/* Copies the facts about errors for the view: reporters read them without the lock, so that a slow
   one does not block threads that fail. */
static void reports_copy_errors(struct bn_reports *r, struct report *report)
{
  (void)pthread_mutex_lock(&r->lock);
  bn_facts_done(&report->error_facts);
  bn_facts_add_errors(&report->error_facts, &r->facts);
  report->view.error_facts = &report->error_facts;
  (void)pthread_mutex_unlock(&r->lock);
}

/* Passes the view, with the figures of the watchers, to the reporters.  Returns false if a reporter
   failed. */
static bool reports_show(struct bn_reports *r, enum bn_view_span span)
{
  struct bn_view *v = &r->report.view;

  v->span = span;
  bn_watch_add_figures(r->watch, v);
  if (span == BN_VIEW_CHECKPOINT || span == BN_VIEW_TOTAL)
    reports_copy_errors(r, &r->report);
  return bn_reporters_view(&r->reporters, v);
}

bool bn_reports_show_interval(struct bn_reports *r, const struct bn_run_state *s)
{
  reports_take_view(r, &r->report, &r->interval_base, s);
  const bool ok = reports_show(r, BN_VIEW_INTERVAL);
  /* The next interval begins here. */
  reports_swap(&r->interval_base, &r->report.now);
  return ok;
}

/* Returns whether the run has checkpoints.  In some dialects a test without numbers of its own has
   none, and its total covers the whole run. */
static bool reports_has_checkpoints(const struct bn_reports *r)
{
  const enum bn_kind kind = bn_reports_get_kind(r);

  return !r->conf->policy->plain_tests_uncut || (kind != BN_KIND_PLAIN && kind != BN_KIND_CPU);
}

bool bn_reports_show_checkpoint(struct bn_reports *r, const struct bn_run_state *s)
{
  if (!reports_has_checkpoints(r))
    return true;
  reports_take_view(r, &r->report, &r->checkpoint_base, s);
  const bool ok = reports_show(r, BN_VIEW_CHECKPOINT);
  bn_view_counts_add(&r->counts_before, bn_view_count(&r->report.view));
  /* The next checkpoint, or the total, begins here. */
  (void)pthread_mutex_lock(&r->lock);
  reports_swap(&r->checkpoint_base, &r->report.now);
  r->checkpoint_base_is_start = false;
  (void)pthread_mutex_unlock(&r->lock);
  return ok;
}

bool bn_reports_want_ticks(const struct bn_reports *r)
{
  return r->wants_ticks || r->asserts.patience_s > 0;
}

bool bn_reports_show_tick(struct bn_reports *r, const struct bn_run_state *s)
{
  if (!r->wants_ticks)
    return true;
  reports_take_view(r, &r->report, &r->tick_base, s);
  return reports_show(r, BN_VIEW_TICK);
}

const struct bn_assert *bn_reports_judge_second(struct bn_reports *r, const struct bn_run_state *s)
{
  static const double shortest_s = 0.5;
  const struct bn_view_rules rules = bn_reports_rules(r->conf);
  const struct bn_assert *violated;

  if (r->asserts.patience_s <= 0)
    return NULL;
  reports_take_view(r, &r->report, &r->second_base, s);
  /* After the reporting thread was held up, the rest of a second belongs to the next second. */
  if (r->report.view.span_s < shortest_s)
    return NULL;
  violated = bn_asserts_judge_second(&r->asserts, &r->report.view, &rules);
  reports_swap(&r->second_base, &r->report.now);
  return violated;
}

void bn_reports_announce_total(struct bn_reports *r)
{
  bn_reporters_ended(&r->reporters);
}

/* Returns the events that --db-max-tries has given up since the baseline.  They also count as
   dropped, but a moment later: the result is not more than those. */
static uint64_t reports_count_failed(const struct bn_snap *now)
{
  const size_t i = bn_metrics_find_counter(&now->metrics, "failed_events");
  const uint64_t n = i < now->metrics.n_counters ? now->counter[i] : 0;

  return n < now->dropped ? n : now->dropped;
}

/* Sets the counts of arrivals and their events.  They begin with the measurement and not with the
   last checkpoint, because a checkpoint does not empty the queue. */
static void reports_count_arrivals(struct bn_view *v, const struct bn_snap *now,
                                   const struct bn_run_state *s, uint64_t in_flight)
{
  const uint64_t events = now->counter[BN_C_EVENTS], failed = reports_count_failed(now);

  v->due = s->due;
  v->started = events + failed + in_flight;
  v->dropped = now->dropped - failed;
  v->finished = events - now->late;
  v->served = bn_view_served_share(v->finished, s->due);
  v->warmup_backlog = now->overdue + s->warmup_waiting;
}

/* Sets the rates of the total from the counters at the end of the span, which is s->now_ns in a
   final report.  The reporting thread has taken them, unless it was held up.  If no event ended
   after the span (late is 0), they are taken anew: the counters with which each session left its
   loop are more exact.  In an abandoned run some sessions are still in their loops, so that nothing
   is taken now. */
static void reports_set_span_rates(struct bn_reports *r, const struct bn_run_state *s,
                                   uint64_t late, struct bn_view_rules *rules)
{
  if (!s->abandoned) {
    if (late == 0)
      bn_span_end_count_anew(&r->span_end, s->now_ns, s->looped_ns);
    else
      bn_span_end_count(&r->span_end, s->now_ns, s->looped_ns);
  }
  bn_span_end_set_rates(&r->span_end, &r->checkpoint_base, rules);
}

/* Collects the ages of events in flight, if the run was abandoned, and of arrivals that wait.  Sets
   the rules for these ages, and returns the number of events in flight. */
static uint64_t reports_collect_ages(const struct bn_reports *r, struct report *report,
                                     const struct bn_run_state *s, struct bn_view_rules *rules)
{
  uint64_t in_flight = 0, oldest_ns = 0;

  if (s->abandoned)
    in_flight = bn_snap_collect_ages(&report->now, s->observed_ns, atomic_load(&r->warming),
                                     report->ages, &oldest_ns);
  rules->oldest_ns = in_flight > 0 ? oldest_ns : 0;
  if (s->ages != NULL) {
    bn_hist_add(report->ages, s->ages);
    rules->oldest_ns = bn_clock_max(rules->oldest_ns, s->oldest_ns);
  }
  rules->ages = in_flight + s->backlog > 0 ? report->ages : NULL;
  return in_flight;
}

/* Sets the durations of the parts of the run, and the outages, which only bench's own total
   shows. */
static void reports_set_durations(struct bn_view *v, const struct bn_run_state *s)
{
  v->setup_s = (double)s->setup_ns * 1e-9;
  v->grace_s = (double)s->grace_ns * 1e-9;
  v->teardown_s = (double)s->teardown_ns * 1e-9;
  if (v->kind == BN_KIND_SQL) {
    v->outages = s->outages.n;
    v->longest_outage_s = (double)s->outages.longest_ns * 1e-9;
  }
}

/* Builds bench's own final report.  It covers the span, the events that ended after it or did not
   end, and all events of each phase.  The phases come last, because they add ages to the histograms
   of the filled view.  A forced report has the rates of its snapshot, because the counters of the
   span are another thread's.  Returns the rules that the view was filled with. */
static struct bn_view_rules reports_fill_native_total(struct bn_reports *r, struct report *report,
                                                      const struct bn_run_state *s)
{
  const struct bn_snap *stuck = s->abandoned ? &report->now : NULL;
  struct bn_view_rules rules = bn_reports_rules(r->conf);
  struct bn_view *v = &report->view;
  uint64_t in_flight;

  rules.exact = r->checkpoint_base_is_start;
  rules.sessions = true;
  report_subtract(report, &r->checkpoint_base);
  bn_snap_copy_hists(&report->delta, &report->now, BN_PHASE_HISTOGRAM);
  if (report != &r->forced)
    reports_set_span_rates(r, s, report->delta.late, &rules);
  in_flight = reports_collect_ages(r, report, s, &rules);
  bn_view_fill(v, &report->store, &report->delta, &rules);
  reports_complete_view(r, report, s);
  reports_set_durations(v, s);
  v->oldest_s = (double)rules.oldest_ns * 1e-9;
  v->unfinished = in_flight + (s->paced ? s->backlog : 0);
  if (s->paced)
    reports_count_arrivals(v, &report->now, s, in_flight);
  if (s->phases != NULL && !atomic_load(&r->warming))
    bn_phases_fill(s->phases, v, &report->store, &report->delta, stuck, s->observed_ns);
  return rules;
}

/* Adds the verdicts to the facts.  A report of the warm-up has none about the measurement. */
static void reports_judge_asserts(struct bn_reports *r, const struct bn_view_rules *rules)
{
  const struct bn_view *v = atomic_load(&r->warming) ? NULL : &r->report.view;

  (void)pthread_mutex_lock(&r->lock);
  bn_asserts_judge_total(&r->asserts, v, rules, &r->facts);
  (void)pthread_mutex_unlock(&r->lock);
}

void bn_reports_prove(struct bn_reports *r, const struct bn_proof *proof)
{
  if (atomic_load(&r->warming))
    return;
  (void)pthread_mutex_lock(&r->lock);
  bn_asserts_prove(&r->asserts, proof, &r->facts);
  (void)pthread_mutex_unlock(&r->lock);
}

void bn_reports_count_total(struct bn_reports *r, const struct bn_run_state *s)
{
  report_take_snapshot(&r->report, r, r->stats, s->now_ns);
}

/* Builds the final report, of bench's own form or of a dialect, from the snapshot in report->now.
   Returns the rules that the view was filled with. */
static struct bn_view_rules reports_fill_total(struct bn_reports *r, struct report *report,
                                               const struct bn_run_state *s)
{
  struct bn_view_rules rules;

  if (bn_policy_is_native(r->conf->policy)) {
    rules = reports_fill_native_total(r, report, s);
  } else {
    rules = reports_fill_view(r, report, &r->checkpoint_base, s);
    report->view.unfinished = s->abandoned ? report->now.unfinished : 0;
  }
  report->view.span = BN_VIEW_TOTAL;
  report->view.running = 0;
  return rules;
}

/* Shows the time after the last interval, if a reporter wants it. */
static void reports_show_rest(struct bn_reports *r, const struct bn_run_state *s)
{
  const bool has_intervals = r->conf->plan.interval_ns != 0 && !atomic_load(&r->warming);
  struct bn_run_state end = *s;

  if (!has_intervals || !bn_reporters_want_rest(&r->reporters))
    return;
  /* The last interval may have been counted after the end of the span. */
  end.now_ns = bn_clock_max(end.now_ns, r->interval_base.at_ns);
  (void)reports_fill_view(r, &r->report, &r->interval_base, &end);
  r->report.view.span = BN_VIEW_INTERVAL;
  (void)bn_reporters_view(&r->reporters, &r->report.view);
}

/* Shows a last tick, which covers all that was measured, if the total covers less than that. */
static void reports_show_last_tick(struct bn_reports *r, const struct bn_run_state *s)
{
  if (!r->wants_ticks || r->checkpoint_base_is_start)
    return;
  (void)reports_fill_view(r, &r->report, &r->tick_base, s);
  (void)reports_show(r, BN_VIEW_TICK);
}

void bn_reports_compute_total(struct bn_reports *r, const struct bn_run_state *s)
{
  /* The verification may have set counters that the workload looks up: look them up again. */
  if (r->ops->verify != NULL && r->stats->sample != NULL)
    r->stats->sample(r->stats->sampled, r->report.now.counter);
  r->facts.end_wall_ns = r->facts.start_wall_ns + (s->now_ns - r->facts.start_ns);
  /* These views come first, because the total, which is kept, is filled into r->report, too. */
  reports_show_rest(r, s);
  reports_show_last_tick(r, s);
  const struct bn_view_rules rules = reports_fill_total(r, &r->report, s);
  reports_judge_asserts(r, &rules);
}

/* Takes the snapshot of a forced report without the counters that the workload looks up, because a
   look-up may block.  A counter that is lower than in the baseline was not looked up, and is marked
   as not known. */
static void reports_count_forced(struct bn_reports *r, const struct bn_run_state *s)
{
  struct report *report = &r->forced;
  struct bn_statset counted = *r->stats;

  counted.sample = NULL;
  report_take_snapshot(report, r, &counted, s->now_ns);
  for (size_t i = 0; i < counted.metrics.n_counters; i++)
    if (report->now.counter[i] < r->checkpoint_base.counter[i])
      report->now.counter[i] = BN_ABSENT;
}

/* The watchdog has half a second for the report, and waits for the lock at most this part of it. */
static const uint64_t lock_patience_ns = 100 * BN_NSEC_PER_MSEC;

/* A thread that runs out of memory while it adds a fact never gives the lock back.  Without the
   lock, a fact that is half added may be missing, which is better than no report.  A reporter that
   gets facts holds it for long only before the load and after the final report. */
void bn_reports_print_forced(struct bn_reports *r, const struct bn_run_state *s, FILE *out)
{
  const struct timespec until = bn_clock_to_timespec(bn_clock_wall() + lock_patience_ns);
  const bool has_lock = pthread_mutex_timedlock(&r->lock, &until) == 0;

  reports_count_forced(r, s);
  (void)reports_fill_total(r, &r->forced, s); /* no assertions are judged */
  r->reporters.text->summary(&r->facts, &r->forced.view, out);
  if (has_lock)
    (void)pthread_mutex_unlock(&r->lock);
}

bool bn_reports_show_total(struct bn_reports *r)
{
  const bool ok = reports_show(r, BN_VIEW_TOTAL);

  /* Set even if a reporter has failed or a script's hook has printed the total: the watchdog prints
     it only until the reporters have got it. */
  atomic_store(&r->reporters.shown, true);
  return ok;
}

struct bn_view_counts bn_reports_count_all(const struct bn_reports *r)
{
  struct bn_view_counts all = bn_view_count(&r->report.view);

  bn_view_counts_add(&all, r->counts_before);
  return all;
}

bool bn_reports_log_verdicts(const struct bn_reports *r)
{
  return bn_asserts_log(&r->asserts, &r->facts, !bn_policy_is_native(r->conf->policy));
}

bool bn_reports_close(struct bn_reports *r, const struct bn_end *run_end)
{
  struct bn_end end = *run_end;

  end.replaced_intervals = (r->reporters.replaced & BN_REPLACES_INTERVAL) != 0;
  end.replaced_total = (r->reporters.replaced & BN_REPLACES_TOTAL) != 0;
  (void)pthread_mutex_lock(&r->lock);
  if (r->facts.end_wall_ns == 0) /* the start has failed */
    r->facts.end_wall_ns = bn_clock_wall();
  bn_facts_add_logged(&r->facts);
  (void)pthread_mutex_unlock(&r->lock);
  return bn_reporters_close(&r->reporters, &end);
}
