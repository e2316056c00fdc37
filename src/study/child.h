/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs a program as a child process, waits for it, and passes on the signals that end a study.

   One child at a time, main thread only.  The child has a process group of its own; the kernel
   kills it when this process is killed. */
#ifndef BN_STUDY_CHILD_H
#define BN_STUDY_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* How a study waits for children and for signals. */
struct bn_children {
  sigset_t waited; /* blocked and waited for: SIGCHLD, and the signals that end a study */
  sigset_t before; /* the signals that this process had blocked before */
  int signo;       /* the first signal that came to end the study; 0: none */
};

struct bn_child {
  char *const *argv;  /* ends with NULL; argv[0] is the program, found by PATH if it has no '/' */
  const char *out;    /* file for its standard output, made anew; NULL: it is thrown away */
  const char *errors; /* file for its standard error, as `out`; may have the same name */
  uint64_t limit_ns;  /* after this time it gets SIGTERM, then SIGKILL each 10 s; 0: no limit */
  const char *input;  /* text for its standard input, of input_len bytes; NULL: it reads nothing */
  size_t input_len;
  struct bn_buf *output; /* gets its standard output in place of the file `out`; NULL: none */
};

struct bn_child_end {
  int status; /* exit status; -1: a signal ended it */
  int signo;  /* that signal; 0: none */
  bool timed_out;
};

/* Fills *c before the first child.  SIGINT, SIGTERM, SIGHUP and SIGQUIT to this process no longer
   end it, but are passed on to the child and noted.  Signals that are ignored stay ignored. */
void bn_children_begin(struct bn_children *c);
/* Fills *c before the first child, but lets these signals end this process, and the child with
   it. */
void bn_children_begin_plain(struct bn_children *c);
/* Starts the program and waits for its end.  Returns 0 and *end, or -1 and err if the program could
   not be started, or its output could not be read. */
int bn_child_run(struct bn_children *c, const struct bn_child *child, struct bn_child_end *end,
                 struct bn_err *err);
/* Waits for that time, or until a signal has come that ends the study. */
void bn_children_pause(struct bn_children *c, uint64_t ns);

#endif
