/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Carries bytes until the program of rank 0 has ended. */
#include "hosts/bridge.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "api/carrier.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/plugin.h"
#include "base/spawn.h"
#include "base/wait.h"
#include "engine/outcome.h"
#include "hosts/channel.h"
#include "hosts/handover.h"
#include "hosts/launcher.h"
#include "hosts/stop_signal.h"

/* A library of MPI does not wake a process that waits for a message, so a bridge sleeps and looks.
   It sleeps for an eighth of the time since the last message, within these limits: an answer is
   late by an eighth of its time or by the shortest pause, also in exchanges that compare clocks,
   and a bridge that carries one message a second takes next to no processor time from the measured
   load. */
enum { PAUSE_DIVISOR = 8 };
static const uint64_t pause_min_ns = 50000, pause_max_ns = 40 * BN_NSEC_PER_MSEC;
/* How long a rank that has received a signal still carries messages, for the report of rank 0. */
static const uint64_t last_report_ns = 2 * BN_NSEC_PER_SEC;
/* How long the other ranks may take to end their agents, and the library to end after that. */
static const uint64_t farewell_ns = 5 * BN_NSEC_PER_SEC;
static const uint64_t library_end_ns = 4 * BN_NSEC_PER_SEC;
/* The most messages that are taken in a turn, so that pipes are served in between. */
enum { MESSAGES_PER_TURN = 64 };
/* The longest pauses of a starter, while it starts agents and while it waits for the end of the
   last ones.  An agent that has ended is collected after the pause. */
enum { STARTING_MS = 1000, ENDING_MS = 20 };
/* How long a starter waits for its agents, which end sooner than that after their controller. */
static const uint64_t agents_end_ns = 3 * BN_NSEC_PER_SEC;

static const struct bn_plugin_kind carrier_kind = BN_CARRIER_KIND;

struct bridge {
  const struct bn_launcher *launcher;
  int argc; /* the command line, in which `hide` overwrites passwords */
  char *const *argv;
  void (*hide)(int argc, char *const *argv);
  const struct bn_carrier *carrier;
  void *self; /* the state of the carrier */
  unsigned rank, ranks;
  struct bn_stop_signal stop_signal;
  pid_t child; /* rank 0: the program; another rank: its starter; 0: it has ended */
  int status;  /* the exit status of the child */
  int socket;  /* each bn_handover is an agent that the program asks for, or that the starter
                  starts; -1: closed */
  struct bn_channels channels;
  struct pollfd *fd;    /* owned; for bridge_list_descriptors() */
  uint64_t active_ns;   /* when a message was sent or received last */
  bool failed;          /* the carrier has failed */
  uint32_t last_number; /* rank 0: of the channels that it has opened */
  unsigned byes;        /* rank 0: how many other ranks have sent BYE */
  bool leaves;          /* another rank: rank 0 has sent BYE */
};

/* --- messages --------------------------------------------------------------------------------- */

/* Fails the bridge, which then sends and receives no more messages, and logs why the first time. */
static void bridge_fail(struct bridge *b, const char *why)
{
  if (!b->failed)
    bn_log_stderr("rank %u: %s", b->rank, why);
  b->failed = true;
}

static bool bridge_is_ready(struct bridge *b, unsigned rank)
{
  return !b->failed && b->carrier->ready(b->self, rank);
}

/* Sends a message to a rank that is ready for it. */
static void bridge_send(struct bridge *b, unsigned rank, const char *message, size_t len)
{
  b->active_ns = bn_clock_mono();
  if (b->carrier->send(b->self, rank, message, len) != 0)
    bridge_fail(b, "a message could not be sent to another rank");
}

/* Tells a rank that nothing more is needed from it. */
static void bridge_send_bye(struct bridge *b, unsigned rank)
{
  char message[BN_CHANNEL_HEAD];

  bn_channel_put_head(message, BN_CHANNEL_BYE, 0 /* of no channel */);
  bridge_send(b, rank, message, sizeof message);
}

/* Has the starter start an agent of this rank for the program in rank 0, and adds the channel to
   it.  After a failure, the channel has no pipes, so its first message is END. */
