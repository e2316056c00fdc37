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
#include "engine/outcome.h"
#include "hosts/channel.h"
#include "hosts/handover.h"
#include "hosts/launcher.h"
#include "hosts/stop_signal.h"

/* No library of MPI wakes who waits for a message.  A bridge sleeps for a part of the time that has
   passed since the last message: an answer that takes long to come is late by that part of its time
   at most, in exchanges that compare clocks too, and a bridge that carries one message a second
   takes next to no processor time from what is measured. */
enum { SLEEP_PART = 8 };
static const uint64_t least_ns = 50000, most_ns = 40 * BN_NSEC_PER_MSEC;
/* After a signal, a rank is there for the report of rank 0 this long. */
static const uint64_t signalled_ns = 2 * BN_NSEC_PER_SEC;
/* For the other ranks to end their agents, and then for the library to end. */
static const uint64_t farewell_ns = 5 * BN_NSEC_PER_SEC;
enum { LIBRARY_END_S = 4 };
/* Messages that are taken at a time, so that pipes have their turn. */
enum { MESSAGES = 64 };
/* The longest pauses of a starter, while it starts agents and while it waits for the end of the
   last ones.  An agent that has ended is collected at the next turn. */
enum { STARTING_MS = 1000, ENDING_MS = 20 };
/* An agent ends sooner than that after its controller has gone. */
static const uint64_t patience_ns = 3 * BN_NSEC_PER_SEC;

static const struct bn_plugin_kind carrier_kind = BN_CARRIER_KIND;

struct bridge {
  const struct bn_launcher *launch;
  int argc; /* the command line, in which `hide` overwrites passwords */
  char *const *argv;
  void (*hide)(int argc, char *const *argv);
  const struct bn_carrier *carrier;
  void *self; /* of it */
  unsigned rank, ranks;
  struct bn_stop_signal stop_signal;
  pid_t child; /* rank 0: the program; another rank: its starter; 0: it has ended */
  int status;  /* the exit status of the child */
  int socket;  /* each bn_handover is an agent that the program asks for, or that the starter
                  starts; -1: closed */
  struct bn_channels channels;
  struct pollfd *fd; /* owned; room for all channels */
  size_t room;
  uint64_t active_ns; /* when something was sent or taken */
  bool failed;        /* the carrier has failed */
  uint32_t numbers;   /* rank 0: channels so far */
  unsigned byes;      /* rank 0: other ranks that have said BYE */
  bool leaves;        /* another rank: rank 0 has said BYE */
};

/* --- messages --------------------------------------------------------------------------------- */

static void bridge_fail(struct bridge *b, const char *what)
{
  if (!b->failed)
    bn_log_stderr("rank %u: %s", b->rank, what);
  b->failed = true;
}

static bool bridge_is_ready(struct bridge *b, unsigned rank)
{
  return !b->failed && b->carrier->ready(b->self, rank);
}

static void bridge_send(struct bridge *b, unsigned rank, const char *message, size_t len)
{
  b->active_ns = bn_clock_mono();
  if (b->carrier->send(b->self, rank, message, len) != 0)
    bridge_fail(b, "a message could not be sent to another rank");
}

static void bridge_send_bye(struct bridge *b, unsigned rank)
{
  char message[BN_CHANNEL_HEAD];

  bn_channel_head(message, BN_CHANNEL_BYE, 0);
  bridge_send(b, rank, message, sizeof message);
}

/* Has the starter start an agent of this rank for the program in rank 0. */
static void bridge_open_agent(struct bridge *b, uint32_t number)
{
  struct bn_channel new = {.number = number, .in = -1, .to = {.fd = -1}};

  if (bn_handover_pipes(b->socket, number, &new.to.fd, &new.in) != 0)
    bn_log_stderr("rank %u: cannot start an agent: %s", b->rank, strerror(errno));
  bn_channels_add(&b->channels, &new);
}

static void bridge_take_bye(struct bridge *b)
{
  if (b->rank == 0)
    b->byes++;
  else
    b->leaves = true;
}

