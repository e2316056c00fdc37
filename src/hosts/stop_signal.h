/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The signals by which a user ends a run on several hosts: SIGINT, SIGTERM and SIGHUP as a
   descriptor, and a reader of standard output that has left. */
#ifndef BN_HOSTS_STOP_SIGNAL_H
#define BN_HOSTS_STOP_SIGNAL_H

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct bn_stop_signal {
  int fd;          /* can be read when one has come; -1: none */
  sigset_t before; /* what was blocked before */
  int count;       /* the number of signals that have come */
  int signo;       /* the first signal */
  pid_t pid;       /* who sent it; 0: it was typed */
  uint64_t first_ns;
};

/* From now on they do not end the process, nor does that reader.  Signals that are ignored stay
   ignored.  -1 and err. */
int bn_stop_signal_begin(struct bn_stop_signal *s, struct bn_err *err);
void bn_stop_signal_end(struct bn_stop_signal *s);
/* Returns 0 for nothing new, 1 if the first has come, 2 for another one.  The reader can only be
   the first. */
int bn_stop_signal_read(struct bn_stop_signal *s);
/* The first that came; 0: none.  SIGPIPE: of the reader. */
int bn_stop_signal_signo(const struct bn_stop_signal *s);
/* "interrupt", "Terminated". */
const char *bn_stop_signal_name(const struct bn_stop_signal *s);

#endif
