/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Joins the parts of a run and executes the phases of `run` and of other commands. */
#include "engine/run.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "engine/event.h"
#include "engine/limits.h"
#include "engine/phases.h"
#include "engine/renewal.h"
#include "engine/signals.h"
#include "engine/worker.h"
#include "measure/host.h"

/* The time that abandoned workers have to return before the process ends without them. */
static const uint64_t return_patience_ns = BN_NSEC_PER_SEC;

/* The parts are in the order of calls and of locks: each part calls only the parts above it. */
struct bn_run {
  _Alignas(64) struct bn_quota quota;
  struct bn_outcome outcome;
  struct bn_load load;
  struct bn_outage outage;
  struct bn_pacer pacer;
  struct bn_phases *phases; /* owned; NULL: none */
  struct bn_clock clock;
  struct bn_sessions sessions;
  struct bn_threads threads;
  struct bn_interrupt interrupt;
  struct bn_watch watch;
  struct bn_reports *reports;
  struct bn_run_parts parts;
  struct bn_sampler sampler;
  struct bn_watchdog watchdog;
  struct bn_receiver receiver;
  struct bn_services services;
  struct bn_job job;
  double processor_s;   /* processor time of the process when the start barrier opened */
  double throttled_s;   /* as of bn_host_throttled_s(), at the same moment */
  struct bn_hist *ages; /* --rate: ages of the arrivals that wait at the end; owned */
};

struct bn_session *bn_run_main_session(struct bn_run *run)
{
  return bn_sessions_main(&run->sessions);
}

bool bn_run_is_abandoned(const struct bn_run *run)
{
  return bn_outcome_has_stuck_threads(&run->outcome);
}

/* --- making ----------------------------------------------------------------------------------- */

/* Makes the pacer, if there is a rate.  The seed of random gaps differs by host, and constant gaps
   are shifted from host to host, so that arrivals of several hosts do not come in bunches.  A host
   that is alone begins with half a gap, so that no arrival is due when the time is up. */
static void run_make_pacer(struct bn_run *run)
{
  const struct bn_conf *c = run->job.conf;
  const unsigned first = run->sessions.first;
  const double all_sessions = run->sessions.n_all_hosts;

  if (c->plan.rate <= 0)
    return;
  const double lead = (first + c->plan.threads / 2.0) / all_sessions; /* in gaps */
  if (c->profile.of == BN_PROFILE_RATE) {
    bn_pacer_init(&run->pacer, c->seed + first, c->profile.piece, c->profile.n_pieces);
    bn_pacer_set_share(&run->pacer, c->plan.threads / all_sessions);
  } else {
    bn_pacer_init_rate(&run->pacer, c->seed + first, c->plan.rate);
  }
  if (c->raw.arrivals == BN_GAPS_CONSTANT)
    bn_pacer_make_constant(&run->pacer, lead);
  run->parts.pacer = &run->pacer;
  run->ages = bn_hist_new();
}

/* Makes the quota of tickets.  A workload with an amount of work of its own ignores --events. */
static void run_make_quota(struct bn_run *run)
{
  const struct bn_conf *c = run->job.conf;
  const uint64_t per_session = (uint64_t)c->raw.events_per_session;
  const bool is_limited = !run->job.ops->fixed_amount;
  const struct bn_quota_plan plan = {.events = is_limited ? c->plan.events : 0,
                                     .per_session = is_limited ? per_session : 0,
                                     .sessions = c->plan.threads,
                                     .others = BN_LOAD_SIDE,
                                     .warmup = c->plan.warmup_ns != 0,
                                     .one_by_one = c->plan.rate > 0 || bn_conf_has_pauses(c),
                                     .one_more = c->policy->warmup_event_is_extra,
                                     .returns = c->raw.on_thread_error == BN_THREAD_ERROR_CONTINUE,
                                     .by_start = bn_policy_is_native(c->policy),
                                     .stat = run->load.stats.stat};

  bn_quota_init(&run->quota, &plan);
}

