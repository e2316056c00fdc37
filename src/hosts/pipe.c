/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes into pipes without waiting. */
#include "hosts/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

void bn_pipe_close_end(int *fd)
{
  if (*fd >= 0)
    (void)close(*fd);
  *fd = -1;
}

int bn_pipe_make(int *ours, int *theirs, bool we_write)
{
  enum { READ_END, WRITE_END, ENDS };
  int end[ENDS], saved_errno;

  *ours = *theirs = -1;
  if (pipe2(end, O_CLOEXEC) != 0)
    return -1;
  *ours = end[we_write ? WRITE_END : READ_END];
  *theirs = end[we_write ? READ_END : WRITE_END];
  if (fcntl(*ours, F_SETFL, O_NONBLOCK) == 0)
    return 0;
  saved_errno = errno;
  bn_pipe_close_end(ours);
  bn_pipe_close_end(theirs);
  errno = saved_errno;
  return -1;
}

bool bn_pipe_has_queued(const struct bn_pipe_out *p)
{
  return p->fd >= 0 && p->sent < p->queue.len;
}

ssize_t bn_pipe_send(struct bn_pipe_out *p)
{
  ssize_t written = 0;

  while (bn_pipe_has_queued(p)) {
    const ssize_t n = write(p->fd, p->queue.data + p->sent, p->queue.len - p->sent);

    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0 && errno == EAGAIN)
      return written;
    if (n < 0) {
      bn_pipe_close(p);
      return -1;
    }
    p->sent += (size_t)n;
    written += n;
  }
  /* A password may be among the bytes.  bn_buf_wipe() would free the queue, too, so that each
     message would allocate it again. */
  if (p->queue.len > 0)
    explicit_bzero(p->queue.data, p->queue.len);
  bn_buf_clear(&p->queue);
  p->sent = 0;
  return written;
}

void bn_pipe_close(struct bn_pipe_out *p)
{
  bn_pipe_close_end(&p->fd);
  bn_buf_wipe(&p->queue);
  p->sent = 0;
}
