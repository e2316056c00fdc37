/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The signals that ask a program to end. */
#ifndef BN_BASE_END_SIGNALS_H
#define BN_BASE_END_SIGNALS_H

#include <signal.h>

/* Fills the set with SIGINT, SIGTERM and SIGHUP, but without those that are ignored: nohup and the
   background jobs of a shell ignore signals on purpose, and the kernel queues even an ignored
   signal while it is blocked. */
void bn_end_signals_choose(sigset_t *set);

#endif