/* Links the sessions to the parts of the run, and makes what their threads need. */
static void run_make_threads(struct bn_run *run, unsigned n_workers)
{
  const unsigned n = run->sessions.workers;

  bn_services_bind(&run->services, &run->parts, &run->sessions, run->job.ops);
  bn_sessions_link(&run->sessions, &run->parts, &run->services);
  bn_threads_init(&run->threads, run->sessions.all, n, n_workers, &run->outcome, &run->quota,
                  run->parts.pacer);
  run->threads.host_group = run->parts.host_group;
  run->threads.goes_on = run->job.conf->raw.on_thread_error == BN_THREAD_ERROR_CONTINUE;
  bn_interrupt_init(&run->interrupt, run->sessions.all, n + BN_LOAD_SIDE);
}

static void run_make_watching(struct bn_run *run, const struct bn_run_setup *setup)
{
  bn_watch_init(&run->watch, setup->watchers, setup->n_watchers, setup->sql);
  run->reports = bn_reports_new(setup, &run->load.stats, &run->watch);
  run->parts.reports = run->reports;
  bn_sampler_init(&run->sampler, &run->parts);
  bn_watchdog_init(&run->watchdog, &run->parts);
}

/* Returns a run with the parts that depend on no other. */
static struct bn_run *run_alloc(const struct bn_run_setup *setup)
{
  struct bn_run *run = bn_alloc_aligned(_Alignof(struct bn_run), sizeof *run);

  run->parts = (struct bn_run_parts){.conf = setup->conf,
                                     .host_group = setup->host_group,
                                     .clock = &run->clock,
                                     .outcome = &run->outcome,
                                     .load = &run->load,
                                     .quota = &run->quota,
                                     .outage = &run->outage,
                                     .threads = &run->threads,
                                     .interrupt = &run->interrupt,
                                     .watch = &run->watch,
                                     .reporters = setup->reporters,
                                     .n_reporters = setup->n_reporters,
                                     .text = setup->text,
                                     .scripted = setup->ops->find_command != NULL};
  run->job = (struct bn_job){.conf = setup->conf, .ops = setup->ops, .self = setup->self};
  /* A workload without `open` has no state: its functions get its options, which they do not
     change, hence the cast. */
  if (setup->self == NULL && setup->ops->open == NULL)
    run->job.self = (void *)(uintptr_t)setup->workload_conf;
  bn_outcome_init(&run->outcome);
  run->outcome.overload_passes = setup->conf->policy->overload_passes;
  bn_outage_init(&run->outage, &run->load.stats);
  bn_clock_init(&run->clock, (enum bn_clock_choice)setup->conf->raw.clock);
  run->parts.made_ns = bn_clock_mono(); /* calibrating the clock is no part of the set-up */
  return run;
}

/* Frees what run_alloc has made and the sessions, and the run itself. */
static void run_free_sessions(struct bn_run *run)
{
  bn_sessions_done(&run->sessions);
  bn_load_done(&run->load);
  bn_outage_done(&run->outage);
  free(run);
}

int bn_run_new(struct bn_run **out, const struct bn_run_setup *setup, struct bn_err *err)
{
  struct bn_run *run = run_alloc(setup);
  const unsigned sessions = setup->conf->plan.threads;
  const unsigned workers = setup->workers != 0 ? setup->workers : sessions;

  *out = NULL;
  if (bn_load_init(&run->load, sessions, workers, setup->ops->metrics,
                   bn_load_stat_bits(setup->conf, setup->ops),
                   bn_load_phase_profile(setup->conf)) != 0 ||
      bn_sessions_init(&run->sessions, sessions, setup->host_group, setup->ops->session_size) !=
          0) {
    run_free_sessions(run);
    return bn_err_set(err, 0, "out of memory for %u threads", sessions);
  }
  run_make_pacer(run);
  run->phases = bn_phases_new(bn_load_phase_profile(setup->conf));
  run->parts.phases = run->phases;
  run_make_quota(run);
  run_make_threads(run, workers);
  run_make_watching(run, setup);
  run->services.workload_conf = setup->workload_conf;
  /* The streams are those of a command until bn_run_execute seeds them for a run. */
  (void)bn_sessions_seed(&run->sessions, &run->load, setup->conf, BN_RNG_DATA);
  *out = run;
  return 0;
}

