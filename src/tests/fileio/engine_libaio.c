/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine of Linux AIO, a module: requests are collected and sent together. */
#include <errno.h>
#include <libaio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/ioengine.h"
#include "base/clock.h"

struct engine {
  const int *fd;
  io_context_t context;
  struct iocb *cb;       /* indexed by slot */
  struct iocb **waiting; /* [depth] requests that are not sent yet */
  struct io_event *event;
  unsigned depth, n_waiting;
  unsigned sent;    /* requests that the kernel has, and that libaio_reap() has not returned */
  unsigned send_at; /* this number of waiting requests is sent without waiting for more */
};

/* Makes the queue of a session, which counts against a limit of the whole system.  Returns 0, or -1
   and err; libaio_close() frees everything in both cases. */
static int libaio_open(void *self, const struct bn_io_setup *setup, struct bn_err *err)
{
  struct engine *e = self;
  const char *hint = "";

  e->fd = setup->fd;
  e->depth = setup->depth;
  e->send_at = bn_io_together(e->depth);
  e->cb = calloc(e->depth, sizeof *e->cb);
  e->waiting = calloc(e->depth, sizeof *e->waiting);
  e->event = calloc(e->depth, sizeof *e->event);
  if (e->cb == NULL || e->waiting == NULL || e->event == NULL)
    return bn_err_set(err, 0, "out of memory for %u requests: lower --file-async-backlog",
                      e->depth);
  const int rc = io_queue_init((int)e->depth, &e->context);

  if (rc == 0)
    return 0;
  e->context = NULL;
  if (rc == -EAGAIN)
    hint = ": lower --file-async-backlog or --threads, or raise sysctl fs.aio-max-nr";
  return bn_err_set(err, -rc, "io_queue_init() failed! errno = %d (%s)%s", -rc, strerror(-rc),
                    hint);
}

/* Frees the queue; io_queue_release waits for the requests in flight. */
static void libaio_close(void *self)
{
  struct engine *e = self;

  if (e->context != NULL)
    (void)io_queue_release(e->context);
  free(e->cb);
  free(e->waiting);
  free(e->event);
}

/* Sends waiting requests, as far as the kernel takes them.  Returns their number, or -errno. */
static int libaio_send_some(struct engine *e)
{
  const int rc = io_submit(e->context, (long)e->n_waiting, e->waiting);

  if (rc > 0) {
    e->n_waiting -= (unsigned)rc;
    e->sent += (unsigned)rc;
    memmove(e->waiting, e->waiting + rc, e->n_waiting * sizeof e->waiting[0]);
  }
  return rc;
}

/* Adds a request to those that wait, and sends them together when send_at of them wait.  Returns 0:
   libaio_reap() sends the request if it still waits, and returns it when it is done. */
static int libaio_submit(void *self, struct bn_io_req *r)
{
  struct engine *e = self;
  struct iocb *cb = &e->cb[r->slot];
  const int fd = e->fd[r->file];

  switch (r->op) {
  case BN_IO_READ:
    io_prep_pread(cb, fd, r->buf, r->len, (long long)r->offset);
    break;
  case BN_IO_WRITE:
    io_prep_pwrite(cb, fd, r->buf, r->len, (long long)r->offset);
    break;
  case BN_IO_FSYNC:
    io_prep_fsync(cb, fd);
    break;
  case BN_IO_FDATASYNC:
    io_prep_fdsync(cb, fd);
    break;
  }
  cb->data = r;
  e->waiting[e->n_waiting++] = cb;
  if (e->n_waiting >= e->send_at)
    (void)libaio_send_some(e); /* an error occurs again in libaio_reap(), which returns it */
  return 0;
}

/* Removes the first waiting request, which the kernel has refused, and returns it with its result.
   Some file systems refuse a flush in io_submit(2) but have the system call, which bn_io_flush()
   makes. */
static struct bn_io_req *libaio_remove_refused(struct engine *e, int error)
{
  struct bn_io_req *r = e->waiting[0]->data;

  r->result = -error;
  if (error == EINVAL && bn_io_is_flush(r->op))
    r->result = bn_io_flush(e->fd[r->file], r->op);
  e->n_waiting--;
  memmove(e->waiting, e->waiting + 1, e->n_waiting * sizeof e->waiting[0]);
  return r;
}

/* Sends the waiting requests.  Puts the requests that the kernel has refused, at most `max`, into
   `done` with their results, and returns their number.  If the kernel has no room (EAGAIN), the
   remaining requests wait until a sent request has ended; if none was sent, asks again at once. */
static unsigned libaio_send_waiting(struct engine *e, struct bn_io_req **done, unsigned max)
{
  unsigned n = 0;

  while (e->n_waiting > 0 && n < max) {
    const int rc = libaio_send_some(e);
    const bool is_refused = rc <= 0 && rc != -EINTR && rc != -EAGAIN;

    if (rc == -EAGAIN && e->sent > 0)
      break;
    if (is_refused) /* a result of 0 gives no reason */
      done[n++] = libaio_remove_refused(e, rc < 0 ? -rc : EIO);
  }
  return n;
}

/* Sends the collected requests.  If the kernel has refused some, puts these into `done` and does
   not wait.  Otherwise waits for min sent requests, but no longer than timeout_ns, and puts those
   that have ended into `done`.  Returns the number in `done`, or -errno. */
static int libaio_reap(void *self, unsigned min, struct bn_io_req **done, unsigned max,
                       uint64_t timeout_ns)
{
  struct engine *e = self;
  struct timespec wait = bn_clock_to_timespec(timeout_ns);
  const unsigned refused = libaio_send_waiting(e, done, max);
  int n;

  if (refused > 0 || e->sent == 0)
    return (int)refused;
  /* Only requests that were sent can end. */
  if (min > e->sent)
    min = e->sent;
  do
    n = io_getevents(e->context, min, max, e->event, timeout_ns == UINT64_MAX ? NULL : &wait);
  while (n == -EINTR);
  for (int i = 0; i < n; i++) {
    done[i] = e->event[i].data;
    done[i]->result = (int64_t)(long)e->event[i].res;
  }
  if (n > 0)
    e->sent -= (unsigned)n;
  return n;
}

__attribute__((visibility("default"))) extern const struct bn_ioengine bench_engine;
const struct bn_ioengine bench_engine = {
    .abi = BN_IOENGINE_ABI,
    .size = sizeof(struct bn_ioengine),
    .name = "async",
    .title = "asynchronous",
    .async = true,
    .session_size = sizeof(struct engine),
    .open = libaio_open,
    .close = libaio_close,
    .submit = libaio_submit,
    .reap = libaio_reap,
};
