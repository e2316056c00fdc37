/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits for what hosts and the user do, and takes the run from one phase to the next. */
#include "hosts/controller.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "engine/outcome.h"
#include "hosts/fleet.h"
#include "hosts/liveness.h"
#include "hosts/run_report.h"

/* How long the processes of hosts may take to end after bench has ended there. */
static const uint64_t leaving_ns = 5 * BN_NSEC_PER_SEC;
/* How long the processes of lost hosts, and processes that another process has left behind, may
   print. */
static const uint64_t talking_ns = 2 * BN_NSEC_PER_SEC;
/* After the second signal: how long the processes may take to end, and a report may wait for its
   reader. */
static const uint64_t farewell_ns = BN_NSEC_PER_SEC;
/* How far ahead the start is set, beside twice the longest round trip to a host, so that each host
   has START before that time. */
static const uint64_t ahead_ns = BN_NSEC_PER_SEC / 4;
/* The longest wait before deadlines are looked at again. */
enum { TURN_MS = 100 };

struct control {
  struct bn_fleet fleet;
  struct bn_run_report report;
};

bool bn_hosts_are_wanted(const struct bn_conf *conf, const struct bn_ranks *ranks, const char *test,
                         const char *command)
{
  const bool is_under_launcher = ranks->n > 0;

  if (conf->raw.groups.n > 0)
    return true;
  if (command != NULL && strcmp(command, "help") == 0)
    return false;
  if (bn_conf_lists_hosts(conf))
    return true;
  if (!is_under_launcher || test == NULL || command == NULL)
    return false;
  return strcmp(test, "-") != 0; /* only one process can read a script from standard input */
}

/* --- phases ----------------------------------------------------------------------------------- */

/* Starts all hosts at one instant, and begins the run. */
static void controller_start_hosts(struct control *c)
{
  struct bn_fleet *f = &c->fleet;
  const uint64_t now_ns = bn_clock_mono();
  uint64_t longest_trip_ns = 0;

  for (size_t i = 0; i < f->n; i++)
    longest_trip_ns = bn_clock_max(longest_trip_ns, f->connection[i].clock_sync.best_trip_ns);
  f->start.mono_ns = now_ns + ahead_ns + 2 * longest_trip_ns;
  f->start.wall_ns = bn_clock_wall() + (f->start.mono_ns - now_ns);
  for (size_t i = 0; i < f->n; i++)
    bn_connection_send_start(&f->connection[i], f->start.mono_ns);
  bn_run_report_show_start(&c->report);
  bn_fleet_enter_phase(f, BN_FLEET_RUN);
}

/* Has each host exchange times with the clock here, and starts the hosts once each has made
   BN_CLOCK_SYNC_FIRST exchanges.  A host that has ended before that fails the run. */
static void controller_compare_clocks(struct control *control)
{
  struct bn_fleet *f = &control->fleet;
  bool are_compared = true;

  for (size_t i = 0; i < f->n; i++) {
    struct bn_connection *c = &f->connection[i];

    if (c->state == BN_CONNECTION_ENDED) {
      bn_printer_say(&f->printer, "%s: bench ended there with status %d before the start", c->name,
                     c->status);
      f->failed = true;
      return;
    }
    if (c->clock_sync.exchanges < BN_CLOCK_SYNC_FIRST) {
      bn_connection_send_ping(c);
      are_compared = false;
    }
  }
  if (are_compared)
    controller_start_hosts(control);
}

/* Lets the sessions of a command go on if the sessions of all hosts have met.  If only the first
   host was started, starts the others, because its sessions wait only in a command that all hosts
   execute. */
static void controller_pass_barrier(struct bn_fleet *f)
{
  const size_t n_started = f->n;

  if (!bn_fleet_have_met(f))
    return;
  if (n_started < f->n_all) {
    f->n = f->n_all;
    bn_fleet_launch(f, n_started);
    return;
  }
  for (size_t i = 0; i < f->n; i++)
    if (bn_connection_is_alive(&f->connection[i]))
      bn_connection_send_pass(&f->connection[i]);
}

/* Checks what the hosts measure, which is known once all are ready, prints the heading, and begins
   to compare the clocks of the hosts. */
static void controller_begin_comparison(struct control *c)
{
  struct bn_fleet *f = &c->fleet;
  struct bn_err err = {0};

  if (bn_fleet_unite_groups(f, &err) != 0 || bn_run_report_check(&c->report, &err) != 0) {
    bn_printer_say_failure(&f->printer, &err);
    f->failed = true;
    return;
  }
  bn_run_report_show_heading(&c->report);
  bn_fleet_enter_phase(f, BN_FLEET_CLOCKS);
}

