/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The deadlines of hosts, and what is said and done when one is lost. */
#include "hosts/liveness.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "engine/outcome.h"

/* The time that a host may take to be connected. */
static const uint64_t connect_ns = 20 * BN_NSEC_PER_SEC;
/* To send anything at all, while it is asked once a second. */
static const uint64_t silence_ns = 5 * BN_NSEC_PER_SEC;
/* To end in order, if the user has set no grace; and to end at once. */
static const uint64_t ending_ns = 10 * BN_NSEC_PER_SEC;
static const uint64_t leaving_ns = 2 * BN_NSEC_PER_SEC;
/* Beyond the time limit and the time grace: to end by itself, which takes a second where threads
   hang, and to end after it was told to at once because it had not. */
static const uint64_t urge_ns = 5 * BN_NSEC_PER_SEC / 4;
static const uint64_t late_ns = 2 * BN_NSEC_PER_SEC;
/* Beyond that, while its result comes over a slow network. */
static const uint64_t sending_ns = 60 * BN_NSEC_PER_SEC;

/* After the signal of a launcher, which ends all processes a second later: until the hosts are told
   to end at once, and until they are not waited for. */
static const uint64_t launcher_urge_ns = 3 * BN_NSEC_PER_SEC / 10;
static const uint64_t launcher_end_ns = 6 * BN_NSEC_PER_SEC / 10;

/* Returns the time from which no event begins on the hosts, or UINT64_MAX if that is not known. */
static uint64_t liveness_limit(const struct bn_fleet *f)
{
  const struct bn_conf *conf = f->setup->conf;

  if (f->stop == BN_FRAME_STOP_ORDER)
    return f->stop_ns;
  if (f->phase != BN_FLEET_RUN || !f->is_run || conf->plan.time_ns == 0)
    return UINT64_MAX;
  return f->start.mono_ns + conf->plan.warmup_ns + conf->plan.time_ns;
}

/* The events of a host after the warm-up, as far as they are known. */
struct done {
  uint64_t events; /* of --events: those that --db-max-tries has given up count too */
  double at_s;     /* 0: nothing is known */
};

static uint64_t liveness_count_events(const struct bn_view *v)
{
  return v->events + v->failed_events;
}

static bool liveness_is_of_warmup(const struct bn_fleet *f, const struct bn_result *r)
{
  return r->group[0].total.delta.at_ns < r->facts.start_ns + f->setup->conf->plan.warmup_ns;
}

/* Returns the events of a host.  A tick counts from the start on, a total from the last checkpoint
   on. */
static struct done liveness_events_done(const struct bn_fleet *f, const struct bn_connection *c)
{
  const struct bn_result *result = &c->result;
  const struct bn_view *tick = bn_intervals_last(&f->intervals, c->number);
  const bool has_total = c->has_result && result->n_groups > 0 && result->group[0].has_total;
  struct done d = {.events = tick != NULL ? liveness_count_events(tick) : 0,
                   .at_s = tick != NULL ? tick->at_s : 0};

  if (has_total && !liveness_is_of_warmup(f, result)) {
    const struct bn_view *total = &result->group[0].total.view;

    d.events = f->intervals.host[c->number].before_check + liveness_count_events(total);
    d.at_s = total->at_s;
  }
  return d;
}

/* Writes how many events of the limit a host has not done; "": there is no limit. */
static void liveness_format_missing_events(const struct bn_connection *c,
                                           const struct bn_conf *conf, uint64_t done, char *out,
                                           size_t size)
{
  const uint64_t missing = c->work.events > done ? c->work.events - done : 0;

  if (conf->raw.events_per_session > 0)
    (void)snprintf(out, size, ", %" PRIu64 " events of --events-per-session=%" PRId64, missing,
                   conf->raw.events_per_session);
  else if (conf->plan.events > 0)
    (void)snprintf(out, size, ", %" PRIu64 " of --events=%" PRIu64, missing, conf->plan.events);
}

/* Prints which part of the run the report lacks after a host was lost or ended too early: its work
   after the last figures that it has sent, which are in the report. */
static void liveness_log_missing(struct bn_fleet *f, const struct bn_connection *c)
{
  const struct bn_conf *conf = f->setup->conf;
  char after[80] = "", events[80] = "", rate[80] = "";
  struct done done;

  if (!f->is_run || f->phase < BN_FLEET_RUN)
    return;
  done = liveness_events_done(f, c);
  if (done.at_s > 0)
    (void)snprintf(after, sizeof after, " after its first %.1f s", done.at_s);
  liveness_format_missing_events(c, conf, done.events, events, sizeof events);
  if (conf->raw.rate > 0)
    (void)snprintf(rate, sizeof rate, ", %.6g of --rate=%.6g", c->work.rate, conf->raw.rate);
  bn_printer_say(&f->printer, "%s: missing from the report%s: %u of %" PRIu64 " threads%s%s",
                 c->name, after, c->work.threads, f->sessions, events, rate);
}

