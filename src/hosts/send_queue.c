/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A queue of frames with a lock, sent in pieces that do not block. */
#include "hosts/send_queue.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"

int bn_send_queue_init(struct bn_send_queue *q, int fd)
{
  memset(q, 0, sizeof *q);
  bn_buf_init(&q->queue, BN_SEND_QUEUE_MAX);
  q->fd = fd;
  q->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  (void)pthread_mutex_init(&q->lock, NULL);
  return q->wake >= 0 ? 0 : -1;
}

void bn_send_queue_done(struct bn_send_queue *q)
{
  bn_buf_done(&q->queue);
  if (q->wake >= 0)
    (void)close(q->wake);
  (void)pthread_mutex_destroy(&q->lock);
  q->wake = -1;
}

/* Breaks the queue: drops all frames and frees their memory, because nothing is put or sent any
   more.  The caller holds the lock. */
static void send_queue_break(struct bn_send_queue *q)
{
  q->broken = true;
  bn_buf_done(&q->queue);
  q->sent = 0;
}

void bn_send_queue_wake(struct bn_send_queue *q)
{
  const uint64_t one = 1;

  /* This fails only if the counter is full: the sender has been woken then. */
  (void)!write(q->wake, &one, sizeof one);
}

int bn_send_queue_put(struct bn_send_queue *q, enum bn_frame_type type, const void *data,
                      size_t len)
{
  bool was_put = false;

  (void)pthread_mutex_lock(&q->lock);
  if (!q->broken) {
    bn_buf_shift(&q->queue, &q->sent);
    was_put = bn_frame_put(&q->queue, type, data, len) == 0;
    if (!was_put)
      send_queue_break(q);
  }
  (void)pthread_mutex_unlock(&q->lock);
  bn_send_queue_wake(q);
  return was_put ? 0 : -1;
}

size_t bn_send_queue_get_pending(struct bn_send_queue *q)
{
  size_t pending;

  (void)pthread_mutex_lock(&q->lock);
  pending = q->queue.len - q->sent;
  (void)pthread_mutex_unlock(&q->lock);
  return pending;
}

bool bn_send_queue_is_broken(struct bn_send_queue *q)
{
  bool broken;

  (void)pthread_mutex_lock(&q->lock);
  broken = q->broken;
  (void)pthread_mutex_unlock(&q->lock);
  return broken;
}

void bn_send_queue_break(struct bn_send_queue *q)
{
  (void)pthread_mutex_lock(&q->lock);
  send_queue_break(q);
  (void)pthread_mutex_unlock(&q->lock);
}

/* A pipe or socket that is writable takes PIPE_BUF bytes without blocking, whatever its flags are:
   other processes that have it open may change them.  While the lock is released, a put may move
   the queue (bn_buf_shift()), but the piece still begins at q->sent then. */
int bn_send_queue_send_piece(struct bn_send_queue *q)
{
  char piece[PIPE_BUF];
  size_t len;
  ssize_t n;

  (void)pthread_mutex_lock(&q->lock);
  len = q->queue.len - q->sent;
  if (len > sizeof piece)
    len = sizeof piece;
  if (len > 0)
    memcpy(piece, q->queue.data + q->sent, len);
  (void)pthread_mutex_unlock(&q->lock);
  n = len > 0 ? write(q->fd, piece, len) : 0;
  if (n < 0 && errno != EINTR && errno != EAGAIN) {
    bn_send_queue_break(q);
    return -1;
  }
  (void)pthread_mutex_lock(&q->lock);
  if (n > 0 && !q->broken)
    q->sent += (size_t)n;
  (void)pthread_mutex_unlock(&q->lock);
  return 0;
}

void bn_send_queue_reset_wake(struct bn_send_queue *q)
{
  uint64_t times; /* how often the sender was woken, which does not matter */

  (void)!read(q->wake, &times, sizeof times);
}

void bn_send_queue_flush(struct bn_send_queue *q, uint64_t until_ns)
{
  enum { POLL_MS = 50 };
  struct pollfd p = {.fd = q->fd, .events = POLLOUT};

  while (bn_send_queue_get_pending(q) > 0 && bn_clock_mono() < until_ns)
    if (poll(&p, 1, POLL_MS) == 1 && bn_send_queue_send_piece(q) != 0)
      return;
}
