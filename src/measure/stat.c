/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Allocates the statistics of a run's sessions: counters per session, histograms in stripes, labels
   once. */
#include "measure/stat.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* A histogram takes up to 132 KiB, so threads beyond this number share the histograms of others. */
enum { STRIPES_MAX = 64 };
enum { CACHE_LINE = 64 }; /* bytes */

struct bn_labels {
  pthread_mutex_t lock;
  size_t n;
  struct bn_label row[BN_LABELS_MAX + 1]; /* the last one is "other" */
};

struct bn_labels *bn_labels_new(void)
{
  struct bn_labels *l = bn_alloc(1, sizeof *l);

  (void)pthread_mutex_init(&l->lock, NULL);
  return l;
}

void bn_labels_free(struct bn_labels *l)
{
  if (l == NULL)
    return;
  (void)pthread_mutex_destroy(&l->lock);
  free(l);
}

struct bn_label *bn_label_find_or_add(struct bn_label *row, size_t *n, const char *name)
{
  for (size_t i = 0; i < *n; i++)
    if (strncmp(row[i].name, name, BN_LABEL_LEN - 1) == 0) /* a row has this much of its name */
      return &row[i];
  if (*n < BN_LABELS_MAX) {
    (void)snprintf(row[*n].name, BN_LABEL_LEN, "%s", name);
    return &row[(*n)++];
  }
  *n = BN_LABELS_MAX + 1; /* with "other", which may be there already */
  (void)snprintf(row[BN_LABELS_MAX].name, BN_LABEL_LEN, "other");
  return &row[BN_LABELS_MAX];
}

bool bn_labels_count(struct bn_labels *l, const char *label, uint64_t n)
{
  struct bn_label *row;
  bool is_first;

  (void)pthread_mutex_lock(&l->lock);
  row = bn_label_find_or_add(l->row, &l->n, label);
  is_first = row->n == 0;
  row->n += n;
  (void)pthread_mutex_unlock(&l->lock);
  return is_first;
}

size_t bn_labels_read(struct bn_labels *l, struct bn_label *out, size_t max)
{
  size_t n;

  (void)pthread_mutex_lock(&l->lock);
  n = l->n;
  memcpy(out, l->row, (n < max ? n : max) * sizeof *out);
  (void)pthread_mutex_unlock(&l->lock);
  return n;
}

/* Sets up session i in the block, whose bytes are 0: its pointers to the stripes of the thread that
   drives it, and the members that do not begin with 0.  Threads beyond the number of stripes share
   those of others. */
static void stat_init_session(struct bn_statset *set, unsigned i)
{
  const size_t n_counters = set->metrics.n_counters;
  const unsigned writer = i % set->n_writers; /* the thread that drives the session */
  /* The rows of stripe pointers follow the statistics of all sessions. */
  char *const rows = (char *)set->block + set->n_sessions * set->stat_size;
  struct bn_stat *st = (struct bn_stat *)(void *)((char *)set->block + i * set->stat_size);

  st->hist = (struct bn_hist **)(void *)rows + i * set->n_rows;
  for (size_t h = 0; h < set->n_rows; h++)
    st->hist[h] = set->stripe[h * set->n_stripes + writer % set->n_stripes];
  st->at_end = set->at_end + i * n_counters;
  st->n_counters = (unsigned short)n_counters;
  st->shared_hist = set->n_writers > set->n_stripes;
  st->statements = set->statements;
  atomic_store_explicit(&st->min_ns, UINT64_MAX, memory_order_relaxed);
  set->stat[i] = st;
}

static size_t stat_round_to_lines(size_t size)
{
  const size_t line = CACHE_LINE;

  return (size + line - 1) / line * line;
}

/* Allocates the statistics of all sessions in one block: first the statistics of each, on cache
   lines of their own, then each session's row of stripe pointers.  at_end is allocated apart,
   because its pages take no memory until sessions leave their loops.  Returns 0, or -1 without
   memory; then bn_statset_done() frees what was allocated. */
