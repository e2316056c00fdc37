/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contract of the modules that carry messages between the processes that a launcher started. */
#ifndef BN_API_CARRIER_H
#define BN_API_CARRIER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Raised when a member changes meaning; members are only ever appended. */
enum { BN_CARRIER_ABI = 1 };

/* Bytes of a message, which are at least 1. */
enum { BN_CARRIER_MAX = 16 << 10 };

/* `bench_carrier` is the only symbol the module exports.  One thread makes all calls.  Messages
   from a rank to another arrive in the order in which they were sent. */
struct bn_carrier {
  unsigned abi; /* BN_CARRIER_ABI it was built with */
  size_t size;  /* sizeof (struct bn_carrier) it was built with */
  const char *name;
  /* Waits for the other ranks; called once in a process.  Returns NULL and err if it failed. */
  void *(*begin)(unsigned *rank, unsigned *ranks, struct bn_err *err);
  /* Returns whether a message to that rank can be sent: the previous one has left.  Neither this
     nor the next two wait. */
  bool (*ready)(void *self, unsigned rank);
  /* Sends a copy of the message once `ready`.  Returns -1 if the network or the library has
     failed. */
  int (*send)(void *self, unsigned rank, const void *data, size_t len);
  /* Receives the next message: returns its length, and sets *rank and *data, which is valid until
     the next call.  Returns 0 if there is none, -1 as above. */
  int (*receive)(void *self, unsigned *rank, const char **data);
  /* Waits until all ranks have called it. */
  void (*end)(void *self);
};

/* Describes the modules of this kind (struct bn_plugin_kind, base/plugin.h). */
#define BN_CARRIER_KIND                                                                            \
  {                                                                                                \
    "carrier", "bench_carrier", BN_CARRIER_ABI, sizeof(struct bn_carrier)                          \
  }

#endif
