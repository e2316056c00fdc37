/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stamps blocks and checks their content and their place: --validate. */
#include "tests/fileio/verify.h"

#include <string.h>

#include "base/crc32.h"

/* Fills len bytes with random words; the last word may be cut. */
static void verify_fill_random(unsigned char *at, size_t len, struct bn_rng *rng)
{
  for (size_t i = 0; i < len; i += sizeof(uint64_t)) {
    const uint64_t word = bn_rng_next(rng);
    const size_t remaining = len - i;

    memcpy(at + i, &word, remaining < sizeof word ? remaining : sizeof word);
  }
}

void bn_verify_stamp(void *buf, size_t len, size_t block, uint64_t offset, struct bn_rng *rng)
{
  const size_t body = block - BN_VERIFY_TAIL;

  for (size_t at = 0; at + block <= len; at += block) {
    unsigned char *b = (unsigned char *)buf + at;
    const uint64_t block_offset = offset + at;
    uint32_t crc;

    verify_fill_random(b, body, rng);
    crc = bn_crc32(0, b, body);
    memcpy(b + body, &crc, sizeof crc);
    memcpy(b + body + sizeof crc, &block_offset, sizeof block_offset);
  }
}

enum bn_verify bn_verify_check(const void *buf, size_t len, size_t block, uint64_t offset,
                               struct bn_verify_fault *fault)
{
  const size_t body = block - BN_VERIFY_TAIL;

  for (size_t at = 0; at + block <= len; at += block) {
    const unsigned char *b = (const unsigned char *)buf + at;

    fault->offset = offset + at;
    fault->computed = bn_crc32(0, b, body);
    memcpy(&fault->stored, b + body, sizeof fault->stored);
    memcpy(&fault->stored_offset, b + body + sizeof fault->stored, sizeof fault->stored_offset);
    if (fault->computed != fault->stored)
      return BN_VERIFY_CHECKSUM;
    if (fault->stored_offset != fault->offset)
      return BN_VERIFY_OFFSET;
  }
  return BN_VERIFY_GOOD;
}
