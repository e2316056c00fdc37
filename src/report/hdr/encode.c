/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Encodes histograms in the form of HdrHistogram's interval logs. */
#include "report/hdr/encode.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"

enum { COOKIE = 0x1c849313, COMPRESSED_COOKIE = 0x1c849314, DIGITS = 3 };
/* The bytes of numbers in headers, and of the header of the form V2. */
enum { U32_BYTES = 4, U64_BYTES = 8, HEADER_BYTES = 4 * U32_BYTES + 3 * U64_BYTES };

/* Writes the lowest `bytes` bytes of a value, the most significant one first.  Returns the place
   after them. */
static unsigned char *encode_put_big_endian(unsigned char *to, uint64_t value, size_t bytes)
{
  for (size_t i = bytes; i > 0; i--) {
    to[i - 1] = (unsigned char)value;
    value >>= 8;
  }
  return to + bytes;
}

/* Appends a number in the ZigZag LEB128 form of HdrHistogram: each of the first eight bytes has
   seven bits and a mark that more follow; the ninth has eight bits. */
static void encode_add_number(struct bn_buf *b, int64_t value)
{
  enum { BYTES_MAX = 9, DATA_BITS = 7, MORE = 1 << DATA_BITS };
  /* ZigZag puts the sign into the lowest bit, so that numbers near 0 are short: 0, -1, 1, -2, … */
  uint64_t bits = (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);

  for (int bytes = 1; bits >= MORE && bytes < BYTES_MAX; bytes++) {
    (void)bn_buf_char(b, (char)(bits | MORE));
    bits >>= DATA_BITS;
  }
  (void)bn_buf_char(b, (char)bits);
}

/* Returns HdrHistogram's index of the bucket with that lowest value.  A value above the highest
   trackable one counts in HdrHistogram's last bucket. */
static size_t encode_index_of(uint64_t lowest)
{
  return lowest > BN_HDR_HIGHEST ? BN_HIST_BUCKETS - 1 : bn_hist_index(lowest);
}

/* Appends the counts of all buckets by ascending index, and before a count the number of empty
   buckets, as HdrHistogram does: negated, or the count 0 for a single bucket.  If the last bucket
   has values above the highest trackable one, the bucket before it may have the same index: their
   counts are added. */
static void encode_add_counts(struct bn_buf *b, const struct bn_hist_sparse *s)
{
  size_t next = 0;

  for (size_t i = 0; i < s->n; i++) {
    const size_t index = encode_index_of(s->bucket[i].lowest);
    uint64_t count = s->bucket[i].count;

    if (i + 1 < s->n && encode_index_of(s->bucket[i + 1].lowest) == index) {
      i++;
      count += s->bucket[i].count;
    }
    if (index > next)
      encode_add_number(b, index - next > 1 ? -(int64_t)(index - next) : 0);
    encode_add_number(b, count > INT64_MAX ? INT64_MAX : (int64_t)count);
    next = index + 1;
  }
}

/* Writes the header before the counts; encode.h names its fields in their order.  counts_len: bytes
   of the counts. */
static void encode_write_header(unsigned char *header, size_t counts_len)
{
  static const double unit_ratio = 1; /* values are stored as they are, not scaled */
  uint64_t ratio_bits;

  memcpy(&ratio_bits, &unit_ratio, sizeof ratio_bits);
  header = encode_put_big_endian(header, COOKIE, U32_BYTES);
  header = encode_put_big_endian(header, counts_len, U32_BYTES);
  header = encode_put_big_endian(header, 0, U32_BYTES); /* the offset of the indices */
  header = encode_put_big_endian(header, DIGITS, U32_BYTES);
  header = encode_put_big_endian(header, 1, U64_BYTES); /* the lowest trackable value */
  header = encode_put_big_endian(header, BN_HDR_HIGHEST, U64_BYTES);
  (void)encode_put_big_endian(header, ratio_bits, U64_BYTES);
}

/* Appends the form V2.  Its header has the length of the counts, so it is written after them. */
static void encode_add_v2(struct bn_buf *b, const struct bn_hist_sparse *s)
{
  const unsigned char empty_header[HEADER_BYTES] = {0};
  const size_t start = b->len;

  (void)bn_buf_add(b, empty_header, sizeof empty_header);
  encode_add_counts(b, s);
  encode_write_header((unsigned char *)b->data + start, b->len - start - HEADER_BYTES);
}

/* Appends the compressed form: its header and the packed form V2. */
static void encode_add_compressed(struct bn_buf *b, const void *packed, size_t len)
{
  unsigned char header[2 * U32_BYTES];

  (void)encode_put_big_endian(header, COMPRESSED_COOKIE, U32_BYTES);
  (void)encode_put_big_endian(header + U32_BYTES, len, U32_BYTES);
  (void)bn_buf_add(b, header, sizeof header);
  (void)bn_buf_add(b, packed, len);
}

void bn_hdr_encode(struct bn_buf *b, const struct bn_hist_sparse *s, const struct bn_codec *zlib)
{
  struct bn_buf v2 = {.max = 0}, compressed = {.max = 0};
  void *packed;
  size_t len = 0;

  encode_add_v2(&v2, s);
  packed = zlib->pack(v2.data, v2.len, &len);
  if (packed == NULL)
    bn_alloc_fail();
  encode_add_compressed(&compressed, packed, len);
  (void)bn_buf_base64(b, compressed.data, compressed.len);
  free(packed);
  bn_buf_done(&v2);
  bn_buf_done(&compressed);
}

uint64_t bn_hdr_find_max(const struct bn_hist_sparse *s)
{
  return s->n > 0 ? bn_hist_highest(encode_index_of(s->bucket[s->n - 1].lowest)) : 0;
}
