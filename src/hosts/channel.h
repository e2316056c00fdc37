/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A channel carries the bytes of two pipes to another rank and back: what is read from one pipe
   becomes messages, and the messages that come become bytes of the other pipe.

   A message is a u8, which is its kind, a little-endian u32, which is the number of the channel,
   and bytes.  No call waits.  The bytes that wait for a reader are bounded by what a controller or
   an agent sends while the other one is silent, because each gives up the other after some
   seconds. */
#ifndef BN_HOSTS_CHANNEL_H
#define BN_HOSTS_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hosts/pipe.h"

enum bn_channel_message {
  BN_CHANNEL_OPEN = 1, /* from rank 0: an agent is to be started at the other end */
  BN_CHANNEL_DATA = 2, /* bytes */
  BN_CHANNEL_END = 3,  /* no more bytes come from this side */
  BN_CHANNEL_BYE = 4   /* of no channel: the sender needs nothing more from the other rank */
};

enum { BN_CHANNEL_HEAD = 5 }; /* the bytes of a message before its data */

struct bn_channel {
  unsigned rank; /* at the other end */
  uint32_t number;
  int in;                /* the pipe whose bytes are sent as messages; -1: closed */
  struct bn_pipe_out to; /* the pipe into which the bytes of received messages are written */
  bool must_open;        /* OPEN has to be sent first */
  bool has_sent_end;
  bool has_received_end; /* the pipe is closed once all is written */
};

/* A table of channels; all zero: empty. */
struct bn_channels {
  struct bn_channel *at; /* owned; [n] */
  size_t n;
};

/* Adds a copy of the channel, and owns its descriptors. */
void bn_channels_add(struct bn_channels *c, const struct bn_channel *new);
/* Returns the channel, which is valid until the table changes, or NULL if there is none or it has
   been removed. */
struct bn_channel *bn_channels_find(const struct bn_channels *c, unsigned rank, uint32_t number);
/* Removes the channels that have ended on both sides and have written all. */
void bn_channels_remove_ended(struct bn_channels *c);
/* Closes and removes all channels: the processes at their pipes see the end. */
void bn_channels_done(struct bn_channels *c);

/* Writes the BN_CHANNEL_HEAD bytes at the beginning of a message. */
void bn_channel_put_head(char *message, enum bn_channel_message kind, uint32_t number);
/* Return what the head of a message has: its kind, which may be none that this version knows, and
   the number of its channel. */
enum bn_channel_message bn_channel_get_kind(const char *message);
uint32_t bn_channel_get_number(const char *message);

/* Makes the next message to the other side in `message`, which has `size` bytes: OPEN first if the
   channel opens, then DATA, and END once.  Returns its length, or 0 if there is none now. */
size_t bn_channel_make_message(struct bn_channel *c, char *message, size_t size);
/* Writes bytes that the other side has sent, or queues them until the pipe takes them.  Closes the
   pipe if nobody reads it, or if too much waits. */
void bn_channel_take_data(struct bn_channel *c, const char *data, size_t len);
/* Closes the pipe once all bytes have been written, because the other side sends no more. */
void bn_channel_take_end(struct bn_channel *c);
/* Writes as many of the bytes that wait as the pipe takes.  After bn_channel_take_end(), closes the
   pipe if none is left. */
void bn_channel_write(struct bn_channel *c);

#endif
