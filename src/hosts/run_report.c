/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells the reporters of a run on several hosts how it goes and how it ended. */
#include "hosts/run_report.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "engine/outcome.h"
#include "engine/reports.h"
#include "engine/stop.h"
#include "measure/event_kinds.h"
#include "measure/merge.h"

bool bn_run_report_open(struct bn_run_report *r, struct bn_fleet *f)
{
  const struct bn_hosts_setup *s = f->setup;
  struct bn_plan plan = s->conf->plan;

  r->fleet = f;
  if (!f->is_run)
    return true;
  /* The threads and the events of groups are not known before the groups are ready. */
  if (!bn_fleet_has_groups(f)) {
    plan.threads = (unsigned)f->sessions;
    plan.events = bn_conf_get_event_limit(s->conf, f->sessions);
  }
  bn_asserts_init(&r->asserts, s->asserts, s->n_asserts, s->conf->raw.abort_on_assert_s);
  bn_reporters_init(&r->reporters, s->reporters, s->n_reporters);
  r->reporters.text = s->text;
  r->reporters.reader_left = bn_stop_has_lost_reader;
  return bn_reporters_open(&r->reporters, &plan);
}

/* Returns the hosts and their results as they are known now; the caller frees the array.  Before
   the start, a result has the facts of its host alone. */
static struct bn_merged_result_part *run_report_make_parts(const struct bn_fleet *f)
{
  struct bn_merged_result_part *part = bn_alloc(f->n, sizeof *part);

  for (size_t i = 0; i < f->n; i++) {
    struct bn_connection *c = &f->connection[i];
    char *host = bn_connection_get_host(c);

    part[i] = (struct bn_merged_result_part){
        .member = {.host = host != NULL ? host : c->group,
                   .group = host != NULL ? c->group : NULL,
                   .lost = c->has_result ? NULL : c->why.text,
                   .threads = c->work.threads},
        .result = f->phase < BN_FLEET_RUN ? &c->head : bn_connection_find_result(c),
        .clock = c->clock};
  }
  return part;
}

int bn_run_report_check(const struct bn_run_report *r, struct bn_err *err)
{
  const struct bn_fleet *f = r->fleet;
  const struct bn_hosts_setup *s = f->setup;
  const struct bn_group_layout *groups = &f->intervals.layout;
  struct bn_plan plan = s->conf->plan;
  const bool is_paced =
      groups->n > 0 ? bn_statset_has_waiting(&groups->all) : s->conf->plan.rate > 0;
  const struct bn_assert_scope scope = {.metrics = bn_intervals_get_metrics(&f->intervals),
                                        .kinds = s->kinds,
                                        .paced = is_paced,
                                        .native = bn_policy_is_native(s->conf->policy),
                                        .statements = s->statements};

  plan.metrics = scope.metrics;
  if (bn_asserts_check(&r->asserts, &scope, err) != 0)
    return -1;
  return bn_reporters_check_plan(&r->reporters, &plan, err);
}

/* Queues a job that calls `say` with this report. */
static void run_report_queue_job(struct bn_run_report *r, struct bn_printer_job *job,
                                 void (*say)(struct bn_printer_job *))
{
  *job = (struct bn_printer_job){.arg = r, .say = say};
  bn_printer_put_job(&r->fleet->printer, job);
}

/* The functions run_report_print_* are jobs of the printer, and run in its thread. */
static void run_report_print_heading(struct bn_printer_job *job)
{
  struct bn_run_report *r = job->arg;

  bn_reporters_begin(&r->reporters, &r->facts);
  bn_reporters_starting(&r->reporters, &r->facts);
}

/* Returns what the user has asked for, for bn_merged_result_make(). */
static struct bn_merged_result_request run_report_get_request(const struct bn_fleet *f)
{
  return (struct bn_merged_result_request){.conf = f->setup->conf,
                                           .options = f->setup->options,
                                           .groups = &f->intervals.layout,
                                           .test = f->setup->test};
}

