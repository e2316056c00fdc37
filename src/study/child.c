/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts programs and waits for them by signals: SIGCHLD, and those that end a study. */
#include "study/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/spawn.h"
#include "study/ending.h"

/* The time from SIGTERM to SIGKILL for a child that takes too long. */
#define KILL_AFTER_NS (10 * BN_NSEC_PER_SEC)

/* Descriptors of the standard streams of a child; -1: not open. */
struct streams {
  int in, out, errors;
};

void bn_children_begin_plain(struct bn_children *c)
{
  c->signo = 0;
  (void)sigemptyset(&c->waited);
  (void)sigaddset(&c->waited, SIGCHLD);
  (void)sigprocmask(SIG_BLOCK, &c->waited, &c->before);
}

void bn_children_begin(struct bn_children *c)
{
  bn_children_begin_plain(c); /* keeps the mask of before in c->before */
  for (size_t i = 0; i < BN_ENDING_SIGNALS; i++) {
    const int signo = bn_ending_signals[i];
    struct sigaction current;

    if (sigaction(signo, NULL, &current) == 0 && current.sa_handler != SIG_IGN)
      (void)sigaddset(&c->waited, signo);
  }
  (void)sigprocmask(SIG_BLOCK, &c->waited, NULL);
}

/* Waits for a signal until that time of bn_clock_mono().  Keeps the first signal that ends the
   study in c->signo.  Returns the number of the signal, or 0 if none has come. */
static int child_wait_signal(struct bn_children *c, uint64_t until_ns)
{
  const uint64_t timeout_ns = bn_clock_between(bn_clock_mono(), until_ns);
  const struct timespec timeout = bn_clock_to_timespec(timeout_ns);
  const int signo = sigtimedwait(&c->waited, NULL, &timeout);

  if (signo > 0 && signo != SIGCHLD && c->signo == 0)
    c->signo = signo;
  return signo > 0 ? signo : 0;
}

void bn_children_pause(struct bn_children *c, uint64_t ns)
{
  const uint64_t until_ns = bn_clock_mono() + ns;

  while (c->signo == 0 && bn_clock_mono() < until_ns)
    (void)child_wait_signal(c, until_ns);
}

/* Opens a file in memory that has this text.  pwrite leaves its offset at 0, where a child begins
   to read.  Returns a descriptor, or -1 and err. */
static int child_open_memory_file(const char *text, size_t len, struct bn_err *err)
{
  const int fd = memfd_create("bench", MFD_CLOEXEC);

  if (fd < 0)
    return bn_err_set(err, errno, "cannot make a file in memory: %s", strerror(errno));
  for (size_t done = 0; done < len;) {
    const ssize_t n = pwrite(fd, text + done, len - done, (off_t)done);

    if (n < 0) {
      (void)bn_err_set(err, errno, "cannot write a file in memory: %s", strerror(errno));
      (void)close(fd);
      return -1;
    }
    done += (size_t)n;
  }
  return fd;
}

/* Opens the standard input of a child.  Returns a descriptor, or -1 and err. */
static int child_open_input(const struct bn_child *c, struct bn_err *err)
{
  if (c->input != NULL)
    return child_open_memory_file(c->input, c->input_len, err);
  const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

  if (fd < 0)
    (void)bn_err_set(err, errno, "cannot read '/dev/null': %s", strerror(errno));
  return fd;
}

/* Makes a file for the output of a child; path NULL: the output is thrown away.  Returns a
   descriptor, or -1 and err. */
static int child_open_output(const char *path, struct bn_err *err)
{
  const int fd = path != NULL ? bn_file_create(path) : open("/dev/null", O_WRONLY | O_CLOEXEC);

  if (fd < 0)
    (void)bn_err_set(err, errno, "cannot write '%s': %s", path != NULL ? path : "/dev/null",
                     bn_file_explain(errno));
  return fd;
}

static void child_close_all(const struct streams *s)
{
  const int fds[] = {s->in, s->out, s->errors};

  for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
    if (fds[i] >= 0)
      (void)close(fds[i]);
}

/* Opens the streams of a child.  Returns 0, or -1 and err; the caller closes those that
   are open. */
