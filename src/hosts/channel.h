/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two pipes of this process whose other ends are those of another rank: bytes become messages, and
   messages become bytes.

   A message is a u8, what it is, a little-endian u32, the number of the channel, and bytes.  No
   call waits.  What waits for a reader is bounded by what a controller and an agent say while the
   other one is silent, since each gives up the other after some seconds. */
#ifndef BN_HOSTS_CHANNEL_H
#define BN_HOSTS_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hosts/pipe.h"

enum bn_channel_message {
  BN_CHANNEL_OPEN = 1, /* rank 0: start an agent at its other end */
  BN_CHANNEL_DATA = 2, /* bytes */
  BN_CHANNEL_END = 3,  /* no more bytes from this side */
  BN_CHANNEL_BYE = 4   /* of no channel: the sender needs nothing more from the other rank */
};

enum { BN_CHANNEL_HEAD = 5 };

struct bn_channel {
  unsigned rank; /* at the other end */
  uint32_t number;
  int in;                /* bytes that are read here are sent; -1: closed */
  struct bn_pipe_out to; /* bytes that come leave here */
  bool opens;            /* OPEN has to be sent first */
  bool ended;            /* END has been sent */
  bool over;             /* END has come: the pipe is closed once all is written */
};

/* A table of channels; all zero: empty. */
struct bn_channels {
  struct bn_channel *at; /* owned; [n] */
  size_t n;
};

/* Takes the descriptors. */
void bn_channels_add(struct bn_channels *c, const struct bn_channel *new);
/* Returns NULL if there is none, or no more. */
struct bn_channel *bn_channels_find(const struct bn_channels *c, unsigned rank, uint32_t number);
/* Removes those that have ended on both sides, and have written all. */
void bn_channels_sweep(struct bn_channels *c);
/* Closes all: both sides see the end. */
void bn_channels_done(struct bn_channels *c);

/* The head of a message, and what it says. */
void bn_channel_head(char *message, enum bn_channel_message what, uint32_t number);
uint32_t bn_channel_number(const char *message);

/* Makes the next message of this channel: its length, or 0: there is none now. */
size_t bn_channel_next(struct bn_channel *c, char *message, size_t size);
/* Takes what the other side has sent. */
void bn_channel_take(struct bn_channel *c, const char *data, size_t len);
/* The other side sends no more; what has come is still written. */
void bn_channel_end(struct bn_channel *c);
/* Writes what the pipe takes. */
void bn_channel_write(struct bn_channel *c);

#endif
