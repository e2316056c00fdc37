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

static size_t messages_count(const struct bn_part *part, size_t n)
{
  size_t all = 0;

  for (size_t i = 0; i < n; i++)
    all += part[i].result->facts.n_messages;
  return all;
}

/* Copies all messages that have a text, which stays owned by the part.  Returns how many there
   are. */
static size_t messages_copy_all(struct bn_fact_message *all, const struct bn_part *part, size_t n)
{
  size_t used = 0;

  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < part[i].result->facts.n_messages; k++)
      if (part[i].result->facts.message[k].text != NULL)
        all[used++] = part[i].result->facts.message[k];
  return used;
}

/* Joins a message with another one of the same text and level: it has the time of the first, and
   the sum of both counts, or the largest that a document can have. */
static void messages_join(struct bn_fact_message *to, const struct bn_fact_message *m)
{
  to->wall_ns = bn_clock_min(to->wall_ns, m->wall_ns);
  to->times = m->times < most_times - to->times ? to->times + m->times : most_times;
}

/* Joins neighbours with the same text and level.  Returns how many messages are left. */
static size_t messages_join_equals(struct bn_fact_message *all, size_t n)
{
  size_t used = 0;

  for (size_t i = 0; i < n; i++)
    if (used > 0 && messages_compare_texts(&all[used - 1], &all[i]) == 0)
      messages_join(&all[used - 1], &all[i]);
    else
      all[used++] = all[i];
  return used;
}

void bn_messages_merge(const struct bn_part *part, size_t n, struct bn_facts *out)
{
  /* The messages of the process that merges come on top of them. */
  enum { MESSAGES_MOST = BN_BOUND_MESSAGES - BN_LOG_MESSAGES_MAX };
  struct bn_fact_message *all = bn_alloc(messages_count(part, n), sizeof *all);
  size_t used = messages_copy_all(all, part, n);

  qsort(all, used, sizeof *all, messages_compare_texts);
  used = messages_join_equals(all, used);
  qsort(all, used, sizeof *all, messages_compare_times);
  for (size_t i = 0; i < used && i < MESSAGES_MOST; i++) /* the first ones, if not all */
    bn_facts_add_message(out, all[i].wall_ns, all[i].level, all[i].text, all[i].times);
  free(all);
}
