/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums of the histograms that hosts send. */
#include "hosts/hist_sums.h"

#include <stdlib.h>

#include "base/alloc.h"

void bn_hist_sums_done(struct bn_hist_sums *s)
{
  for (size_t i = 0; s->hist != NULL && i < s->n; i++)
    bn_hist_free(s->hist[i]);
  free(s->hist);
  free(s->count);
  *s = (struct bn_hist_sums){.n = 0};
}

/* Makes n empty histograms, or does nothing if there are histograms already. */
static void hist_sums_prepare(struct bn_hist_sums *s, size_t n)
{
  if (s->hist != NULL)
    return;
  s->hist = bn_alloc(n, sizeof *s->hist);
  s->count = bn_alloc(n, sizeof *s->count);
  s->n = n;
  for (size_t i = 0; i < n; i++)
    s->hist[i] = bn_hist_new();
}

void bn_hist_sums_add(struct bn_hist_sums *s, const struct bn_hist_codec *line, size_t n)
{
  size_t begin = 0; /* of the parts of histogram i, which end where those of the next one begin */

  hist_sums_prepare(s, n);
  for (size_t i = 0; i < s->n; i++) {
    s->count[i] += line->count[i];
    bn_hist_put_parts(s->hist[i], line->part + begin, line->end[i] - begin);
    begin = line->end[i];
  }
}

void bn_hist_sums_merge(struct bn_hist_sums *s, const struct bn_hist_sums *from)
{
  if (from->hist == NULL)
    return;
  hist_sums_prepare(s, from->n);
  for (size_t i = 0; i < s->n; i++) {
    s->count[i] += from->count[i];
    bn_hist_add(s->hist[i], from->hist[i]);
  }
}
