/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The user's wish that a run on several hosts ends: SIGINT, SIGTERM and SIGHUP as a descriptor, and
   a reader of standard output that has left. */
#ifndef BN_HOSTS_WISH_H
#define BN_HOSTS_WISH_H

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct bn_wish {
  int fd;          /* can be read when one has come; -1: none */
  sigset_t before; /* what was blocked before */
  int count;       /* of those that have come */
  int signo;       /* the first */
  pid_t pid;       /* who sent it; 0: it was typed */
  uint64_t first_ns;
};

/* From now on they do not end the process, nor does that reader.  Signals that are ignored stay
   ignored.  -1 and err. */
int bn_wish_begin(struct bn_wish *w, struct bn_err *err);
void bn_wish_end(struct bn_wish *w);
/* 0: nothing new; 1: the first has come, 2: another one.  The reader can only be the first. */
int bn_wish_read(struct bn_wish *w);
/* The first that came; 0: none.  SIGPIPE: of the reader. */
int bn_wish_signo(const struct bn_wish *w);
/* "interrupt", "Terminated". */
const char *bn_wish_name(const struct bn_wish *w);

#endif
