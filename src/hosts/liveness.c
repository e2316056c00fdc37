/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The deadlines of hosts, and what is said and done when one is lost. */
#include "hosts/liveness.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "engine/outcome.h"

/* How long a host may take to be connected. */
static const uint64_t connect_ns = 20 * BN_NSEC_PER_SEC;
/* How long a host may send nothing, although it is asked once a second. */
static const uint64_t silence_ns = 5 * BN_NSEC_PER_SEC;
/* How long a host may take to end in order, if the user has set no grace and events are short. */
static const uint64_t ending_ns = 10 * BN_NSEC_PER_SEC;
/* How long a host may take to end at once. */
static const uint64_t ending_at_once_ns = 2 * BN_NSEC_PER_SEC;
/* After the limit, the grace and the verification: a host that has not ended late_urge_ns later is
   told to end at once, and one that has not ended late_end_ns later is lost.  If its threads hang,
   a host ends by itself after a second, so the first time is longer than that. */
static const uint64_t late_urge_ns = 5 * BN_NSEC_PER_SEC / 4;
static const uint64_t late_end_ns = 2 * BN_NSEC_PER_SEC;
/* How much longer a host is waited for while its result comes over a slow network. */
static const uint64_t sending_ns = 60 * BN_NSEC_PER_SEC;

/* After the signal of a launcher, which kills all processes a second later: the hosts are told to
   end at once launcher_urge_ns later, and are not waited for launcher_end_ns later. */
static const uint64_t launcher_urge_ns = 3 * BN_NSEC_PER_SEC / 10;
static const uint64_t launcher_end_ns = 6 * BN_NSEC_PER_SEC / 10;

/* Returns the time from which no event begins on the hosts: that of the order to stop, or else the
   end of --time, or UINT64_MAX if there is neither.  An order to end at once does not count. */
static uint64_t liveness_get_limit(const struct bn_fleet *f)
{
  const struct bn_conf *conf = f->setup->conf;

  if (f->stop == BN_FRAME_STOP_ORDER)
    return f->stop_ns;
  if (f->phase != BN_FLEET_RUN || !f->is_run || conf->plan.time_ns == 0)
    return UINT64_MAX;
  return f->start.mono_ns + conf->plan.warmup_ns + conf->plan.time_ns;
}

/* What is known of the work that a host has done after the warm-up. */
struct progress {
  uint64_t events; /* which count for --events */
  double at_s;     /* when it had done them; 0: nothing is known */
};

/* Returns how many events count for --events.  Events that --db-max-tries has given up count. */
static uint64_t liveness_count_events(const struct bn_view *v)
{
  return v->events + v->failed_events;
}

/* Returns what a host has done by its total or, if there is none after the warm-up, by its last
   tick.  A tick counts events since the start.  A total counts events since the last checkpoint, so
   the events before the checkpoint are added. */
static struct progress liveness_find_progress(const struct bn_fleet *f,
                                              const struct bn_connection *c)
{
  const struct bn_result *result = &c->result;
  const struct bn_view *tick = bn_intervals_get_last_tick(&f->intervals, c->number);
  const struct bn_view *total = bn_result_total(result);

  if (total != NULL && !bn_result_ended_in_warmup(result)) {
    const struct bn_view_counts *before = &f->intervals.host[c->number].before;

    return (struct progress){.events = before->events + before->failed_events +
                                       liveness_count_events(total),
                             .at_s = total->at_s};
  }
  if (tick == NULL)
    return (struct progress){.at_s = 0};
  return (struct progress){.events = liveness_count_events(tick), .at_s = tick->at_s};
}

/* Writes how many events of its part of the limit a host has not done, or "" without a limit. */
static void liveness_format_missing_events(const struct bn_connection *c,
                                           const struct bn_work_split_total *total, uint64_t done,
                                           char *out, size_t size)
{
  const uint64_t missing = c->work.events > done ? c->work.events - done : 0;

  out[0] = '\0';
  if (total->events_per_session > 0)
    (void)snprintf(out, size, ", %" PRIu64 " events of --events-per-session=%" PRIu64, missing,
                   total->events_per_session);
  else if (total->events > 0)
    (void)snprintf(out, size, ", %" PRIu64 " of --events=%" PRIu64, missing, total->events);
}

