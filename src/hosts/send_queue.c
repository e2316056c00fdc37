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

int bn_send_queue_init(struct bn_send_queue *o, int fd)
{
  memset(o, 0, sizeof *o);
  bn_buf_init(&o->queue, BN_SEND_QUEUE_MAX);
  o->fd = fd;
  o->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  (void)pthread_mutex_init(&o->lock, NULL);
  return o->wake >= 0 ? 0 : -1;
}

void bn_send_queue_done(struct bn_send_queue *o)
{
  bn_buf_done(&o->queue);
  if (o->wake >= 0)
    (void)close(o->wake);
  (void)pthread_mutex_destroy(&o->lock);
  o->wake = -1;
}

/* The caller holds the lock. */
static void send_queue_give_up(struct bn_send_queue *o)
{
  o->broken = true;
  bn_buf_clear(&o->queue);
  o->sent = 0;
}

/* Takes the lock.  false: nothing can be put. */
static bool send_queue_begin(struct bn_send_queue *o)
{
  (void)pthread_mutex_lock(&o->lock);
  if (!o->broken)
    bn_buf_shift(&o->queue, &o->sent);
  return !o->broken;
}

/* A counter that is full has woken the sender. */
void bn_send_queue_wake(struct bn_send_queue *o)
{
  const uint64_t one = 1;

  (void)!write(o->wake, &one, sizeof one);
}

/* Releases it. */
static int send_queue_finish(struct bn_send_queue *o, bool put)
{
  if (!put)
    send_queue_give_up(o);
  (void)pthread_mutex_unlock(&o->lock);
  bn_send_queue_wake(o);
  return put ? 0 : -1;
}

int bn_send_queue_put(struct bn_send_queue *o, enum bn_frame_type type, const void *data,
                      size_t len)
{
  return send_queue_finish(o, send_queue_begin(o) && bn_frame_put(&o->queue, type, data, len) == 0);
}

int bn_send_queue_put_pong(struct bn_send_queue *o, uint64_t sent_ns, uint64_t there_ns)
{
  return send_queue_finish(o, send_queue_begin(o) &&
                                  bn_frame_put_pong(&o->queue, sent_ns, there_ns) == 0);
}

size_t bn_send_queue_pending(struct bn_send_queue *o)
{
  size_t left;

  (void)pthread_mutex_lock(&o->lock);
  left = o->queue.len - o->sent;
  (void)pthread_mutex_unlock(&o->lock);
  return left;
}

bool bn_send_queue_is_broken(struct bn_send_queue *o)
{
  bool broken;

  (void)pthread_mutex_lock(&o->lock);
  broken = o->broken;
  (void)pthread_mutex_unlock(&o->lock);
  return broken;
}

void bn_send_queue_break(struct bn_send_queue *o)
{
  (void)pthread_mutex_lock(&o->lock);
  send_queue_give_up(o);
  (void)pthread_mutex_unlock(&o->lock);
}

/* A pipe that is writable takes so much without blocking, whatever its flags are: they belong to
   others who have it open, too. */
int bn_send_queue_send(struct bn_send_queue *o)
{
  char piece[PIPE_BUF];
  size_t len;
  ssize_t n;

  (void)pthread_mutex_lock(&o->lock);
  len = o->queue.len - o->sent;
  if (len > sizeof piece)
    len = sizeof piece;
  if (len > 0)
    memcpy(piece, o->queue.data + o->sent, len);
  (void)pthread_mutex_unlock(&o->lock);
  n = len > 0 ? write(o->fd, piece, len) : 0;
  if (n < 0 && errno != EINTR && errno != EAGAIN) {
    bn_send_queue_break(o);
    return -1;
  }
  (void)pthread_mutex_lock(&o->lock);
  if (n > 0 && !o->broken)
    o->sent += (size_t)n;
  (void)pthread_mutex_unlock(&o->lock);
  return 0;
}

void bn_send_queue_woken(struct bn_send_queue *o)
{
  uint64_t times;

  (void)!read(o->wake, &times, sizeof times);
}

void bn_send_queue_flush(struct bn_send_queue *o, uint64_t until_ns)
{
  enum { GLANCE_MS = 50 };
  struct pollfd p = {.fd = o->fd, .events = POLLOUT};

  while (bn_send_queue_pending(o) > 0 && bn_clock_mono() < until_ns)
    if (poll(&p, 1, GLANCE_MS) == 1 && bn_send_queue_send(o) != 0)
      return;
}