void bn_run_report_show_heading(struct bn_run_report *r)
{
  const struct bn_fleet *f = r->fleet;
  struct bn_merged_result_part *part = run_report_make_parts(f);
  const struct bn_merged_result_request request = run_report_get_request(f);

  bn_merged_result_make_facts(part, f->n, &request, &r->facts);
  r->facts.plan.metrics = bn_intervals_get_metrics(&f->intervals);
  free(part);
  run_report_queue_job(r, &r->begin, run_report_print_heading);
}

static void run_report_print_start(struct bn_printer_job *job)
{
  struct bn_run_report *r = job->arg;

  r->facts.start_ns = r->start.mono_ns;
  r->facts.start_wall_ns = r->start.wall_ns;
  bn_reporters_started(&r->reporters, &r->facts);
}

/* A copy of a view, which waits in the printer. */
struct queued_view {
  struct bn_printer_job job;
  struct bn_record record;
  struct bn_facts errors; /* of a checkpoint */
};

/* Shows a view to the reporters.  The failure of a reporter sets r->reporters.failed. */
static void run_report_print_view(struct bn_printer_job *job)
{
  struct queued_view *queued = (struct queued_view *)job;
  struct bn_run_report *r = job->arg;

  (void)bn_reporters_view(&r->reporters, &queued->record.view);
}

static void run_report_free_view(struct bn_printer_job *job)
{
  struct queued_view *queued = (struct queued_view *)job;

  bn_record_done(&queued->record);
  bn_facts_done(&queued->errors);
  free(queued);
}

/* Queues a copy of a view for the reporters if one of them wants views of its span.  A checkpoint
   has the facts about errors that are known by now. */
static void run_report_queue_view(struct bn_run_report *r, const struct bn_view *v)
{
  struct queued_view *queued;

  if (!bn_reporters_want(&r->reporters, v->span))
    return;
  queued = bn_alloc(1, sizeof *queued);
  bn_record_copy(&queued->record, v);
  if (v->span == BN_VIEW_CHECKPOINT) {
    bn_facts_add_errors(&queued->errors, &r->fleet->intervals.errors);
    queued->record.view.error_facts = &queued->errors;
  }
  queued->job =
      (struct bn_printer_job){.arg = r, .say = run_report_print_view, .done = run_report_free_view};
  bn_printer_offer_job(&r->fleet->printer, &queued->job);
}

/* Returns whether a host has begun its last events, so that its load is less than before.  A loss
   or an early end alone does not count, because it is a fault and not the end of the work. */
static bool run_report_is_host_done(const struct bn_fleet *f, size_t i)
{
  const struct bn_connection *c = &f->connection[i];
  const uint64_t n_finished = f->intervals.host[i].tick.view.events;
  const bool has_limit = c->work.events > 0;

  if (c->state == BN_CONNECTION_ENDED && !c->result.end.early)
    return true;
  /* Each thread may be executing one event. */
  return has_limit && n_finished + c->work.threads >= c->work.events;
}

/* Returns whether an assertion is about a rate, or a share of all events, that is lower because a
   host is done.  For a rate of a group, hosts of other groups do not count. */
static bool run_report_lacks_load(const struct bn_fleet *f, const struct bn_assert *a)
{
  const bool is_rate = a->field != NULL && bn_view_is_rate(a->field);
  const char *kind = bn_event_kinds_parse_part(a->part);
  const bool is_group_rate = is_rate && kind != NULL && bn_event_kinds_is_group(kind);
  const char *group = is_group_rate ? bn_event_kinds_bare_name(kind) : NULL;

  if (!is_rate && !bn_assert_is_share(a))
    return false;
  for (size_t i = 0; i < f->n; i++) {
    const bool counts = group == NULL || strcmp(group, f->connection[i].group) == 0;

    if (counts && run_report_is_host_done(f, i))
      return true;
  }
  return false;
}

/* Returns whether events could begin in an interval: the time is not over, the hosts were not told
   to stop, and one of them is alive and not done with its events. */
