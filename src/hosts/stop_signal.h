/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The signals by which a user ends a run on several hosts: SIGINT, SIGTERM and SIGHUP, which are
   read from a descriptor, and SIGPIPE, which stands for a reader of standard output that has
   left. */
#ifndef BN_HOSTS_STOP_SIGNAL_H
#define BN_HOSTS_STOP_SIGNAL_H

#include <signal.h>

#include "base/end_signals.h"
#include "base/err.h"

struct bn_stop_signal {
  int fd;                     /* can be read when a signal has come; -1: none */
  sigset_t before;            /* the signals that were blocked before */
  int count;                  /* how many signals have come */
  struct bn_end_signal first; /* the first of them */
};

/* Begins to receive the signals.  From now on they do not end the process, nor does the loss of the
   reader of standard output.  Signals that are ignored stay ignored.  Returns 0, or -1 and err. */
int bn_stop_signal_begin(struct bn_stop_signal *s, struct bn_err *err);
/* Closes the descriptor; the signals stay blocked. */
void bn_stop_signal_end(struct bn_stop_signal *s);

enum bn_stop_signal_order {
  BN_STOP_SIGNAL_NONE, /* no new signal has come */
  BN_STOP_SIGNAL_FIRST,
  BN_STOP_SIGNAL_AGAIN /* a signal has come after the first one */
};

/* Takes the next signal that has come.  The loss of the reader counts only as the first one. */
enum bn_stop_signal_order bn_stop_signal_read(struct bn_stop_signal *s);
/* Returns the name of the first signal for a message: "interrupt", "Terminated". */
const char *bn_stop_signal_get_name(const struct bn_stop_signal *s);

#endif