/* Takes the run to the next phase if all hosts are ready for it.  The tests are in the order of the
   phases, so one call may pass through several.  Does nothing once the hosts have been stopped. */
static void controller_advance(struct control *c)
{
  struct bn_fleet *f = &c->fleet;

  if (f->stop != 0)
    return;
  if (f->phase == BN_FLEET_CONNECT && bn_fleet_have_reached(f, BN_CONNECTION_OPENING))
    bn_fleet_enter_phase(f, BN_FLEET_OPEN);
  if (f->phase == BN_FLEET_OPEN)
    controller_pass_barrier(f);
  /* After another command than `run`, all hosts have ended: there are no clocks to compare. */
  if (f->phase == BN_FLEET_OPEN && bn_fleet_have_reached(f, BN_CONNECTION_READY) &&
      !bn_fleet_have_reached(f, BN_CONNECTION_ENDED))
    controller_begin_comparison(c);
  if (f->phase == BN_FLEET_CLOCKS)
    controller_compare_clocks(c);
}

/* --- waiting ---------------------------------------------------------------------------------- */

/* The descriptor for signals. */
enum { OWN_FDS = 1 };
/* The descriptors of a host: for what is sent to it, its frames, and its standard error. */
enum { FD_TO, FD_FRAMES, FD_ERRORS, FDS_PER_HOST };

/* Lists the descriptors to wait for: first for signals, and then FDS_PER_HOST for each host.
   Returns their number. */
static size_t controller_list_descriptors(const struct bn_fleet *f, struct pollfd *fd)
{
  *fd++ = (struct pollfd){.fd = f->stop_signal.fd, .events = POLLIN};
  for (size_t i = 0; i < f->n; i++, fd += FDS_PER_HOST) {
    const struct bn_link *l = &f->connection[i].link;

    fd[FD_TO] =
        (struct pollfd){.fd = bn_pipe_has_queued(&l->to) ? l->to.fd : -1, .events = POLLOUT};
    fd[FD_FRAMES] = (struct pollfd){.fd = l->out, .events = POLLIN};
    fd[FD_ERRORS] = (struct pollfd){.fd = l->errors, .events = POLLIN};
  }
  return OWN_FDS + FDS_PER_HOST * f->n;
}

/* Serves the hosts whose descriptors are ready.  `fd` begins with those of the first host. */
static void controller_serve(struct bn_fleet *f, const struct pollfd *fd)
{
  for (size_t i = 0; i < f->n; i++, fd += FDS_PER_HOST) {
    struct bn_connection *c = &f->connection[i];

    if (fd[FD_TO].revents != 0)
      bn_link_send(&c->link);
    if (fd[FD_FRAMES].revents != 0)
      bn_connection_receive(c);
    if (fd[FD_ERRORS].revents != 0)
      bn_link_print_errors(&c->link, &f->printer);
  }
}

/* Waits TURN_MS at most, and serves the hosts whose descriptors are ready. */
static void controller_wait(struct bn_fleet *f, struct pollfd *fd)
{
  const size_t n = controller_list_descriptors(f, fd);

  if (poll(fd, (nfds_t)n, TURN_MS) > 0)
    controller_serve(f, fd + OWN_FDS);
}

/* Prints what a signal does, without waiting for a reader of the message.  `order` is the result of
   bn_stop_signal_read().  Prints nothing for SIGPIPE: the reader of the output has left. */
static void controller_log_stop_signal(struct bn_fleet *f, enum bn_stop_signal_order order)
{
  const char *effect =
      order == BN_STOP_SIGNAL_FIRST ? "finishing; send it again to end at once" : "ending at once";

  if (order == BN_STOP_SIGNAL_NONE || f->stop_signal.first.signo == SIGPIPE)
    return;
  bn_log_at_once("%s received: %s", bn_stop_signal_get_name(&f->stop_signal), effect);
}

/* Stops the hosts if a signal has come: in order after the first one, at once after another one. */
static void controller_handle_signal(struct bn_fleet *f)
{
  const enum bn_stop_signal_order order = bn_stop_signal_read(&f->stop_signal);
  const bool is_first = order == BN_STOP_SIGNAL_FIRST;

  if (order != BN_STOP_SIGNAL_NONE) {
    f->signo = f->stop_signal.first.signo;
    bn_fleet_stop(f, is_first ? BN_FRAME_STOP_ORDER : BN_FRAME_STOP_NOW, bn_clock_mono());
  }
  controller_log_stop_signal(f, order);
}

