/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Passes requests of sessions on to the parts of the run. */
#include "engine/sessions.h"

#include <stdio.h>

#include "base/log.h"
#include "base/wait.h"
#include "engine/event.h"
#include "engine/limits.h"
#include "engine/loop.h"

/* The functions of struct bn_services, which api/session.h describes.  Their argument `run_parts`
   is bn_services.of, a struct bn_run_parts. */

static void services_set_kind(void *run_parts, enum bn_kind kind)
{
  const struct bn_run_parts *p = run_parts;

  bn_reports_set_kind(p->reports, kind);
}

static void services_add_fact(void *run_parts, const char *section, const char *key,
                              const char *text)
{
  const struct bn_run_parts *p = run_parts;

  bn_reports_set_fact(p->reports, section, key, text);
}

/* Counts one occurrence of a label in a labelled count of the workload's metrics. */
static bool services_count_label(void *run_parts, unsigned index, const char *label)
{
  const struct bn_run_parts *p = run_parts;

  return bn_labels_count(p->load->stats.labels[index], label, 1);
}

/* Ends the run for a script that ends the process.  Returns false if no run is measured: the caller
   then ends the process. */
static bool services_leave(void *run_parts, int status)
{
  const struct bn_run_parts *p = run_parts;

  if (!bn_outcome_has(p->outcome, BN_OUTCOME_OPENED))
    return false;
  bn_threads_end(p->threads, BN_CAUSE_EXIT, status);
  return true;
}

static void services_fail(void *run_parts)
{
  const struct bn_run_parts *p = run_parts;

  bn_threads_end(p->threads, BN_CAUSE_FAILED, 0);
}

/* Records that a condition of a script is violated (is_violated), or could not be checked. */
static void services_judge(void *run_parts, bool is_violated)
{
  const struct bn_run_parts *p = run_parts;

  bn_outcome_set(p->outcome, is_violated ? BN_OUTCOME_VIOLATED : BN_OUTCOME_UNCHECKED);
}

static void services_prove(void *run_parts, const struct bn_proof *proof)
{
  const struct bn_run_parts *p = run_parts;

  if (proof->unchecked > 0)
    bn_outcome_set(p->outcome, BN_OUTCOME_UNCHECKED);
  bn_reports_prove(p->reports, proof);
}

/* Returns the seconds since the measurement began: below 0 in the warm-up, 0 before the start. */
static double services_now_s(const struct bn_run_parts *p)
{
  struct bn_times times = {.start_ns = 0};

  if (!bn_threads_get_times(p->threads, &times))
    return 0;
  return ((double)bn_clock_mono() - (double)times.measure_ns) * 1e-9;
}

/* Logs that a thread has failed while others go on, for the first failure of each kind. */
static void services_log_failure(const struct bn_run_parts *p, unsigned number, double at_s)
{
  const unsigned n = p->threads->n;
  const unsigned n_remaining = n - bn_threads_count_failed(p->threads);
  char when[48] = "in the warm-up";

  if (at_s >= 0)
    (void)snprintf(when, sizeof when, "%.3f s after the measurement began", at_s);
  bn_log_stderr("thread %u failed %s; %u of %u threads continue (--on-thread-error=continue)",
                number, when, n_remaining, n);
}

/* Ends the run, because the session has failed.  If the other threads go on, ends the session alone
   and records its failure; the first failure of each kind is also logged. */
static void services_fail_session(struct bn_session *s, const char *kind, const char *text)
{
  const struct bn_run_parts *p = s->services->of;
  const double at_s = services_now_s(p);

  /* Once the run has failed, sessions close their files, and the limit cannot be seen any more. */
  if (!bn_outcome_has(p->threads->outcome, BN_OUTCOME_FAILED))
    bn_limits_report_files(p->threads->n);
  if (!bn_threads_fail(p->threads, s->id))
    return;
  bn_event_stop(s);
  if (bn_reports_add_failure(p->reports, kind, text, at_s))
    services_log_failure(p, s->number, at_s);
}

static const struct bn_wait process_end = {"the end of the process", BN_BOUND_LEFT_BEHIND};

/* Parks a worker whose script does not end.  The run ends without its workers. */
__attribute__((noreturn)) static void services_stay_behind(void *run_parts)
{
  const struct bn_run_parts *p = run_parts;

  bn_threads_end(p->threads, BN_CAUSE_ABANDONED, 0);
  bn_wait_park(&process_end);
}

/* The main thread's session runs commands alone, so that it waits for no other session. */
static bool services_await_barrier(struct bn_session *s)
{
  const struct bn_run_parts *p = s->services->of;

  if (s == s->services->main)
    return !bn_session_over(s);
  return bn_threads_await_barrier(p->threads);
}

/* A session that shares its worker lets the other sessions run meanwhile. */
static void services_pause_session(struct bn_session *s, uint64_t until_ns)
{
  const struct bn_run_parts *p = s->services->of;
  const uint64_t end_ns = bn_clock_min(until_ns, bn_session_deadline(s));

  if (s->task != NULL)
    bn_task_pause(s->task, end_ns);
  else
    bn_threads_pause(p->threads, end_ns);
}

static bool services_is_in_call(const struct bn_session *s)
{
  return s->task->fiber != NULL;
}

static void services_set_interrupt(struct bn_session *s, void (*fn)(void *arg), void *arg)
{
  const struct bn_run_parts *p = s->services->of;

  bn_interrupt_set(p->interrupt, s, fn, arg);
}

void bn_services_bind(struct bn_services *out, struct bn_run_parts *parts,
                      const struct bn_sessions *sessions, const struct bn_workload *ops)
{
  *out = (struct bn_services){
      .of = parts,
      .conf = parts->conf,
      .metrics = ops->metrics,
      .main = bn_sessions_main(sessions),
      .reporting = bn_sessions_reporting(sessions),
      .unique = &parts->load->unique,
      .sessions = sessions->n_all_hosts,
      .set_kind = services_set_kind,
      .fact = services_add_fact,
      .count_label = services_count_label,
      .leave = services_leave,
      .fail = services_fail,
      .judge = services_judge,
      .prove = services_prove,
      .fail_session = services_fail_session,
      .stay_behind = services_stay_behind,
      .barrier = services_await_barrier,
      .in_call = services_is_in_call,
      .pause = services_pause_session,
      .set_interrupt = services_set_interrupt,
      .counted_events = bn_event_get_counted,
  };
}