static void bridge_open_agent(struct bridge *b, uint32_t number)
{
  struct bn_channel channel = {.number = number, .in = -1, .to = {.fd = -1}};

  if (bn_handover_send_pipes(b->socket, number, &channel.to.fd, &channel.in) != 0)
    bn_log_stderr("rank %u: cannot start an agent: %s", b->rank, strerror(errno));
  bn_channels_add(&b->channels, &channel);
}

/* Does what a message says, or drops it if it is too short, of a kind that this version of bench
   does not know, or does not fit this rank or its channel.  Only rank 0 sends OPEN. */
static void bridge_handle_message(struct bridge *b, unsigned rank, const char *message, size_t len)
{
  struct bn_channel *c;
  uint32_t number;

  if (len < BN_CHANNEL_HEAD)
    return;
  number = bn_channel_get_number(message);
  c = bn_channels_find(&b->channels, rank, number);
  switch (bn_channel_get_kind(message)) {
  case BN_CHANNEL_OPEN:
    if (b->rank != 0 && c == NULL)
      bridge_open_agent(b, number);
    break;
  case BN_CHANNEL_DATA:
    if (c != NULL)
      bn_channel_take_data(c, message + BN_CHANNEL_HEAD, len - BN_CHANNEL_HEAD);
    break;
  case BN_CHANNEL_END:
    if (c != NULL)
      bn_channel_take_end(c);
    break;
  case BN_CHANNEL_BYE:
    if (b->rank == 0)
      b->byes++;
    else
      b->leaves = true;
    break;
  }
}

/* Receives the messages that have come, up to the bound of a turn. */
static void bridge_receive(struct bridge *b)
{
  for (int i = 0; i < MESSAGES_PER_TURN && !b->failed; i++) {
    const char *data = NULL;
    unsigned rank = 0;
    const int len = b->carrier->receive(b->self, &rank, &data);

    if (len < 0)
      bridge_fail(b, "messages of other ranks could not be received");
    if (len <= 0)
      return;
    b->active_ns = bn_clock_mono();
    bridge_handle_message(b, rank, data, (size_t)len);
  }
}

/* Sends the next message of each channel whose rank is ready for one. */
static void bridge_send_channels(struct bridge *b)
{
  char message[BN_CARRIER_MAX];

  for (size_t i = 0; i < b->channels.n; i++) {
    struct bn_channel *c = &b->channels.at[i];

    if (!bridge_is_ready(b, c->rank))
      continue;
    const size_t len = bn_channel_make_message(c, message, sizeof message);

    if (len > 0)
      bridge_send(b, c->rank, message, len);
  }
}

/* --- the child -------------------------------------------------------------------------------- */

/* Opens a channel for an agent of another rank that the program asks for, or closes the socket if
   the program has ended.  The program starts the agent of rank 0 itself. */
static void bridge_handle_request(struct bridge *b)
{
  struct bn_handover h;

  if (!bn_handover_take(b->socket, &h)) {
    bn_pipe_close_end(&b->socket);
    return;
  }
  const struct bn_channel channel = {.rank = h.number,
                                     .number = ++b->last_number,
                                     .in = h.in,
                                     .to = {.fd = h.out},
                                     .must_open = true};

  (void)fcntl(h.in, F_SETFL, O_NONBLOCK);
  (void)fcntl(h.out, F_SETFL, O_NONBLOCK);
  bn_channels_add(&b->channels, &channel);
}

/* Stores the exit status of the child if it has ended. */
static void bridge_collect_child(struct bridge *b)
{
  int wait_status;

  if (b->child == 0 || waitpid(b->child, &wait_status, WNOHANG) != b->child)
    return;
  b->child = 0;
  b->status =
      WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : BN_STATUS_SIGNAL + WTERMSIG(wait_status);
}

/* Passes a signal of the launcher to the program, which then reports.  The other ranks wait for the
   end of the program. */
static void bridge_handle_signal(struct bridge *b)
{
  const bool has_come = bn_stop_signal_read(&b->stop_signal) != BN_STOP_SIGNAL_NONE;

  if (has_come && b->rank == 0 && b->child > 0)
    (void)kill(b->child, b->stop_signal.first.signo);
}

/* --- waiting ---------------------------------------------------------------------------------- */

