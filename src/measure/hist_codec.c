/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Goes through the buckets of histograms, and writes and reads them as short texts. */
#include "measure/hist_codec.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum {
  DIGIT_MASK = (1 << BN_HIST_CODEC_BITS) - 1,
  DIGITS_MOST = 64 / BN_HIST_CODEC_BITS + 1, /* of a number */
  GAP = '!'
};
/* The most characters of a text: a number for each bucket, and one for the values beyond them. */
enum { TEXT_MOST = (BN_HIST_BUCKETS + 1) * DIGITS_MOST };

/* --- buckets ---------------------------------------------------------------------------------- */

/* The arguments of bn_hist_codec_each(), and how far it has come. */
struct walk {
  void (*fn)(void *arg, uint64_t empty, uint64_t count);
  void *arg;
  size_t next; /* the bucket after the last one */
};

/* Passes a bucket on, with the number of empty ones before it.  Does not use `highest`. */
static void hist_codec_walk_bucket(void *arg, uint64_t lowest, uint64_t highest, uint64_t count)
{
  struct walk *w = arg;
  const size_t index =
      lowest >> BN_HIST_TOP_BIT != 0 ? (size_t)BN_HIST_BUCKETS : bn_hist_index(lowest);

  (void)highest;
  w->fn(w->arg, index - w->next, count);
  w->next = index + 1;
}

void bn_hist_codec_each(const struct bn_hist *h, const struct bn_hist_sparse *s,
                        void (*fn)(void *arg, uint64_t empty, uint64_t count), void *arg)
{
  struct walk w = {.fn = fn, .arg = arg};

  if (h != NULL)
    bn_hist_each(h, hist_codec_walk_bucket, &w);
  else if (s != NULL)
    for (size_t k = 0; k < s->n; k++)
      hist_codec_walk_bucket(&w, s->bucket[k].lowest, 0 /* not used */, s->bucket[k].count);
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Appends the digits of a number.  The last one, which has a base of its own, is computed first, so
   `text` is filled from its end. */
static void hist_codec_put_digits(struct bn_buf *out, uint64_t n)
{
  char text[DIGITS_MOST];
  size_t at = sizeof text;

  text[--at] = (char)(BN_HIST_CODEC_LAST + (int)(n & DIGIT_MASK));
  for (n >>= BN_HIST_CODEC_BITS; n != 0; n >>= BN_HIST_CODEC_BITS)
    text[--at] = (char)(BN_HIST_CODEC_MORE + (int)(n & DIGIT_MASK));
  (void)bn_buf_add(out, text + at, sizeof text - at);
}

void bn_hist_codec_put_number(struct bn_buf *out, int64_t number)
{
  if (number < 0)
    (void)bn_buf_char(out, GAP);
  hist_codec_put_digits(out, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

/* Appends the empty buckets before a bucket, and its count.  One empty bucket is written as a count
   of 0, which is shorter than GAP and 1. */
static void hist_codec_put_bucket(void *arg, uint64_t empty, uint64_t count)
{
  struct bn_buf *out = arg;

  if (empty > 0)
    bn_hist_codec_put_number(out, empty > 1 ? -(int64_t)empty : 0);
  hist_codec_put_digits(out, count);
}

void bn_hist_codec_put(struct bn_buf *out, const struct bn_hist *h, const struct bn_hist_sparse *s)
{
  bn_hist_codec_each(h, s, hist_codec_put_bucket, out);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Reads a number.  Returns the text after it, or NULL if there is no number, or it needs more than
   64 bits. */
static const char *hist_codec_take_number(const char *at, const char *end, uint64_t *out)
{
  uint64_t n = 0;

  while (at < end) {
    /* A character that is less than the base makes these differences wrap to large numbers. */
    const unsigned c = (unsigned char)*at++, last = c - BN_HIST_CODEC_LAST,
                   more = c - BN_HIST_CODEC_MORE;

    if (last <= DIGIT_MASK) {
      *out = n | last;
      return at;
    }
    if (more > DIGIT_MASK || (n | more) >> (64 - BN_HIST_CODEC_BITS) != 0)
      return NULL;
    n = (n | more) << BN_HIST_CODEC_BITS;
  }
  return NULL;
}

/* Reads a bucket of any form from a text that is not empty: the number of empty buckets before it,
   or 0, and its count.  Returns as hist_codec_take_number(). */
static const char *hist_codec_take_bucket(const char *at, const char *end, uint64_t *empty,
                                          uint64_t *count)
{
  *empty = 0;
  if (*at == GAP)
    at = hist_codec_take_number(at + 1, end, empty);
  if (at == NULL || *empty > BN_HIST_BUCKETS) /* the index could wrap */
    return NULL;
  return hist_codec_take_number(at, end, count);
}

/* Makes room for n more buckets, and always for one, so that b->part is not NULL. */
static void hist_codec_make_room(struct bn_hist_codec *b, size_t n)
{
  const size_t room = b->n + n + 1;

  if (room <= b->room)
    return;
  b->part = bn_alloc_resize(b->part, room, sizeof *b->part);
  b->room = room;
}

void bn_hist_codec_add(struct bn_hist_codec *b, size_t i, const struct bn_hist_part *part, size_t n,
                       uint64_t count)
{
  hist_codec_make_room(b, n);
  memcpy(b->part + b->n, part, n * sizeof *part);
  b->end[i] = b->n += n;
  b->count[i] = count;
}

/* The length of the text is checked once, instead of the index and the sum at each bucket: with at
   most TEXT_MOST characters the index cannot wrap, and the sum of the counts of one digit, `small`,
   cannot overflow. */
bool bn_hist_codec_take(struct bn_hist_codec *b, size_t i, const char *text, size_t len)
{
  const char *const end = text + len;
  struct bn_hist_part *to;
  uint64_t at = 0, small = 0, large = 0;

  if (len > TEXT_MOST)
    return false;
  hist_codec_make_room(b, len); /* a bucket takes at least one character */
  to = b->part + b->n;
  for (const char *next = text; next < end; at++) {
    uint64_t count = (uint64_t)(unsigned char)*next - BN_HIST_CODEC_LAST;

    if (__builtin_expect(count <= DIGIT_MASK, 1)) { /* almost all buckets */
      small += count;
      next++;
    } else {
      uint64_t empty, many = 0;

      next = hist_codec_take_bucket(next, end, &empty, &many);
      if (next == NULL || __builtin_add_overflow(large, many, &large))
        return false;
      at += empty;
      count = many;
    }
    *to = (struct bn_hist_part){at, count};
    to += count != 0; /* without a branch; the next bucket replaces an empty one */
  }
  if (at > BN_HIST_BUCKETS + 1 || __builtin_add_overflow(small, large, &b->count[i]))
    return false;
  b->end[i] = b->n = (size_t)(to - b->part);
  return true;
}