/* Returns whether a host has ended before the run without success.  A command that has found data
   not as it should be is complete, and has said so. */
static bool liveness_failed_early(const struct bn_fleet *f, const struct bn_connection *c)
{
  return c->status != BN_STATUS_OK && f->phase < BN_FLEET_RUN &&
         (f->is_run || c->status != BN_STATUS_VIOLATED);
}

/* Prints the failure of a command, unless the host was stopped because another one failed. */
static void liveness_log_command_failure(struct bn_fleet *f, const struct bn_connection *c)
{
  if (!f->is_run && liveness_failed_early(f, c) && f->stop == 0)
    bn_printer_say(&f->printer, "%s: the command '%s' failed there with status %d", c->name,
                   f->setup->command, c->status);
}

/* Returns whether threads of a host may have failed, but the others have reached the end of the
   run. */
static bool liveness_threads_came_through(const struct bn_fleet *f, const struct bn_connection *c)
{
  return f->setup->conf->raw.on_thread_error == BN_THREAD_ERROR_CONTINUE &&
         c->result.end.reason != BN_END_FAILURE;
}

/* Notes that the run of a host has ended too early.  It counts like a host that is lost, although
   it has a result. */
static void liveness_note_failure(struct bn_fleet *f, const struct bn_connection *c,
                                  const char *why)
{
  const bool aborts = f->setup->conf->raw.on_host_loss != BN_HOST_LOSS_CONTINUE;

  f->failed = true;
  if (f->stop == 0 && aborts && !bn_fleet_are(f, BN_CONNECTION_ENDED))
    bn_printer_say(&f->printer, "%s: %s; the other %s are stopped (--on-host-loss=abort)", c->name,
                   why, bn_fleet_parts(f));
  else if (f->stop == 0 && c->result.end.early)
    liveness_log_missing(f, c);
}

/* Ends the run of all hosts, because a script has called os.exit(), which ends the run of one
   process too. */
static void liveness_note_exit(struct bn_fleet *f, const struct bn_connection *c)
{
  if (!bn_fleet_are(f, BN_CONNECTION_ENDED))
    bn_printer_say(&f->printer,
                   "%s: the script ended the run there by os.exit(); the other %s are stopped",
                   c->name, bn_fleet_parts(f));
  f->left = true;
  bn_fleet_stop(f, BN_FRAME_STOP_ORDER, bn_clock_mono());
}

/* Draws the consequences of a run that has ended on a host with a result: a reason that ends one
   process ends all hosts.  An agent that hears nothing from here ends its run as a signal does, so
   that end counts as a failure of the host. */
static void liveness_note_end(struct bn_fleet *f, const struct bn_connection *c)
{
  const struct bn_end *end = &c->result.end;

  if (!f->is_run || f->phase < BN_FLEET_RUN)
    return;
  if (c->status == BN_STATUS_FAILED && (end->failed || !end->left) &&
      !liveness_threads_came_through(f, c))
    liveness_note_failure(f, c, "the run failed there");
  else if (f->stop == 0 && end->reason == BN_END_SIGNAL)
    liveness_note_failure(f, c, "the run was stopped there");
  else if (f->stop == 0 && end->left && end->early)
    liveness_note_exit(f, c);
}

/* Draws the consequences, once, for a host that has ended or was lost.  Only a run that was started
   owes a result.  The loss of a host that the user wanted to end at once is not reported. */
