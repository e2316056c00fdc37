/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contract of the modules that carry messages between the processes that a launcher started. */
#ifndef BN_API_CARRIER_H
#define BN_API_CARRIER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Raised when a member changes meaning; members are only ever appended. */
enum { BN_CARRIER_ABI = 1 };

/* The largest number of bytes in a message, which has at least 1. */
enum { BN_CARRIER_MAX = 16 << 10 };

/* `bench_carrier` is the only symbol the module exports.  One thread makes all calls.  Messages
   from a rank to another arrive in the order in which they were sent. */
struct bn_carrier {
  unsigned abi; /* BN_CARRIER_ABI it was built with */
  size_t size;  /* sizeof (struct bn_carrier) it was built with */
  const char *name;
  /* Waits for the other ranks, and sets *rank and *ranks, the number of this process and how many
     there are.  Is called once in a process.  Returns self for the functions below, or NULL and
     err. */
  void *(*begin)(unsigned *rank, unsigned *ranks, struct bn_err *err);
  /* Returns whether a message to that rank can be sent, because the previous message has left.
     Neither this function nor the next two wait. */
  bool (*ready)(void *self, unsigned rank);
  /* Sends a copy of the message once `ready`.  Returns -1 if the network or the library has
     failed. */
  int (*send)(void *self, unsigned rank, const void *data, size_t len);
  /* Receives the next message.  Returns its length, and sets *rank to its sender and *data, which
     is valid until the next call.  Returns 0 if there is no message, and -1 as `send` does. */
  int (*receive)(void *self, unsigned *rank, const char **data);
  /* Waits until all ranks have called it, and frees self. */
  void (*end)(void *self);
};

/* Describes the modules of this kind (struct bn_plugin_kind, base/plugin.h). */
#define BN_CARRIER_KIND                                                                            \
  {                                                                                                \
    "carrier", "bench_carrier", BN_CARRIER_ABI, sizeof(struct bn_carrier)                          \
  }

#endif
