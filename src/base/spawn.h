/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts a program as a child process with descriptors of the caller. */
#ifndef BN_BASE_SPAWN_H
#define BN_BASE_SPAWN_H

#include <signal.h>
#include <sys/types.h>

#include "base/err.h"

/* The child has a process group of its own. */
struct bn_spawn {
  char *const *argv;      /* argv[0] names the program, without a '/' in PATH; ends with NULL */
  int in, out, errors;    /* its standard streams; they stay the caller's */
  const sigset_t *masked; /* the signals that it has blocked */
  int orphaned;           /* what it gets when the thread that started it ends: SIGKILL, SIGTERM */
};

/* The process, or -1 and err: it could not be started, and why. */
pid_t bn_spawn(const struct bn_spawn *s, struct bn_err *err);
/* The path of the program that runs now, malloc'd; NULL and err: not known. */
char *bn_spawn_self(struct bn_err *err);

#endif
