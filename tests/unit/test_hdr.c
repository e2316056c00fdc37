/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms are encoded byte by byte as HdrHistogram's form V2 is defined. */
#include "report/hdr/encode.h"

#include <string.h>

#include "base/alloc.h"
#include "cm.h"

/* Leaves the data as they are, so that a test can look at them. */
static void *pack(const void *data, size_t len, size_t *packed)
{
  *packed = len;
  return memcpy(bn_alloc(1, len), data, len);
}

static const struct bn_codec plain = {BN_CODEC_ABI, sizeof plain, "plain", pack};

/* Decodes a Base64 text.  Returns the number of its bytes. */
static size_t decode(const char *text, unsigned char *out)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  uint32_t bits = 0;
  size_t n = 0, seen = 0;

  for (; *text != '\0' && *text != '='; text++) {
    bits = bits << 6 | (uint32_t)(strchr(digits, *text) - digits);
    if (seen++ % 4 != 0)
      out[n++] = (unsigned char)(bits >> (6 - 2 * ((seen - 1) % 4)));
  }
  return n;
}

/* Checks that a histogram is encoded as both headers and `counts`. */
static void check(const struct bn_hist_sparse *s, const unsigned char *counts, size_t n)
{
  static const unsigned char compressed[4] = {0x1c, 0x84, 0x93, 0x14};
  static const unsigned char payload[4] = {0x1c, 0x84, 0x93, 0x13};
  static const unsigned char rest[] = {
      0,    0,    0,    0,    0,    0,    0,    3,    /* no offset, three digits */
      0,    0,    0,    0,    0,    0,    0,    1,    /* from 1 */
      0,    0,    0x03, 0xff, 0xff, 0xff, 0xff, 0xff, /* to 2^42 - 1 */
      0x3f, 0xf0, 0,    0,    0,    0,    0,    0};   /* 1.0 */
  const unsigned char lengths[8] = {0, 0, 0, (unsigned char)(40 + n), 0, 0, 0, (unsigned char)n};
  struct bn_buf text = {.max = 0};
  unsigned char bytes[256];

  bn_hdr_encode(&text, s, &plain);
  assert_memory_equal(text.data, "HISTFAAAA", 9); /* by which people know them */
  assert_int_equal(decode(text.data, bytes), 48 + n);
  assert_memory_equal(bytes, compressed, 4);
  assert_memory_equal(bytes + 4, lengths, 4);
  assert_memory_equal(bytes + 8, payload, 4);
  assert_memory_equal(bytes + 12, lengths + 4, 4);
  assert_memory_equal(bytes + 16, rest, sizeof rest);
  assert_memory_equal(bytes + 48, counts, n);
  bn_buf_done(&text);
}

static void nothing_has_no_counts(void **state)
{
  const struct bn_hist_sparse none = {.n = 0};

  (void)state;
  check(&none, (const unsigned char *)"", 0);
  assert_int_equal(bn_hdr_find_max(&none), 0);
}

static void runs_of_empty_buckets_are_one_number(void **state)
{
  struct bn_bucket rows[] = {{0, 1}, {2, 3}, {5, 64}, {2048, 8192}};
  const struct bn_hist_sparse s = {rows, 4};
  static const unsigned char counts[] = {2,          /* one of 0 */
                                         0,          /* none of 1 */
                                         6,          /* three of 2 */
                                         3,          /* two empty buckets: -2 */
                                         0x80, 0x01, /* 64 of 5 */
                                         0xf3, 0x1f, /* 2,042 empty buckets: ZigZag 4,083 */
                                         0x80, 0x80, 0x01};

  (void)state;
  check(&s, counts, sizeof counts);
  assert_int_equal(bn_hdr_find_max(&s), 2049);
}

static void large_counts_take_nine_bytes(void **state)
{
  struct bn_bucket rows[] = {{0, UINT64_MAX}};
  const struct bn_hist_sparse s = {rows, 1};
  /* 2^63 - 1 doubled is 2^64 - 2. */
  static const unsigned char counts[] = {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

  (void)state;
  check(&s, counts, sizeof counts);
}

/* 33,791 empty buckets: ZigZag 67,581. */
static void values_beyond_the_range_are_of_the_highest(void **state)
{
  struct bn_bucket rows[] = {{bn_hist_lowest(BN_HIST_BUCKETS - 1), 4},
                             {UINT64_C(1) << BN_HIST_TOP_BIT, 3}};
  struct bn_hist_sparse s = {rows, 2};
  static const unsigned char counts[] = {0xfd, 0x8f, 0x04, 14}, alone[] = {0xfd, 0x8f, 0x04, 6};

  (void)state;
  check(&s, counts, sizeof counts);
  assert_int_equal(bn_hdr_find_max(&s), BN_HDR_HIGHEST);
  s = (struct bn_hist_sparse){rows + 1, 1};
  check(&s, alone, sizeof alone);
}

BN_TESTS(hdr)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_has_no_counts),
      cmocka_unit_test(runs_of_empty_buckets_are_one_number),
      cmocka_unit_test(large_counts_take_nine_bytes),
      cmocka_unit_test(values_beyond_the_range_are_of_the_highest),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
