/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CRC-32 (IEEE 802.3, as zlib's crc32) for the blocks of --validate. */
#ifndef BN_BASE_CRC32_H
#define BN_BASE_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* Returns the CRC-32 of a text followed by the data; `crc` is that of the text, 0 for an empty
   one. */
uint32_t bn_crc32(uint32_t crc, const void *data, size_t len);

#endif
