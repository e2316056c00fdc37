/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adds buckets of lines. */
#include "hosts/sums.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

void bn_sums_done(struct bn_sums *s)
{
  for (size_t i = 0; s->hist != NULL && i < s->n; i++)
    bn_hist_free(s->hist[i]);
  free(s->hist);
  free(s->count);
  *s = (struct bn_sums){.n = 0};
}

int bn_sums_prepare(struct bn_sums *s, size_t n, struct bn_err *err)
{
  bool made;

  if (s->hist != NULL)
    return 0;
  *s = (struct bn_sums){calloc(n, sizeof *s->hist), calloc(n, sizeof *s->count), n};
  made = s->hist != NULL && s->count != NULL;
  for (size_t i = 0; made && i < n; i++)
    made = (s->hist[i] = bn_hist_new()) != NULL;
  if (made)
    return 0;
  bn_sums_done(s);
  (void)bn_err_set(err, ENOMEM, "out of memory");
  return -1;
}

void bn_sums_add(struct bn_sums *s, const struct bn_hist_codec *line)
{
  size_t from = 0;

  for (size_t i = 0; i < s->n; i++) {
    s->count[i] += line->count[i];
    bn_hist_put_parts(s->hist[i], line->part + from, line->end[i] - from);
    from = line->end[i];
  }
}

int bn_sums_merge(struct bn_sums *s, const struct bn_sums *from, struct bn_err *err)
{
  if (from->hist == NULL)
    return 0;
  if (bn_sums_prepare(s, from->n, err) != 0)
    return -1;
  for (size_t i = 0; i < s->n; i++) {
    s->count[i] += from->count[i];
    bn_hist_add(s->hist[i], from->hist[i]);
  }
  return 0;
}
