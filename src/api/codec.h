/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contract of the modules that compress. */
#ifndef BN_API_CODEC_H
#define BN_API_CODEC_H

#include <stddef.h>

/* Raised when a member changes meaning; members are only ever appended. */
enum { BN_CODEC_ABI = 1 };

/* `bench_codec` is the only symbol the module exports.  Any thread may call it. */
struct bn_codec {
  unsigned abi;     /* BN_CODEC_ABI it was built with */
  size_t size;      /* sizeof (struct bn_codec) it was built with */
  const char *name; /* "zlib": the form that it writes */
  /* Returns the compressed data, *packed bytes that the caller frees, or NULL if there is no
     memory. */
  void *(*pack)(const void *data, size_t len, size_t *packed);
};

/* Describes the modules of this kind (struct bn_plugin_kind, base/plugin.h). */
#define BN_CODEC_KIND                                                                              \
  {                                                                                                \
    "codec", "bench_codec", BN_CODEC_ABI, sizeof(struct bn_codec)                                  \
  }

#endif