/* Prints which part of the run the report lacks because a host was lost or has ended too early: the
   work after its last figures.  Prints nothing before the run. */
static void liveness_log_missing(struct bn_fleet *f, const struct bn_connection *c)
{
  const struct bn_group_work *all = &f->group_work[c->group_number];
  const uint64_t sessions = all->sessions > 0 ? all->sessions : f->sessions;
  char after[80] = "", events[80], rate[80] = "";
  struct progress progress;

  if (!f->is_run || f->phase < BN_FLEET_RUN)
    return;
  progress = liveness_find_progress(f, c);
  if (progress.at_s > 0)
    (void)snprintf(after, sizeof after, " after its first %.1f s", progress.at_s);
  liveness_format_missing_events(c, &all->total, progress.events, events, sizeof events);
  if (all->total.rate > 0)
    (void)snprintf(rate, sizeof rate, ", %.6g of --rate=%.6g", c->work.rate, all->total.rate);
  bn_printer_say(&f->printer, "%s: missing from the report%s: %u of %" PRIu64 " threads%s%s",
                 c->name, after, c->work.threads, sessions, events, rate);
}

/* Fails the run if a host has ended without success before it.  Fails another command than `run`
   that has not ended with success, and prints that unless the host was stopped because another one
   failed. */
static void liveness_judge_early_end(struct bn_fleet *f, const struct bn_connection *c)
{
  /* Such a command is complete, and has printed the violation. */
  const bool is_violation_only = !f->is_run && c->status == BN_STATUS_VIOLATED;

  if (c->status == BN_STATUS_OK || is_violation_only)
    return;
  f->failed = true;
  if (!f->is_run && f->stop == 0)
    bn_printer_say(&f->printer, "%s: the command '%s' failed there with status %d", c->name,
                   f->setup->command, c->status);
}

/* Fails the run because a host has ended too early: the host counts as lost, although it has a
   result.  Prints why bn_liveness_settle() stops the other hosts, or what the report lacks if they
   go on. */
static void liveness_fail_run(struct bn_fleet *f, const struct bn_connection *c, const char *reason)
{
  const bool aborts = f->setup->conf->raw.on_host_loss != BN_HOST_LOSS_CONTINUE;

  f->failed = true;
  if (f->stop != 0)
    return;
  if (aborts && !bn_fleet_have_reached(f, BN_CONNECTION_ENDED))
    bn_printer_say(&f->printer, "%s: %s; the other %s are stopped (--on-host-loss=abort)", c->name,
                   reason, bn_fleet_name_parts(f));
  else if (c->result.end.early)
    liveness_log_missing(f, c);
}

/* Stops all hosts after a script has called os.exit() on one of them, because os.exit() ends the
   whole run of a single process, too. */
static void liveness_stop_after_exit(struct bn_fleet *f, const struct bn_connection *c)
{
  if (!bn_fleet_have_reached(f, BN_CONNECTION_ENDED))
    bn_printer_say(&f->printer,
                   "%s: the script ended the run there by os.exit(); the other %s are stopped",
                   c->name, bn_fleet_name_parts(f));
  f->script_exited = true;
  bn_fleet_stop(f, BN_FRAME_STOP_ORDER, bn_clock_mono());
}

/* Judges the end of a host in the run, which has sent a result: fails the run, or stops all hosts
   after a script has called os.exit() there. */
static void liveness_judge_end(struct bn_fleet *f, const struct bn_connection *c)
{
  const struct bn_end *end = &c->result.end;
  /* Whatever status a script gives to os.exit(), even 1, is no failure. */
  const bool is_status_of_script = end->left && !end->failed;
  /* The user may allow that single threads fail: the others have reached the end of the run. */
  const bool has_run_through =
      f->group_work[c->group_number].on_thread_error == BN_THREAD_ERROR_CONTINUE &&
      end->reason != BN_END_FAILURE;

  if (c->status == BN_STATUS_FAILED && !is_status_of_script && !has_run_through)
    liveness_fail_run(f, c, "the run failed there");
  else if (f->stop == 0 && end->reason == BN_END_SIGNAL) /* also if its agent heard nothing */
    liveness_fail_run(f, c, "the run was stopped there");
  else if (f->stop == 0 && end->left && end->early)
    liveness_stop_after_exit(f, c);
}

