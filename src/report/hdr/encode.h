/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text that HdrHistogram's interval logs have for a histogram.

   HdrHistogram's form V2, big endian: cookie 0x1c849313, length of the counts, 0, significant
   digits, lowest and highest trackable value, 1.0 as double, and the counts by index.  A count is a
   ZigZag LEB128 number of at most nine bytes; -n stands for n empty buckets.  The compressed form
   is cookie 0x1c849314, its length, and the form V2 compressed by zlib; the text is its Base64.

   With the lowest trackable value 1 and three digits HdrHistogram's buckets are those of
   base/hist.h, with the same indices. */
#ifndef BN_REPORT_HDR_ENCODE_H
#define BN_REPORT_HDR_ENCODE_H

#include "api/codec.h"
#include "base/buf.h"
#include "measure/hist_sparse.h"

/* The highest trackable value, as which every larger value counts. */
#define BN_HDR_HIGHEST ((UINT64_C(1) << BN_HIST_TOP_BIT) - 1)

/* Appends the text of a histogram, compressed by `zlib`.  b has no limit. */
void bn_hdr_encode(struct bn_buf *b, const struct bn_hist_sparse *s, const struct bn_codec *zlib);
/* Returns the highest value of the highest bucket that is not empty, or 0 if there is none. */
uint64_t bn_hdr_find_max(const struct bn_hist_sparse *s);

#endif
