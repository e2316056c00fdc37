/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Buffers of a socket: few system calls, no allocation while the messages are of usual size. */
#include "drivers/common/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "drivers/common/tls.h"

/* First sizes in bytes; a buffer shrinks after SMALL_USES uses in a row of at most a quarter. */
enum { IN_FIRST = 4096, OUT_FIRST = 1024, SMALL_USES = 64 };

/* The first size of both buffers with a waiter.  Doubled or not, it is never IN_FIRST or OUT_FIRST:
   so the frequent paths of bn_stream_note_empty and bn_stream_flush compare the size alone, and a
   buffer with a waiter always takes the other path, which gives it up. */
enum { FIRST_WATCHED = BN_SQL_SPARE };
_Static_assert((IN_FIRST & (IN_FIRST - 1)) == 0 && (OUT_FIRST & (OUT_FIRST - 1)) == 0 &&
                   (FIRST_WATCHED & (FIRST_WATCHED - 1)) != 0,
               "a number that is no power of two never becomes one by doubling");

/* Sets s->error: an errno, or 0 if the peer has closed the connection.  Returns -1. */
static int stream_fail(struct bn_stream *s, int error)
{
  s->error = error;
  return -1;
}

static bool stream_is_unix(int fd)
{
  int domain;
  socklen_t size = sizeof domain;

  return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX;
}

void bn_stream_init(struct bn_stream *s, int fd, struct ssl_st *tls, struct bn_sockwait *wait)
{
  *s = (struct bn_stream){.fd = fd, .tls = tls};
  s->wait = wait != NULL && wait->waiter != NULL ? wait : NULL;
  s->waits_first = s->wait != NULL || tls != NULL || stream_is_unix(fd);
}

