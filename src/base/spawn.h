/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts a program as a child process with descriptors of the caller. */
#ifndef BN_BASE_SPAWN_H
#define BN_BASE_SPAWN_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

/* A program to be started.  The child has a process group of its own, from which it cannot read the
   terminal. */
struct bn_spawn {
  char *const *argv;      /* ends with NULL; a program without '/' in its name is found by PATH */
  int in, out, errors;    /* its standard streams; the caller keeps them open */
  const sigset_t *masked; /* signals that are blocked in the child */
  int orphaned;           /* the signal that the child gets when the thread that started it ends */
  bool no_terminal;       /* a question to the user fails, instead of stopping the child for ever */
};

/* Starts the program and waits until it runs.  Returns its process, for waitpid(2), or -1 and err
   if it could not be started. */
pid_t bn_spawn(const struct bn_spawn *s, struct bn_err *err);
/* Returns the path of the running program, which the caller frees, or NULL and err. */
char *bn_spawn_self(struct bn_err *err);

#endif
