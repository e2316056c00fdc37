/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a pipe with a queue of bytes, which are written as the pipe takes them.  No call
   waits. */
#ifndef BN_HOSTS_PIPE_H
#define BN_HOSTS_PIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"

struct bn_pipe_out {
  int fd;              /* does not block; -1: closed */
  struct bn_buf queue; /* bytes that have been written, and those that wait behind them */
  size_t sent;         /* how many bytes of the queue have been written */
};

/* Returns whether bytes wait for the pipe to take them. */
bool bn_pipe_has_queued(const struct bn_pipe_out *p);
/* Writes as many bytes as the pipe takes, and returns their number, or -1 if nobody reads any more;
   the end is then closed. */
ssize_t bn_pipe_send(struct bn_pipe_out *p);
/* Closes the end unless it is closed, and overwrites and frees the queue, which may hold a
   password. */
void bn_pipe_close(struct bn_pipe_out *p);

/* Makes a pipe to another process, into which this process writes if we_write, or else from which
   it reads.  The end *ours does not block, and *theirs does.  Both close when a program is started.
   Returns 0, or -1 and errno; both are then -1. */
int bn_pipe_make(int *ours, int *theirs, bool we_write);
/* Closes a descriptor unless it is -1, and makes it -1. */
void bn_pipe_close_end(int *fd);

#endif