/* Returns whether the user or a launcher has told the hosts to end at once, before any host was
   late. */
static bool liveness_must_end_at_once(const struct bn_fleet *f)
{
  return f->stop == BN_FRAME_STOP_NOW && !f->late;
}

/* Fails the run because a host was lost or has ended without the result that it owes, and prints
   that and what the report lacks.  A loss is not printed if the user or a launcher wants an end at
   once. */
static void liveness_fail_without_result(struct bn_fleet *f, struct bn_connection *c)
{
  f->failed = true;
  if (c->state == BN_CONNECTION_ENDED) {
    (void)bn_err_set(&c->why, EPROTO, "it sent no result");
    bn_printer_say(&f->printer, "%s: bench ended there with status %d and without a result",
                   c->name, c->status);
  } else if (!liveness_must_end_at_once(f)) {
    bn_printer_say(&f->printer, "%s: lost: %s", c->name, c->why.text);
  }
  liveness_log_missing(f, c);
}

/* If a host has ended or was lost since the last call, prints what has failed, and fails or stops
   the run for that.  A host whose run was started owes a result. */
static void liveness_settle_host(struct bn_fleet *f, struct bn_connection *c)
{
  const bool owes_result = f->is_run && f->phase == BN_FLEET_RUN;
  const bool is_settled = f->intervals.host[c->number].has_ended;

  if (bn_connection_is_alive(c) || is_settled)
    return;
  bn_intervals_end_host(&f->intervals, c->number);
  if (owes_result && f->intervals.n_checks > 0)
    bn_intervals_keep_result(&f->intervals, c->number, bn_connection_find_result(c));
  if (c->state == BN_CONNECTION_LOST || (owes_result && !c->has_result)) {
    liveness_fail_without_result(f, c);
    return;
  }
  if (owes_result)
    liveness_judge_end(f, c);
  else
    liveness_judge_early_end(f, c);
}

void bn_liveness_settle(struct bn_fleet *f)
{
  /* Before the start a run cannot go on without a host. */
  const bool goes_on =
      f->setup->conf->raw.on_host_loss == BN_HOST_LOSS_CONTINUE && f->phase == BN_FLEET_RUN;

  for (size_t i = 0; i < f->n; i++)
    liveness_settle_host(f, &f->connection[i]);
  if (f->failed && !goes_on)
    bn_fleet_stop(f, BN_FRAME_STOP_ORDER, bn_clock_mono());
}

/* Returns how long the hosts wait for events in flight after the limit: the grace of the user, or
   else three times the longest event, but at least ending_ns. */
static uint64_t liveness_get_grace(const struct bn_fleet *f)
{
  enum { GRACE_FACTOR = 3 };
  const struct bn_conf *conf = f->setup->conf;
  const uint64_t start_ns = f->start.mono_ns, limit_ns = liveness_get_limit(f);
  /* A stop may come before the start, which is set ahead. */
  const uint64_t run_ns = limit_ns > start_ns ? limit_ns - start_ns : 0;
  /* Hosts are not trusted: an event counts as no longer than from the start to the limit. */
  const uint64_t longest_ns = bn_clock_min(f->intervals.longest_ns, run_ns);

  if (f->is_run && f->phase < BN_FLEET_RUN) /* no event is in flight */
    return ending_ns;
  if (!conf->grace_auto)
    return conf->grace_ns;
  return longest_ns > ending_ns / GRACE_FACTOR ? GRACE_FACTOR * longest_ns : ending_ns;
}

/* Returns how long a host may ask its servers for --verify-commits after its last event.  It is
   shorter once the hosts were told to stop. */
static uint64_t liveness_get_verify_time(const struct bn_fleet *f)
{
  if (!f->is_run)
    return 0;
  return (f->stop != 0 ? f->setup->verify_hurry_s : f->setup->verify_s) * BN_NSEC_PER_SEC;
}

/* Returns whether the hosts decide how long they wait for events in flight (engine/grace.h).  Once
   they were told to stop, the controller decides. */
static bool liveness_leaves_grace_to_hosts(const struct bn_fleet *f)
{
  const struct bn_conf *conf = f->setup->conf;
  /* Built-in tests wait without a limit, and dialects for longer than the grace here. */
  const bool has_other_grace = f->setup->is_builtin || !bn_policy_is_native(conf->policy);

  return f->stop == 0 && conf->grace_auto && has_other_grace;
}

