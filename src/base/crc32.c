/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CRC-32 (IEEE 802.3) by slices of eight bytes. */
#include "base/crc32.h"

/* The table is linear: the entry of a byte is the XOR of the entries of its bits, so eight
   constants define each slice.  They are the CRCs of the byte 1 << bit and `slice` zero bytes. */
#define BIT(n, bit, crc) (((n) >> (bit)&1) != 0 ? (crc) : UINT32_C(0))
#define SLICE0(n)                                                                                  \
  (BIT(n, 0, 0x77073096) ^ BIT(n, 1, 0xee0e612c) ^ BIT(n, 2, 0x076dc419) ^ BIT(n, 3, 0x0edb8832) ^ \
   BIT(n, 4, 0x1db71064) ^ BIT(n, 5, 0x3b6e20c8) ^ BIT(n, 6, 0x76dc4190) ^ BIT(n, 7, 0xedb88320))
#define SLICE1(n)                                                                                  \
  (BIT(n, 0, 0x191b3141) ^ BIT(n, 1, 0x32366282) ^ BIT(n, 2, 0x646cc504) ^ BIT(n, 3, 0xc8d98a08) ^ \
   BIT(n, 4, 0x4ac21251) ^ BIT(n, 5, 0x958424a2) ^ BIT(n, 6, 0xf0794f05) ^ BIT(n, 7, 0x3b83984b))
#define SLICE2(n)                                                                                  \
  (BIT(n, 0, 0x01c26a37) ^ BIT(n, 1, 0x0384d46e) ^ BIT(n, 2, 0x0709a8dc) ^ BIT(n, 3, 0x0e1351b8) ^ \
   BIT(n, 4, 0x1c26a370) ^ BIT(n, 5, 0x384d46e0) ^ BIT(n, 6, 0x709a8dc0) ^ BIT(n, 7, 0xe1351b80))
#define SLICE3(n)                                                                                  \
  (BIT(n, 0, 0xb8bc6765) ^ BIT(n, 1, 0xaa09c88b) ^ BIT(n, 2, 0x8f629757) ^ BIT(n, 3, 0xc5b428ef) ^ \
   BIT(n, 4, 0x5019579f) ^ BIT(n, 5, 0xa032af3e) ^ BIT(n, 6, 0x9b14583d) ^ BIT(n, 7, 0xed59b63b))
#define SLICE4(n)                                                                                  \
  (BIT(n, 0, 0x3d6029b0) ^ BIT(n, 1, 0x7ac05360) ^ BIT(n, 2, 0xf580a6c0) ^ BIT(n, 3, 0x30704bc1) ^ \
   BIT(n, 4, 0x60e09782) ^ BIT(n, 5, 0xc1c12f04) ^ BIT(n, 6, 0x58f35849) ^ BIT(n, 7, 0xb1e6b092))
#define SLICE5(n)                                                                                  \
  (BIT(n, 0, 0xcb5cd3a5) ^ BIT(n, 1, 0x4dc8a10b) ^ BIT(n, 2, 0x9b914216) ^ BIT(n, 3, 0xec53826d) ^ \
   BIT(n, 4, 0x03d6029b) ^ BIT(n, 5, 0x07ac0536) ^ BIT(n, 6, 0x0f580a6c) ^ BIT(n, 7, 0x1eb014d8))
#define SLICE6(n)                                                                                  \
  (BIT(n, 0, 0xa6770bb4) ^ BIT(n, 1, 0x979f1129) ^ BIT(n, 2, 0xf44f2413) ^ BIT(n, 3, 0x33ef4e67) ^ \
   BIT(n, 4, 0x67de9cce) ^ BIT(n, 5, 0xcfbd399c) ^ BIT(n, 6, 0x440b7579) ^ BIT(n, 7, 0x8816eaf2))
#define SLICE7(n)                                                                                  \
  (BIT(n, 0, 0xccaa009e) ^ BIT(n, 1, 0x4225077d) ^ BIT(n, 2, 0x844a0efa) ^ BIT(n, 3, 0xd3e51bb5) ^ \
   BIT(n, 4, 0x7cbb312b) ^ BIT(n, 5, 0xf9766256) ^ BIT(n, 6, 0x299dc2ed) ^ BIT(n, 7, 0x533b85da))
#define ROW4(s, n)  s(n), s((n) + 1), s((n) + 2), s((n) + 3)
#define ROW16(s, n) ROW4(s, n), ROW4(s, (n) + 4), ROW4(s, (n) + 8), ROW4(s, (n) + 12)
#define ROW64(s, n) ROW16(s, n), ROW16(s, (n) + 16), ROW16(s, (n) + 32), ROW16(s, (n) + 48)
#define ROW256(s)   ROW64(s, 0u), ROW64(s, 64u), ROW64(s, 128u), ROW64(s, 192u)

static const uint32_t slice[8][256] = {{ROW256(SLICE0)}, {ROW256(SLICE1)}, {ROW256(SLICE2)},
                                       {ROW256(SLICE3)}, {ROW256(SLICE4)}, {ROW256(SLICE5)},
                                       {ROW256(SLICE6)}, {ROW256(SLICE7)}};

static uint32_t crc32_load_little_endian(const unsigned char *p)
{
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

uint32_t bn_crc32(uint32_t crc, const void *data, size_t len)
{
  const unsigned char *p = data;

  crc = ~crc;
  /* Slice k has the CRCs of a byte and k zero bytes: each of eight bytes uses the slice of the
     number of bytes after it, so that no look-up waits for another. */
  for (; len >= 8; p += 8, len -= 8) {
    const uint32_t a = crc ^ crc32_load_little_endian(p);
    const uint32_t b = crc32_load_little_endian(p + 4);

    crc = slice[7][a & 255] ^ slice[6][a >> 8 & 255] ^ slice[5][a >> 16 & 255] ^ slice[4][a >> 24] ^
          slice[3][b & 255] ^ slice[2][b >> 8 & 255] ^ slice[1][b >> 16 & 255] ^ slice[0][b >> 24];
  }
  for (; len != 0; p++, len--)
    crc = crc >> 8 ^ slice[0][(crc ^ *p) & 255];
  return ~crc;
}
