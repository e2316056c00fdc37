/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two buffers of a connected socket: bytes that were received and not yet used, and bytes that
   are to be sent.  The socket stays the caller's, and the meaning of the bytes is not known here.

   An encrypted socket is read and written by OpenSSL (drivers/common/tls.h), and never blocks.

   A blocking socket saves one system call for every answer that has to be waited for; sending never
   blocks on it.  A socket that does not block works as well.

   On a Unix socket the first bytes of an answer are waited for in poll().  A thread that sleeps in
   recv() is woken when the peer takes the request off the socket too, because the sender may then
   write again, and goes back to sleep: two switches for each statement.  poll() is woken by what it
   asks for alone, and costs less than the second switch.  TCP does not wake a reader then.

   With a waiter (--workers) the thread never sleeps here: the waiter has the socket watched, and
   nothing is received before it says so.  Thousands of such connections are idle at a time, so they
   keep no buffers: one is made when bytes have come, and passed on to the next connection, or
   freed, when it is empty.

   Functions that fail return -1 and leave the reason in `error`. */
#ifndef BN_DRIVERS_COMMON_STREAM_H
#define BN_DRIVERS_COMMON_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "drivers/common/sockwait.h"

/* Memory that grows with the messages, and shrinks when large ones have become rare. */
struct bn_stream_buffer {
  char *data; /* NULL: there is none now */
  size_t cap;
  unsigned small_uses; /* messages in a row that have used at most a quarter */
};

struct bn_stream {
  int fd;
  int error;         /* errno of the failure; 0: the peer has closed the connection */
  size_t begin, end; /* in.data[begin] … in.data[end - 1] are received and not yet used */
  size_t out_len;    /* out.data[0] … out.data[out_len - 1] wait for flush */
  struct bn_stream_buffer in, out;
  bool waits_first; /* a Unix socket, an encrypted one, or there is a waiter */
  bool ended;       /* with a waiter: an event told of the end of the connection */
  bool unread; /* with a waiter: bytes, or the end, may be there for which no event will come */
  struct bn_sockwait *wait; /* NULL: no waiter */
  struct ssl_st *tls;       /* NULL: not encrypted */
};

/* Initialises a stream, which allocates nothing before the first use.  The socket, `tls` (NULL: not
   encrypted) and `wait` stay the caller's; if `wait` is NULL or has no waiter, calls block. */
void bn_stream_init(struct bn_stream *s, int fd, struct ssl_st *tls, struct bn_sockwait *wait);
/* Frees the buffers, with the bytes in them. */
void bn_stream_done(struct bn_stream *s);

/* Gives the socket to the stream, after another user, which may have left bytes there.  Returns 0,
   or -1 and errno. */
int bn_stream_take(struct bn_stream *s);
/* Gives the socket of the stream to another user.  Returns 0, or -1 and errno.  A library has to be
   given an encrypted socket before it reads, because it would wait for bytes that OpenSSL has read
   ahead for the stream.  The socket of a new stream is as its user has left it. */
int bn_stream_lend(const struct bn_stream *s);

/* Receives once, after it has made room.  may_wait: it waits for bytes if none are there.  Returns
   1 if bytes came, 0 if none are there and it may not wait, or -1.  Pointers to received bytes
   become invalid; offsets from bn_stream_data stay valid. */
int bn_stream_fill(struct bn_stream *s, bool may_wait);
enum { BN_STREAM_AT_ONCE = false, BN_STREAM_WAITING = true }; /* names for may_wait */
/* Receives what a peer has sent before it stopped reading, without waiting for more.  It receives
   at most BN_STREAM_DRAIN times, so that a peer that goes on sending does not keep the caller. */
enum { BN_STREAM_DRAIN = 16 };
void bn_stream_drain(struct bn_stream *s);
/* The slow path of bn_stream_need. */
int bn_stream_wait(struct bn_stream *s, size_t n);
/* The end of bn_stream_skip and of bn_stream_cut, if no received bytes are left: the buffer begins
   anew.  It is given up if there is a waiter, and shrinks if it has been too large for long. */
void bn_stream_note_empty(struct bn_stream *s);

/* Returns the first of the received bytes. */
static inline const char *bn_stream_data(const struct bn_stream *s)
{
  return s->in.data + s->begin;
}

/* Returns the number of received bytes. */
static inline size_t bn_stream_len(const struct bn_stream *s)
{
  return s->end - s->begin;
}

/* Waits until n bytes are at bn_stream_data, or more that came with them.  Memory grows with what
   arrives, not with n.  Returns 0 or -1. */
static inline int bn_stream_need(struct bn_stream *s, size_t n)
{
  return __builtin_expect(bn_stream_len(s) >= n, 1) ? 0 : bn_stream_wait(s, n);
}

/* Drops the first n received bytes, n <= bn_stream_len.  Pointers to them become invalid. */
static inline void bn_stream_skip(struct bn_stream *s, size_t n)
{
  s->begin += n;
  if (s->begin == s->end)
    bn_stream_note_empty(s);
}

/* Keeps only the first n received bytes. */
static inline void bn_stream_cut(struct bn_stream *s, size_t n)
{
  s->end = s->begin + n;
  if (n == 0)
    bn_stream_note_empty(s);
}

/* Returns room for n more bytes after the unsent bytes, valid until the next call, or NULL. */
char *bn_stream_room(struct bn_stream *s, size_t n);

/* Adds n bytes, written to the room, to the unsent bytes. */
static inline void bn_stream_wrote(struct bn_stream *s, size_t n)
{
  s->out_len += n;
}

/* Sends all unsent bytes.  A peer may read only when its answers are read, so they are received
   meanwhile.  Returns 0 or -1; after a failure too, nothing is left to send. */
int bn_stream_flush(struct bn_stream *s);

#endif
