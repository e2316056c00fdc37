/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts agents until nobody is there who wants some. */
#include "hosts/starter.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/spawn.h"
#include "hosts/handover.h"
#include "hosts/launcher.h"

/* While it starts agents, and while it waits for the end of the last ones.  An agent that has ended
   is collected at the next turn. */
enum { SERVING_MS = 1000, ENDING_MS = 20 };
/* Agents whose controller has gone end sooner. */
static const uint64_t patience_ns = 3 * BN_NSEC_PER_SEC;

static void close_pipes(const struct bn_handover *h)
{
  (void)close(h->in);
  (void)close(h->out);
}

/* Whoever waits for the agent sees the end of its pipe if there is none. */
static void start_agent(char *program, const struct bn_handover *h, const sigset_t *masked)
{
  char *argv[] = {program, (char[]){"--agent"}, NULL};
  const struct bn_spawn s = {argv, h->in, h->out, STDERR_FILENO, masked, SIGTERM};
  struct bn_err err = {0};

  if (bn_spawn(&s, &err) < 0)
    bn_log_stderr("%s", err.text);
}

static bool has_children(void)
{
  pid_t pid;

  do {
    pid = waitpid(-1, NULL, WNOHANG);
  } while (pid > 0);
  return pid == 0;
}

static void starter_serve(int socket, char *program)
{
  struct bn_handover h;
  sigset_t masked;
  uint64_t end_ns = 0;

  (void)sigprocmask(SIG_BLOCK, NULL, &masked);
  while (end_ns == 0 || (has_children() && bn_clock_mono() < end_ns)) {
    struct pollfd fd = {.fd = end_ns == 0 ? socket : -1, .events = POLLIN};

    if (poll(&fd, 1, end_ns == 0 ? SERVING_MS : ENDING_MS) > 0) {
      if (bn_handover_take(socket, &h) == 0) {
        end_ns = bn_clock_mono() + patience_ns;
        continue;
      }
      start_agent(program, &h, &masked);
      close_pipes(&h);
    }
    (void)has_children();
  }
}

/* The launcher may wait until nobody has what it has left open for its library. */
static void keep_from_agents(void)
{
  enum { STANDARD = 3, MOST = 1024 };

  for (int fd = STANDARD; fd < MOST; fd++)
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* The launcher ends the group of the process that it has started. */
_Noreturn static void be_starter(int socket)
{
  struct bn_err err = {0};
  char *program = bn_spawn_self(&err);

  keep_from_agents();
  (void)setpgid(0, 0);
  (void)prctl(PR_SET_NAME, "bench-starter");
  bn_launcher_forget();
  if (program == NULL)
    bn_log_stderr("%s", err.text);
  else
    starter_serve(socket, program);
  free(program);
  _exit(0);
}

int bn_starter_begin(struct bn_starter *s, struct bn_err *err)
{
  int end[2];

  *s = (struct bn_starter){.socket = -1};
  if (bn_handover_socket(end) != 0)
    return bn_err_set(err, errno, "cannot make a socket: %s", strerror(errno));
  s->pid = fork();
  if (s->pid == 0) {
    (void)close(end[0]);
    be_starter(end[1]);
  }
  const int why = errno;

  (void)close(end[1]);
  s->socket = end[0];
  if (s->pid > 0)
    return 0;
  s->pid = 0;
  return bn_err_set(err, why, "cannot start a process: %s", strerror(why));
}

void bn_starter_end(struct bn_starter *s)
{
  if (s->socket >= 0)
    (void)close(s->socket);
  s->socket = -1;
}

bool bn_starter_has_ended(struct bn_starter *s)
{
  if (s->pid > 0 && waitpid(s->pid, NULL, WNOHANG) == s->pid)
    s->pid = 0;
  return s->pid == 0;
}
