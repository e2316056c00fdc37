/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine of io_uring, a module: one ring per session, files and buffers registered. */
#include <errno.h>
#include <liburing.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "api/ioengine.h"
#include "base/clock.h"

struct engine {
  const int *fd;
  struct io_uring ring;
  bool ready;         /* the ring exists */
  bool fixed_files;   /* files are named by index */
  bool fixed_buffers; /* buffers are named by slot */
  bool polled;        /* IOPOLL, which knows no flushes */
  unsigned depth, in_flight;
  unsigned send_at; /* this number of waiting requests is sent without waiting for more */
};

/* Flags in the order in which they are tried: the best ones for a single thread first, and last
   none, which every kernel with io_uring takes. */
static const unsigned flag_sets[] = {
#ifdef IORING_SETUP_DEFER_TASKRUN
    IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
#endif
#ifdef IORING_SETUP_COOP_TASKRUN
    IORING_SETUP_COOP_TASKRUN,
#endif
    0,
};

/* Makes a ring with the best flags that this kernel knows.  Returns 0, or -errno. */
static int uring_make_ring(struct io_uring *ring, const struct bn_io_setup *setup, unsigned depth)
{
  const unsigned polling =
      (setup->iopoll ? IORING_SETUP_IOPOLL : 0) | (setup->sqpoll ? IORING_SETUP_SQPOLL : 0);
  int rc = -EINVAL; /* the answer to a flag that the kernel does not know */

  /* The kernel refuses the task work flags of flag_sets together with SQPOLL. */
  if (setup->sqpoll)
    return io_uring_queue_init(depth, ring, polling);
  for (size_t i = 0; i < sizeof flag_sets / sizeof flag_sets[0] && rc == -EINVAL; i++)
    rc = io_uring_queue_init(depth, ring, polling | flag_sets[i]);
  return rc;
}

/* Sets the sentence for a ring that cannot be made, with the remedy.  Returns -1. */
static int uring_refuse(struct bn_err *err, int error)
{
  switch (error) {
  case EPERM:
  case EACCES:
    return bn_err_set(err, error,
                      "the kernel refuses io_uring to this user (%s): see sysctl "
                      "kernel.io_uring_disabled and the container's seccomp profile, or use "
                      "--file-io-mode=async",
                      strerror(error));
  case ENOSYS:
    return bn_err_set(err, error,
                      "this kernel has no io_uring, or a seccomp profile hides it: use "
                      "--file-io-mode=async");
  case ENOMEM:
    return bn_err_set(err, error,
                      "the kernel refuses the memory of an io_uring: raise ulimit -l or lower "
                      "--threads and --file-async-backlog");
  case EMFILE:
    return bn_err_set(err, error,
                      "no file descriptor is left: each thread needs one for io_uring; "
                      "raise ulimit -n or lower --threads and --file-num");
  case EINVAL:
    return bn_err_set(err, error,
                      "cannot make an io_uring: %s (is --file-async-backlog above 32768?)",
                      strerror(error));
  default:
    return bn_err_set(err, error, "cannot make an io_uring: %s", strerror(error));
  }
}

/* Asks the kernel once, so that a refusal prints a single message for all threads.  Returns 0, or
   -1 and err. */
static int uring_start(void **shared, const struct bn_io_setup *setup, struct bn_err *err)
{
  enum { DEPTH = 1 }; /* the ring is not used */
  struct io_uring ring;
  const int rc = uring_make_ring(&ring, setup, DEPTH);

  *shared = NULL;
  if (rc < 0)
    return uring_refuse(err, -rc);
  io_uring_queue_exit(&ring);
  return 0;
}

/* Registers files and buffers, which saves work per request.  The kernel may refuse either (limits
   on locked memory, old kernels); requests then name them as system calls do. */
static void uring_register_resources(struct engine *e, const struct bn_io_setup *setup)
{
  struct iovec *v = calloc(setup->depth, sizeof *v);

  e->fixed_files = io_uring_register_files(&e->ring, setup->fd, setup->n_files) == 0;
  if (v == NULL)
    return;
  for (unsigned i = 0; i < setup->depth; i++)
    v[i] = (struct iovec){.iov_base = setup->buffers + i * setup->buffer_size,
                          .iov_len = setup->buffer_size};
  e->fixed_buffers = io_uring_register_buffers(&e->ring, v, setup->depth) == 0;
  free(v);
}

/* Makes the ring of a session.  Returns 0, or -1 and err; uring_close() frees it in both cases. */
static int uring_open(void *self, const struct bn_io_setup *setup, struct bn_err *err)
{
  struct engine *e = self;
  const int rc = uring_make_ring(&e->ring, setup, setup->depth);

  if (rc < 0)
    return uring_refuse(err, -rc);
  e->ready = true;
  e->fd = setup->fd;
  e->polled = setup->iopoll;
  e->depth = setup->depth;
  e->send_at = bn_io_together(setup->depth);
  uring_register_resources(e, setup);
  return 0;
}

/* Frees the ring, if uring_open() could make it. */
static void uring_close(void *self)
{
  struct engine *e = self;

  if (!e->ready)
    return;
  /* The kernel frees a ring some time later; until then it would keep removed files on the disk,
     even after the end of the program. */
  if (e->fixed_files)
    (void)io_uring_unregister_files(&e->ring);
  io_uring_queue_exit(&e->ring);
}