/* A message for a channel that has been closed meanwhile is dropped, like one of another version
   of bench. */
static void bridge_take_message(struct bridge *b, unsigned rank, const char *message, size_t len)
{
  uint32_t number;
  struct bn_channel *c;

  if (len < BN_CHANNEL_HEAD)
    return;
  number = bn_channel_number(message);
  c = bn_channels_find(&b->channels, rank, number);
  switch (message[0]) {
  case BN_CHANNEL_OPEN:
    if (b->rank != 0 && c == NULL)
      bridge_open_agent(b, number);
    return;
  case BN_CHANNEL_DATA:
    if (c != NULL)
      bn_channel_take(c, message + BN_CHANNEL_HEAD, len - BN_CHANNEL_HEAD);
    return;
  case BN_CHANNEL_END:
    if (c != NULL)
      bn_channel_end(c);
    return;
  case BN_CHANNEL_BYE:
    bridge_take_bye(b);
    return;
  default:
    return;
  }
}

static void bridge_receive(struct bridge *b)
{
  for (int i = 0; i < MESSAGES && !b->failed; i++) {
    const char *data = NULL;
    unsigned rank = 0;
    const int len = b->carrier->receive(b->self, &rank, &data);

    if (len < 0)
      bridge_fail(b, "messages of other ranks could not be received");
    if (len <= 0)
      return;
    b->active_ns = bn_clock_mono();
    bridge_take_message(b, rank, data, (size_t)len);
  }
}

static void bridge_send_channels(struct bridge *b)
{
  char message[BN_CARRIER_MAX];

  for (size_t i = 0; i < b->channels.n; i++) {
    struct bn_channel *c = &b->channels.at[i];

    if (!bridge_is_ready(b, c->rank))
      continue;
    const size_t len = bn_channel_next(c, message, sizeof message);

    if (len > 0)
      bridge_send(b, c->rank, message, len);
  }
}

/* --- the child -------------------------------------------------------------------------------- */

/* Takes the request of the program for an agent of another rank; it starts that of its own rank
   itself. */
static void bridge_take_request(struct bridge *b)
{
  struct bn_handover h;

  if (bn_handover_take(b->socket, &h) == 0) {
    bn_pipe_close_end(&b->socket);
    return;
  }
  const struct bn_channel new = {
      .rank = h.number, .number = ++b->numbers, .in = h.in, .to = {.fd = h.out}, .opens = true};

  (void)fcntl(h.in, F_SETFL, O_NONBLOCK);
  (void)fcntl(h.out, F_SETFL, O_NONBLOCK);
  bn_channels_add(&b->channels, &new);
}

static void bridge_collect_child(struct bridge *b)
{
  int how;

  if (b->child == 0 || waitpid(b->child, &how, WNOHANG) != b->child)
    return;
  b->child = 0;
  b->status = WIFEXITED(how) ? WEXITSTATUS(how) : BN_STATUS_SIGNAL + WTERMSIG(how);
}

/* Passes a signal of the launcher to the program, which then reports.  The other ranks wait for the
   end of the program. */
static void bridge_take_signal(struct bridge *b)
{
  if (bn_stop_signal_read(&b->stop_signal) > 0 && b->rank == 0 && b->child > 0)
    (void)kill(b->child, bn_stop_signal_signo(&b->stop_signal));
}

/* --- waiting ---------------------------------------------------------------------------------- */

enum { PER_CHANNEL = 2, OWN = 2 };

static size_t bridge_descriptors(struct bridge *b)
{
  const size_t need = OWN + PER_CHANNEL * b->channels.n;
  size_t n = 0;

  if (need > b->room) {
    b->fd = bn_alloc_resize(b->fd, 2 * need, sizeof *b->fd);
    b->room = 2 * need;
  }
  b->fd[n++] = (struct pollfd){.fd = b->stop_signal.fd, .events = POLLIN};
  b->fd[n++] = (struct pollfd){.fd = b->rank == 0 ? b->socket : -1, .events = POLLIN};
  for (size_t i = 0; i < b->channels.n; i++) {
    const struct bn_channel *c = &b->channels.at[i];

    b->fd[n++] = (struct pollfd){.fd = bridge_is_ready(b, c->rank) ? c->in : -1, .events = POLLIN};
    b->fd[n++] = (struct pollfd){.fd = bn_pipe_waits(&c->to) ? c->to.fd : -1, .events = POLLOUT};
  }
  return n;
}

