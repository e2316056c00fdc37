/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CRC-32 (IEEE 802.3, as zlib's crc32) for the blocks of --validate. */
#ifndef BN_BASE_CRC32_H
#define BN_BASE_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* Returns the CRC of a text whose CRC is `crc` (0: none yet), extended by data. */
uint32_t bn_crc32(uint32_t crc, const void *data, size_t len);

#endif