/* Returns the limit plus the grace, the time of the verification, and more_ns, or UINT64_MAX
   without a limit. */
static uint64_t liveness_add_to_limit(const struct bn_fleet *f, uint64_t more_ns)
{
  const uint64_t at_ns = liveness_get_limit(f);

  if (at_ns == UINT64_MAX || liveness_leaves_grace_to_hosts(f))
    return UINT64_MAX;
  return at_ns + liveness_get_grace(f) + liveness_get_verify_time(f) + more_ns;
}

/* Returns the time at which the phase has to be over for a host that was not told to stop, or
   UINT64_MAX if the phase has no limit. */
static uint64_t liveness_get_phase_deadline(const struct bn_fleet *f, const struct bn_connection *c)
{
  const uint64_t init_ns = f->group_work[c->group_number].init_timeout_ns;

  if (f->phase == BN_FLEET_CONNECT)
    return f->phase_ns + connect_ns;
  if (f->phase == BN_FLEET_OPEN && f->is_run && init_ns > 0)
    return f->phase_ns + init_ns + late_end_ns;
  if (f->phase == BN_FLEET_OPEN) /* there is no limit */
    return UINT64_MAX;
  if (f->phase == BN_FLEET_CLOCKS)
    return f->phase_ns + ending_ns;
  return liveness_add_to_limit(f, late_end_ns);
}

/* Returns the time after which a host that is still there is lost, or UINT64_MAX for none. */
static uint64_t liveness_get_deadline(const struct bn_fleet *f, const struct bn_connection *c)
{
  /* Hosts that were late have had a part of their time already. */
  const uint64_t end_at_once_ns = f->late ? late_end_ns - late_urge_ns : ending_at_once_ns;

  if (bn_fleet_is_urged(f))
    return f->stop_signal.first.at_ns + launcher_end_ns;
  if (f->stop == BN_FRAME_STOP_NOW)
    return f->stop_ns + end_at_once_ns + liveness_get_verify_time(f);
  if (f->stop == BN_FRAME_STOP_ORDER)
    return liveness_add_to_limit(f, late_end_ns);
  return liveness_get_phase_deadline(f, c);
}

/* Returns whether the host sends its result now, and gets time for that.  If the user or a launcher
   wants an end at once, no host gets it. */
static bool liveness_waits_for_result(const struct bn_fleet *f, const struct bn_connection *c,
                                      uint64_t now_ns)
{
  return bn_connection_is_sending(c, now_ns) && !bn_fleet_is_urged(f) &&
         !liveness_must_end_at_once(f);
}

/* Prints that hosts are told to end at once: those that have not ended by now, but for hosts that
   are waited for because of their results.  Returns their number. */
static size_t liveness_log_late_hosts(struct bn_fleet *f, uint64_t now_ns)
{
  const double grace_s = (double)(liveness_get_grace(f) + liveness_get_verify_time(f)) * 1e-9;
  const char *limit = f->stop != 0 ? "it was told to end" : "the time limit";
  size_t n_late = 0;

  for (size_t i = 0; i < f->n; i++) {
    const struct bn_connection *c = &f->connection[i];

    if (!bn_connection_is_alive(c) || liveness_waits_for_result(f, c, now_ns))
      continue;
    n_late++;
    bn_printer_say(&f->printer,
                   "%s: it has not ended %.1f s after %s (--time-grace): ending it at once",
                   c->name, grace_s, limit);
  }
  return n_late;
}

/* Tells all hosts to end at once if the signal of a launcher leaves no more time, or if some hosts
   have not ended late_urge_ns after the limit.  A host that is only slow still sends a result then,
   in which the events in flight are unfinished. */
static void liveness_urge_late_hosts(struct bn_fleet *f, uint64_t now_ns)
{
  if (bn_fleet_is_urged(f) && now_ns > f->stop_signal.first.at_ns + launcher_urge_ns)
    bn_fleet_stop(f, BN_FRAME_STOP_NOW, now_ns);
  if (f->stop == BN_FRAME_STOP_NOW || now_ns <= liveness_add_to_limit(f, late_urge_ns))
    return;
  if (liveness_log_late_hosts(f, now_ns) == 0)
    return;
  f->failed = f->late = true;
  bn_fleet_stop(f, BN_FRAME_STOP_NOW, now_ns);
}

