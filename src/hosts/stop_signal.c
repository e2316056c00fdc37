/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads signals from a descriptor, and looks for the reader. */
#include "hosts/stop_signal.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/stop.h"

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

/* Stores the first signal, after which nothing waits for the reader of a FIFO. */
static void stop_signal_set_first(struct bn_stop_signal *s, const struct bn_end_signal *first)
{
  bn_stop_note_asked();
  s->count = 1;
  s->first = *first;
}

enum bn_stop_signal_order bn_stop_signal_read(struct bn_stop_signal *s)
{
  struct bn_end_signal received = {.at_ns = bn_clock_mono()};
  struct signalfd_siginfo info;

  if (s->count == 0 && bn_stop_has_lost_reader()) {
    received.signo = SIGPIPE;
    stop_signal_set_first(s, &received);
    return BN_STOP_SIGNAL_FIRST;
  }
  if (read(s->fd, &info, sizeof info) != (ssize_t)sizeof info)
    return BN_STOP_SIGNAL_NONE;
  received.signo = (int)info.ssi_signo;
  received.pid = (pid_t)info.ssi_pid;
  if (s->count == 0) {
    stop_signal_set_first(s, &received);
    return BN_STOP_SIGNAL_FIRST;
  }
  if (bn_end_signal_is_echo(&s->first, &received))
    return BN_STOP_SIGNAL_NONE;
  s->count++;
  return BN_STOP_SIGNAL_AGAIN;
}

const char *bn_stop_signal_get_name(const struct bn_stop_signal *s)
{
  return s->first.signo == SIGINT ? "interrupt" : strsignal(s->first.signo);
}