int bn_run_set_metrics(struct bn_run *run, const struct bn_metric *metrics, struct bn_err *err)
{
  if (bn_load_set_metrics(&run->load, metrics, bn_load_stat_bits(run->job.conf, run->job.ops)) != 0)
    return bn_err_set(err, 0, "out of memory for the metrics of the script");
  bn_sessions_set_stats(&run->sessions, &run->load);
  bn_quota_set_stats(&run->quota, run->load.stats.stat);
  bn_reports_set_metrics(run->reports);
  return 0;
}

void bn_run_add_facts(struct bn_run *run, struct bn_facts *facts)
{
  bn_facts_set_text(facts, "clock", "source", bn_clock_name(&run->clock));
  bn_reports_add_facts(run->reports, facts);
}

void bn_run_free(struct bn_run *run)
{
  if (run == NULL)
    return;
  bn_watchdog_done(&run->watchdog);
  bn_sampler_done(&run->sampler);
  bn_reports_free(run->reports);
  bn_watch_done(&run->watch);
  bn_interrupt_done(&run->interrupt);
  bn_threads_done(&run->threads);
  if (run->parts.pacer != NULL)
    bn_pacer_done(&run->pacer);
  bn_phases_free(run->phases);
  bn_quota_done(&run->quota);
  bn_hist_free(run->ages);
  run_free_sessions(run);
}

/* --- the threads that watch ------------------------------------------------------------------- */

void bn_run_set_start(struct bn_run *run, uint64_t at_ns)
{
  bn_threads_set_start(&run->threads, at_ns);
}

void bn_run_release_barrier(struct bn_run *run)
{
  bn_threads_release_barrier(&run->threads);
}

void bn_run_stop(struct bn_run *run, bool at_once)
{
  bn_receiver_request_end(&run->receiver, at_once);
}

/* Starts the threads that report, watch and receive signals.  If one cannot be started, logs why,
   leaves none of them running and returns false. */
static bool run_start_watching(struct bn_run *run)
{
  struct bn_err err = {0};

  bn_limits_allow_files(run->sessions.workers);
  if (bn_sampler_start(&run->sampler, run->services.is_command, &err) == 0 &&
      bn_watchdog_start(&run->watchdog, &err) == 0 &&
      bn_receiver_start(&run->receiver, &run->sampler, &run->watchdog, &err) == 0) {
    /* The run has its receiver: other hosts may stop it from now on. */
    if (run->parts.host_group != NULL)
      run->parts.host_group->attach(run->parts.host_group->of, run);
    return true;
  }
  bn_limits_log_failure(&err);
  bn_watchdog_stop(&run->watchdog);
  bn_sampler_stop(&run->sampler);
  return false;
}

/* Ends what run_start_watching has started, but the sampler, which ends earlier.  The host group
   comes first: until it is detached, other hosts may call bn_run_stop, which needs the receiver. */
static void run_stop_watching(struct bn_run *run)
{
  if (run->parts.host_group != NULL)
    run->parts.host_group->detach(run->parts.host_group->of);
  bn_receiver_stop(&run->receiver);
  bn_watchdog_stop(&run->watchdog);
}

static void run_stop_interrupting(struct bn_run *run)
{
  if (!bn_interrupt_stop(&run->interrupt))
    bn_outcome_set(&run->outcome, BN_OUTCOME_INTERRUPT_HANGS);
}

/* --- start ------------------------------------------------------------------------------------ */

/* Fails the run with an error of the workload, before its workers start or after they end.  Returns
   false. */
static bool run_fail(struct bn_run *run, const struct bn_err *err)
{
  bn_log_failure(err);
  bn_outcome_set(&run->outcome, BN_OUTCOME_FAILED);
  return false;
}

static bool run_check_asserts(struct bn_run *run)
{
  struct bn_err err = {0};

  return bn_reports_check(run->reports, &err) == 0 || run_fail(run, &err);
}

/* Opens the workload.  Returns false if that failed, or if a built-in test, which has no turns, got
   options that are for scripts. */
