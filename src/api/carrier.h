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

/* `bench_carrier` is the one symbol the module exports.  One thread makes all calls.  Messages from
   one rank to another arrive in the order in which they were sent. */
struct bn_carrier {
  unsigned abi; /* BN_CARRIER_ABI it was built with */
  size_t size;  /* sizeof (struct bn_carrier) it was built with */
  const char *name;
  /* Once in a process.  Waits for the other ranks.  NULL and err. */
  void *(*begin)(unsigned *rank, unsigned *ranks, struct bn_err *err);
  /* Whether a message to that rank can be sent: the one before has left.  Never waits, nor do the
     next two. */
  bool (*ready)(void *self, unsigned rank);
  /* Once that is so.  The message is copied.  -1: the network or the library has failed. */
  int (*send)(void *self, unsigned rank, const void *data, size_t len);
  /* The next message that has come: its length, and where it is until the next call.  0: none has;
     -1: as above. */
  int (*receive)(void *self, unsigned *rank, const char **data);
  /* Waits for all other ranks to say the same. */
  void (*end)(void *self);
};

/* How its modules are found: a struct bn_plugin_kind (base/plugin.h). */
#define BN_CARRIER_KIND                                                                            \
  {                                                                                                \
    "carrier", "bench_carrier", BN_CARRIER_ABI, sizeof(struct bn_carrier)                          \
  }

#endif
