/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sorts messages by their texts, so that those of one text are neighbours, and then by time. */
#include "measure/messages.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "measure/bounds.h"

/* The largest number of a document: UINT64_MAX means that a number is not known. */
static const uint64_t most_times = UINT64_MAX - 1;

static int messages_compare_texts(const void *a, const void *b)
{
  const struct bn_fact_message *p = a, *q = b;
  const int order = strcmp(p->text, q->text);

  return order != 0 ? order : (p->level > q->level) - (p->level < q->level);
}

static int messages_compare_times(const void *a, const void *b)
{
  const struct bn_fact_message *p = a, *q = b;

  if (p->wall_ns != q->wall_ns)
    return p->wall_ns < q->wall_ns ? -1 : 1;
  return messages_compare_texts(a, b);
}

static size_t messages_count(const struct bn_part *part, size_t n)
{
  size_t all = 0;

  for (size_t i = 0; i < n; i++)
    all += part[i].result->facts.n_messages;
  return all;
}

/* Copies all messages with a text, which stays that of the part. */
static size_t messages_copy_all(struct bn_fact_message *all, const struct bn_part *part, size_t n)
{
  size_t used = 0;

  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < part[i].result->facts.n_messages; k++)
      if (part[i].result->facts.message[k].text != NULL)
        all[used++] = part[i].result->facts.message[k];
  return used;
}

/* Joins neighbours with the same text and returns how many messages there are then. */
static size_t messages_join_equals(struct bn_fact_message *all, size_t n)
{
  size_t used = 0;

  for (size_t i = 0; i < n; i++) {
    struct bn_fact_message *last = used > 0 ? &all[used - 1] : NULL;

    if (last == NULL || messages_compare_texts(last, &all[i]) != 0) {
      all[used++] = all[i];
      continue;
    }
    last->wall_ns = all[i].wall_ns < last->wall_ns ? all[i].wall_ns : last->wall_ns;
    last->times = all[i].times < most_times - last->times ? last->times + all[i].times : most_times;
  }
  return used;
}

void bn_messages_merge(const struct bn_part *part, size_t n, struct bn_facts *out)
{
  const size_t most = messages_count(part, n);
  struct bn_fact_message *all = bn_alloc(most, sizeof *all);
  size_t used;

  used = messages_copy_all(all, part, n);
  qsort(all, used, sizeof *all, messages_compare_texts);
  used = messages_join_equals(all, used);
  qsort(all, used, sizeof *all, messages_compare_times);
  for (size_t i = 0; i < used && i < BN_BOUND_MESSAGES; i++)
    bn_facts_message(out, all[i].wall_ns, all[i].level, all[i].text, all[i].times);
  free(all);
}
