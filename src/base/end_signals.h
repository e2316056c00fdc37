/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The signals that ask a program to end. */
#ifndef BN_BASE_END_SIGNALS_H
#define BN_BASE_END_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"

/* timeout(1) sends its signal to the process and then to its group, which is one request: a signal
   that comes again from the same process within this time does not count. */
#define BN_END_SIGNAL_ECHO_NS (BN_NSEC_PER_SEC / 5)

/* A signal that asks for the end, and its sender. */
struct bn_end_signal {
  int signo;      /* 0: none has come */
  pid_t pid;      /* the sender; 0: a key such as Ctrl-C, or a process of another pid namespace */
  uint64_t at_ns; /* when it came, by bn_clock_mono() */
};

/* Returns whether a signal is the first one once more, from the same process within
   BN_END_SIGNAL_ECHO_NS.  A user who types a key means each signal. */
bool bn_end_signal_is_echo(const struct bn_end_signal *first, const struct bn_end_signal *s);
/* Fills the set with SIGINT, SIGTERM and SIGHUP, but without those that are ignored: nohup and the
   background jobs of a shell ignore signals on purpose, and the kernel queues even an ignored
   signal while it is blocked. */
void bn_end_signals_choose(sigset_t *set);

#endif
