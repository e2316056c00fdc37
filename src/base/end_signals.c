/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks for the present action of each signal. */
#include "base/end_signals.h"

#include <stddef.h>

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