enum { FD_SIGNAL, FD_SOCKET, OWN_FDS };
enum { FDS_PER_CHANNEL = 2 };

/* Lists the descriptors to wait for in b->fd, and returns their number.  A pipe from which a
   message would be read is left out while its rank is not ready for one. */
static size_t bridge_list_descriptors(struct bridge *b)
{
  size_t n = OWN_FDS;

  b->fd = bn_alloc_resize(b->fd, OWN_FDS + FDS_PER_CHANNEL * b->channels.n, sizeof *b->fd);
  b->fd[FD_SIGNAL] = (struct pollfd){.fd = b->stop_signal.fd, .events = POLLIN};
  b->fd[FD_SOCKET] = (struct pollfd){.fd = b->rank == 0 ? b->socket : -1, .events = POLLIN};
  for (size_t i = 0; i < b->channels.n; i++) {
    const struct bn_channel *c = &b->channels.at[i];

    b->fd[n++] = (struct pollfd){.fd = bridge_is_ready(b, c->rank) ? c->in : -1, .events = POLLIN};
    b->fd[n++] =
        (struct pollfd){.fd = bn_pipe_has_queued(&c->to) ? c->to.fd : -1, .events = POLLOUT};
  }
  return n;
}

/* Returns an eighth of the time since the last message, within pause_min_ns and pause_max_ns. */
static struct timespec bridge_get_pause(const struct bridge *b)
{
  uint64_t ns = (bn_clock_mono() - b->active_ns) / PAUSE_DIVISOR;

  if (ns < pause_min_ns)
    ns = pause_min_ns;
  if (ns > pause_max_ns)
    ns = pause_max_ns;
  return bn_clock_to_timespec(ns);
}

/* Sleeps until a descriptor is ready or the pause is over, and then handles a signal of the user
   and a request at the socket.  The pause is needed because messages of other ranks make no
   descriptor ready. */
static void bridge_wait_and_handle(struct bridge *b)
{
  const size_t n = bridge_list_descriptors(b);
  const struct timespec pause = bridge_get_pause(b);

  if (ppoll(b->fd, (nfds_t)n, &pause, NULL) <= 0)
    return;
  if (b->fd[FD_SIGNAL].revents != 0)
    bridge_handle_signal(b);
  if (b->fd[FD_SOCKET].revents != 0)
    bridge_handle_request(b);
}

