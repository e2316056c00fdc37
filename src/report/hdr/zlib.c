/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The module that compresses by zlib (RFC 1950). */
#include <stdlib.h>
#include <zlib.h>

#include "api/codec.h"

/* Implements `pack` of struct bn_codec. */
static void *zlib_pack(const void *data, size_t len, size_t *packed)
{
  uLongf size = compressBound((uLong)len);
  void *out = malloc(size);

  if (out == NULL || compress(out, &size, data, (uLong)len) != Z_OK) {
    free(out);
    return NULL;
  }
  *packed = size;
  return out;
}

extern __attribute__((visibility("default"))) const struct bn_codec bench_codec;
const struct bn_codec bench_codec = {
    .abi = BN_CODEC_ABI,
    .size = sizeof(struct bn_codec),
    .name = "zlib",
    .pack = zlib_pack,
};
