/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Builds and copies tables of metrics, and finds counters in them. */
#include "measure/metric.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define COUNTER_ROW(index, as, in) {.name = (as), .unit = (in)},
#define HISTOGRAM_ROW(index, as)   {.name = (as), .unit = "ns", .kind = BN_HISTOGRAM},
#define LABELLED_ROW(index, as)    {.name = (as), .unit = "1", .kind = BN_LABELLED},

static const struct bn_metric fixed[] = {BN_METRICS(COUNTER_ROW, HISTOGRAM_ROW, LABELLED_ROW)};

enum { N_FIXED = sizeof fixed / sizeof fixed[0] };

/* Copies a row, with its texts to the block at *names, and moves *names past them. */
static void metric_copy_row(struct bn_metric *to, const struct bn_metric *row, char **names)
{
  const size_t name_size = strlen(row->name) + 1, unit_size = strlen(row->unit) + 1;

  memcpy(*names, row->name, name_size);
  memcpy(*names + name_size, row->unit, unit_size);
  *to = *row;
  to->name = *names;
  to->unit = *names + name_size;
  *names += name_size + unit_size;
}

/* The parts of the block of rows, in its order. */
enum part { COUNTERS, HISTS, LABELLED, PARTS };

/* Returns the part of the block that a row belongs to.  The switch names every kind, so that the
   compiler asks for a new one. */
static enum part metric_part_of(const struct bn_metric *row)
{
  switch (row->kind) {
  case BN_COUNTER:
  case BN_SCRIPT_COUNTER:
  case BN_EVENT_ENDED:
  case BN_EVENT_RETRIES:
  case BN_EVENT_FAILED:
  case BN_EVENT_LATE:
    return COUNTERS;
  case BN_HISTOGRAM:
  case BN_SCRIPT_HISTOGRAM:
  case BN_EVENT_HISTOGRAM:
  case BN_PHASE_HISTOGRAM:
    return HISTS;
  case BN_LABELLED:
    return LABELLED;
  }
  return COUNTERS;
}

/* The counters come first, then the histograms, then the labelled counts.  Every record of a result
   has a table, so it gets no more memory than its rows and texts take, which are counted first. */
void bn_metrics_copy_rows(struct bn_metrics *m, const struct bn_metric *rows, size_t n)
{
  size_t names_size = 0, n_rows[PARTS] = {0};
  struct bn_metric *to;
  char *names;

  for (size_t i = 0; i < n; i++) {
    names_size += strlen(rows[i].name) + 1 + strlen(rows[i].unit) + 1;
    n_rows[metric_part_of(&rows[i])]++;
  }
  *m = (struct bn_metrics){.n_counters = n_rows[COUNTERS],
                           .n_hists = n_rows[HISTS],
                           .n_labelled = n_rows[LABELLED],
                           .counter = bn_alloc(n, sizeof *m->counter),
                           .names = bn_alloc(1, names_size)};
  m->hist = m->counter + m->n_counters;
  m->labelled = m->hist + m->n_hists;
  to = m->counter;
  names = m->names;
  for (enum part part = COUNTERS; part < PARTS; part++)
    for (size_t i = 0; i < n; i++)
      if (metric_part_of(&rows[i]) == part)
        metric_copy_row(to++, &rows[i], &names);
}

void bn_metrics_init(struct bn_metrics *m, const struct bn_metric *extra)
{
  struct bn_metric *all;
  size_t n_extra = 0;

  while (extra != NULL && extra[n_extra].name != NULL)
    n_extra++;
  all = bn_alloc(N_FIXED + n_extra, sizeof *all);
  memcpy(all, fixed, sizeof fixed);
  if (extra != NULL)
    memcpy(all + N_FIXED, extra, n_extra * sizeof *all);
  bn_metrics_copy_rows(m, all, N_FIXED + n_extra);
  free(all);
}

void bn_metrics_copy(struct bn_metrics *to, const struct bn_metrics *from)
{
  bn_metrics_copy_rows(to, from->counter, from->n_counters + from->n_hists + from->n_labelled);
}

void bn_metrics_done(struct bn_metrics *m)
{
  free(m->names);
  free(m->counter);
  memset(m, 0, sizeof *m);
}

bool bn_metrics_is_fixed(const char *name)
{
  for (size_t i = 0; i < N_FIXED; i++)
    if (strcmp(fixed[i].name, name) == 0)
      return true;
  return false;
}

size_t bn_metrics_find_counter(const struct bn_metrics *m, const char *name)
{
  for (size_t i = 0; i < m->n_counters; i++)
    if (m->counter[i].kind != BN_SCRIPT_COUNTER && strcmp(m->counter[i].name, name) == 0)
      return i;
  return m->n_counters;
}

size_t bn_metrics_count_kind(const struct bn_metric *rows, size_t n, enum bn_metric_kind kind)
{
  size_t found = 0;

  for (size_t i = 0; i < n; i++)
    found += rows[i].kind == kind;
  return found;
}

size_t bn_metrics_find_nth(const struct bn_metric *rows, size_t n, enum bn_metric_kind kind,
                           size_t k)
{
  size_t n_before = 0; /* rows of the kind before row i */

  for (size_t i = 0; i < n; i++) {
    if (rows[i].kind != kind)
      continue;
    if (n_before == k)
      return i;
    n_before++;
  }
  return n;
}
