/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes and reads histograms as short texts. */
#include "measure/brief.h"

#include <stdlib.h>

enum { DIGIT_MASK = (1 << BN_BRIEF_BITS) - 1, DIGITS_MOST = 64 / BN_BRIEF_BITS + 1, GAP = '!' };

/* --- writing ---------------------------------------------------------------------------------- */

struct writer {
  struct bn_buf *out;
  size_t next; /* the bucket behind the last one */
};

static void put_number(struct bn_buf *out, uint64_t n)
{
  char text[DIGITS_MOST];
  size_t at = sizeof text;

  text[--at] = (char)(BN_BRIEF_LAST + (int)(n & DIGIT_MASK));
  while ((n >>= BN_BRIEF_BITS) != 0)
    text[--at] = (char)(BN_BRIEF_MORE + (int)(n & DIGIT_MASK));
  (void)bn_buf_add(out, text + at, sizeof text - at);
}

/* What is beyond the buckets stands behind the last of them. */
static size_t index_of(uint64_t lowest)
{
  return lowest >> BN_HIST_TOP_BIT != 0 ? (size_t)BN_HIST_BUCKETS : bn_hist_index(lowest);
}

static void put_bucket(void *arg, uint64_t lowest, uint64_t highest, uint64_t count)
{
  struct writer *w = arg;
  const size_t at = index_of(lowest);

  (void)highest;
  if (at == w->next + 1) {
    put_number(w->out, 0);
  } else if (at > w->next) {
    (void)bn_buf_char(w->out, GAP);
    put_number(w->out, at - w->next);
  }
  put_number(w->out, count);
  w->next = at + 1;
}

void bn_brief_put(struct bn_buf *out, const struct bn_hist *h, const struct bn_sparse *s)
{
  struct writer w = {out, 0};

  if (h != NULL)
    bn_hist_each(h, put_bucket, &w);
  for (size_t k = 0; h == NULL && s != NULL && k < s->n; k++)
    put_bucket(&w, s->bucket[k].lowest, 0, s->bucket[k].count);
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool take_number(const char **at, uint64_t *out)
{
  uint64_t n = 0;

  for (;;) {
    const unsigned c = (unsigned char)*(*at)++, last = c - BN_BRIEF_LAST, more = c - BN_BRIEF_MORE;

    if (last <= DIGIT_MASK) {
      *out = n | last;
      return true;
    }
    if (more > DIGIT_MASK || (n | more) >> (64 - BN_BRIEF_BITS) != 0)
      return false;
    n = (n | more) << BN_BRIEF_BITS;
  }
}

static int make_room(struct bn_brief *b)
{
  const size_t room = b->room == 0 ? 1024 : 2 * b->room;
  struct bn_bucket *more;

  if (b->n < b->room)
    return 0;
  more = reallocarray(b->bucket, room, sizeof *more);
  if (more == NULL)
    return -1;
  b->bucket = more;
  b->room = room;
  return 0;
}

int bn_brief_take(struct bn_brief *b, size_t i, const char *text)
{
  uint64_t skip, count;

  b->count[i] = 0;
  for (size_t at = 0; *text != '\0'; at++) {
    if (*text == GAP) {
      text++;
      if (!take_number(&text, &skip) || skip > BN_HIST_BUCKETS)
        return 0;
      at += skip;
    }
    if (at > BN_HIST_BUCKETS || !take_number(&text, &count) ||
        __builtin_add_overflow(b->count[i], count, &b->count[i]))
      return 0;
    if (count == 0)
      continue;
    if (make_room(b) != 0)
      return -1;
    b->bucket[b->n++] = (struct bn_bucket){bn_hist_lowest(at), count};
  }
  b->end[i] = b->n;
  return 1;
}