static bool run_open_workload(struct bn_run *run)
{
  const struct bn_workload *ops = run->job.ops;
  struct bn_err err = {0};

  if (ops->turn == NULL && bn_worker_refuse_builtin(run->job.conf, ops->name, &err) != 0)
    return run_fail(run, &err);
  if (ops->open != NULL &&
      ops->open(&run->job.self, bn_run_main_session(run), run->services.workload_conf, &err) != 0)
    return run_fail(run, &err);
  return true;
}

/* Records in the outcome that a step of the reports has failed, unless it is ok.  Returns ok. */
static bool run_record_report(struct bn_run *run, bool ok)
{
  if (!ok)
    bn_outcome_set(&run->outcome, BN_OUTCOME_REPORT_FAILED);
  return ok;
}

/* Starts the workload, which gives its counters to each snapshot from then on. */
static bool run_start_workload(struct bn_run *run)
{
  const struct bn_job *job = &run->job;
  struct bn_err err = {0};

  if (job->ops->start != NULL && job->ops->start(job->self, &err) != 0)
    return run_fail(run, &err);
  run->load.stats.sample = job->ops->sample;
  run->load.stats.sampled = job->self;
  return true;
}

/* Prints the heading, and starts the workload after it, because that may take long. */
static bool run_announce(struct bn_run *run, uint64_t seed)
{
  bn_reports_print_heading(run->reports, run->job.self, seed);
  if (!run_start_workload(run))
    return false;
  bn_reports_announce_workers(run->reports);
  return true;
}

/* Logs, at the level of debugging, what sysbench logs when its reporting threads start, although
   bench has no such threads. */
static void run_log_reporting_threads(const struct bn_run *run)
{
  const struct bn_workload *ops = run->job.ops;
  const struct bn_conf *c = run->job.conf;
  const bool lacks_numbers =
      ops->find_command == NULL && (ops->kind == BN_KIND_PLAIN || ops->kind == BN_KIND_CPU);
  const bool has_reports = c->plan.interval_ns != 0 || c->plan.n_checkpoints != 0;

  if (c->plan.interval_ns != 0)
    bn_log(BN_DEBUG, "Reporting thread started");
  if (c->plan.n_checkpoints != 0)
    bn_log(BN_DEBUG, "Checkpoints report thread started");
  /* The text ends in this way in sysbench. */
  if (c->policy->plain_tests_uncut && lacks_numbers && has_reports)
    bn_log(BN_DEBUG, "Reporting not supported by the current test, ");
}

/* Starts the workers, none after until_ns: thousands of busy threads may delay the thread that
   starts more of them.  If one cannot be started, logs why, ends the run and returns false. */
static bool run_spawn(struct bn_run *run, void *(*body)(void *), uint64_t until_ns)
{
  const struct bn_threads_plan plan = {.job = &run->job,
                                       .body = body,
                                       .stack_bytes = run->job.conf->raw.thread_stack_size,
                                       .until_ns = until_ns};
  struct bn_err err = {0};

  if (bn_threads_spawn(&run->threads, &plan, &err) == 0)
    return true;
  bn_limits_log_failure(&err);
  bn_threads_end(&run->threads, BN_CAUSE_FAILED, 0);
  return false;
}

/* Returns the time by which sessions that begin to open now must be open. */
static uint64_t run_ready_deadline(const struct bn_run *run)
{
  const uint64_t timeout_ns = run->job.conf->init_timeout_ns;

  return timeout_ns == 0 ? UINT64_MAX : bn_clock_mono() + timeout_ns;
}

/* Ends a run whose sessions are not open in time.  The threads that are waited for are logged
   first, because the end of the run lets them go on. */
static void run_abandon_late_start(struct bn_run *run)
{
  bn_log(BN_FATAL, "Worker threads failed to initialize within %.15g seconds!",
         (double)run->job.conf->init_timeout_ns / BN_NSEC_PER_SEC);
  bn_threads_log_waiting(&run->threads);
  bn_threads_end(&run->threads, BN_CAUSE_TIMEOUT, 0);
}

/* Leaves threads behind that have not ended after a signal.  This is no timeout of the start: the
   signal has ended the start, and gives the exit status. */