/* Waits once, and carries what has come in both directions, however the wait has ended. */
static void bridge_do_turn(struct bridge *b)
{
  bridge_wait_and_handle(b);
  if (!b->failed)
    bridge_receive(b);
  for (size_t i = 0; i < b->channels.n; i++)
    bn_channel_write(&b->channels.at[i]);
  bridge_send_channels(b);
  bn_channels_remove_ended(&b->channels);
  bridge_collect_child(b);
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Ends the process with the status that bridge_end_library() has given to its alarm.  Ignores
   SIGALRM from another source. */
static void bridge_exit_on_alarm(int signo, siginfo_t *info, void *context)
{
  static const char why[] = "the library of MPI has not ended in time: bench ends without it\n";

  (void)signo;
  (void)context;
  if (info->si_code != SI_TIMER)
    return;
  (void)!write(STDERR_FILENO, why, sizeof why - 1);
  _exit(info->si_value.sival_int);
}

/* Ends the library.  If it has not ended after library_end_ns, ends the process with the status of
   the run: a library does not end if a launcher ends the other processes, and some never end over
   some networks. */
static void bridge_end_library(struct bridge *b)
{
  bn_wait_set_alarm(library_end_ns, bridge_exit_on_alarm, b->status);
  b->carrier->end(b->self);
  (void)signal(SIGALRM, SIG_IGN); /* the timer may still run */
}

/* Closes the pipes of the agents, which end because of that, and the socket of the starter, and
   waits for the end of the starter up to farewell_ns. */
static void bridge_end_agents(struct bridge *b)
{
  const uint64_t until_ns = bn_clock_mono() + farewell_ns;

  bn_channels_done(&b->channels);
  bn_pipe_close_end(&b->socket);
  while (b->child > 0 && bn_clock_mono() < until_ns)
    bridge_do_turn(b);
}

/* Tells the other ranks to leave, in their order as each is ready for a message, and waits for
   their answers.  Returns whether all of them have ended their agents in time. */
static bool bridge_dismiss_others(struct bridge *b)
{
  const uint64_t until_ns = bn_clock_mono() + farewell_ns;
  const unsigned others = b->ranks - 1;
  unsigned next = 1;

  while (b->byes < others && !b->failed && bn_clock_mono() < until_ns) {
    while (next < b->ranks && bridge_is_ready(b, next))
      bridge_send_bye(b, next++);
    bridge_do_turn(b);
  }
  return b->byes >= others && !b->failed;
}

/* Serves rank 0 until the program has ended.  If the carrier fails before that, closes the
   channels: the program then reports what it has.  Returns the exit status of the program, or exits
   if the other ranks do not answer, because the library would wait for them for ever. */
static int bridge_run_first(struct bridge *b)
{
  while (b->child > 0 && !b->failed)
    bridge_do_turn(b);
  bn_channels_done(&b->channels);
  bn_pipe_close_end(&b->socket);
  while (b->child > 0)
    bridge_do_turn(b);
  if (!bridge_dismiss_others(b))
    _exit(b->status != 0 ? b->status : BN_STATUS_FAILED);
  bridge_end_library(b);
  return b->status;
}

/* Serves the agents of this rank until BYE comes from rank 0, whose program has ended, or until the
   carrier fails.  After a signal, waits for BYE up to last_report_ns only, in which the last
   figures of the agents reach rank 0. */
static void bridge_await_bye(struct bridge *b)
{
  uint64_t until_ns;

  while (!b->leaves && !b->failed && b->stop_signal.first.signo == 0)
    bridge_do_turn(b);
  until_ns = bn_clock_mono() + last_report_ns;
  while (!b->leaves && !b->failed && bn_clock_mono() < until_ns)
    bridge_do_turn(b);
}

/* Answers the BYE of rank 0.  Returns false if rank 0 is not ready for that within farewell_ns. */
static bool bridge_answer_bye(struct bridge *b)
{
  const uint64_t until_ns = bn_clock_mono() + farewell_ns;

  while (!bridge_is_ready(b, 0) && !b->failed && bn_clock_mono() < until_ns)
    bridge_do_turn(b);
  if (!bridge_is_ready(b, 0))
    return false;
  bridge_send_bye(b, 0);
  return true;
}

/* Serves rank 0 until its program has ended, and then ends the agents of this rank.  Returns the
   exit status, or exits if the two ranks have not sent BYE to each other, because the library would
   wait for the other rank for ever. */
static int bridge_run_other(struct bridge *b)
{
  bridge_await_bye(b);
  bridge_end_agents(b);
  if (!b->leaves || !bridge_answer_bye(b))
    _exit(BN_STATUS_FAILED);
  bridge_end_library(b);
  return BN_STATUS_OK;
}

/* --- the start -------------------------------------------------------------------------------- */

/* Loads the module for the launcher, and joins the other ranks.  Returns 0, or -1 and err. */
static int bridge_load(struct bridge *b, struct bn_err *err)
{
  struct bn_err why = {0};

  b->carrier = bn_plugin_open(&carrier_kind, b->launcher->carrier, &why);
  if (b->carrier == NULL)
    return bn_err_set(err, why.code,
                      "%u processes were started by a launcher of %s, for which this bench has no "
                      "module (%s); use --hosts, or build bench where %s is installed",
                      b->launcher->ranks, b->launcher->title, why.text, b->launcher->title);
  b->self = b->carrier->begin(&b->rank, &b->ranks, err);
  if (b->self == NULL)
    return -1;
  if (b->ranks == b->launcher->ranks && b->rank == b->launcher->rank)
    return 0;
  return bn_err_set(err, 0,
                    "this is rank %u of %u for the launcher, but rank %u of %u for %s; start bench "
                    "with the launcher of that library",
                    b->launcher->rank, b->launcher->ranks, b->rank, b->ranks, b->launcher->title);
}

/* Makes this process independent of the launcher.  A launcher ends the group of the process that it
   has started, and may wait until no process has the descriptors open that it made for its library.
   The programs that this process starts do not inherit them. */
static void bridge_leave_launcher(void)
{
  enum { FIRST_FD = 3, MAX_FD = 1024 }; /* behind the standard streams; a usual limit */

  (void)setpgid(0, 0);
  for (int fd = FIRST_FD; fd < MAX_FD; fd++)
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC); /* fails for a number that is not open */
  bn_launcher_forget();
}