static int stat_allocate_sessions(struct bn_statset *set)
{
  const size_t row_size = sizeof(struct bn_hist *) * set->n_rows;
  const size_t n_counters = set->metrics.n_counters;
  size_t total;

  set->stat_size = stat_round_to_lines(sizeof(struct bn_stat) + n_counters * sizeof(uint64_t));
  total = (set->stat_size + row_size) * set->n_sessions;
  set->block = aligned_alloc(CACHE_LINE, stat_round_to_lines(total));
  set->stat = calloc(set->n_sessions, sizeof(struct bn_stat *));
  set->at_end = calloc(set->n_sessions * n_counters, sizeof *set->at_end);
  if (set->block == NULL || set->stat == NULL || set->at_end == NULL)
    return -1;
  memset(set->block, 0, total);
  for (unsigned i = 0; i < set->n_sessions; i++)
    stat_init_session(set, i);
  return 0;
}

/* The histograms of waiting, in the order in which they follow all others. */
static const struct bn_metric waiting[BN_STAT_WAITS] = {
    {.name = "queueing", .unit = "ns", .kind = BN_HISTOGRAM},
    {.name = "service", .unit = "ns", .kind = BN_HISTOGRAM},
    {.name = "wakeup_lag", .unit = "ns", .kind = BN_HISTOGRAM},
};

static bool stat_has_hist(const struct bn_metrics *m, const char *name)
{
  for (size_t i = 0; i < m->n_hists; i++)
    if (strcmp(m->hist[i].name, name) == 0)
      return true;
  return false;
}

unsigned bn_statset_waiting_place(const char *name)
{
  for (unsigned i = 0; i < BN_STAT_WAITS; i++)
    if (strcmp(name, waiting[i].name) == 0)
      return i + 1;
  return 0;
}

bool bn_statset_has_waiting(const struct bn_metrics *m)
{
  return stat_has_hist(m, waiting[0].name);
}

bool bn_statset_has_lag(const struct bn_metrics *m)
{
  return stat_has_hist(m, waiting[BN_STAT_WAITS - 1].name);
}

/* Returns how many histograms of waiting a set has: all, none, or the last one, "wakeup_lag". */
static size_t stat_count_waiting(unsigned parts)
{
  if ((parts & BN_STAT_WAITING) != 0)
    return BN_STAT_WAITS;
  return (parts & BN_STAT_LAG) != 0 ? 1 : 0;
}

bool bn_statset_reserves(const char *name)
{
  return bn_statset_waiting_place(name) > 0 || bn_metrics_is_fixed(name);
}

/* Makes the table of metrics: the fixed ones, those of the workload (NULL: none), and as the last
   histograms those of waiting that the set has.  Of these, "wakeup_lag" is the last and may be
   alone, so the end of `waiting` is copied. */
static void stat_make_metrics(struct bn_statset *set, const struct bn_metric *workload,
                              unsigned parts)
{
  const size_t n_waiting = stat_count_waiting(parts);
  struct bn_metric *extra; /* the metrics after the fixed ones; a row of zeros ends them */
  size_t n = 0;

  while (workload != NULL && workload[n].name != NULL)
    n++;
  extra = bn_alloc(n + n_waiting + 1, sizeof *extra);
  if (n > 0)
    memcpy(extra, workload, n * sizeof *extra);
  memcpy(extra + n, waiting + BN_STAT_WAITS - n_waiting, n_waiting * sizeof *extra);
  bn_metrics_init(&set->metrics, extra);
  free(extra);
}

/* Sets in all sessions the indices of metrics that only some sets have.  The first metrics of kinds
   of events and of phases are not used without them; of the other indices, 0 stands for none.  The
   histogram of the warm-up follows those of all metrics, and those of waiting are the last metrics.
   With --rate (BN_STAT_WAITING) sessions pause. */
