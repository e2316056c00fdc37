/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts a program; an error of exec(3) comes back through a pipe. */
#include "base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"

enum { NOT_STARTED = 127 };

/* Sets the standard streams and the signal mask of the child.  Returns false and errno if it
   cannot. */
static bool spawn_set_up(const struct bn_spawn *s)
{
  return dup2(s->in, STDIN_FILENO) >= 0 && dup2(s->out, STDOUT_FILENO) >= 0 &&
         dup2(s->errors, STDERR_FILENO) >= 0 && sigprocmask(SIG_SETMASK, s->masked, NULL) == 0;
}

/* Turns the child into the program, or ends it with an errno value in the pipe `failure`, which a
   successful exec closes.  Makes only calls that are allowed between fork and exec.  If the parent
   has ended, the value has no meaning, and nobody reads it. */
__attribute__((noreturn)) static void spawn_become(const struct bn_spawn *s, pid_t parent,
                                                   int failure)
{
  int error;

  /* A new process is neither the leader of a session nor of a group, so that these do not fail. */
  if (s->no_terminal)
    (void)setsid();
  else
    (void)setpgid(0, 0);
  /* If the parent has ended before this call, the signal never comes, but the child then has
     another parent. */
  (void)prctl(PR_SET_PDEATHSIG, s->orphaned);
  const bool has_parent = getppid() == parent;

  if (has_parent && spawn_set_up(s))
    (void)execvp(s->argv[0], s->argv);
  error = errno;
  (void)!write(failure, &error, sizeof error);
  _exit(NOT_STARTED);
}

/* Returns the errno value that the child has written to the pipe, or 0 if the pipe ends without a
   value: the child has become the program, or was killed before, which waitpid() shows later. */
static int spawn_read_failure(int failure)
{
  int error = 0;

  while (read(failure, &error, sizeof error) < 0 && errno == EINTR)
    continue;
  return error;
}

pid_t bn_spawn(const struct bn_spawn *s, struct bn_err *err)
{
  const pid_t parent = getpid();
  int failure[2], error = 0;
  pid_t pid;

  /* While SIGCHLD is ignored, as the parent of this process may have left it, the kernel keeps no
     exit status of a child. */
  (void)signal(SIGCHLD, SIG_DFL);
  if (pipe2(failure, O_CLOEXEC) != 0)
    return bn_err_set(err, errno, "cannot start '%s': %s", s->argv[0], strerror(errno));
  pid = fork();
  if (pid == 0)
    spawn_become(s, parent, failure[1]);
  if (pid < 0)
    error = errno;
  (void)close(failure[1]); /* the child is now the only writer: its exec or exit ends the pipe */
  if (pid > 0)
    error = spawn_read_failure(failure[0]);
  (void)close(failure[0]);
  if (error == 0)
    return pid;
  if (pid > 0)
    (void)waitpid(pid, NULL, 0); /* the child has ended after its failure */
  return bn_err_set(err, error, "cannot start '%s': %s", s->argv[0], strerror(error));
}

char *bn_spawn_self(struct bn_err *err)
{
  char path[PATH_MAX];
  const ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);

  if (len < 0) {
    (void)bn_err_set(err, errno, "cannot find the path of this program: /proc/self/exe: %s",
                     strerror(errno));
    return NULL;
  }
  path[len] = '\0';
  return bn_alloc_text(path);
}
