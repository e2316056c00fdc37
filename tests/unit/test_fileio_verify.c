/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stamped blocks are recognised; every flipped byte, wrong place and zeroed block is found. */
#include "cm.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fileio/verify.h"

enum { BLOCK = 64, BLOCKS = 3, LEN = BLOCK * BLOCKS };

static void stamp(unsigned char *buf, uint64_t offset)
{
  struct bn_rng rng;

  bn_rng_seed(&rng, 7, BN_RNG_DATA, 0);
  bn_verify_stamp(buf, LEN, BLOCK, offset, &rng);
}

static void stamped_blocks_are_good(void **state)
{
  unsigned char buf[LEN];
  struct bn_verify_fault fault;

  (void)state;
  stamp(buf, 4096);
  assert_int_equal(bn_verify_check(buf, LEN, BLOCK, 4096, &fault), BN_VERIFY_GOOD);
  for (unsigned i = 0; i < BLOCKS; i++)
    assert_int_equal(bn_verify_check(buf + i * BLOCK, BLOCK, BLOCK, 4096 + i * BLOCK, &fault),
                     BN_VERIFY_GOOD);
}

static void every_flipped_bit_is_found(void **state)
{
  unsigned char buf[LEN];
  struct bn_verify_fault fault;

  (void)state;
  stamp(buf, 0);
  for (unsigned i = 0; i < LEN * 8; i++) {
    const bool tail = i / 8 % BLOCK >= BLOCK - 8;

    buf[i / 8] ^= (unsigned char)(1 << i % 8);
    assert_int_equal(bn_verify_check(buf, LEN, BLOCK, 0, &fault),
                     tail ? BN_VERIFY_OFFSET : BN_VERIFY_CHECKSUM);
    assert_int_equal(fault.offset, i / 8 / BLOCK * BLOCK);
    buf[i / 8] ^= (unsigned char)(1 << i % 8);
  }
  assert_int_equal(bn_verify_check(buf, LEN, BLOCK, 0, &fault), BN_VERIFY_GOOD);
}

static void misplaced_blocks_are_found(void **state)
{
  unsigned char buf[LEN];
  struct bn_verify_fault fault;

  (void)state;
  stamp(buf, 0);
  memcpy(buf + BLOCK, buf, BLOCK);
  assert_int_equal(bn_verify_check(buf, LEN, BLOCK, 0, &fault), BN_VERIFY_OFFSET);
  assert_int_equal(fault.offset, BLOCK);
  assert_int_equal(fault.stored_offset, 0);
}

/* The checksum of the body of a zeroed 16 KiB block, as the reference prints it. */
static void unwritten_blocks_are_found(void **state)
{
  unsigned char *buf = calloc(1, 16384);
  struct bn_verify_fault fault;

  (void)state;
  assert_non_null(buf);
  assert_int_equal(bn_verify_check(buf, 16384, 16384, 294912, &fault), BN_VERIFY_CHECKSUM);
  assert_int_equal(fault.computed, 0x66337a37);
  assert_int_equal(fault.stored, 0);
  free(buf);
}

/* Checksum, then offset, at the very end, in the machine's byte order. */
static void layout_is_the_references(void **state)
{
  unsigned char buf[LEN];
  uint64_t offset;

  (void)state;
  stamp(buf, 123456789);
  memcpy(&offset, buf + BLOCK - 8, sizeof offset);
  assert_int_equal(offset, 123456789);
  memcpy(&offset, buf + 2 * BLOCK - 8, sizeof offset);
  assert_int_equal(offset, 123456789 + BLOCK);
}

static void smallest_blocks(void **state)
{
  unsigned char buf[BN_VERIFY_LEAST];
  struct bn_verify_fault fault;
  struct bn_rng rng;

  (void)state;
  bn_rng_seed(&rng, 1, BN_RNG_DATA, 0);
  bn_verify_stamp(buf, sizeof buf, sizeof buf, 32, &rng);
  assert_int_equal(bn_verify_check(buf, sizeof buf, sizeof buf, 32, &fault), BN_VERIFY_GOOD);
  assert_int_equal(bn_verify_check(buf, sizeof buf, sizeof buf, 48, &fault), BN_VERIFY_OFFSET);
}

BN_TESTS(fileio_verify)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stamped_blocks_are_good),    cmocka_unit_test(every_flipped_bit_is_found),
      cmocka_unit_test(misplaced_blocks_are_found), cmocka_unit_test(unwritten_blocks_are_found),
      cmocka_unit_test(layout_is_the_references),   cmocka_unit_test(smallest_blocks),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
