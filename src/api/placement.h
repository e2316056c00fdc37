/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contract of the module that places memory on NUMA nodes. */
#ifndef BN_API_PLACEMENT_H
#define BN_API_PLACEMENT_H

#include <stddef.h>

#include "base/err.h"

/* Raised when a member changes meaning; members are only ever appended. */
enum { BN_PLACEMENT_ABI = 1 };

/* The place of memory; a number from 0 is a node. */
enum { BN_PLACE_LOCAL = -1, BN_PLACE_INTERLEAVE = -2 };

/* `bench_placement` is the only symbol the module exports.  All functions return 0, or -1 and err.
   `where` is a node or an enumerator of the places above. */
struct bn_placement {
  unsigned abi; /* BN_PLACEMENT_ABI it was built with */
  size_t size;  /* sizeof (struct bn_placement) it was built with */
  const char *name;
  /* Fails if this machine cannot place memory there. */
  int (*check)(int where, struct bn_err *err);
  /* Binds the calling thread to the node it runs on. */
  int (*stay)(struct bn_err *err);
  /* Places the pages of an area that were not touched yet.  `at` is page-aligned.  LOCAL is the
     node of the calling thread. */
  int (*place)(void *at, size_t len, int where, struct bn_err *err);
};

/* Describes the modules of this kind (struct bn_plugin_kind, base/plugin.h). */
#define BN_PLACEMENT_KIND                                                                          \
  {                                                                                                \
    "placement", "bench_placement", BN_PLACEMENT_ABI, sizeof(struct bn_placement)                  \
  }

#endif