/* Waits once, and does what is due.  bn_liveness_settle() comes twice: before controller_advance(),
   so that no phase begins after a loss, and after it, because it may fail, too. */
static void controller_do_turn(struct control *c, struct pollfd *fd)
{
  struct bn_fleet *f = &c->fleet;

  controller_wait(f, fd);
  controller_handle_signal(f);
  bn_liveness_check(f, bn_clock_mono());
  bn_liveness_settle(f);
  controller_advance(c);
  bn_liveness_settle(f);
  bn_run_report_show_intervals(&c->report);
}

/* Returns whether the process of a host, which may still print something, is waited for after
   waited_ns. */
static bool controller_awaits_process(struct bn_connection *c, uint64_t waited_ns)
{
  const bool has_ended = bn_link_check_ended(&c->link);
  const bool is_stderr_open = c->link.errors >= 0; /* maybe only in a process that it left behind */
  const bool is_lost = c->state != BN_CONNECTION_ENDED; /* the process has got SIGTERM */

  if (waited_ns < talking_ns)
    return !has_ended || is_stderr_open;
  return !has_ended && !is_lost;
}

/* Returns whether the process of any host is waited for after waited_ns.  Looks at all of them, so
   that each process that has ended is collected. */
static bool controller_awaits_any_process(struct bn_fleet *f, uint64_t waited_ns)
{
  bool is_any_awaited = false;

  for (size_t i = 0; i < f->n; i++)
    is_any_awaited |= controller_awaits_process(&f->connection[i], waited_ns);
  return is_any_awaited;
}

/* Fails the run for each process that has not ended although bench has ended on its host.
   bn_fleet_done() kills such a process. */
static void controller_fail_for_running_shells(struct bn_fleet *f, uint64_t waited_ns)
{
  for (size_t i = 0; i < f->n; i++) {
    struct bn_connection *c = &f->connection[i];

    if (c->state != BN_CONNECTION_ENDED || bn_link_check_ended(&c->link))
      continue;
    bn_printer_say(
        &f->printer,
        "%s: the shell to it has not ended %.0f s after bench ended there: killing the shell",
        c->name, (double)waited_ns * 1e-9);
    f->failed = true;
  }
}

/* Waits for the processes of all hosts, because lines that they still print belong to the run.  A
   signal that comes now does not change how the run has ended, but a second one shortens the rest
   of the wait to farewell_ns. */
static void controller_await_processes(struct bn_fleet *f, struct pollfd *fd)
{
  const uint64_t begin_ns = bn_clock_mono();
  uint64_t waited_ns, limit_ns = leaving_ns;

  do {
    controller_wait(f, fd);
    controller_log_stop_signal(f, bn_stop_signal_read(&f->stop_signal));
    waited_ns = bn_clock_mono() - begin_ns;
    if (f->stop_signal.count >= 2) /* the first such limit counts, because waited_ns grows */
      limit_ns = bn_clock_min(limit_ns, waited_ns + farewell_ns);
  } while (controller_awaits_any_process(f, waited_ns) && waited_ns < limit_ns);
  controller_fail_for_running_shells(f, waited_ns);
}