/* Returns whether a host has sent nothing for silence_ns although it was asked that long ago. */
static bool liveness_is_silent(const struct bn_connection *c, uint64_t now_ns)
{
  /* No PING is sent while other frames wait for the host to read them. */
  const uint64_t asked_ns = bn_pipe_has_queued(&c->link.to) ? c->link.taken_ns : c->ping_ns;
  const bool was_asked = asked_ns != 0 && now_ns > asked_ns + silence_ns;
  const bool was_heard = now_ns <= c->link.heard_ns + silence_ns;

  return c->state > BN_CONNECTION_CONNECTING && was_asked && !was_heard;
}

/* Returns whether the phase still waits for this host.  In the run, and after an order to stop, it
   waits for all hosts: bn_connection_lose() leaves alone those that have ended. */
static bool liveness_is_behind(const struct bn_fleet *f, const struct bn_connection *c)
{
  if (f->stop != 0 || f->phase == BN_FLEET_RUN)
    return true;
  if (f->phase == BN_FLEET_CONNECT)
    return c->state < BN_CONNECTION_OPENING;
  if (f->phase == BN_FLEET_OPEN)
    return c->state < BN_CONNECTION_READY;
  return c->clock_sync.exchanges < BN_CLOCK_SYNC_FIRST;
}

/* Returns why a host that is late in this phase is lost, as a sentence about the host. */
static const char *liveness_explain_lateness(const struct bn_fleet *f,
                                             const struct bn_connection *c)
{
  static const char *const reasons[] = {
      [BN_FLEET_CONNECT] = ("bench has not answered there in time; does the shell "
                            "connect without a question (--hosts-shell)?"),
      [BN_FLEET_OPEN] = "its threads were not ready in time (--thread-init-timeout)",
      [BN_FLEET_CLOCKS] = "it did not answer in time when clocks were compared",
      [BN_FLEET_RUN] = "it has not ended in time"};

  if (f->stop != 0)
    return reasons[BN_FLEET_RUN];
  if (f->phase == BN_FLEET_CONNECT && c->rank >= 0)
    return "its agent has not answered in time; standard error has the messages of this rank";
  return reasons[f->phase];
}

/* Returns whether a host is to be asked for a sign of life, as it is each second from its first
   answer to its end.  While its clock is compared, controller_compare_clocks() sends the PINGs. */
static bool liveness_needs_ping(const struct bn_fleet *f, const struct bn_connection *c,
                                uint64_t now_ns)
{
  const bool has_answered = c->state > BN_CONNECTION_CONNECTING;
  const bool compares_clock =
      f->phase == BN_FLEET_CLOCKS && c->clock_sync.exchanges < BN_CLOCK_SYNC_FIRST;
  const bool is_due = now_ns >= c->pinged_ns + BN_NSEC_PER_SEC;

  return has_answered && bn_connection_is_alive(c) && !compares_clock && is_due;
}

/* Returns whether the phase still waits for a host after the deadline until_ns, so that the host is
   lost.  A host that sends its result gets sending_ns more. */
static bool liveness_is_too_late(const struct bn_fleet *f, const struct bn_connection *c,
                                 uint64_t until_ns, uint64_t now_ns)
{
  if (now_ns <= until_ns || !liveness_is_behind(f, c))
    return false;
  return !liveness_waits_for_result(f, c, now_ns) || now_ns - until_ns > sending_ns;
}

void bn_liveness_check(struct bn_fleet *f, uint64_t now_ns)
{
  liveness_urge_late_hosts(f, now_ns);
  for (size_t i = 0; i < f->n; i++) {
    struct bn_connection *c = &f->connection[i];

    bn_connection_check_end(c, now_ns);
    if (liveness_is_too_late(f, c, liveness_get_deadline(f, c), now_ns))
      bn_connection_lose(c, "%s", liveness_explain_lateness(f, c));
    if (liveness_is_silent(c, now_ns))
      bn_connection_lose(c, "it has sent nothing for %.0f s", (double)silence_ns * 1e-9);
    if (liveness_needs_ping(f, c, now_ns))
      bn_connection_send_ping(c);
  }
}