/* Lets calls on the socket block, or not.  Returns 0, or -1 and errno. */
static int stream_set_blocking(int fd, bool is_blocking)
{
  const int flags = fcntl(fd, F_GETFL);

  if (flags < 0)
    return -1;
  return fcntl(fd, F_SETFL, is_blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

/* With a waiter no call may block: the socket then stays nonblocking, for both users. */
int bn_stream_take(struct bn_stream *s)
{
  s->unread = true; /* no event tells of bytes that the other user has left */
  if (s->tls != NULL)
    bn_tls_take(s->tls, s->wait != NULL);
  return s->wait != NULL ? 0 : stream_set_blocking(s->fd, s->tls == NULL);
}

int bn_stream_lend(const struct bn_stream *s)
{
  if (s->tls != NULL)
    bn_tls_lend(s->tls);
  return s->wait != NULL ? 0 : stream_set_blocking(s->fd, false);
}

void bn_stream_done(struct bn_stream *s)
{
  free(s->in.data);
  free(s->out.data);
  *s = (struct bn_stream){.fd = -1};
}

/* Returns a capacity of at least n bytes: cap, or `first` if cap is 0, doubled as often as needed.
   Returns 0 if n is too large. */
static size_t stream_double(size_t cap, size_t first, size_t n)
{
  if (cap == 0)
    cap = first;
  while (cap < n && cap <= SIZE_MAX / 2)
    cap *= 2;
  return cap >= n ? cap : 0;
}

/* Widens a buffer, whose first size is `first`, to at least n bytes.  Returns 0, or -1: there is no
   memory, and the buffer stays. */
static int stream_buffer_widen(struct bn_stream_buffer *b, size_t first, size_t n)
{
  const size_t cap = stream_double(b->cap, first, n);
  char *data = cap > 0 ? realloc(b->data, cap) : NULL;

  if (data == NULL)
    return -1;
  b->data = data;
  b->cap = cap;
  return 0;
}

/* Widens a buffer of the stream, whose first size is `first` without a waiter, to at least n bytes.
   With a waiter, empty buffers of usual size pass from connection to connection (stream_pass_on).
   Returns as stream_buffer_widen does. */
static int stream_widen(const struct bn_stream *s, struct bn_stream_buffer *b, size_t first,
                        size_t n)
{
  void **spare;

  if (s->wait == NULL)
    return stream_buffer_widen(b, first, n);
  spare = s->wait->waiter->spare;
  if (b->cap > 0 || n > FIRST_WATCHED || *spare == NULL)
    return stream_buffer_widen(b, FIRST_WATCHED, n);
  b->data = *spare;
  b->cap = FIRST_WATCHED;
  *spare = NULL;
  return 0;
}

/* Takes the memory from an empty buffer of a stream with a waiter.  A connection seldom waits with
   a buffer that is not empty, so one piece of memory serves nearly all requests and answers of the
   thread: malloc() and free() for each would take a tenth of the instructions of a statement. */
static void stream_pass_on(const struct bn_stream *s, struct bn_stream_buffer *b)
{
  void **spare = s->wait->waiter->spare;

  if (b->cap == FIRST_WATCHED && *spare == NULL)
    *spare = b->data;
  else
    free(b->data);
  b->data = NULL;
  b->cap = 0;
}

/* Frees memory that was needed for a rare large message, once SMALL_USES messages in a row have
   used at most a quarter of the buffer.  The buffer is empty; used: how many of its bytes were in
   use.  If there is no memory for a smaller buffer, the next use makes one. */
static void stream_buffer_shrink(struct bn_stream_buffer *b, size_t first, size_t used)
{
  if (b->cap <= first || used > b->cap / 4) {
    b->small_uses = 0;
    return;
  }
  if (++b->small_uses < SMALL_USES)
    return;
  free(b->data);
  *b = (struct bn_stream_buffer){0};
  (void)stream_buffer_widen(b, first, 2 * used);
}

/* The slow path of bn_stream_note_empty, for a buffer whose size is not the first: with a waiter it
   gives its memory up, else it may shrink.  used: how many of its bytes were in use. */
static __attribute__((noinline)) void stream_give_up_memory(struct bn_stream *s, size_t used)
{
  if (s->wait != NULL)
    stream_pass_on(s, &s->in);
  else
    stream_buffer_shrink(&s->in, IN_FIRST, used);
}

void bn_stream_note_empty(struct bn_stream *s)
{
  const size_t used = s->end;

  s->begin = s->end = 0;
  if (__builtin_expect(s->in.cap != IN_FIRST, 0))
    stream_give_up_memory(s, used);
}

/* The slow path of stream_make_room, with its results. */
static __attribute__((noinline)) int stream_make_more_room(struct bn_stream *s)
{
  const size_t wanted = s->in.cap / 4; /* 0 if there is no buffer */

  if (s->begin > 0) {
    memmove(s->in.data, s->in.data + s->begin, s->end - s->begin);
    s->end -= s->begin;
    s->begin = 0;
  }
  if (s->in.cap - s->end >= wanted && s->in.cap > s->end)
    return 0;
  if (stream_widen(s, &s->in, IN_FIRST, s->in.cap + 1) == 0)
    return 0;
  return s->end < s->in.cap ? 0 : stream_fail(s, ENOMEM); /* one byte of room is enough */
}

/* Makes room after `end` for a quarter of the buffer: moves the received bytes to the front, if
   there is room before them, or else widens the buffer.  If there is no memory for that, one byte
   of room is enough.  Returns 0, or -1 if there is none. */
static inline int stream_make_room(struct bn_stream *s)
{
  const size_t room = s->in.cap - s->end;

  return __builtin_expect(room > 0 && room >= s->in.cap / 4, 1) ? 0 : stream_make_more_room(s);
}

static bool stream_would_block(int error)
{
  return error == EAGAIN || error == EWOULDBLOCK;
}

/* The frequent calls are made by syscall(): recv(), send() and poll() of the C library are points
   of cancellation, and to be one costs as many instructions as the call itself. */

/* Receives bytes after `end`, as recv(2) does. */
static ssize_t stream_receive(struct bn_stream *s, int flags)
{
  char *to = s->in.data + s->end;
  const size_t room = s->in.cap - s->end;

  return __builtin_expect(s->tls == NULL, 1)
             ? syscall(SYS_recvfrom, s->fd, to, room, flags, NULL, NULL)
             : bn_tls_read(s->tls, to, room);
}

/* Waits until one of the events has come, and sets *revents.  Returns 0, or -1 after a failure. */
static int stream_poll(struct bn_stream *s, short events, short *revents)
{
  struct pollfd p = {.fd = s->fd, .events = events};
  int rc;

  do
    rc = poll(&p, 1, -1);
  while (rc < 0 && errno == EINTR);
  if (rc < 0)
    return stream_fail(s, errno);
  *revents = p.revents;
  return 0;
}

/* Sleeps until the first bytes of an answer are there.  A failure is not reported: the recv() that
   follows finds it.

   Other ways were measured.  Two threads on MariaDB that yield the processor and try again before
   they sleep have half the rate.  PostgreSQL sends a long answer in parts: spinning until the next
   part comes takes more processor time than sleeping again. */
static void stream_sleep_once(const struct bn_stream *s)
{
  struct pollfd p = {.fd = s->fd, .events = POLLIN};

  (void)syscall(SYS_ppoll, &p, 1, NULL, NULL, 0);
}

/* Waits for an answer by the waiter, and notes the end of the stream: one event may report bytes
   and the end, which is not reported again.  Without an event, the session was interrupted, and the
   wait has shut the socket down. */
static void stream_watch(struct bn_stream *s)
{
  const int revents = bn_sockwait_await_bytes(s->wait, s->fd);

  if (revents == 0 || (revents & (POLLHUP | POLLERR | POLLRDHUP)) != 0)
    s->ended = true;
}

/* Receives by the waiter, as bn_stream_fill does.  The waiter watches for new bytes; after the
   first bytes of an answer the socket is read until it is empty.  Room is made when bytes are
   there: a connection that waits for its answer has no buffer. */
static int stream_fill_watched(struct bn_stream *s, bool may_wait)
{
  for (;;) {
    ssize_t n;

    if (may_wait && !s->unread)
      stream_watch(s);
    if (stream_make_room(s) != 0)
      return -1;
    n = stream_receive(s, MSG_DONTWAIT);
    if (n > 0) {
      s->unread = true;
      s->end += (size_t)n;
      return 1;
    }
    if (n == 0 || !(stream_would_block(errno) || errno == EINTR))
      return stream_fail(s, n == 0 ? 0 : errno);
    /* The socket is empty, and new bytes will be an event, unless a signal has ended the call. */
    s->unread = errno == EINTR;
    if (!may_wait && !s->unread)
      return 0;
  }
}

int bn_stream_fill(struct bn_stream *s, bool may_wait)
{
  short revents;

  if (s->waits_first) {
    if (s->wait != NULL)
      return stream_fill_watched(s, may_wait);
    /* A Unix socket would wake recv() twice for an answer, and a read by OpenSSL does not wait. */
    if (may_wait && bn_stream_len(s) == 0 && (s->tls == NULL || !bn_tls_is_ahead(s->tls)))
      stream_sleep_once(s);
  }
  if (stream_make_room(s) != 0)
    return -1;
  for (;;) {
    const ssize_t n = stream_receive(s, may_wait ? 0 : MSG_DONTWAIT);

    if (__builtin_expect(n > 0, 1)) {
      s->end += (size_t)n;
      return 1;
    }
    if (n == 0)
      return stream_fail(s, 0);
    if (stream_would_block(errno)) { /* with may_wait too, if the socket does not block */
      if (!may_wait)
        return 0;
      if (stream_poll(s, POLLIN, &revents) != 0)
        return -1;
    } else if (errno != EINTR) {
      return stream_fail(s, errno);
    }
  }
}

void bn_stream_drain(struct bn_stream *s)
{
  for (int i = 0; i < BN_STREAM_DRAIN && bn_stream_fill(s, BN_STREAM_AT_ONCE) > 0; i++)
    ;
}

int bn_stream_wait(struct bn_stream *s, size_t n)
{
  while (bn_stream_len(s) < n) {
    if (bn_stream_fill(s, BN_STREAM_WAITING) < 0)
      return -1;
  }
  return 0;
}

/* Widens the buffer of unsent bytes by n bytes at least.  Returns 0, or -1 if there is no
   memory. */
static __attribute__((noinline)) int stream_widen_out(struct bn_stream *s, size_t n)
{
  const size_t wanted = s->out_len + n;
  const bool is_too_large = wanted < n;

  if (is_too_large || stream_widen(s, &s->out, OUT_FIRST, wanted) != 0)
    return stream_fail(s, ENOMEM);
  return 0;
}

char *bn_stream_room(struct bn_stream *s, size_t n)
{
  if (__builtin_expect(n > s->out.cap - s->out_len, 0) && stream_widen_out(s, n) != 0)
    return NULL;
  return s->out.data + s->out_len;
}

/* Waits for a peer that takes nothing now, and reads, because unread answers may be the reason.
   Returns 0, or -1 after a failure. */
static int stream_unblock(struct bn_stream *s)
{
  short revents;

  if (s->wait != NULL)
    revents = (short)bn_sockwait_await_room(s->wait, s->fd);
  else if (stream_poll(s, POLLIN | POLLOUT, &revents) != 0)
    return -1;
  if ((revents & POLLIN) != 0 && bn_stream_fill(s, BN_STREAM_AT_ONCE) < 0)
    return -1;
  return 0;
}

/* Sends, as send(2) does. */
static ssize_t stream_send(struct bn_stream *s, const char *from, size_t len)
{
  return __builtin_expect(s->tls == NULL, 1)
             ? syscall(SYS_sendto, s->fd, from, len, MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0)
             : bn_tls_write(s->tls, from, len);
}

/* Sends all unsent bytes.  Returns 0, or -1 after a failure. */
static int stream_send_all(struct bn_stream *s)
{
  size_t sent = 0;

  while (sent < s->out_len) {
    const ssize_t n = stream_send(s, s->out.data + sent, s->out_len - sent);

    if (__builtin_expect(n >= 0, 1)) {
      sent += (size_t)n;
      continue;
    }
    if (errno == EINTR)
      continue;
    if (!stream_would_block(errno))
      return stream_fail(s, errno);
    if (stream_unblock(s) != 0)
      return -1;
  }
  return 0;
}

int bn_stream_flush(struct bn_stream *s)
{
  const int rc = stream_send_all(s);
  const size_t used = s->out_len;

  s->out_len = 0;
  if (__builtin_expect(s->out.cap == OUT_FIRST, 1))
    return rc;
  if (s->wait != NULL) {
    stream_pass_on(s, &s->out);
    s->unread = s->ended; /* the answer will be an event, but no event tells of the end again */
  } else {
    stream_buffer_shrink(&s->out, OUT_FIRST, used);
  }
  return rc;
}
