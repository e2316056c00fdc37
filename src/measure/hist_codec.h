/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The short forms of a histogram.  A document has a list of numbers (measure/json_hist.h), for
   which a JSON parser would need most of its time.  So lines that are sent and read by the same
   version have a text, which follows the JSON of its line, and bn_skip_to_totals() makes such texts
   of the lists of a document.

   The text is a list of numbers: the counts of the buckets in their order, from that of 0 ns on,
   until the last that is not empty.  '!' and a number n stand for n empty buckets.  A number
   has digits of 5 bits, the highest first; a digit d is the character BN_HIST_CODEC_MORE + d, or
   BN_HIST_CODEC_LAST + d if it ends the number.  No character is blank. */
#ifndef BN_MEASURE_HIST_CODEC_H
#define BN_MEASURE_HIST_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "measure/bounds.h"
#include "measure/hist_sparse.h"

enum { BN_HIST_CODEC_BITS = 5, BN_HIST_CODEC_MORE = '(', BN_HIST_CODEC_LAST = '^' };

/* Calls fn for every bucket that is not empty, in ascending order, with its count and the number of
   empty buckets between it and the one before it.  Values beyond the range are in bucket
   BN_HIST_BUCKETS.  The histogram has one of two forms; if both are NULL, it is empty. */
void bn_hist_codec_each(const struct bn_hist *h, const struct bn_hist_sparse *s,
                        void (*fn)(void *arg, uint64_t empty, uint64_t count), void *arg);

/* Appends a number of the list of a document: the count of a bucket, or -n for n empty buckets. */
void bn_hist_codec_put_number(struct bn_buf *out, int64_t number);
/* Appends the text of a histogram in one of these forms.  Sets out->failed if it does not fit. */
void bn_hist_codec_put(struct bn_buf *out, const struct bn_hist *h, const struct bn_hist_sparse *s);

/* The histograms of a line, in the order of the metrics.  All zero it is empty.  Setting n to 0
   empties it for the next line. */
struct bn_hist_codec {
  struct bn_hist_part *part; /* owned; ascending within a histogram, none is empty */
  size_t n, room;
  size_t end[BN_BOUND_HISTOGRAMS];     /* the parts of histogram i end before this one */
  uint64_t count[BN_BOUND_HISTOGRAMS]; /* the number of values of histogram i */
};

/* Appends n buckets, which have `count` values, as histogram i.  This function and the next one are
   called for one histogram after another. */
void bn_hist_codec_add(struct bn_hist_codec *b, size_t i, const struct bn_hist_part *part, size_t n,
                       uint64_t count);
/* Appends the buckets of a text as histogram i.  Returns false if the text has another form, or its
   values cannot be counted in 64 bits. */
bool bn_hist_codec_take(struct bn_hist_codec *b, size_t i, const char *text, size_t len);

#endif