static void liveness_settle_host(struct bn_fleet *f, struct bn_connection *c)
{
  const bool owes_result = f->is_run && f->phase == BN_FLEET_RUN;

  if (f->intervals.host[c->number].over || bn_connection_is_there(c))
    return;
  bn_intervals_end(&f->intervals, c->number);
  if (c->state == BN_CONNECTION_ENDED && (c->has_result || !owes_result)) {
    f->failed |= liveness_failed_early(f, c);
    liveness_log_command_failure(f, c);
    liveness_note_end(f, c);
    return;
  }
  f->failed = true;
  if (c->state == BN_CONNECTION_ENDED) {
    (void)bn_err_set(&c->why, EPROTO, "it sent no result");
    bn_printer_say(&f->printer, "%s: bench ended there with status %d and without a result",
                   c->name, c->status);
  } else if (f->stop != BN_FRAME_STOP_NOW || f->late) {
    bn_printer_say(&f->printer, "%s: lost: %s", c->name, c->why.text);
  }
  liveness_log_missing(f, c);
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

/* Returns the grace of the user, or three times the longest event, as the hosts use it.  A host
   may say anything: an event cannot be longer than what was before the limit. */
static uint64_t liveness_grace(const struct bn_fleet *f)
{
  const struct bn_conf *conf = f->setup->conf;
  const uint64_t most_ns = liveness_limit(f) - f->start.mono_ns;
  uint64_t longest_ns = f->intervals.longest_ns;

  if (f->is_run && f->phase < BN_FLEET_RUN) /* no event is in flight */
    return ending_ns;
  if (!conf->grace_auto)
    return conf->grace_ns;
  if (longest_ns > most_ns)
    longest_ns = most_ns;
  return longest_ns > ending_ns / 3 ? 3 * longest_ns : ending_ns;
}

/* Returns the time for --verify-commits, with which a host asks its servers after its last event. A
   host that was told to end does not ask for long. */
static uint64_t liveness_verify_time(const struct bn_fleet *f)
{
  if (!f->is_run)
    return 0;
  return (f->stop != 0 ? f->setup->verify_hurry_s : f->setup->verify_s) * BN_NSEC_PER_SEC;
}

/* Returns more_ns after the limit, the grace and the verification, or UINT64_MAX without a limit.
 */
static uint64_t liveness_limit_and(const struct bn_fleet *f, uint64_t more_ns)
{
  const uint64_t at_ns = liveness_limit(f);

  if (at_ns == UINT64_MAX)
    return UINT64_MAX;
  return at_ns + liveness_grace(f) + liveness_verify_time(f) + more_ns;
}

/* Returns the time after which a host that is still there is late, or UINT64_MAX if that is not
   known. */
static uint64_t liveness_deadline(const struct bn_fleet *f)
{
  const struct bn_conf *conf = f->setup->conf;

  if (bn_fleet_is_urged(f))
    return f->stop_signal.first_ns + launcher_end_ns;
  if (f->stop == BN_FRAME_STOP_NOW)
    return f->stop_ns + (f->late ? late_ns - urge_ns : leaving_ns) + liveness_verify_time(f);
  if (f->stop == BN_FRAME_STOP_ORDER || f->phase == BN_FLEET_RUN)
    return liveness_limit_and(f, late_ns);
  switch (f->phase) {
  case BN_FLEET_CONNECT:
    return f->phase_ns + connect_ns;
  case BN_FLEET_OPEN:
    if (f->is_run && conf->init_timeout_ns > 0)
      return f->phase_ns + conf->init_timeout_ns + late_ns;
    break;
  case BN_FLEET_CLOCKS:
    return f->phase_ns + ending_ns;
  case BN_FLEET_RUN:
    break;
  }
  return UINT64_MAX;
}

/* Returns whether a result that is on its way is waited for, which it is not if the user wants an
   end at once. */
static bool liveness_may_send_result(const struct bn_fleet *f, const struct bn_connection *c,
                                     uint64_t now_ns)
{
  return bn_connection_is_sending(c, now_ns) && !bn_fleet_is_urged(f) &&
         (f->stop != BN_FRAME_STOP_NOW || f->late);
}

/* Returns whether the host is there and does not send its result yet. */
static bool liveness_is_running(const struct bn_fleet *f, const struct bn_connection *c,
                                uint64_t now_ns)
{
  return bn_connection_is_there(c) && !liveness_may_send_result(f, c, now_ns);
}

static bool liveness_any_is_running(const struct bn_fleet *f, uint64_t now_ns)
{
  for (size_t i = 0; i < f->n; i++)
    if (liveness_is_running(f, &f->connection[i], now_ns))
      return true;
  return false;
}

/* Tells all hosts to end at once if one is late.  A host that only takes long still has a result
   then, in which the events in flight are unfinished.  The message names the late hosts, which are
   the cause of that. */
static void liveness_urge_late_hosts(struct bn_fleet *f, uint64_t now_ns)
{
  const double grace_s = (double)(liveness_grace(f) + liveness_verify_time(f)) * 1e-9;

  if (bn_fleet_is_urged(f) && now_ns > f->stop_signal.first_ns + launcher_urge_ns)
    bn_fleet_stop(f, BN_FRAME_STOP_NOW, now_ns);
  if (f->stop == BN_FRAME_STOP_NOW || now_ns <= liveness_limit_and(f, urge_ns) ||
      !liveness_any_is_running(f, now_ns))
    return;
  for (size_t i = 0; i < f->n; i++)
    if (liveness_is_running(f, &f->connection[i], now_ns))
      bn_printer_say(
          &f->printer, "%s: it has not ended %.1f s after %s (--time-grace): ending it at once",
          f->connection[i].name, grace_s, f->stop != 0 ? "it was told to end" : "the time limit");
  f->failed = f->late = true;
  bn_fleet_stop(f, BN_FRAME_STOP_NOW, now_ns);
}

/* Returns whether a host has not answered a ping.  While files are on their way to it, it is not
   asked, but it takes some of them. */
static bool liveness_is_silent(const struct bn_connection *c, uint64_t now_ns)
{
  const uint64_t asked_ns = bn_pipe_waits(&c->link.to) ? c->link.taken_ns : c->ping_ns;

  return c->state > BN_CONNECTION_CONNECTING && asked_ns != 0 && now_ns > asked_ns + silence_ns &&
         now_ns > c->link.heard_ns + silence_ns;
}

/* Returns whether the phase waits for this host: a host that is as far as it should be is not the
   one that is late.  After an order to stop, all hosts are waited for.  A host that has ended or is
   lost is behind in no phase, as these states come last; to lose it has no effect. */
static bool liveness_is_behind(const struct bn_fleet *f, const struct bn_connection *c)
{
  if (f->stop != 0)
    return true;
  switch (f->phase) {
  case BN_FLEET_CONNECT:
    return c->state < BN_CONNECTION_OPENING;
  case BN_FLEET_OPEN:
    return c->state < BN_CONNECTION_READY;
  case BN_FLEET_CLOCKS:
    return c->clock_sync.exchanges < BN_CLOCK_SYNC_FIRST;
  case BN_FLEET_RUN:
    break;
  }
  return true;
}

/* Returns why a host that is late in this phase is lost. */
static const char *liveness_lateness(const struct bn_fleet *f, const struct bn_connection *c)
{
  static const char *const late[] = {
      [BN_FLEET_CONNECT] = ("bench has not answered there in time; does the shell "
                            "connect without a question (--hosts-shell)?"),
      [BN_FLEET_OPEN] = "its threads were not ready in time (--thread-init-timeout)",
      [BN_FLEET_CLOCKS] = "it did not answer in time when clocks were compared",
      [BN_FLEET_RUN] = "it has not ended in time"};

  if (f->stop == 0 && f->phase == BN_FLEET_CONNECT && c->rank >= 0)
    return "its agent has not answered in time; standard error has the messages of this rank";
  return f->stop != 0 ? late[BN_FLEET_RUN] : late[f->phase];
}

/* Returns whether a host that has answered once is to be asked for a sign of life, as it is each
   second.  While clocks are compared, one exchange follows the other anyway. */
static bool liveness_needs_ping(const struct bn_fleet *f, const struct bn_connection *c,
                                uint64_t now_ns)
{
  const bool compares_clock =
      f->phase == BN_FLEET_CLOCKS && c->clock_sync.exchanges < BN_CLOCK_SYNC_FIRST;

  return c->state > BN_CONNECTION_CONNECTING && bn_connection_is_there(c) && !compares_clock &&
         now_ns >= c->pinged_ns + BN_NSEC_PER_SEC;
}

/* Returns whether a host that the phase waits for is to be given up, after the deadline.  A result
   that is on its way gets more time. */
static bool liveness_is_too_late(const struct bn_fleet *f, const struct bn_connection *c,
                                 uint64_t until_ns, uint64_t now_ns)
{
  if (now_ns <= until_ns || !liveness_is_behind(f, c))
    return false;
  return !liveness_may_send_result(f, c, now_ns) || now_ns - until_ns > sending_ns;
}

void bn_liveness_check(struct bn_fleet *f, uint64_t now_ns)
{
  uint64_t until_ns;

  liveness_urge_late_hosts(f, now_ns);
  until_ns = liveness_deadline(f);
  for (size_t i = 0; i < f->n; i++) {
    struct bn_connection *c = &f->connection[i];

    bn_connection_check_end(c, now_ns);
    if (liveness_is_too_late(f, c, until_ns, now_ns))
      bn_connection_lose(c, "%s", liveness_lateness(f, c));
    if (liveness_is_silent(c, now_ns))
      bn_connection_lose(c, "it has sent nothing for %.0f s", (double)silence_ns * 1e-9);
    if (liveness_needs_ping(f, c, now_ns))
      bn_connection_ping(c);
  }
}