static void run_abandon_after_signal(struct bn_run *run)
{
  bn_log_hint(
      "some threads have not ended %.15g s after the signal (--thread-init-timeout): ending "
      "without them",
      (double)run->job.conf->init_timeout_ns / BN_NSEC_PER_SEC);
  bn_threads_log_waiting(&run->threads);
  bn_threads_end(&run->threads, BN_CAUSE_ABANDONED, 0);
}

/* Waits until all sessions are open.  Returns false if the run has ended before that; at the
   deadline, ends it. */
static bool run_await_ready(struct bn_run *run, uint64_t deadline_ns)
{
  if (bn_threads_await_ready(&run->threads, deadline_ns))
    return true;
  if (!bn_threads_has_ended(&run->threads))
    run_abandon_late_start(run);
  return false;
}

/* Opens the watchers, which is slow, then lets a reporter tell the other hosts that this host is
   ready, and waits for the common start.  Returns false if the run has ended meanwhile. */
static bool run_prepare_start(struct bn_run *run)
{
  bn_reports_pass_place(run->reports);
  if (run->job.conf->policy->start_counts_too)
    bn_load_adopt_main(&run->load);
  bn_watch_open(&run->watch);
  bn_reports_announce_opening(run->reports);
  return run->parts.host_group == NULL || bn_threads_await_start(&run->threads);
}

/* Takes the first baseline of the reports, and starts the pacer, the phases and the events of the
   sessions at the times of the run. */
static void run_start_parts(struct bn_run *run, const struct bn_times *times)
{
  bn_reports_take_baseline(run->reports, times->start_ns);
  if (run->parts.pacer != NULL)
    bn_pacer_start(&run->pacer, times->start_ns);
  bn_phases_start(run->phases, times->measure_ns); /* the pacer's curve has the warm-up before it */
  for (unsigned i = 0; i < run->sessions.workers; i++)
    bn_event_prepare(&run->sessions.all[i], times);
}

/* Sets the times of the run while every worker waits at the start barrier, and opens it.  Readings
   that may be slow come first: the run would lose their time.  Returns false if it has ended. */
static bool run_open_start_barrier(struct bn_run *run, struct bn_times *times)
{
  const struct bn_plan *plan = &run->job.conf->plan;

  if (!run_prepare_start(run))
    return false;
  bn_watch_start(&run->watch);
  run->processor_s = bn_host_processor_s();
  run->throttled_s = bn_host_throttled_s("");
  times->start_ns = bn_clock_mono();
  times->measure_ns = times->start_ns + plan->warmup_ns;
  times->deadline_ns = plan->time_ns != 0 ? times->measure_ns + plan->time_ns : UINT64_MAX;
  run_start_parts(run, times);
  if (!bn_threads_open(&run->threads, times))
    return false;
  bn_sampler_wake(&run->sampler);
  return true;
}

/* --- end -------------------------------------------------------------------------------------- */

/* Closes the reporters, which get the end of the run. */
static void run_close_reports(struct bn_run *run)
{
  const struct bn_outcome *o = &run->outcome;
  const struct bn_end end = {.reason = bn_outcome_reason(o),
                             .status = bn_outcome_status(o),
                             .signo = atomic_load(&o->signo),
                             .failed = bn_outcome_has(o, BN_OUTCOME_FAILED) ||
                                       bn_outcome_has(o, BN_OUTCOME_THREAD_FAILED),
                             .timeout = bn_outcome_has(o, BN_OUTCOME_TIMEOUT),
                             .left = atomic_load(&o->script_status) >= 0,
                             .early = bn_outcome_has(o, BN_OUTCOME_EARLY),
                             .overload = bn_outcome_has(o, BN_OUTCOME_OVERLOADED)};

  (void)run_record_report(run, bn_reports_close(run->reports, &end));
}

static void run_finish_workload(struct bn_run *run)
{
  struct bn_err err = {0};

  if (run->job.ops->finish != NULL && run->job.ops->finish(run->job.self, &err) != 0)
    (void)run_fail(run, &err);
}

/* Waits return_patience_ns for abandoned workers, which may still return.  Returns whether all have
   returned, and records that in the outcome. */
static bool run_await_abandoned(struct bn_run *run)
{
  if (!bn_threads_await_abandoned(&run->threads, bn_clock_mono() + return_patience_ns))
    return false;
  bn_outcome_set(&run->outcome, BN_OUTCOME_RETURNED);
  return true;
}

