/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A connected socket as two buffers: what was received and not yet used, and what is to be sent.
   Neither the socket nor what the bytes mean belongs to it.

   An encrypted socket is read and written by OpenSSL (drivers/common/tls.h), and never blocks.

   A blocking socket costs one system call less for every answer that has to be waited for; it is
   sent to without blocking all the same.  A socket that does not block works as well.

   On a Unix socket the first bytes of an answer are waited for in poll().  A thread that sleeps in
   recv() is woken when the peer takes the request off the socket too, because the sender may then
   write again, and goes back to sleep: two switches for each statement.  poll() is woken by what it
   asks for alone, and costs less than the second switch.  TCP does not wake a reader then.

   With a waiter (--workers) the thread never sleeps here: the waiter has the socket watched, and
   nothing is received before it says so.  Thousands of such connections are idle at a time, so they
   keep no buffers: one is made when bytes have come, and freed when it is empty.

   Functions that fail return -1 and leave the reason in `error`. */
#ifndef BN_DRIVERS_COMMON_STREAM_H
#define BN_DRIVERS_COMMON_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "drivers/common/sockwait.h"

struct bn_stream {
  int fd;
  int error; /* errno of the failure; 0: the peer has closed the connection */
  char *in;
  size_t in_cap, begin, end; /* in[begin] … in[end - 1] are received and not yet used */
  char *out;
  size_t out_cap, out_len; /* out[0] … out[out_len - 1] wait for flush */
  unsigned in_small_uses, out_small_uses;
  bool waits_first; /* a Unix socket, or there is a waiter */
  bool ended;       /* with a waiter: an event told of the end of the connection */
  bool unread;      /* with a waiter: the socket may have bytes, or its end, without a new event */
  struct bn_sockwait *wait; /* NULL: no waiter */
  struct ssl_st *tls;       /* NULL: not encrypted */
};

/* Allocates nothing before the first use.  The socket, `tls` (NULL: not encrypted) and `wait` stay
   the caller's; without a waiter in it calls block. */
void bn_stream_init(struct bn_stream *s, int fd, struct ssl_st *tls, struct bn_sockwait *wait);
void bn_stream_done(struct bn_stream *s);

/* Gives the socket to the stream after another user, which may have left bytes there, and to its
   next user; 0 or -1.  A new stream has been given to nobody: its socket is as it was.  A library
   has to have an encrypted socket while it reads, because it may wait for bytes that OpenSSL has
   read ahead for the stream. */
int bn_stream_take(struct bn_stream *s);
int bn_stream_lend(const struct bn_stream *s);

/* Receives once, after it has made room.  1: bytes came; 0: nothing is there yet (without `wait`
   only). Pointers to received bytes become invalid, offsets from bn_stream_data stay valid. */
int bn_stream_fill(struct bn_stream *s, bool wait);
/* Receives what a peer that takes nothing more has said before, without waiting for it, in at most
   BN_STREAM_DRAIN calls: a peer that goes on sending does not keep the caller. */
enum { BN_STREAM_DRAIN = 16 };
void bn_stream_drain(struct bn_stream *s);
/* The slow path of bn_stream_need. */
int bn_stream_wait(struct bn_stream *s, size_t n);
void bn_stream_emptied(struct bn_stream *s);

static inline const char *bn_stream_data(const struct bn_stream *s)
{
  return s->in + s->begin;
}

/* The number of bytes at bn_stream_data. */
static inline size_t bn_stream_len(const struct bn_stream *s)
{
  return s->end - s->begin;
}

/* Waits until n bytes are at bn_stream_data, more than n only if they came with them.  Memory grows
   with what arrives, not with n. */
static inline int bn_stream_need(struct bn_stream *s, size_t n)
{
  return __builtin_expect(bn_stream_len(s) >= n, 1) ? 0 : bn_stream_wait(s, n);
}

/* Drops the first n received bytes, n <= bn_stream_len.  Pointers to them become invalid. */
static inline void bn_stream_skip(struct bn_stream *s, size_t n)
{
  s->begin += n;
  if (s->begin == s->end)
    bn_stream_emptied(s);
}

/* Keeps only the first n received bytes. */
static inline void bn_stream_cut(struct bn_stream *s, size_t n)
{
  s->end = s->begin + n;
  if (n == 0)
    bn_stream_emptied(s);
}

/* Returns room for n more bytes behind the unsent bytes, valid until the next call, or NULL. */
char *bn_stream_room(struct bn_stream *s, size_t n);

/* Adds n bytes, written to the room, to the unsent bytes. */
static inline void bn_stream_wrote(struct bn_stream *s, size_t n)
{
  s->out_len += n;
}

/* Sends all unsent bytes.  A peer may read only when its answers are read, so they are received
   meanwhile.  After a failure nothing is left to send. */
int bn_stream_flush(struct bn_stream *s);

#endif
