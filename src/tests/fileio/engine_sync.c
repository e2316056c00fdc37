/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The synchronous engine: pread, pwrite, fsync. */
#include <errno.h>
#include <unistd.h>

#include "tests/fileio/engines.h"

struct engine {
  const int *fd;
};

static int sync_open(void *self, const struct bn_io_setup *setup, struct bn_err *err)
{
  struct engine *e = self;

  (void)err;
  e->fd = setup->fd;
  return 0;
}

/* Moves bytes of a request that follow its first `done` bytes, in one system call.  Returns how
   many were moved, which may be less than all, or -errno. */
static int64_t sync_transfer(int fd, const struct bn_io_req *r, size_t done)
{
  unsigned char *at = (unsigned char *)r->buf + done;
  const off_t offset = (off_t)(r->offset + done);
  ssize_t n;

  do
    n = r->op == BN_IO_READ ? pread(fd, at, r->len - done, offset)
                            : pwrite(fd, at, r->len - done, offset);
  while (n < 0 && errno == EINTR);
  return n >= 0 ? n : -errno;
}

void bn_io_execute(int fd, struct bn_io_req *r, size_t done)
{
  int64_t n;

  if (bn_io_is_flush(r->op)) {
    r->result = bn_io_flush(fd, r->op);
    return;
  }
  do {
    n = sync_transfer(fd, r, done);
    if (n > 0)
      done += (size_t)n;
  } while (n > 0 && done < r->len);
  r->result = n < 0 ? n : (int64_t)done;
}

/* Executes a request.  Returns 1: it is done. */
static int sync_submit(void *self, struct bn_io_req *r)
{
  const struct engine *e = self;

  bn_io_execute(e->fd[r->file], r, 0);
  return 1;
}

const struct bn_ioengine bn_engine_sync = {
    .abi = BN_IOENGINE_ABI,
    .size = sizeof(struct bn_ioengine),
    .name = "sync",
    .title = "synchronous",
    .session_size = sizeof(struct engine),
    .open = sync_open,
    .submit = sync_submit,
};