static int child_open_streams(struct streams *s, const struct bn_child *c, struct bn_err *err)
{
  const bool is_one_file = c->out != NULL && c->errors != NULL && strcmp(c->out, c->errors) == 0;

  s->in = child_open_input(c, err);
  if (s->in < 0)
    return -1;
  if (c->output != NULL)
    s->out = child_open_memory_file("", 0, err); /* for the child to write to */
  else
    s->out = child_open_output(c->out, err);
  if (s->out < 0)
    return -1;
  if (!is_one_file) {
    s->errors = child_open_output(c->errors, err);
    return s->errors >= 0 ? 0 : -1;
  }
  /* A file that was opened twice would have two offsets, and each stream would overwrite the
     other. */
  s->errors = fcntl(s->out, F_DUPFD_CLOEXEC, 0 /* any number */);
  if (s->errors >= 0)
    return 0;
  return bn_err_set(err, errno, "cannot write '%s': %s", c->errors, strerror(errno));
}

/* Waits for the end of a child, and passes signals on to its process group.  After limit_ns the
   group gets SIGTERM, and from then on SIGKILL each KILL_AFTER_NS.  limit_ns 0: no limit. */
static void child_wait_end(struct bn_children *c, pid_t pid, uint64_t limit_ns,
                           struct bn_child_end *end)
{
  uint64_t kill_ns = limit_ns > 0 ? bn_clock_mono() + limit_ns : UINT64_MAX;
  int wait_status = 0;

  while (waitpid(pid, &wait_status, WNOHANG) == 0) {
    const uint64_t now_ns = bn_clock_mono();
    int signo;

    if (now_ns >= kill_ns) {
      (void)kill(-pid, end->timed_out ? SIGKILL : SIGTERM);
      end->timed_out = true;
      kill_ns = now_ns + KILL_AFTER_NS;
    }
    /* A wait takes at most a second, because the SIGCHLD of this child may be lost: several that
       are pending come as one. */
    signo = child_wait_signal(c, bn_clock_min(kill_ns, now_ns + BN_NSEC_PER_SEC));
    if (signo > 0 && signo != SIGCHLD)
      (void)kill(-pid, signo);
  }
  end->status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
  end->signo = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
}

/* Appends what a child has written to a file in memory.  Returns 0, or -1 and err. */
static int child_read_memory_file(int fd, struct bn_buf *output, struct bn_err *err)
{
  char block[8192];
  ssize_t n;
  off_t offset = 0;

  while ((n = pread(fd, block, sizeof block, offset)) > 0) {
    if (output->len + (size_t)n > output->max)
      return bn_err_set(err, EFBIG, "the child printed more than %zu MiB", output->max >> 20);
    if (bn_buf_add(output, block, (size_t)n) != 0)
      return bn_err_set(err, ENOMEM, "cannot read what the child printed: out of memory");
    offset += n;
  }
  if (n < 0)
    return bn_err_set(err, errno, "cannot read what the child printed: %s", strerror(errno));
  return 0;
}

/* Runs a child with open streams.  Returns as bn_child_run does. */
static int child_run_with_streams(struct bn_children *c, const struct bn_child *child,
                                  const struct streams *s, struct bn_child_end *end,
                                  struct bn_err *err)
{
  const struct bn_spawn spawn = {.argv = child->argv,
                                 .in = s->in,
                                 .out = s->out,
                                 .errors = s->errors,
                                 .masked = &c->before, /* not those that this process waits for */
                                 .orphaned = SIGKILL,
                                 .no_terminal = true};
  const pid_t pid = bn_spawn(&spawn, err);

  if (pid < 0)
    return -1;
  child_wait_end(c, pid, child->limit_ns, end);
  return child->output != NULL ? child_read_memory_file(s->out, child->output, err) : 0;
}

int bn_child_run(struct bn_children *c, const struct bn_child *child, struct bn_child_end *end,
                 struct bn_err *err)
{
  struct streams streams = {.in = -1, .out = -1, .errors = -1};
  int rc = -1;

  *end = (struct bn_child_end){.status = -1};
  if (child_open_streams(&streams, child, err) == 0)
    rc = child_run_with_streams(c, child, &streams, end, err);
  child_close_all(&streams);
  return rc;
}