static void stat_set_indices(struct bn_statset *set, unsigned parts)
{
  const struct bn_metrics *m = &set->metrics;
  const size_t kind_hist = bn_metrics_find_nth(m->hist, m->n_hists, BN_EVENT_HISTOGRAM, 0);
  const size_t kind_counter = bn_metrics_find_nth(m->counter, m->n_counters, BN_EVENT_ENDED, 0);
  const size_t phase_hist = bn_metrics_find_nth(m->hist, m->n_hists, BN_PHASE_HISTOGRAM, 0);
  const unsigned short n_hists = (unsigned short)m->n_hists;

  for (unsigned i = 0; i < set->n_sessions; i++) {
    struct bn_stat *st = set->stat[i];

    st->kind_hist = (unsigned short)kind_hist;
    st->kind_counter = (unsigned short)kind_counter;
    st->phase_hist = (unsigned short)phase_hist;
    st->warm_hist = (parts & BN_STAT_WARMUP) != 0 ? n_hists : 0;
    if ((parts & BN_STAT_WAITING) != 0) {
      st->queueing_hist = (unsigned short)(n_hists - BN_STAT_WAITS);
      st->service_hist = (unsigned short)(st->queueing_hist + 1);
      atomic_store_explicit(&st->pauses, true, memory_order_relaxed);
    }
    if (stat_count_waiting(parts) != 0)
      st->lag_hist = (unsigned short)(n_hists - 1);
  }
}

int bn_statset_init(struct bn_statset *set, unsigned n_sessions, unsigned n_writers,
                    const struct bn_metric *metrics, unsigned parts)
{
  memset(set, 0, sizeof *set);
  set->n_sessions = n_sessions;
  set->n_writers = n_writers;
  set->n_stripes = n_writers < STRIPES_MAX ? n_writers : STRIPES_MAX;
  stat_make_metrics(set, metrics, parts);
  set->n_rows = set->metrics.n_hists + ((parts & BN_STAT_WARMUP) != 0 ? 1 : 0);
  set->stripe = bn_alloc(set->n_rows * set->n_stripes, sizeof *set->stripe);
  for (size_t i = 0; i < set->n_rows * set->n_stripes; i++)
    set->stripe[i] = bn_hist_new();
  set->labels = bn_alloc(set->metrics.n_labelled, sizeof *set->labels);
  for (size_t i = 0; i < set->metrics.n_labelled; i++)
    set->labels[i] = bn_labels_new();
  if ((parts & BN_STAT_STATEMENTS) != 0)
    set->statements = bn_statements_new(set->n_writers, set->n_stripes);
  if (stat_allocate_sessions(set) != 0) {
    bn_statset_done(set);
    return -1;
  }
  stat_set_indices(set, parts);
  return 0;
}

void bn_stat_leave(struct bn_stat *st, uint64_t end_ns)
{
  if (atomic_load_explicit(&st->left, memory_order_relaxed))
    return;
  for (size_t c = 0; c < st->n_counters; c++)
    st->at_end[c] = bn_stat_get(&st->counter[c]);
  st->at_end_ns = end_ns;
  /* Release: pairs with the acquires in measure/snap.c, which then see the values above. */
  atomic_store_explicit(&st->left, true, memory_order_release);
}

void bn_statset_done(struct bn_statset *set)
{
  for (size_t i = 0; set->stripe != NULL && i < set->n_rows * set->n_stripes; i++)
    bn_hist_free(set->stripe[i]);
  for (size_t i = 0; set->labels != NULL && i < set->metrics.n_labelled; i++)
    bn_labels_free(set->labels[i]);
  bn_statements_free(set->statements);
  free(set->stripe);
  free(set->labels);
  free(set->stat);
  free(set->block);
  free(set->at_end);
  bn_metrics_done(&set->metrics);
  memset(set, 0, sizeof *set);
}
