/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Joins messages: sorts them by their texts, so that equal ones are neighbours, and then by
   time. */
#include "measure/messages.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "measure/bounds.h"

/* The largest count that a document can have: UINT64_MAX means that a count is not known. */
static const uint64_t most_times = UINT64_MAX - 1;

/* Orders messages by their texts, and messages of one text by level. */
static int messages_compare_texts(const void *a, const void *b)
{
  const struct bn_fact_message *p = a, *q = b;
  const int order = strcmp(p->text, q->text);

  if (order != 0)
    return order;
  return (p->level > q->level) - (p->level < q->level); /* -1, 0 or 1 */
}

/* Orders messages by time, and messages of one time by their texts. */
static int messages_compare_times(const void *a, const void *b)
{
  const struct bn_fact_message *p = a, *q = b;

  if (p->wall_ns != q->wall_ns)
    return p->wall_ns < q->wall_ns ? -1 : 1;
  return messages_compare_texts(a, b);
}

/* Joins neighbours with the same text and level into one, which has the time of the first, and the
   sum of their counts, or the largest that a document can have.  Returns how many messages are
   left. */
static size_t messages_join_equals(struct bn_fact_message *all, size_t n)
{
  size_t used = 0;

  for (size_t i = 0; i < n; i++) {
    struct bn_fact_message *last = used > 0 ? &all[used - 1] : NULL;
    const struct bn_fact_message *m = &all[i];

    if (last == NULL || messages_compare_texts(last, m) != 0) {
      all[used++] = *m;
      continue;
    }
    last->wall_ns = bn_clock_min(last->wall_ns, m->wall_ns);
    last->times = m->times < most_times - last->times ? last->times + m->times : most_times;
  }
  return used;
}

/* The copies borrow the texts of the parts. */
void bn_messages_merge(const struct bn_part *part, size_t n, struct bn_facts *out)
{
  /* The messages of the process that merges come on top of them. */
  enum { MESSAGES_MOST = BN_BOUND_MESSAGES - BN_LOG_MESSAGES_MAX };
  struct bn_fact_message *all;
  size_t n_all = 0, used = 0;

  for (size_t i = 0; i < n; i++)
    n_all += part[i].result->facts.n_messages;
  all = bn_alloc(n_all, sizeof *all);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < part[i].result->facts.n_messages; k++)
      all[used++] = part[i].result->facts.message[k];
  qsort(all, n_all, sizeof *all, messages_compare_texts);
  used = messages_join_equals(all, n_all);
  qsort(all, used, sizeof *all, messages_compare_times);
  for (size_t i = 0; i < used && i < MESSAGES_MOST; i++) /* the first ones, if not all */
    bn_facts_add_message(out, all[i].wall_ns, all[i].level, all[i].text, all[i].times);
  free(all);
}
