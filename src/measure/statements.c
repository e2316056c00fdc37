/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the counters of statements by their names, and sums them. */
#include "measure/statements.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static const char other[] = "other";

/* --- counting --------------------------------------------------------------------------------- */

/* The statements of one name. */
struct kind {
  char *name; /* owned */
  size_t len;
  struct bn_hist **stripe;      /* owned; each is NULL until a worker needs it */
  struct bn_statement **writer; /* owned; each is NULL until the worker needs it */
};

struct bn_statements {
  pthread_mutex_t lock;
  unsigned n_writers, n_stripes;
  size_t n;
  struct kind kind[BN_STATEMENTS_ROWS];
};

struct bn_statements *bn_statements_new(unsigned n_writers, unsigned n_stripes)
{
  struct bn_statements *all = bn_alloc(1, sizeof *all);

  (void)pthread_mutex_init(&all->lock, NULL);
  all->n_writers = n_writers;
  all->n_stripes = n_stripes;
  return all;
}

static void statements_free_kind(const struct bn_statements *all, struct kind *k)
{
  for (unsigned i = 0; k->stripe != NULL && i < all->n_stripes; i++)
    bn_hist_free(k->stripe[i]);
  for (unsigned i = 0; k->writer != NULL && i < all->n_writers; i++)
    free(k->writer[i]);
  free(k->stripe);
  free(k->writer);
  free(k->name);
}

void bn_statements_free(struct bn_statements *all)
{
  if (all == NULL)
    return;
  for (size_t i = 0; i < all->n; i++)
    statements_free_kind(all, &all->kind[i]);
  (void)pthread_mutex_destroy(&all->lock);
  free(all);
}

static struct kind *statements_find(struct bn_statements *all, const char *name, size_t len)
{
  for (size_t i = 0; i < all->n; i++)
    if (all->kind[i].len == len && memcmp(all->kind[i].name, name, len) == 0)
      return &all->kind[i];
  return NULL;
}

static struct kind *statements_add(struct bn_statements *all, const char *name, size_t len)
{
  struct kind *k = &all->kind[all->n++];

  *k = (struct kind){.name = bn_alloc(1, len + 1),
                     .len = len,
                     .stripe = bn_alloc(all->n_stripes, sizeof(struct bn_hist *)),
                     .writer = bn_alloc(all->n_writers, sizeof(struct bn_statement *))};
  memcpy(k->name, name, len);
  return k;
}

/* Returns the kind of that name, a new one if there is none.  Names beyond BN_STATEMENTS_MAX share
   the kind "other". */
static struct kind *statements_get_kind(struct bn_statements *all, const char *name, size_t len)
{
  struct kind *k = statements_find(all, name, len);

  if (k == NULL && all->n >= BN_STATEMENTS_MAX) {
    name = other;
    len = sizeof other - 1;
    k = statements_find(all, name, len);
  }
  return k != NULL ? k : statements_add(all, name, len);
}

/* Returns the counters of the session's worker for a kind, which are made when they are first asked
   for.  With more workers than stripes, several record into one histogram. */
static struct bn_statement *statements_get_of_session(const struct bn_statements *all,
                                                      struct kind *k, unsigned session)
{
  const unsigned writer = session % all->n_writers;
  struct bn_hist **stripe = &k->stripe[writer % all->n_stripes];
  struct bn_statement *st = k->writer[writer];

  if (st != NULL)
    return st;
  if (*stripe == NULL)
    *stripe = bn_hist_new();
  st = bn_alloc_aligned(_Alignof(struct bn_statement), sizeof *st);
  *st = (struct bn_statement){.hist = *stripe, .shared = all->n_writers > all->n_stripes};
  k->writer[writer] = st;
  return st;
}

struct bn_statement *bn_statements_get(struct bn_statements *all, unsigned session,
                                       const char *name, size_t len)
{
  struct bn_statement *st;
  struct kind *k;

  (void)pthread_mutex_lock(&all->lock);
  k = statements_get_kind(all, name,
                          strnlen(name, len < BN_STATEMENT_NAME ? len : BN_STATEMENT_NAME));
  st = statements_get_of_session(all, k, session);
  (void)pthread_mutex_unlock(&all->lock);
  return st;
}

/* --- sums ------------------------------------------------------------------------------------- */

void bn_statement_table_init(struct bn_statement_table *t, size_t room, bool hists)
{
  *t = (struct bn_statement_table){
      .sum = room > 0 ? bn_alloc(room, sizeof *t->sum) : NULL, .room = room, .hists = hists};
}

