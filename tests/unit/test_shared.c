/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that count by name share a table, which is read meanwhile: no count is lost, and
   ThreadSanitizer sees that each reader and writer holds the lock. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cm.h"
#include "measure/stat.h"
#include "measure/statements.h"

enum { THREADS = 4, READS = 20, NAMES = 60 };

struct shared {
  struct bn_labels *labels;
  struct bn_statements *statements;
  struct bn_statement_table table;
  void (*count)(struct shared *s, unsigned session, const char *name);
  uint64_t (*total)(struct shared *s);
  atomic_uint begun;
  atomic_bool read;
};

struct worker {
  struct shared *shared;
  unsigned session;
  uint64_t counted;
};

/* The atomics must not order what the lock is to order. */
static void *work(void *arg)
{
  struct worker *w = arg;
  struct shared *s = w->shared;
  char name[16];

  while (w->counted < NAMES || !atomic_load_explicit(&s->read, memory_order_relaxed)) {
    (void)snprintf(name, sizeof name, "n%u", (unsigned)(w->counted % NAMES));
    s->count(s, w->session, name);
    if (w->counted++ == 0)
      atomic_fetch_add_explicit(&s->begun, 1, memory_order_relaxed);
  }
  return NULL;
}

static void check_counts(struct shared *s)
{
  struct worker worker[THREADS];
  pthread_t thread[THREADS];
  uint64_t wanted = 0;

  for (unsigned i = 0; i < THREADS; i++) {
    worker[i] = (struct worker){s, i, 0};
    assert_int_equal(pthread_create(&thread[i], NULL, work, &worker[i]), 0);
  }
  while (atomic_load_explicit(&s->begun, memory_order_relaxed) < THREADS)
    (void)sched_yield();
  for (int i = 0; i < READS; i++)
    assert_true(s->total(s) > 0);
  atomic_store_explicit(&s->read, true, memory_order_relaxed);
  for (unsigned i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_join(thread[i], NULL), 0);
    wanted += worker[i].counted;
  }
  assert_int_equal(s->total(s), wanted);
}

/* --- labels ----------------------------------------------------------------------------------- */

static void labels_count(struct shared *s, unsigned session, const char *name)
{
  (void)session;
  (void)bn_labels_count(s->labels, name, 1);
}

static uint64_t labels_total(struct shared *s)
{
  struct bn_label row[BN_LABELS_MAX + 1];
  const size_t n = bn_labels_read(s->labels, row, BN_LABELS_MAX + 1);
  uint64_t total = 0;

  for (size_t i = 0; i < n; i++)
    total += row[i].n;
  return total;
}

static void labels_are_counted_while_they_are_read(void **state)
{
  struct shared s = {.labels = bn_labels_new(), .count = labels_count, .total = labels_total};

  (void)state;
  assert_non_null(s.labels);
  check_counts(&s);
  bn_labels_free(s.labels);
}

/* --- statements ------------------------------------------------------------------------------- */

static void statements_count(struct shared *s, unsigned session, const char *name)
{
  bn_statement_succeeded(bn_statements_get(s->statements, session, name, strlen(name)), 1000, 1);
}

static uint64_t statements_total(struct shared *s)
{
  uint64_t total = 0;

  bn_statement_table_take(&s->table, s->statements);
  for (size_t i = 0; i < s->table.n; i++)
    total += s->table.sum[i].rows;
  return total;
}

static void statements_are_counted_while_they_are_read(void **state)
{
  struct shared s = {.statements = bn_statements_new(THREADS, 1),
                     .count = statements_count,
                     .total = statements_total};

  (void)state;
  assert_non_null(s.statements);
  bn_statement_table_init(&s.table, BN_STATEMENTS_ROWS, true);
  check_counts(&s);
  assert_int_equal(s.table.n, NAMES);
  bn_statement_table_done(&s.table);
  bn_statements_free(s.statements);
}

BN_TESTS(shared)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(labels_are_counted_while_they_are_read),
      cmocka_unit_test(statements_are_counted_while_they_are_read),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