/* Turns the child of rank 0 into the program, which gets SIGTERM when its bridge ends.  Returns
   once the bridge says that the other ranks are there, or exits if the bridge has ended.  The
   program and each bench that it starts find the ranks in the environment, and share the socket. */
static void bridge_become_program(const struct bridge *b, pid_t bridge)
{
  const struct bn_ranks ranks = {.n = b->launcher->ranks, .request = b->socket};
  struct bn_handover go_on;

  (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != bridge) /* it ended before prctl(2), so SIGTERM would never come */
    _exit(BN_STATUS_FAILED);
  if (!bn_handover_take(b->socket, &go_on) || bn_ranks_export(&ranks) != 0 ||
      fcntl(b->socket, F_SETFD, 0) != 0)
    _exit(BN_STATUS_FAILED);
}

/* Starts an agent on the ends of pipes that were handed over, with the given signal mask.  It ends
   with the starter.  If it cannot be started, its controller sees the end of the pipe. */
static void bridge_start_agent(char *program, const struct bn_handover *h, const sigset_t *masked)
{
  char *argv[] = {program, (char[]){"--agent"}, NULL};
  const struct bn_spawn s = {.argv = argv,
                             .in = h->in,
                             .out = h->out,
                             .errors = STDERR_FILENO,
                             .masked = masked,
                             .orphaned = SIGTERM};
  struct bn_err err = {0};

  if (bn_spawn(&s, &err) < 0)
    bn_log_stderr("%s", err.text);
  (void)close(h->in);
  (void)close(h->out);
}

/* Collects the agents that have ended.  Returns whether others are still running. */
static bool bridge_collect_agents(void)
{
  pid_t pid;

  do {
    pid = waitpid(-1, NULL, WNOHANG);
  } while (pid > 0);
  return pid == 0;
}

/* Starts the agents that the bridge asks for, until the bridge closes its end of the socket. */
static void bridge_start_agents(int socket, char *program)
{
  struct pollfd fd = {.fd = socket, .events = POLLIN};
  struct bn_handover h;
  sigset_t masked;

  (void)sigprocmask(SIG_BLOCK, NULL, &masked);
  for (;;) {
    if (poll(&fd, 1, STARTING_MS) > 0) {
      if (!bn_handover_take(socket, &h))
        return;
      bridge_start_agent(program, &h, &masked);
    }
    (void)bridge_collect_agents();
  }
}

/* Turns the child of another rank than 0 into the starter, whose children the agents are.  A
   process that has loaded MPI must not fork, because libraries for some networks do not survive
   it, so the starter has been forked before that.  Exits once its agents have ended. */
_Noreturn static void bridge_become_starter(int socket)
{
  struct bn_err err = {0};
  char *program = bn_spawn_self(&err);
  uint64_t until_ns;

  (void)prctl(PR_SET_NAME, "bench-starter");
  if (program == NULL)
    bn_log_stderr("%s", err.text);
  else
    bridge_start_agents(socket, program);
  until_ns = bn_clock_mono() + agents_end_ns;
  while (bridge_collect_agents() && bn_clock_mono() < until_ns)
    (void)poll(NULL, 0, ENDING_MS);
  free(program);
  _exit(0);
}

/* The ends of the socket between a bridge and its child. */
enum { BRIDGE_END, CHILD_END, ENDS };

/* Turns the child of a bridge into the program on rank 0, which still reads its passwords, or into
   the starter on another rank, which does not return. */
static void bridge_become_child(struct bridge *b, const int end[ENDS], pid_t bridge)
{
  const bool is_program = b->launcher->rank == 0;

  if (!is_program)
    b->hide(b->argc, b->argv);
  b->socket = end[CHILD_END];
  (void)close(end[BRIDGE_END]);
  bridge_leave_launcher();
  if (!is_program)
    bridge_become_starter(b->socket);
  bridge_become_program(b, bridge);
}

