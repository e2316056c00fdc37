/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checksum is the CRC-32 of IEEE 802.3, for any length, alignment and division into parts. */
#include "base/crc32.h"

#include "base/rng.h"
#include "cm.h"

static uint32_t bit_by_bit(uint32_t crc, const unsigned char *p, size_t len)
{
  crc = ~crc;
  for (size_t i = 0; i < len; i++) {
    crc ^= p[i];
    for (int k = 0; k < 8; k++)
      crc = crc >> 1 ^ ((crc & 1) != 0 ? UINT32_C(0xedb88320) : 0);
  }
  return ~crc;
}

static void test_known_values(void **state)
{
  static const char fox[] = "The quick brown fox jumps over the lazy dog";

  (void)state;
  assert_int_equal(bn_crc32(0, "", 0), 0);
  assert_int_equal(bn_crc32(0, "a", 1), 0xe8b7be43);
  assert_int_equal(bn_crc32(0, "123456789", 9), 0xcbf43926);
  assert_int_equal(bn_crc32(0, fox, sizeof fox - 1), 0x414fa339);
}

static void test_any_length_and_alignment(void **state)
{
  unsigned char data[400];
  struct bn_rng r;

  (void)state;
  bn_rng_seed(&r, 1, BN_RNG_DATA, 0);
  for (size_t i = 0; i < sizeof data; i++)
    data[i] = (unsigned char)bn_rng_below(&r, 256);
  for (size_t at = 0; at < 16; at++)
    for (size_t len = 0; at + len <= 300; len++)
      assert_int_equal(bn_crc32(0, data + at, len), bit_by_bit(0, data + at, len));
}

static void test_parts(void **state)
{
  unsigned char data[100];

  (void)state;
  for (size_t i = 0; i < sizeof data; i++)
    data[i] = (unsigned char)(i * i);
  for (size_t cut = 0; cut <= sizeof data; cut++)
    assert_int_equal(bn_crc32(bn_crc32(0, data, cut), data + cut, sizeof data - cut),
                     bit_by_bit(0, data, sizeof data));
}

BN_TESTS(crc32)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_known_values),
      cmocka_unit_test(test_any_length_and_alignment),
      cmocka_unit_test(test_parts),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
