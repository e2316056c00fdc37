/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stamps blocks and checks their content and their place: --validate. */
#ifndef BN_TESTS_FILEIO_VERIFY_H
#define BN_TESTS_FILEIO_VERIFY_H

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"

/* The tail of a block: CRC-32 of all bytes before it, then the offset of the block in its file,
   both in the byte order of the machine.  The smallest block has 4 random bytes before it. */
enum { BN_VERIFY_TAIL = 12, BN_VERIFY_LEAST = BN_VERIFY_TAIL + 4 };

enum bn_verify { BN_VERIFY_GOOD, BN_VERIFY_CHECKSUM, BN_VERIFY_OFFSET };

struct bn_verify_fault {
  uint64_t offset;           /* offset of the block in the file */
  uint32_t computed, stored; /* checksums */
  uint64_t stored_offset;
};

/* Fills each block with random bytes and its tail.  buf has len bytes, a multiple of block, that
   belong at `offset` of a file.  Any thread. */
void bn_verify_stamp(void *buf, size_t len, size_t block, uint64_t offset, struct bn_rng *rng);
/* Checks the blocks of buf, with the same arguments as bn_verify_stamp().  Returns BN_VERIFY_GOOD,
   or the fault of the first bad block, and sets *fault to its place and values. */
enum bn_verify bn_verify_check(const void *buf, size_t len, size_t block, uint64_t offset,
                               struct bn_verify_fault *fault);

#endif
