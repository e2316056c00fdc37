/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the counters of statements by their names, and sums them. */
#include "measure/statements.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static const char other[] = "other";

/* --- counting --------------------------------------------------------------------------------- */

/* The counters of one name. */
struct entry {
  char *name; /* owned */
  size_t len;
  struct bn_hist **stripe;      /* owned; each is NULL until a worker needs it */
  struct bn_statement **writer; /* owned; each is NULL until the worker needs it */
};

struct bn_statements {
  pthread_mutex_t lock;
  unsigned n_writers, n_stripes;
  size_t n;
  struct entry entry[BN_STATEMENTS_ROWS];
};

struct bn_statements *bn_statements_new(unsigned n_writers, unsigned n_stripes)
{
  struct bn_statements *all = bn_alloc(1, sizeof *all);

  (void)pthread_mutex_init(&all->lock, NULL);
  all->n_writers = n_writers;
  all->n_stripes = n_stripes;
  return all;
}

/* Frees the content of an entry, also of one that is not complete. */
static void statements_free_entry(const struct bn_statements *all, struct entry *e)
{
  for (unsigned i = 0; e->stripe != NULL && i < all->n_stripes; i++)
    bn_hist_free(e->stripe[i]);
  for (unsigned i = 0; e->writer != NULL && i < all->n_writers; i++)
    free(e->writer[i]);
  free(e->stripe);
  free(e->writer);
  free(e->name);
}

void bn_statements_free(struct bn_statements *all)
{
  if (all == NULL)
    return;
  for (size_t i = 0; i < all->n; i++)
    statements_free_entry(all, &all->entry[i]);
  (void)pthread_mutex_destroy(&all->lock);
  free(all);
}

/* Returns the entry of the name name[0..len), or NULL. */
static struct entry *statements_find(struct bn_statements *all, const char *name, size_t len)
{
  for (size_t i = 0; i < all->n; i++)
    if (all->entry[i].len == len && memcmp(all->entry[i].name, name, len) == 0)
      return &all->entry[i];
  return NULL;
}

/* Returns a new entry of the name name[0..len), for which there is room.  Its stripes and counters
   are made when a worker needs them. */
static struct entry *statements_add(struct bn_statements *all, const char *name, size_t len)
{
  struct entry *e = &all->entry[all->n++];

  *e = (struct entry){.name = bn_alloc(1, len + 1),
                      .len = len,
                      .stripe = bn_alloc(all->n_stripes, sizeof(struct bn_hist *)),
                      .writer = bn_alloc(all->n_writers, sizeof(struct bn_statement *))};
  memcpy(e->name, name, len);
  return e;
}

/* Returns the entry of that name, a new one if there is none.  Names beyond BN_STATEMENTS_MAX share
   the entry "other".  The caller holds the lock as long as it uses the entry. */
static struct entry *statements_find_or_add(struct bn_statements *all, const char *name, size_t len)
{
  struct entry *e = statements_find(all, name, len);

  if (e == NULL && all->n >= BN_STATEMENTS_MAX) {
    name = other;
    len = sizeof other - 1;
    e = statements_find(all, name, len);
  }
  return e != NULL ? e : statements_add(all, name, len);
}

/* Returns the counters of the session's worker in an entry, and makes them if there are none.  With
   more workers than stripes, several workers record into one histogram. */
static struct bn_statement *statements_find_or_add_counters(const struct bn_statements *all,
                                                            struct entry *e, unsigned session)
{
  const unsigned writer = session % all->n_writers;
  struct bn_hist **stripe = &e->stripe[writer % all->n_stripes];
  struct bn_statement *st = e->writer[writer];

  if (st != NULL)
    return st;
  if (*stripe == NULL)
    *stripe = bn_hist_new();
  st = bn_alloc_aligned(_Alignof(struct bn_statement), sizeof *st);
  *st = (struct bn_statement){.hist = *stripe, .shared = all->n_writers > all->n_stripes};
  e->writer[writer] = st;
  return st;
}

struct bn_statement *bn_statements_get(struct bn_statements *all, unsigned session,
                                       const char *name, size_t len)
{
  const size_t max_len = len < BN_STATEMENT_NAME ? len : BN_STATEMENT_NAME;
  struct bn_statement *st;
  struct entry *e;

  (void)pthread_mutex_lock(&all->lock);
  e = statements_find_or_add(all, name, strnlen(name, max_len));
  st = statements_find_or_add_counters(all, e, session);
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
  /* Rows from t->n on may have names and histograms of earlier contents. */
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

/* Gives row i of a table that name, sets all its counts to 0, and returns it.  Rows are used again,
   and keep their memory: they have the order in which their names became known, so a row mostly has
   its name already. */
static struct bn_statement_sum *statements_reset_row(struct bn_statement_table *t, size_t i,
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

struct bn_statement_sum *bn_statement_table_find_or_add(struct bn_statement_table *t,
                                                        const char *name)
{
  struct bn_statement_sum *s = bn_statement_table_find(t, name);
  struct bn_statement_sum *others = bn_statement_table_find(t, other);
  /* The row of the others is no name, wherever it stands. */
  const size_t n_names = others != NULL ? t->n - 1 : t->n;

  if (s == NULL && n_names >= BN_STATEMENTS_MAX) {
    name = other;
    s = others;
  }
  if (s != NULL || t->n >= t->room)
    return s;
  return statements_reset_row(t, t->n++, name);
}

/* Adds the counts of all workers in an entry to a sum. */
static void statements_sum_entry(struct bn_statement_sum *s, const struct bn_statements *all,
                                 const struct entry *e)
{
  for (unsigned i = 0; i < all->n_writers; i++) {
    const struct bn_statement *st = e->writer[i];

    if (st == NULL)
      continue;
    s->rows += atomic_load_explicit(&st->rows, memory_order_relaxed);
    s->errors += atomic_load_explicit(&st->errors, memory_order_relaxed);
  }
  if (s->hist == NULL)
    return;
  for (unsigned i = 0; i < all->n_stripes; i++)
    if (e->stripe[i] != NULL)
      bn_hist_add(s->hist, e->stripe[i]);
}

/* Row i is that of entry i, as bn_statement_table_sub() expects. */
void bn_statement_table_take(struct bn_statement_table *t, struct bn_statements *all)
{
  (void)pthread_mutex_lock(&all->lock);
  for (t->n = 0; t->n < all->n && t->n < t->room; t->n++) {
    const struct entry *e = &all->entry[t->n];

    statements_sum_entry(statements_reset_row(t, t->n, e->name), all, e);
  }
  (void)pthread_mutex_unlock(&all->lock);
}

void bn_statement_table_copy(struct bn_statement_table *to, const struct bn_statement_table *from)
{
  for (to->n = 0; to->n < from->n && to->n < to->room; to->n++) {
    const struct bn_statement_sum *row = &from->sum[to->n];
    struct bn_statement_sum *s = statements_reset_row(to, to->n, row->name);

    s->rows = row->rows;
    s->errors = row->errors;
    if (s->hist != NULL && row->hist != NULL)
      bn_hist_add(s->hist, row->hist);
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
    const struct bn_statement_sum *row = &from->sum[i];
    struct bn_statement_sum *s = bn_statement_table_find_or_add(into, row->name);

    if (s == NULL || __builtin_add_overflow(s->rows, row->rows, &s->rows) ||
        __builtin_add_overflow(s->errors, row->errors, &s->errors))
      return false;
    if (s->hist == NULL || row->hist == NULL)
      continue;
    if (!bn_hist_sum_fits(s->hist, row->hist))
      return false;
    bn_hist_add(s->hist, row->hist);
  }
  return true;
}