/* Returns the time to sleep, which is less than a second. */
static struct timespec bridge_pause_length(const struct bridge *b)
{
  uint64_t ns = (bn_clock_mono() - b->active_ns) / SLEEP_PART;

  if (ns < least_ns)
    ns = least_ns;
  if (ns > most_ns)
    ns = most_ns;
  return (struct timespec){.tv_nsec = (long)ns};
}

static void bridge_wait(struct bridge *b)
{
  const size_t n = bridge_descriptors(b);
  const struct timespec pause = bridge_pause_length(b);

  if (ppoll(b->fd, (nfds_t)n, &pause, NULL) <= 0)
    return;
  if (b->fd[0].revents != 0)
    bridge_take_signal(b);
  if (b->fd[1].revents != 0)
    bridge_take_request(b);
}

static void bridge_do_turn(struct bridge *b)
{
  bridge_wait(b);
  if (!b->failed)
    bridge_receive(b);
  for (size_t i = 0; i < b->channels.n; i++)
    bn_channel_write(&b->channels.at[i]);
  bridge_send_channels(b);
  bn_channels_sweep(&b->channels);
  bridge_collect_child(b);
}

/* --- the end ---------------------------------------------------------------------------------- */

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

/* Ends the library, or the process with the status of the run if the library does not end in time.
   A launcher that ends all processes does not let the library end in order, and some libraries
   never end over some networks. */
static void bridge_end_library(struct bridge *b)
{
  struct sigaction action = {.sa_sigaction = bridge_exit_on_alarm, .sa_flags = SA_SIGINFO};
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,
                           .sigev_signo = SIGALRM,
                           .sigev_value = {.sival_int = b->status}};
  const struct itimerspec when = {.it_value = {.tv_sec = LIBRARY_END_S}};
  timer_t timer;

  (void)sigaction(SIGALRM, &action, NULL);
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
    (void)timer_settime(timer, 0, &when, NULL);
  b->carrier->end(b->self);
  (void)signal(SIGALRM, SIG_IGN);
}

/* Closes the pipes of the agents, which end them, and the socket of the starter, and waits for its
   end. */
static void bridge_end_agents(struct bridge *b)
{
  const uint64_t until_ns = bn_clock_mono() + farewell_ns;

  bn_channels_done(&b->channels);
  bn_pipe_close_end(&b->socket);
  while (b->child > 0 && bn_clock_mono() < until_ns)
    bridge_do_turn(b);
}

/* Tells the other ranks to leave.  Returns whether all of them have ended their agents. */
static bool bridge_dismiss_others(struct bridge *b)
{
  const uint64_t until_ns = bn_clock_mono() + farewell_ns;
  unsigned next = 1;

  while (b->byes + 1 < b->ranks && !b->failed && bn_clock_mono() < until_ns) {
    while (next < b->ranks && bridge_is_ready(b, next))
      bridge_send_bye(b, next++);
    bridge_do_turn(b);
  }
  return b->byes + 1 >= b->ranks && !b->failed;
}

/* Serves rank 0 until the program has ended, even if the carrier fails, so that the report of the
   program is not lost.  Returns the exit status. */
static int bridge_run_first(struct bridge *b)
{
  while (b->child > 0 && !b->failed)
    bridge_do_turn(b);
  bn_channels_done(&b->channels);
  bn_pipe_close_end(&b->socket);
  while (b->child > 0)
    bridge_do_turn(b);
  if (bridge_dismiss_others(b))
    bridge_end_library(b);
  else
    _exit(b->status != 0 ? b->status : BN_STATUS_FAILED);
  return b->status;
}