enum { IN_PROGRAM, IN_BRIDGE };

/* Forks before the bridge loads MPI.  Returns IN_BRIDGE or IN_PROGRAM, or -1 and err.  Does not
   return in a starter. */
static int bridge_start_child(struct bridge *b, struct bn_err *err)
{
  const pid_t self = getpid();
  int end[ENDS];

  if (bn_handover_make_socket(end) != 0)
    return bn_err_set(err, errno, "cannot make a socket: %s", strerror(errno));
  /* If SIGCHLD were ignored, waitpid(2) would not tell the status of the program. */
  (void)signal(SIGCHLD, SIG_DFL);
  b->child = fork();
  if (b->child < 0) {
    (void)bn_err_set(err, errno, "cannot start a process: %s", strerror(errno));
    b->child = 0;
    (void)close(end[BRIDGE_END]);
    (void)close(end[CHILD_END]);
    return -1;
  }
  if (b->child == 0) {
    bridge_become_child(b, end, self);
    return IN_PROGRAM;
  }
  b->hide(b->argc, b->argv);
  b->socket = end[BRIDGE_END];
  (void)close(end[CHILD_END]);
  return IN_BRIDGE;
}

/* Logs why the bridge does not start.  A module that is missing (ENOENT) is missing in all ranks,
   so rank 0 alone logs that.  The launcher ends all ranks once one has ended, so the other ranks
   give rank 0 the time to log: they wait for a signal, up to last_report_ns. */
static void bridge_log_failure(struct bridge *b, const struct bn_err *err)
{
  const bool is_module_missing = err->code == ENOENT;
  struct pollfd fd = {.fd = b->stop_signal.fd, .events = POLLIN};

  if (b->launcher->rank != 0 && is_module_missing)
    (void)poll(&fd, 1, (int)(last_report_ns / BN_NSEC_PER_MSEC));
  else
    bn_log_stderr("%s", err->text);
}

/* Joins the other ranks, and has the program of rank 0 go on, which waits for a handover without
   descriptors in bridge_become_program().  Returns 0, or -1 and err. */
static int bridge_begin(struct bridge *b, struct bn_err *err)
{
  const struct bn_handover go_on = {.in = -1, .out = -1};

  if (bn_stop_signal_begin(&b->stop_signal, err) != 0 || bridge_load(b, err) != 0)
    return -1;
  if (b->rank == 0 && bn_handover_send(b->socket, &go_on) != 0)
    return bn_err_set(err, errno, "bench has ended on rank 0 before the run");
  b->active_ns = bn_clock_mono();
  return 0;
}

/* Returns the exit status of a bridge, or -1 in the program, a child of rank 0. */
static int bridge_run(struct bridge *b)
{
  struct bn_err err = {0};
  int status = BN_STATUS_FAILED;
  const int rc = bridge_start_child(b, &err);

  if (rc == IN_PROGRAM)
    return -1;
  (void)signal(SIGPIPE, SIG_IGN);
  if (rc < 0 || bridge_begin(b, &err) != 0)
    bridge_log_failure(b, &err);
  else
    status = b->rank == 0 ? bridge_run_first(b) : bridge_run_other(b);
  bn_stop_signal_end(&b->stop_signal);
  bn_channels_done(&b->channels);
  bn_pipe_close_end(&b->socket);
  free(b->fd);
  return status;
}

int bn_bridge_enter(struct bn_ranks *ranks, int argc, char *const *argv,
                    void (*hide)(int argc, char *const *argv))
{
  struct bn_launcher launcher;
  struct bridge b = {.launcher = &launcher,
                     .argc = argc,
                     .argv = argv,
                     .hide = hide,
                     .socket = -1,
                     .stop_signal = {.fd = -1}};
  struct bn_err err = {0};
  int status = -1; /* the program is to run in this process */

  if (bn_launcher_read(&launcher)) {
    b.rank = launcher.rank;
    status = bridge_run(&b);
  }
  if (status < 0 && bn_ranks_read(ranks, &err) != 0) {
    bn_log_stderr("%s", err.text);
    status = BN_STATUS_FAILED;
  }
  return status;
}
