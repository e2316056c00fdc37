/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks for the present action of each signal, and compares signals. */
#include "base/end_signals.h"

#include <stddef.h>

bool bn_end_signal_is_echo(const struct bn_end_signal *first, const struct bn_end_signal *s)
{
  return s->pid != 0 && s->pid == first->pid && s->signo == first->signo &&
         s->at_ns - first->at_ns <= BN_END_SIGNAL_ECHO_NS;
}

void bn_end_signals_choose(sigset_t *set)
{
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

  (void)sigemptyset(set);
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    struct sigaction present;

    if (sigaction(signals[i], NULL, &present) == 0 && present.sa_handler != SIG_IGN)
      (void)sigaddset(set, signals[i]);
  }
}
