/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds a name among known names, or the one that a mistyped name is closest to. */
#include "base/near.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"

enum { NAME_MAX_LEN = 63 }; /* a longer name is close to none */

int bn_near_find(const char *const *names, const char *name)
{
  for (int i = 0; name != NULL && names[i] != NULL; i++)
    if (strcmp(names[i], name) == 0)
      return i;
  return -1;
}

/* Returns c in the form in which names are compared: a small letter, and '-' for '_'. */
static int near_fold(char c)
{
  return c == '_' ? '-' : tolower((unsigned char)c);
}

static size_t near_least(size_t a, size_t b)
{
  return a < b ? a : b;
}

/* Returns the distance of a[0..na) and b[0..nb), at most NAME_MAX_LEN long, by optimal string
   alignment, in which a swap of two letters counts as one.  Row i of its table has the distances of
   a[0..i) to b[0..0), b[0..1) and so on; only the last three rows exist: prev2, prev and cur. */
static size_t near_distance(const char *a, size_t na, const char *b, size_t nb)
{
  size_t rows[3][NAME_MAX_LEN + 1];
  size_t *prev2 = rows[0], *prev = rows[1], *cur = rows[2], *spare;

  for (size_t j = 0; j <= nb; j++)
    prev[j] = j;
  for (size_t i = 1; i <= na; i++) {
    cur[0] = i;
    for (size_t j = 1; j <= nb; j++) {
      const size_t cost = near_fold(a[i - 1]) == near_fold(b[j - 1]) ? 0 : 1;
      const bool is_swap = i > 1 && j > 1 && near_fold(a[i - 1]) == near_fold(b[j - 2]) &&
                           near_fold(a[i - 2]) == near_fold(b[j - 1]);

      cur[j] = near_least(near_least(prev[j] + 1, cur[j - 1] + 1), prev[j - 1] + cost);
      if (is_swap)
        cur[j] = near_least(cur[j], prev2[j - 2] + 1);
    }
    spare = prev2;
    prev2 = prev;
    prev = cur;
    cur = spare;
  }
  return prev[nb];
}

void bn_near_offer(struct bn_near *n, const char *name)
{
  const size_t typed_len = strlen(n->typed), len = strlen(name);

  if (typed_len == 0 || typed_len > NAME_MAX_LEN || len > NAME_MAX_LEN)
    return;
  const size_t limit = typed_len / 3 > 0 ? typed_len / 3 : 1; /* letters that may be wrong */
  const size_t difference = typed_len > len ? typed_len - len : len - typed_len;

  /* The distance is at least the difference of the lengths, so most names need no table. */
  if (difference > limit)
    return;
  const size_t distance = near_distance(n->typed, typed_len, name, len);

  if (distance > limit || (n->best != NULL && distance >= n->distance))
    return;
  n->best = name;
  n->distance = distance;
}

void bn_near_copy_dashed(char *out, size_t size, const char *name)
{
  (void)snprintf(out, size, "%s", name);
  for (char *c = out; *c != '\0'; c++)
    if (*c == '_')
      *c = '-';
}

void bn_near_replace_dashes(char *name)
{
  for (; *name != '\0'; name++)
    if (*name == '-')
      *name = '_';
}

void bn_near_complain(const char *name, const char *nearest)
{
  char dashed[128];

  if (nearest == NULL) {
    bn_log_note("unknown option --%s", name);
    return;
  }
  bn_near_copy_dashed(dashed, sizeof dashed, nearest);
  bn_log_note("unknown option --%s (did you mean --%s?)", name, dashed);
}