/* Writes a request into an entry of the submission queue. */
static void uring_fill_entry(struct engine *e, struct io_uring_sqe *sqe, struct bn_io_req *r)
{
  const int fd = e->fixed_files ? (int)r->file : e->fd[r->file];
  const unsigned len = (unsigned)r->len;

  switch (r->op) {
  case BN_IO_READ:
    if (e->fixed_buffers)
      io_uring_prep_read_fixed(sqe, fd, r->buf, len, r->offset, (int)r->slot);
    else
      io_uring_prep_read(sqe, fd, r->buf, len, r->offset);
    break;
  case BN_IO_WRITE:
    if (e->fixed_buffers)
      io_uring_prep_write_fixed(sqe, fd, r->buf, len, r->offset, (int)r->slot);
    else
      io_uring_prep_write(sqe, fd, r->buf, len, r->offset);
    break;
  case BN_IO_FSYNC:
  case BN_IO_FDATASYNC:
    io_uring_prep_fsync(sqe, fd, r->op == BN_IO_FDATASYNC ? IORING_FSYNC_DATASYNC : 0);
    break;
  }
  if (e->fixed_files)
    io_uring_sqe_set_flags(sqe, IOSQE_FIXED_FILE);
  io_uring_sqe_set_data(sqe, r);
}

/* Queues a request, and sends the queue if enough requests wait in it.  Returns 0, or 1 if the
   request is done already. */
static int uring_submit(void *self, struct bn_io_req *r)
{
  struct engine *e = self;
  struct io_uring_sqe *sqe;

  /* A polled ring takes no flushes. */
  if (e->polled && bn_io_is_flush(r->op)) {
    r->result = bn_io_flush(e->fd[r->file], r->op);
    return 1;
  }
  sqe = io_uring_get_sqe(&e->ring);
  /* With SQPOLL, the kernel thread may not have taken the entries of earlier requests yet. */
  while (sqe == NULL) {
    (void)io_uring_submit(&e->ring);
    if ((e->ring.flags & IORING_SETUP_SQPOLL) != 0)
      (void)io_uring_sqring_wait(&e->ring);
    sqe = io_uring_get_sqe(&e->ring);
  }
  uring_fill_entry(e, sqe, r);
  e->in_flight++;
  /* With a full queue, the next reap sends and waits in one call.  An error comes again there. */
  if (e->in_flight < e->depth && io_uring_sq_ready(&e->ring) >= e->send_at)
    (void)io_uring_submit(&e->ring);
  return 0;
}

/* Sends the queued requests and waits for min completions, but no longer than timeout_ns.  Returns
   0 or more, or -errno. */
static int uring_send_and_wait(struct engine *e, unsigned min, uint64_t timeout_ns)
{
  struct __kernel_timespec ts = {(long long)(timeout_ns / BN_NSEC_PER_SEC),
                                 (long long)(timeout_ns % BN_NSEC_PER_SEC)};
  struct io_uring_cqe *cqe;

  if (min == 0)
    return io_uring_submit_and_get_events(&e->ring);
  if (timeout_ns == UINT64_MAX)
    return io_uring_submit_and_wait(&e->ring, min);
  return io_uring_submit_and_wait_timeout(&e->ring, &cqe, min, &ts, NULL);
}

/* Puts at most max completed requests into `done`, and returns their number.  On kernels
   before 5.11 the library implements a timeout by a request of its own, whose completion is
   dropped. */
static unsigned uring_collect(struct engine *e, struct bn_io_req **done, unsigned max)
{
  struct io_uring_cqe *cqe;
  unsigned n = 0, taken = 0, head;

  io_uring_for_each_cqe(&e->ring, head, cqe)
  {
    if (n == max)
      break;
    taken++;
    if (cqe->user_data == LIBURING_UDATA_TIMEOUT)
      continue;
    done[n] = io_uring_cqe_get_data(cqe);
    done[n]->result = cqe->res;
    n++;
  }
  io_uring_cq_advance(&e->ring, taken);
  e->in_flight -= n;
  return n;
}

/* Returns whether a wait that has brought nothing is repeated: after a signal, or if it had no time
   limit. */
static bool uring_waits_again(int rc, uint64_t timeout_ns)
{
  if (rc < 0)
    return rc == -EINTR;
  /* The late timeout of an earlier wait ends this wait, too (uring_collect). */
  return timeout_ns == UINT64_MAX;
}

/* Returns whether the result of a wait is no failure.  If nothing has come in time, a signal came,
   or the kernel has no room now, the next wait may succeed. */
static bool uring_is_harmless(int rc)
{
  return rc >= 0 || rc == -ETIME || rc == -EINTR || rc == -EAGAIN || rc == -EBUSY;
}

/* Sends the queue, waits for min requests or timeout_ns, and puts the completed requests, at most
   max, into `done`.  Returns their number, or -errno. */
static int uring_reap(void *self, unsigned min, struct bn_io_req **done, unsigned max,
                      uint64_t timeout_ns)
{
  struct engine *e = self;
  unsigned n = 0;
  int rc;

  if (min > e->in_flight)
    min = e->in_flight;
  do {
    rc = uring_send_and_wait(e, min, timeout_ns);
    n = uring_collect(e, done, max);
  } while (n == 0 && min > 0 && uring_waits_again(rc, timeout_ns));
  if (n == 0 && !uring_is_harmless(rc))
    return rc;
  return (int)n;
}

__attribute__((visibility("default"))) extern const struct bn_ioengine bench_engine;
const struct bn_ioengine bench_engine = {
    .abi = BN_IOENGINE_ABI,
    .size = sizeof(struct bn_ioengine),
    .name = "io_uring",
    .title = "io_uring",
    .async = true,
    .session_size = sizeof(struct engine),
    .start = uring_start,
    .open = uring_open,
    .close = uring_close,
    .submit = uring_submit,
    .reap = uring_reap,
};