static bool run_report_is_under_load(const struct bn_fleet *f, const struct bn_view *interval)
{
  const uint64_t time_ns = f->setup->conf->plan.time_ns;
  const bool is_time_over = time_ns != 0 && interval->at_s * 1e9 >= (double)time_ns;

  if (f->stop != 0 || is_time_over)
    return false;
  for (size_t i = 0; i < f->n; i++)
    if (bn_connection_is_alive(&f->connection[i]) && !run_report_is_host_done(f, i))
      return true;
  return false;
}

/* Stops the hosts if an assertion has been violated for as long as --abort-on-assert says. */
static void run_report_judge_interval(struct bn_run_report *r, const struct bn_view *interval)
{
  const struct bn_view_rules rules = bn_reports_rules(r->fleet->setup->conf);
  const struct bn_assert *violated;

  if (r->asserts.patience_s <= 0 || !run_report_is_under_load(r->fleet, interval))
    return;
  for (size_t i = 0; i < r->asserts.n; i++)
    r->asserts.unjudged[i] = run_report_lacks_load(r->fleet, &r->asserts.asserts[i]);
  violated = bn_asserts_judge_second(&r->asserts, interval, &rules);
  if (violated == NULL)
    return;
  bn_fleet_stop(r->fleet, BN_FRAME_STOP_ORDER, bn_clock_mono());
  bn_printer_say(&r->fleet->printer,
                 "--assert=%s has been violated for %.15g s (--abort-on-assert): the run ends",
                 violated->text, r->fleet->setup->conf->raw.abort_on_assert_s);
}

/* Queues a sum of all hosts for the reporters, and judges it by the assertions if it is an
   interval.  Intervals that the user has not asked for are sent for the assertions alone. */
static void run_report_show_sum(void *arg, const struct bn_view *v)
{
  struct bn_run_report *r = arg;
  const bool is_interval = v->span == BN_VIEW_INTERVAL;
  const bool are_intervals_wanted = r->fleet->setup->conf->plan.interval_ns > 0;

  if (!is_interval || are_intervals_wanted)
    run_report_queue_view(r, v);
  if (is_interval)
    run_report_judge_interval(r, v);
}

void bn_run_report_show_start(struct bn_run_report *r)
{
  struct bn_fleet *f = r->fleet;
  const uint64_t warmup_ns = f->setup->conf->plan.warmup_ns;

  /* The sums are of the measurement, which begins after the warm-up.  The facts have the start of
     the hosts, before it (run_report_print_start()). */
  f->intervals.out = (struct bn_intervals_output){
      .rules = bn_reports_rules(f->setup->conf),
      .start = {.at_ns = f->start.mono_ns + warmup_ns, .wall_ns = f->start.wall_ns + warmup_ns},
      .show = run_report_show_sum,
      .arg = r};
  r->start = f->start;
  run_report_queue_job(r, &r->started, run_report_print_start);
}

