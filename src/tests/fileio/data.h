/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The content of blocks that are written without --validate. */
#ifndef BN_TESTS_FILEIO_DATA_H
#define BN_TESTS_FILEIO_DATA_H

#include <stddef.h>

#include "base/rng.h"

/* The percentage with which no random byte is written. */
enum { BN_DATA_ALL_ZEROS = 100 };
/* Bytes that have the share of zeros together, at their end. */
enum { BN_DATA_STRETCH = 4096 };

/* Random bytes, read-only once made, that any number of threads fill blocks from. */
struct bn_data {
  unsigned zeros;      /* percent, 0 to 100 */
  uint64_t base[4096]; /* random words */
};

/* Draws the random words, and sets the percentage of zeros. */
void bn_data_init(struct bn_data *d, unsigned zeros, struct bn_rng *rng);
/* Fills len bytes.  Each stretch of BN_DATA_STRETCH bytes ends in d->zeros percent of zeros, so
   that blocks which a file system compresses one by one have this share too; the rest does not
   compress and does not repeat, neither within buf nor in later calls with the same rng. */
void bn_data_fill(const struct bn_data *d, void *buf, size_t len, struct bn_rng *rng);

#endif