/* Logs if the arrivals of --rate were not served: the figures are then those of an overload, not
   the latency at that rate.  empty: the counts of a run without a success: then that is logged
   instead, because a lower rate would not help; NULL: events have succeeded. */
static void run_report_unserved(struct bn_run *run, const struct bn_run_state *end,
                                const struct bn_view_counts *empty)
{
  char rate[BN_CONF_RATE];
  uint64_t n_ended;

  if (!bn_run_state_is_unserved(&run->parts, end, &n_ended))
    return;
  bn_outcome_set(&run->outcome, BN_OUTCOME_UNSERVED);
  if (empty != NULL)
    bn_outcome_log_empty(empty, NULL);
  else
    bn_log_stderr("%s could not be kept up: of %llu events that were due, %llu ended in time. Use "
                  "a lower rate, or more threads if the server has room",
                  bn_conf_format_rate(run->job.conf, rate), (unsigned long long)end->due,
                  (unsigned long long)n_ended);
}

/* Logs that the run fell short: no event has succeeded, or the arrivals of --rate were not served.
   A run that has failed has logged why.  A run that was ended early, or the run of one of several
   hosts, whose sum decides, may be empty: only its arrivals are looked at. */
static void run_report_shortfall(struct bn_run *run, const struct bn_times *times,
                                 const struct bn_run_state *end)
{
  const bool may_be_empty = bn_outcome_has(&run->outcome, BN_OUTCOME_EARLY) ||
                            !bn_host_group_is_alone(run->parts.host_group);

  if (bn_outcome_has(&run->outcome, BN_OUTCOME_FAILED))
    return;
  const struct bn_view_counts all = bn_reports_count_all(run->reports);
  const bool is_empty = bn_policy_is_native(run->job.conf->policy) && bn_outcome_is_empty(&all);
  if (is_empty && !may_be_empty) {
    bn_outcome_set(&run->outcome, BN_OUTCOME_EMPTY);
    bn_outcome_log_empty(&all, NULL);
  } else if (end->due > 0 && end->now_ns > times->measure_ns) { /* the measurement had begun */
    run_report_unserved(run, end, is_empty ? &all : NULL);
  }
}

/* Records for how long a CPU quota has held back the threads of the run, and warns from a hundredth
   of the span on: such a run measures the quota.  A time that cannot be read is left out. */
static void run_report_throttling(struct bn_run *run, uint64_t span_ns)
{
  const double throttled_s = bn_host_throttled_since_s("", run->throttled_s);

  if (throttled_s < 0)
    return;
  bn_reports_set_fact_f64(run->reports, "process", "throttled_s", throttled_s);
  if (throttled_s > 0.01e-9 * (double)span_ns) /* 1 % of the span, in seconds */
    bn_log_note("a CPU quota held the threads of the control group back for %.3g s of processor "
                "time, so the result is that of the quota: raise it (CPUQuota= of systemd, --cpus "
                "of containers)",
                throttled_s);
}

/* Computes the final report, and returns the state of the run at its end.  Events in flight are
   counted before they are interrupted, and interrupted before anything is printed: a reporter may
   wait for a lock that they hold.  From BN_STAGE_REPORT on, engine/signals.c interrupts calls. */
static struct bn_run_state run_compute_total(struct bn_run *run, const struct bn_times *times)
{
  const struct bn_run_state end = bn_run_state_end(&run->parts, times, run->ages);
  const struct bn_workload *ops = run->job.ops;
  struct bn_err err = {0};

  bn_reports_count_total(run->reports, &end);
  if (ops->verify != NULL && ops->verify(run->job.self, bn_run_main_session(run), &err) != 0)
    (void)run_fail(run, &err);
  bn_reports_compute_total(run->reports, &end);
  bn_reports_set_fact_f64(run->reports, "process", "processor_s",
                          bn_host_processor_s() - run->processor_s);
  run_report_throttling(run, end.now_ns - times->start_ns);
  bn_renewal_log_missed(&run->sessions, end.now_ns);
  bn_outcome_advance(&run->outcome, BN_STAGE_REPORT);
  if (bn_outcome_has(&run->outcome, BN_OUTCOME_TO_INTERRUPT)) {
    bn_interrupt_first_sessions(&run->interrupt, run->job.conf->plan.threads);
    bn_threads_wake_loops(&run->threads);
  }
  return end;
}