void bn_statement_table_done(struct bn_statement_table *t)
{
  /* Rows behind the last one may be left of earlier contents. */
  for (size_t i = 0; t->sum != NULL && i < t->room; i++) {
    free(t->sum[i].name);
    bn_hist_free(t->sum[i].hist);
  }
  free(t->sum);
  memset(t, 0, sizeof *t);
}

struct bn_statement_sum *bn_statement_table_find(const struct bn_statement_table *t,
                                                 const char *name)
{
  for (size_t i = 0; i < t->n; i++)
    if (strcmp(t->sum[i].name, name) == 0)
      return &t->sum[i];
  return NULL;
}

/* Returns row i of a table with that name and all counts 0.  Rows have the order in which their
   names became known, so that the row mostly has the name already. */
static struct bn_statement_sum *statements_zero_row(const struct bn_statement_table *t, size_t i,
                                                    const char *name)
{
  struct bn_statement_sum *s = &t->sum[i];

  if (s->name == NULL || strcmp(s->name, name) != 0) {
    free(s->name);
    s->name = bn_alloc_text(name);
  }
  if (s->hist == NULL && t->hists)
    s->hist = bn_hist_new();
  if (s->hist != NULL)
    bn_hist_clear(s->hist);
  s->rows = s->errors = 0;
  return s;
}

struct bn_statement_sum *bn_statement_table_get(struct bn_statement_table *t, const char *name)
{
  struct bn_statement_sum *s = bn_statement_table_find(t, name);

  if (s == NULL && t->n >= BN_STATEMENTS_MAX) {
    name = other;
    s = bn_statement_table_find(t, name);
  }
  if (s != NULL || t->n >= t->room)
    return s;
  return statements_zero_row(t, t->n++, name);
}

/* Adds the counts of all workers for a kind to a sum. */
static void statements_sum_kind(struct bn_statement_sum *s, const struct bn_statements *all,
                                const struct kind *k)
{
  for (unsigned i = 0; i < all->n_writers; i++) {
    const struct bn_statement *st = k->writer[i];

    if (st == NULL)
      continue;
    s->rows += atomic_load_explicit(&st->rows, memory_order_relaxed);
    s->errors += atomic_load_explicit(&st->errors, memory_order_relaxed);
  }
  for (unsigned i = 0; s->hist != NULL && i < all->n_stripes; i++)
    if (k->stripe[i] != NULL)
      bn_hist_add(s->hist, k->stripe[i]);
}

void bn_statement_table_take(struct bn_statement_table *t, struct bn_statements *all)
{
  (void)pthread_mutex_lock(&all->lock);
  for (t->n = 0; t->n < all->n && t->n < t->room; t->n++)
    statements_sum_kind(statements_zero_row(t, t->n, all->kind[t->n].name), all, &all->kind[t->n]);
  (void)pthread_mutex_unlock(&all->lock);
}

void bn_statement_table_copy(struct bn_statement_table *to, const struct bn_statement_table *from)
{
  for (to->n = 0; to->n < from->n && to->n < to->room; to->n++) {
    const struct bn_statement_sum *one = &from->sum[to->n];
    struct bn_statement_sum *s = statements_zero_row(to, to->n, one->name);

    s->rows = one->rows;
    s->errors = one->errors;
    if (s->hist != NULL && one->hist != NULL)
      bn_hist_add(s->hist, one->hist);
  }
}

void bn_statement_table_sub(struct bn_statement_table *now, const struct bn_statement_table *base)
{
  for (size_t i = 0; i < now->n && i < base->n; i++) {
    now->sum[i].rows -= base->sum[i].rows;
    now->sum[i].errors -= base->sum[i].errors;
    bn_hist_sub(now->sum[i].hist, base->sum[i].hist);
  }
}

bool bn_statement_table_merge(struct bn_statement_table *into,
                              const struct bn_statement_table *from)
{
  for (size_t i = 0; i < from->n; i++) {
    const struct bn_statement_sum *one = &from->sum[i];
    struct bn_statement_sum *s = bn_statement_table_get(into, one->name);

    if (s == NULL || __builtin_add_overflow(s->rows, one->rows, &s->rows) ||
        __builtin_add_overflow(s->errors, one->errors, &s->errors))
      return false;
    if (s->hist == NULL || one->hist == NULL)
      continue;
    if (!bn_hist_sum_fits(s->hist, one->hist))
      return false;
    bn_hist_add(s->hist, one->hist);
  }
  return true;
}
