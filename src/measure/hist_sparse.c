/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packs, copies and subtracts the sparse forms of histograms. */
#include "measure/hist_sparse.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Appends a bucket to *arg, a struct bn_hist_sparse. */
static void hist_sparse_add_bucket(void *arg, uint64_t lowest, uint64_t highest, uint64_t n)
{
  struct bn_hist_sparse *s = arg;

  (void)highest;
  s->bucket = bn_alloc_grow(s->bucket, s->n, sizeof *s->bucket);
  s->bucket[s->n++] = (struct bn_bucket){.lowest = lowest, .count = n};
}

void bn_hist_sparse_pack(struct bn_hist_sparse *s, const struct bn_hist *h)
{
  *s = (struct bn_hist_sparse){.n = 0};
  bn_hist_each(h, hist_sparse_add_bucket, s);
  s->bucket = bn_alloc_resize(s->bucket, s->n, sizeof *s->bucket); /* without unused room */
}

void bn_hist_sparse_copy(struct bn_hist_sparse *to, const struct bn_hist_sparse *from)
{
  *to = (struct bn_hist_sparse){.bucket = bn_alloc(from->n, sizeof *to->bucket), .n = from->n};
  memcpy(to->bucket, from->bucket, from->n * sizeof *to->bucket);
}

void bn_hist_sparse_done(struct bn_hist_sparse *s)
{
  free(s->bucket);
  *s = (struct bn_hist_sparse){.n = 0};
}

/* Both lists are ascending, so one pass over each is enough. */
void bn_hist_sparse_sub(struct bn_hist_sparse *from, const struct bn_hist_sparse *base)
{
  size_t kept = 0, k = 0;

  for (size_t i = 0; i < from->n; i++) {
    const struct bn_bucket *bucket = &from->bucket[i];
    uint64_t in_base = 0; /* the count of the same bucket */

    while (k < base->n && base->bucket[k].lowest < bucket->lowest)
      k++;
    if (k < base->n && base->bucket[k].lowest == bucket->lowest)
      in_base = base->bucket[k].count;
    if (bucket->count > in_base)
      from->bucket[kept++] =
          (struct bn_bucket){.lowest = bucket->lowest, .count = bucket->count - in_base};
  }
  from->n = kept;
}