/* Prints the final report: after hints about its coverage, and before the verdicts and the reasons
   for the end that it does not show. */
static void run_report_total(struct bn_run *run, const struct bn_times *times,
                             const struct bn_run_state *end)
{
  const unsigned n_failed = bn_threads_count_failed(&run->threads);

  if (end->now_ns < times->measure_ns)
    bn_log_hint("the warm-up was not over: nothing has been measured yet, and the report covers "
                "the warm-up");
  if (end->at_limit)
    bn_outcome_set(&run->outcome, BN_OUTCOME_TIME_UP);
  if (bn_quota_unused(&run->quota) == 0)
    bn_outcome_set(&run->outcome, BN_OUTCOME_SPENT);
  if (bn_host_group_is_alone(run->parts.host_group) && !run->job.ops->fixed_amount)
    bn_outcome_note_default_time(&run->outcome, run->job.conf);
  (void)run_record_report(run, bn_reports_show_total(run->reports));
  if (!bn_reports_log_verdicts(run->reports))
    bn_outcome_set(&run->outcome, BN_OUTCOME_VIOLATED);
  run_report_shortfall(run, times, end);
  bn_outcome_log(&run->outcome);
  if (n_failed > 0)
    bn_log_stderr("%u of %u threads failed (--on-thread-error=continue)", n_failed, run->threads.n);
}

/* Waits for the end of the load, makes the final report, and finishes the workload unless threads
   of it hang.  The reporting thread stops first, because the total uses its baselines. */
static void run_measure(struct bn_run *run, const struct bn_times *times)
{
  const bool all_gone = bn_threads_await(&run->threads, UINT64_MAX);

  bn_sampler_stop(&run->sampler);
  const struct bn_run_state end = run_compute_total(run, times);
  bn_log_print_more_threads();
  bn_reports_announce_total(run->reports);
  if (all_gone)
    bn_log(BN_INFO, "Done.\n\n");
  run_report_total(run, times, &end);
  bn_outcome_advance(&run->outcome, BN_STAGE_FINISH);
  if (!all_gone)
    (void)run_await_abandoned(run); /* the outcome has the result */
  if (!bn_outcome_has_stuck_threads(&run->outcome)) {
    bn_threads_join(&run->threads);
    run_finish_workload(run);
  }
}

/* Ends a run that has not begun to measure.  If a failure or a signal has ended the wait for the
   sessions early, they get --thread-init-timeout once more, to close what they have opened. */
static void run_abandon_workers(struct bn_run *run)
{
  const struct bn_workload *ops = run->job.ops;
  const bool all_gone = bn_threads_await(&run->threads, run_ready_deadline(run));
  const bool are_late = !all_gone && !bn_outcome_has(&run->outcome, BN_OUTCOME_ABANDONED);

  if (are_late && bn_threads_have_signal(&run->threads))
    run_abandon_after_signal(run);
  else if (are_late)
    run_abandon_late_start(run);
  bn_sampler_stop(&run->sampler);
  bn_log_print_more_threads();
  if (run_await_abandoned(run))
    bn_threads_join(&run->threads);
  if (ops->forget != NULL)
    ops->forget(run->job.self, bn_run_main_session(run));
  /* A timeout has been logged, and a signal is reason enough. */
  const bool is_explained =
      bn_outcome_has(&run->outcome, BN_OUTCOME_TIMEOUT) || bn_threads_have_signal(&run->threads);
  if (!is_explained)
    bn_log(BN_FATAL, "%s", run->job.conf->policy->threads_not_ready);
}

/* Starts the workers and measures the workload in them.  Abandons them if the run ends before the
   start: a session failed or was not ready in time, or a signal came. */
