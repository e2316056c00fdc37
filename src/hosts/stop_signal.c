/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads signals from a descriptor, and looks for the reader. */
#include "hosts/stop_signal.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/end_signals.h"
#include "engine/stop.h"

/* If the first signal comes again within this time, it may be an echo (stop_signal_is_echo()). */
static const uint64_t echo_ns = BN_NSEC_PER_SEC / 5;

int bn_stop_signal_begin(struct bn_stop_signal *s, struct bn_err *err)
{
  sigset_t set;

  *s = (struct bn_stop_signal){.fd = -1};
  bn_end_signals_choose(&set);
  (void)sigprocmask(SIG_BLOCK, &set, &s->before);
  bn_stop_note_reader();
  s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (s->fd >= 0)
    return 0;
  return bn_err_set(err, errno, "cannot receive signals: %s", strerror(errno));
}

void bn_stop_signal_end(struct bn_stop_signal *s)
{
  if (s->fd >= 0)
    (void)close(s->fd);
  s->fd = -1;
}

/* Stores the first signal, after which nothing waits for the reader of a FIFO.  pid 0: no process
   has sent it. */
static void stop_signal_set_first(struct bn_stop_signal *s, int signo, pid_t pid)
{
  bn_stop_note_asked();
  s->count = 1;
  s->first_ns = bn_clock_mono();
  s->signo = signo;
  s->pid = pid;
}

/* Returns whether the first signal has come again within echo_ns from the same process, as from
   timeout(1), which sends it to the process and then to its group.  Both count as one. */
static bool stop_signal_is_echo(const struct bn_stop_signal *s, const struct signalfd_siginfo *info)
{
  return s->pid != 0 && s->pid == (pid_t)info->ssi_pid && s->signo == (int)info->ssi_signo &&
         bn_clock_mono() - s->first_ns <= echo_ns;
}

enum bn_stop_signal_order bn_stop_signal_read(struct bn_stop_signal *s)
{
  struct signalfd_siginfo info;

  if (s->count == 0 && bn_stop_has_lost_reader()) {
    stop_signal_set_first(s, SIGPIPE, 0 /* pid */);
    return BN_STOP_SIGNAL_FIRST;
  }
  if (read(s->fd, &info, sizeof info) != (ssize_t)sizeof info)
    return BN_STOP_SIGNAL_NONE;
  if (s->count == 0) {
    stop_signal_set_first(s, (int)info.ssi_signo, (pid_t)info.ssi_pid);
    return BN_STOP_SIGNAL_FIRST;
  }
  if (stop_signal_is_echo(s, &info))
    return BN_STOP_SIGNAL_NONE;
  s->count++;
  return BN_STOP_SIGNAL_AGAIN;
}

const char *bn_stop_signal_get_name(const struct bn_stop_signal *s)
{
  return s->signo == SIGINT ? "interrupt" : strsignal(s->signo);
}