/* Serves the agents of this rank until rank 0 says that the program has ended, or until a signal
   or a failure.  Messages that were sent before a signal still arrive for a while.  Without the
   farewells of both sides the library's own end would wait for ever, so the process leaves at
   once. */
static int bridge_run_other(struct bridge *b)
{
  uint64_t until_ns;

  while (!b->leaves && !b->failed && bn_stop_signal_signo(&b->stop_signal) == 0)
    bridge_do_turn(b);
  until_ns = bn_clock_mono() + signalled_ns;
  while (!b->leaves && !b->failed && bn_clock_mono() < until_ns)
    bridge_do_turn(b);
  bridge_end_agents(b);
  if (!b->leaves || b->failed)
    _exit(BN_STATUS_FAILED);
  until_ns = bn_clock_mono() + farewell_ns;
  while (!bridge_is_ready(b, 0) && !b->failed && bn_clock_mono() < until_ns)
    bridge_do_turn(b);
  if (!bridge_is_ready(b, 0))
    _exit(BN_STATUS_FAILED);
  bridge_send_bye(b, 0);
  bridge_end_library(b);
  return BN_STATUS_OK;
}

/* --- the start -------------------------------------------------------------------------------- */

static void bridge_done(struct bridge *b)
{
  bn_stop_signal_end(&b->stop_signal);
  bn_channels_done(&b->channels);
  bn_pipe_close_end(&b->socket);
  free(b->fd);
}

static int bridge_load(struct bridge *b, struct bn_err *err)
{
  struct bn_err why = {0};

  b->carrier = bn_plugin_open(&carrier_kind, b->launch->carrier, &why);
  if (b->carrier == NULL)
    return bn_err_set(err, why.code,
                      "%u processes were started by a launcher of %s, for which this bench has no "
                      "module (%s); use --hosts, or build bench where %s is installed",
                      b->launch->ranks, b->launch->title, why.text, b->launch->title);
  b->self = b->carrier->begin(&b->rank, &b->ranks, err);
  if (b->self == NULL)
    return -1;
  if (b->ranks == b->launch->ranks && b->rank == b->launch->rank)
    return 0;
  return bn_err_set(err, 0,
                    "this is rank %u of %u for the launcher, but rank %u of %u for %s; start bench "
                    "with the launcher of that library",
                    b->launch->rank, b->launch->ranks, b->rank, b->ranks, b->launch->title);
}

/* Makes this process independent of the launcher, which ends the group of the process that it has
   started, and may wait until no process has the descriptors open that it made for its library. */
static void bridge_leave_launcher(void)
{
  enum { STANDARD = 3, MOST = 1024 };

  (void)setpgid(0, 0);
  for (int fd = STANDARD; fd < MOST; fd++)
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
  bn_launcher_forget();
}

/* Turns the child of rank 0 into the program once the other ranks are there.  Its bridge passes on
   the signals of the launcher. */
static void bridge_become_program(const struct bridge *b, int request, pid_t bridge)
{
  const struct bn_ranks ranks = {.n = b->launch->ranks, .request = request};
  struct bn_handover h;

  (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != bridge || bn_handover_take(request, &h) == 0 || bn_ranks_tell(&ranks) != 0 ||
      fcntl(request, F_SETFD, 0) != 0)
    _exit(BN_STATUS_FAILED);
}

/* Starts an agent on the ends of pipes that were handed over.  It ends with the starter, and has
   the signal mask that the starter has inherited.  If it cannot be started, its controller sees the
   end of the pipe. */
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

/* Collects agents that have ended.  Returns whether there are others. */
static bool bridge_has_agents(void)
{
  pid_t pid;

  do {
    pid = waitpid(-1, NULL, WNOHANG);
  } while (pid > 0);
  return pid == 0;
}

/* A process that has loaded MPI does not fork: libraries for some networks do not survive it.  So
   agents are children of the starter, which has been forked before. */