void bn_run_report_show_intervals(struct bn_run_report *r)
{
  struct bn_err err = {0};
  int rc;

  if (r->fleet->phase != BN_FLEET_RUN)
    return;
  do {
    rc = bn_intervals_show_next(&r->fleet->intervals, &err);
    if (rc < 0)
      bn_fleet_fail(r->fleet, &err);
  } while (rc != 0);
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Returns whether the end of a host counts for that of the run.  It does not if a signal has
   stopped the run there, because that has failed the whole run (liveness_judge_end()). */
static bool run_report_end_counts(const struct bn_connection *c)
{
  return c->state == BN_CONNECTION_ENDED && c->result.end.reason != BN_END_SIGNAL;
}

/* Returns the status that the hosts whose ends count make together. */
static int run_report_merge_host_statuses(const struct bn_fleet *f)
{
  int status = BN_STATUS_OK;

  for (size_t i = 0; i < f->n; i++) {
    const struct bn_connection *c = &f->connection[i];
    /* If an order to stop came after the host had made its result, the process there has ended with
       the status of a signal, and that in the result counts. */
    const bool was_stopped_late = c->has_result && c->status > BN_STATUS_SIGNAL;
    const int host_status = was_stopped_late ? c->result.end.status : c->status;

    if (run_report_end_counts(c))
      status = bn_merge_join_status(status, host_status);
  }
  return status;
}

/* Returns why the controller has told the hosts to stop.  If there are several reasons, the first
   of these counts. */
static enum bn_end_reason run_report_find_stop_reason(const struct bn_run_report *r)
{
  const struct bn_fleet *f = r->fleet;

  if (f->signo != 0)
    return BN_END_SIGNAL;
  if (f->failed)
    return BN_END_FAILURE;
  if (r->end.timeout)
    return BN_END_TIMEOUT;
  if (atomic_load(&r->asserts.by) != NULL)
    return BN_END_ASSERTION;
  return f->script_exited ? BN_END_SCRIPT : BN_END_FAILURE;
}

/* Sets the end of a run that the controller has stopped.  If a script has ended it by os.exit(),
   the status is that of the hosts, because os.exit() has set it there. */
static void run_report_set_end_by_stop(struct bn_run_report *r)
{
  const struct bn_fleet *f = r->fleet;
  struct bn_end *end = &r->end;

  end->signo = f->signo;
  end->status = f->script_exited ? run_report_merge_host_statuses(f) : BN_STATUS_OK;
  if (end->timeout)
    end->status = bn_merge_join_status(end->status, BN_STATUS_TIMEOUT);
  if (end->signo != 0)
    end->status = BN_STATUS_SIGNAL + end->signo;
  end->reason = run_report_find_stop_reason(r);
}

/* Returns the reason of all results whose ends count, BN_END_UNKNOWN if they have different
   reasons, or `fallback` if there is no such result. */
static enum bn_end_reason run_report_join_reasons(const struct bn_fleet *f,
                                                  enum bn_end_reason fallback)
{
  enum bn_end_reason joint = fallback;
  bool has_reason = false;

  for (size_t i = 0; i < f->n; i++) {
    const struct bn_connection *c = &f->connection[i];
    const enum bn_end_reason reason = c->result.end.reason;

    if (!run_report_end_counts(c) || !c->has_result)
      continue;
    joint = has_reason && reason != joint ? BN_END_UNKNOWN : reason;
    has_reason = true;
  }
  return joint;
}

/* Sets the end of a run that was not stopped, from the ends of its hosts.  A signal that has
   stopped the run on one host is a failure of the whole run, which has got no signal. */
static void run_report_set_end_by_hosts(struct bn_run_report *r)
{
  struct bn_end *end = &r->end;

  if (end->reason == BN_END_SIGNAL)
    end->reason = BN_END_FAILURE;
  end->reason = run_report_join_reasons(r->fleet, end->reason);
  end->signo = 0;
  end->status = run_report_merge_host_statuses(r->fleet);
}

/* Sets how the run has ended, from the sum of the ends of its hosts in r->result.
   run_report_print_end() adds reports that fail and assertions that are violated. */
static void run_report_set_end(struct bn_run_report *r)
{
  r->end = r->result.end;
  if (r->fleet->stop != 0)
    run_report_set_end_by_stop(r);
  else
    run_report_set_end_by_hosts(r);
  r->end.failed |= r->fleet->failed;
}

/* Prints the losses of hosts whose results bn_merged_result_make() has dropped.  Other losses were
   printed when they happened: their `lost` is the text of the connection itself. */
static void run_report_log_dropped_parts(struct bn_fleet *f,
                                         const struct bn_merged_result_part *part)
{
  for (size_t i = 0; i < f->n; i++)
    if (part[i].member.lost != NULL && part[i].member.lost != f->connection[i].why.text)
      bn_printer_say(&f->printer, "%s: lost: %s", f->connection[i].name, part[i].member.lost);
}

/* Gives a reason to each host that was not waited for: it has no result, and was not lost. */
static void run_report_explain_missing_results(struct bn_fleet *f)
{
  for (size_t i = 0; i < f->n; i++) {
    struct bn_connection *c = &f->connection[i];

    if (!c->has_result && c->why.text[0] == '\0')
      (void)bn_err_set(&c->why, ETIMEDOUT, "it sent no result");
  }
}

/* Makes the result of all hosts and the end of the run.  If there is no result, the run has failed,
   and r->result is empty. */
static void run_report_sum_hosts(struct bn_run_report *r)
{
  struct bn_fleet *f = r->fleet;
  const struct bn_merged_result_request request = run_report_get_request(f);
  struct bn_merged_result_part *part;
  struct bn_err err = {0};

  bn_intervals_drop_counted(&f->intervals);
  run_report_explain_missing_results(f);
  part = run_report_make_parts(f);
  f->start.until_ns = bn_clock_mono();
  if (bn_merged_result_make(part, f->n, &f->start, &request, &r->result, &err) != 0) {
    bn_fleet_fail(f, &err);
    bn_result_done(&r->result);
  } else {
    run_report_log_dropped_parts(f, part);
    bn_merged_result_add_together(part, f->n, &f->intervals.together, &r->result.facts);
  }
  free(part);
  run_report_set_end(r);
}

/* Returns the exit status of a command, or of a run that has not begun: that of a signal of the
   user, or else that of a failure here together with those of the hosts. */
static int run_report_find_status(const struct bn_fleet *f)
{
  int status = f->failed ? BN_STATUS_FAILED : BN_STATUS_OK;

  if (f->signo != 0)
    return BN_STATUS_SIGNAL + f->signo;
  if (f->stop != 0) /* the statuses of the hosts only say that they were stopped */
    return status;
  for (size_t i = 0; i < f->n; i++)
    if (f->connection[i].state == BN_CONNECTION_ENDED)
      status = bn_merge_join_status(status, f->connection[i].status);
  return status;
}

/* Judges the total by the assertions, which count the unfinished events with their ages. */
static void run_report_judge_total(struct bn_run_report *r)
{
  const struct bn_view *v = &r->result.group[0].total.view;
  struct bn_view_rules rules = bn_reports_rules(r->fleet->setup->conf);

  rules.ages = v->ages;
  rules.oldest_ns = v->oldest_s > 0 ? (uint64_t)(v->oldest_s * 1e9) : 0;
  bn_asserts_judge_total(&r->asserts, v, &rules, &r->facts);
}

/* Returns what a group has counted in the whole run.  Without groups, all hosts have the group
   number 0. */
static struct bn_view_counts run_report_count_group(const struct bn_fleet *f, size_t group,
                                                    const struct bn_view *total)
{
  struct bn_view_counts counts = bn_view_count(total);

  /* The total has nothing from before the last checkpoint. */
  for (size_t i = 0; i < f->n; i++)
    if (f->connection[i].group_number == group)
      bn_view_counts_add(&counts, f->intervals.host[i].before);
  return counts;
}

/* Judges group i by its sum over all hosts: if no event has succeeded, logs that, and adds it to
   the exit status. */
static void run_report_judge_group(struct bn_run_report *r, size_t i, const struct bn_group *sum)
{
  struct bn_view_counts counts;

  if (!sum->has_total)
    return;
  counts = run_report_count_group(r->fleet, i, &sum->total.view);
  if (!bn_outcome_is_empty(&counts))
    return;
  bn_outcome_log_empty(&counts, sum->member != NULL ? sum->member->host : NULL);
  r->end.status = bn_merge_join_status(r->end.status, BN_STATUS_EMPTY);
}

/* Judges whether an event has succeeded in each group or, in a run without groups, on all hosts
   together.  The result begins with the sum of all hosts, and the sum of each group follows. */
static void run_report_judge_emptiness(struct bn_run_report *r)
{
  const struct bn_fleet *f = r->fleet;

  if (f->list.n == 0) /* the groups, which are processes here, have judged themselves */
    return;
  if (!bn_fleet_has_groups(f))
    run_report_judge_group(r, 0, &r->result.group[0]);
  for (size_t i = 0; i < f->groups->n; i++)
    run_report_judge_group(r, i, &r->result.group[1 + i]);
}

/* Prints the total, and adds to the exit status what only the sum of the hosts shows: assertions
   that are violated, and a run without an event. */
static void run_report_print_total(struct bn_run_report *r)
{
  struct bn_end *end = &r->end;
  struct bn_view *total = &r->result.group[0].total.view;
  const struct bn_group *parts = r->result.group + 1; /* they follow the sum of all hosts */
  const bool is_native = bn_policy_is_native(r->fleet->setup->conf->policy);
  /* A run that was cut short or has failed has another reason to be empty. */
  const bool may_be_empty = is_native && !end->early && !end->failed;

  /* The reporters have the address of r->facts.  The facts of the heading, of which they may have
     kept texts, live until bn_run_report_done(). */
  r->heading = r->facts;
  r->facts = r->result.facts;
  memset(&r->result.facts, 0, sizeof r->result.facts);
  run_report_judge_total(r);
  bn_reporters_ended(&r->reporters);
  (void)bn_reporters_total(&r->reporters, total, parts, r->result.n_groups - 1);
  if (!bn_asserts_log(&r->asserts, &r->facts, !is_native))
    end->status = bn_merge_join_status(end->status, BN_STATUS_VIOLATED);
  if (may_be_empty)
    run_report_judge_emptiness(r);
}

/* Prints the result, if there is one, and closes the reports.  A report that has failed fails the
   run.  bn_run_report_get_status() adds the failure of a report that fails while it is closed. */
static void run_report_print_end(struct bn_printer_job *job)
{
  struct bn_run_report *r = job->arg;
  struct bn_end *end = &r->end;

  if (r->result.n_groups > 0)
    run_report_print_total(r);
  end->failed |= r->reporters.failed || r->fleet->printer.dropped;
  if (end->failed)
    end->status = bn_merge_join_status(end->status, BN_STATUS_FAILED);
  bn_facts_add_logged(&r->facts);
  (void)bn_reporters_close(&r->reporters, end);
}

/* Fails a run that has not started because every host has ended with success before it: otherwise
   its status would be 0. */
static void run_report_check_start(struct bn_fleet *f)
{
  struct bn_err err = {0};

  if (!f->is_run || f->phase >= BN_FLEET_RUN || run_report_find_status(f) != BN_STATUS_OK)
    return;
  (void)bn_err_set(&err, 0, "the run has not started: bench ended before that %s",
                   bn_fleet_has_groups(f) ? "in every group" : "on every host");
  bn_fleet_fail(f, &err);
}

void bn_run_report_end(struct bn_run_report *r)
{
  struct bn_fleet *f = r->fleet;

  run_report_check_start(f); /* comes first: the status has its failure */
  r->end = (struct bn_end){.status = run_report_find_status(f)};
  r->end.failed = r->end.status != BN_STATUS_OK;
  if (!f->is_run)
    return;
  if (f->phase == BN_FLEET_RUN)
    run_report_sum_hosts(r); /* a run that has begun has the end of its hosts instead */
  run_report_queue_job(r, &r->ended, run_report_print_end);
}

void bn_run_report_name_journals(const struct bn_run_report *r)
{
  const struct bn_hosts_setup *s = r->fleet->setup;
  char journal[PATH_MAX];

  for (size_t i = 0; i < s->n_reporters; i++) {
    const struct bn_report_use *use = &s->reporters[i];
    size_t len;

    if (use->ops->journal == NULL || bn_file_is_stdout(use->path)) /* it has no journal */
      continue;
    len = (size_t)snprintf(journal, sizeof journal, "%s%s", use->path, use->ops->journal);
    if (len < sizeof journal && access(journal, F_OK) == 0)
      bn_log_at_once("'%s' is not complete; print what was measured with: bench report '%s'",
                     use->path, journal);
  }
}

int bn_run_report_get_status(const struct bn_run_report *r)
{
  if (r->reporters.failed || r->fleet->printer.dropped)
    return bn_merge_join_status(r->end.status, BN_STATUS_FAILED);
  return r->end.status;
}

void bn_run_report_done(struct bn_run_report *r)
{
  bn_reporters_done(&r->reporters);
  bn_result_done(&r->result);
  bn_facts_done(&r->facts);
  bn_facts_done(&r->heading);
}
