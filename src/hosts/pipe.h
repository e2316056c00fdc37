/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a pipe into which bytes leave as it takes them.  No call waits. */
#ifndef BN_HOSTS_PIPE_H
#define BN_HOSTS_PIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"

struct bn_pipe_out {
  int fd;              /* does not block; -1: closed */
  struct bn_buf queue; /* bytes that wait, behind some that have left */
  size_t sent;         /* bytes of the queue that have left */
};

/* Returns whether bytes wait for the pipe to take them. */
bool bn_pipe_waits(const struct bn_pipe_out *p);
/* Sends what the pipe takes, and returns the number of bytes.  -1: nobody reads any more; the end
   is closed. */
ssize_t bn_pipe_send(struct bn_pipe_out *p);
/* Closes the end, and forgets what waits: a password may be in it. */
void bn_pipe_close(struct bn_pipe_out *p);
/* The same, and frees the memory. */
void bn_pipe_done(struct bn_pipe_out *p);

/* Makes a pipe for another process.  `ours`, the end into which we write or from which we read,
   does not block; the flag is not one of `theirs`.  Both close when a program is started.  -1:
   errno, and both are -1. */
int bn_pipe_make(int *ours, int *theirs, bool we_write);
/* Closes a descriptor, if it is one, and makes it -1. */
void bn_pipe_close_end(int *fd);

#endif