_Noreturn static void bridge_become_starter(int socket)
{
  struct bn_err err = {0};
  char *program = bn_spawn_self(&err);
  struct bn_handover h;
  sigset_t masked;
  uint64_t end_ns = program != NULL ? 0 : 1;

  if (program == NULL)
    bn_log_stderr("%s", err.text);
  (void)prctl(PR_SET_NAME, "bench-starter");
  (void)sigprocmask(SIG_BLOCK, NULL, &masked);
  while (end_ns == 0 || (bridge_has_agents() && bn_clock_mono() < end_ns)) {
    struct pollfd fd = {.fd = end_ns == 0 ? socket : -1, .events = POLLIN};

    if (poll(&fd, 1, end_ns == 0 ? STARTING_MS : ENDING_MS) > 0) {
      if (bn_handover_take(socket, &h) != 0)
        bridge_start_agent(program, &h, &masked);
      else
        end_ns = bn_clock_mono() + patience_ns;
    }
    (void)bridge_has_agents();
  }
  free(program);
  _exit(0);
}

/* Forks before the bridge loads MPI.  Returns 1 in the bridge, 0 in the program, or -1 and err;
   does not return in a starter. */
static int bridge_start_child(struct bridge *b, struct bn_err *err)
{
  const bool is_first = b->launch->rank == 0;
  const pid_t self = getpid();
  int end[2];

  if (bn_handover_socket(end) != 0)
    return bn_err_set(err, errno, "cannot make a socket: %s", strerror(errno));
  /* As in bn_spawn(): without this, the status of the program may not be known. */
  (void)signal(SIGCHLD, SIG_DFL);
  b->child = fork();
  if (b->child < 0) {
    (void)bn_err_set(err, errno, "cannot start a process: %s", strerror(errno));
    b->child = 0;
    (void)close(end[0]);
    (void)close(end[1]);
    return -1;
  }
  const bool in_child = b->child == 0;

  /* The program, which is the child of rank 0, still reads its passwords. */
  if (!in_child || !is_first)
    b->hide(b->argc, b->argv);
  b->socket = end[in_child];
  (void)close(end[!in_child]);
  if (!in_child)
    return 1;
  bridge_leave_launcher();
  if (!is_first)
    bridge_become_starter(b->socket);
  bridge_become_program(b, b->socket, self);
  return 0;
}

/* Logs why the bridge does not start.  A module is missing in all ranks: rank 0 says it, and the
   others wait for that, because the launcher ends all ranks when one has ended. */
static void bridge_log_failure(struct bridge *b, const struct bn_err *err)
{
  struct pollfd fd = {.fd = b->stop_signal.fd, .events = POLLIN};

  if (b->launch->rank == 0 || err->code != ENOENT)
    bn_log_stderr("%s", err->text);
  else
    (void)poll(&fd, 1, (int)(signalled_ns / BN_NSEC_PER_MSEC));
}

static int bridge_begin(struct bridge *b, struct bn_err *err)
{
  const struct bn_handover all = {.in = -1, .out = -1};

  if (bn_stop_signal_begin(&b->stop_signal, err) != 0 || bridge_load(b, err) != 0)
    return -1;
  if (b->rank == 0 && bn_handover_send(b->socket, &all) != 0)
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

  if (rc == 0)
    return -1;
  (void)signal(SIGPIPE, SIG_IGN);
  if (rc < 0 || bridge_begin(b, &err) != 0)
    bridge_log_failure(b, &err);
  else
    status = b->rank == 0 ? bridge_run_first(b) : bridge_run_other(b);
  bridge_done(b);
  return status;
}

int bn_bridge_enter(struct bn_ranks *ranks, int argc, char *const *argv,
                    void (*hide)(int argc, char *const *argv))
{
  struct bn_launcher launcher;
  struct bridge b = {.launch = &launcher,
                     .argc = argc,
                     .argv = argv,
                     .hide = hide,
                     .socket = -1,
                     .stop_signal = {.fd = -1}};
  struct bn_err err = {0};
  int status = -1;

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