/* Follows the run until all hosts have ended or are lost, and then waits for their processes. */
static void controller_follow_run(struct control *c)
{
  struct pollfd *fd = bn_alloc(OWN_FDS + FDS_PER_HOST * c->fleet.n_all, sizeof *fd);

  while (!bn_fleet_have_reached(&c->fleet, BN_CONNECTION_ENDED))
    controller_do_turn(c, fd);
  controller_await_processes(&c->fleet, fd);
  free(fd);
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Ends the process with the status of the signal, although the printer still waits for its reader.
   Kills the processes of the hosts first, and names the journals of unfinished documents.  Signals
   are unblocked before that, so that a further one ends the process if that hangs. */
_Noreturn static void controller_exit_at_once(struct control *c)
{
  const int status = BN_STATUS_SIGNAL + c->fleet.stop_signal.first.signo;

  (void)sigprocmask(SIG_SETMASK, &c->fleet.stop_signal.before, NULL);
  bn_fleet_done(&c->fleet);
  bn_run_report_name_journals(&c->report);
  _exit(status);
}

/* Waits until the printer has done all its jobs, which a slow reader of standard output may hold
   up.  Ends the process farewell_ns after the second signal. */
static void controller_await_reader(struct control *c)
{
  struct bn_fleet *f = &c->fleet;
  uint64_t now_ns = bn_clock_mono();
  uint64_t noticed_ns = 0; /* 0: no second signal seen here */

  while (!bn_printer_wait(&f->printer, now_ns + TURN_MS * BN_NSEC_PER_MSEC)) {
    now_ns = bn_clock_mono();
    controller_handle_signal(f);
    if (f->stop_signal.count < 2)
      continue;
    if (noticed_ns == 0)
      noticed_ns = now_ns;
    if (now_ns >= noticed_ns + farewell_ns)
      controller_exit_at_once(c);
  }
}

/* Opens the reports, and starts the printer and the agents.  Returns false if no agent was started,
   because the reports or the printer could not be opened.  An agent that cannot be started fails
   the run, but the others are followed until they end. */
static bool controller_open(struct control *c)
{
  struct bn_err err = {0};

  if (!bn_run_report_open(&c->report, &c->fleet))
    return false;
  if (bn_printer_open(&c->fleet.printer, &err) != 0) {
    bn_fleet_fail(&c->fleet, &err);
    return false;
  }
  bn_fleet_launch(&c->fleet, 0);
  return true;
}

/* Executes the command on all hosts, or in `groups`, which are some or all of the groups of the
   command line, `all`.  Both lists are empty without --group.  Returns the exit status. */
static int controller_run(const struct bn_hosts_setup *setup, const struct bn_group_list *all,
                          const struct bn_group_list *groups)
{
  struct control c = {.report = {.fleet = NULL}};
  struct bn_err err = {0};
  int status;

  if (bn_fleet_init(&c.fleet, setup, all, groups, &err) != 0) {
    bn_log_stderr("%s", err.text);
    bn_fleet_done(&c.fleet);
    return BN_STATUS_FAILED;
  }
  if (controller_open(&c))
    controller_follow_run(&c);
  bn_run_report_end(&c.report);
  controller_await_reader(&c);
  bn_printer_close(&c.fleet.printer);
  status = bn_run_report_get_status(&c.report);
  bn_fleet_done(&c.fleet);
  bn_run_report_done(&c.report);
  return status;
}

/* --- groups ----------------------------------------------------------------------------------- */

/* Reads the groups of the command line.  Refuses options that cannot be used with them, and a
   command line without a command or with `help`.  Returns 0, or -1 and err. */
static int controller_read_groups(const struct bn_hosts_setup *s, struct bn_group_list *list,
                                  struct bn_err *err)
{
  if (s->command == NULL || strcmp(s->command, "help") == 0)
    return bn_err_set(err, BN_ERR_OPTION,
                      "--group needs a command, for example: bench --group='a: SCRIPT' run; for "
                      "the options of a script type bench SCRIPT help");
  return bn_groups_read(list, s, err);
}

/* Returns whether the command has been executed for the data of group i, which is also that of a
   group before it. */
static bool controller_is_group_done(const struct bn_hosts_setup *s,
                                     const struct bn_group_list *list, size_t i)
{
  for (size_t k = 0; k < i; k++)
    if (bn_groups_share_data(&list->group[i], &list->group[k], s))
      return true;
  return false;
}

/* Executes a command other than `run` for one group after the other, and only once for groups that
   share their data.  Returns the exit status, that of the first group for which it fails. */
static int controller_run_command(const struct bn_hosts_setup *s, const struct bn_group_list *list)
{
  int status = BN_STATUS_OK;

  for (size_t i = 0; status == BN_STATUS_OK && i < list->n; i++) {
    const struct bn_group_list one = {.group = &list->group[i], .n = 1};

    if (!controller_is_group_done(s, list, i))
      status = controller_run(s, list, &one);
  }
  return status;
}

int bn_hosts_run(const struct bn_hosts_setup *setup)
{
  struct bn_group_list list = {.n = 0};
  struct bn_err err = {0};
  int status = BN_STATUS_FAILED;

  if (setup->groups->n > 0 && controller_read_groups(setup, &list, &err) != 0) {
    bn_log_stderr("%s", err.text);
  } else if (list.n > 0 && strcmp(setup->command, "run") != 0) {
    status = controller_run_command(setup, &list);
  } else {
    if (list.n > 0)
      bn_groups_mask_texts(&list, setup->groups); /* the facts of the run have these texts */
    status = controller_run(setup, &list, &list);
  }
  bn_groups_done(&list);
  return status;
}
