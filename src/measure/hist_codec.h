/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Short forms of a histogram.  A document has a list of numbers (measure/store.h).  Lines that are
   sent and read by the same version have a text, which stands behind the JSON of its line: a JSON
   parser would need most of the time of a line for it.

   The text is a list of numbers: the counts of the buckets in their order, from that of 0 ns on,
   until the last that is not empty.  '!' and a number stand for so many empty buckets.  A number
   has digits of 5 bits, the highest first; a digit d is the character BN_HIST_CODEC_MORE + d, or
   BN_HIST_CODEC_LAST + d if it ends the number.  No character is blank. */
#ifndef BN_MEASURE_HIST_CODEC_H
#define BN_MEASURE_HIST_CODEC_H

#include "base/buf.h"
#include "measure/bounds.h"
#include "measure/hist_sparse.h"

enum { BN_HIST_CODEC_BITS = 5, BN_HIST_CODEC_MORE = '(', BN_HIST_CODEC_LAST = '^' };

/* Calls fn for every bucket that is not empty, in ascending order, with how many empty ones stand
   between it and the one before it; BN_HIST_BUCKETS is the place of what is beyond the range.  The
   histogram has one of two forms; if both are NULL, it is empty. */
void bn_hist_codec_each(const struct bn_hist *h, const struct bn_hist_sparse *s,
                        void (*fn)(void *arg, uint64_t empty, uint64_t count), void *arg);

/* Appends the text of a histogram in one of these forms.  A failure is the buffer's. */
void bn_hist_codec_put(struct bn_buf *out, const struct bn_hist *h, const struct bn_hist_sparse *s);

/* The histograms of a line, in the order of the metrics; all zero: none were read.  To be
   reused. */
struct bn_hist_codec {
  struct bn_hist_part *part; /* owned; ascending within a histogram, none is empty */
  size_t n, room;
  size_t end[BN_BOUND_HISTOGRAMS];     /* those of histogram i are before this one */
  uint64_t count[BN_BOUND_HISTOGRAMS]; /* all values of histogram i */
};

/* Appends the buckets of a text as histogram i, after those before it.  1: done; 0: it is no such
   text, or its values cannot be counted in 64 bits; -1: out of memory. */
int bn_hist_codec_take(struct bn_hist_codec *b, size_t i, const char *text, size_t len);

#endif