static void run_workers(struct bn_run *run)
{
  const uint64_t deadline_ns = run_ready_deadline(run);
  const bool is_shared = run->threads.n_workers < run->threads.n; /* several sessions per worker */
  void *(*const body)(void *) = is_shared ? bn_worker_shared_main : bn_worker_main;
  struct bn_times times;

  if (run_spawn(run, body, deadline_ns) && run_await_ready(run, deadline_ns)) {
    bn_outcome_advance(&run->outcome, BN_STAGE_MEASURE);
    if (run_open_start_barrier(run, &times)) {
      run_measure(run, &times);
      return;
    }
  }
  run_abandon_workers(run);
}

/* --- the phases, in order --------------------------------------------------------------------- */

int bn_run_execute(struct bn_run *run)
{
  /* Comes first: opening the workload may draw numbers. */
  const uint64_t seed =
      bn_sessions_seed(&run->sessions, &run->load, run->job.conf, BN_RNG_WORKLOAD);

  if (!run_start_watching(run))
    return BN_STATUS_FAILED;
  if (run_check_asserts(run) && run_open_workload(run) &&
      run_record_report(run, bn_reports_open(run->reports)) && run_announce(run, seed)) {
    run_log_reporting_threads(run);
    run_workers(run);
  }
  bn_sampler_stop(&run->sampler);
  bn_outcome_advance(&run->outcome, BN_STAGE_DOCUMENTS);
  run_close_reports(run);
  bn_outcome_advance(&run->outcome, BN_STAGE_CLOSE);
  if (!bn_watch_close(&run->watch))
    bn_outcome_set(&run->outcome, BN_OUTCOME_WATCHER_HANGS);
  run_stop_interrupting(run);
  if (!bn_outcome_has_stuck_threads(&run->outcome) && run->job.ops->close != NULL)
    run->job.ops->close(run->job.self);
  run_stop_watching(run); /* comes last: a signal has to end a call that hangs */
  return bn_outcome_status(&run->outcome);
}

/* Commands that are not parallel run on the first host only. */
static bool run_is_first_host(const struct bn_run *run)
{
  return run->sessions.first == 0;
}

/* Runs a command in each session.  The workers of all hosts begin together. */
static void run_command_in_parallel(struct bn_run *run)
{
  if (!run->job.command->quiet && run_is_first_host(run))
    bn_log(BN_NOTICE, "Initializing worker threads...\n\n");
  if (run_spawn(run, bn_worker_command_main, UINT64_MAX) &&
      bn_threads_await_ready(&run->threads, UINT64_MAX))
    bn_threads_open_command(&run->threads);
  (void)bn_threads_await(&run->threads, UINT64_MAX);
  if (!bn_outcome_has(&run->outcome, BN_OUTCOME_ABANDONED))
    bn_threads_join(&run->threads);
}

/* Logs, if a signal or another host has ended the command, that it is not complete. */
static void run_log_incomplete(const struct bn_run *run, const char *command)
{
  const int signo = atomic_load(&run->outcome.signo);

  /* SIGPIPE: standard output has lost its reader, who does not miss the message. */
  if (signo == 0 || signo == SIGPIPE)
    return;
  if (bn_receiver_has_request(&run->receiver))
    bn_log(BN_FATAL, "'%s' was stopped before it was complete", command);
  else
    bn_log(BN_FATAL, "'%s' was ended by a signal before it was complete: %s", command,
           strsignal(signo));
}

int bn_run_command(struct bn_run *run, const struct bn_command *command)
{
  run->services.is_command = true;
  run->job.command = command;
  if (command->parallel && run->threads.n_workers < run->threads.n) {
    bn_log(BN_FATAL, "--workers cannot be used with a script that has a 'run' command of its own");
    return BN_STATUS_FAILED;
  }
  if (!run_start_watching(run))
    return BN_STATUS_FAILED;
  if (command->parallel && run->sessions.n_all_hosts > 1)
    run_command_in_parallel(run);
  else if (run_is_first_host(run))
    bn_worker_run_command(&run->threads, bn_run_main_session(run), &run->job);
  bn_log_progress(NULL); /* removes the line of the command's progress */
  bn_sampler_stop(&run->sampler);
  run_stop_interrupting(run);
  run_stop_watching(run);
  run_log_incomplete(run, command->name);
  return bn_outcome_status(&run->outcome);
}
