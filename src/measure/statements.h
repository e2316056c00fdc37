/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statements by name: the counts of each worker, for names that become known during the run, and
   their sums over all workers. */
#ifndef BN_MEASURE_STATEMENTS_H
#define BN_MEASURE_STATEMENTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hist.h"

enum {
  BN_STATEMENTS_MAX = 256,                    /* names; others are counted as "other" */
  BN_STATEMENTS_ROWS = BN_STATEMENTS_MAX + 1, /* the names and "other" */
  BN_STATEMENT_NAME = 1024                    /* bytes of a name, which is cut there */
};

/* The counts of a worker for a name: the worker writes them, any thread reads them.  The statements
   that succeeded are counted by their times. */
struct bn_statement {
  _Alignas(64) struct bn_hist *hist; /* times, in the worker's stripe */
  bool shared;                       /* the stripe has other writers */
  _Atomic uint64_t rows, errors;
};

/* Counts a statement that succeeded after `ns`, and the rows that it returned or changed. */
static inline void bn_statement_succeeded(struct bn_statement *st, uint64_t ns, uint64_t rows)
{
  atomic_store_explicit(&st->rows, atomic_load_explicit(&st->rows, memory_order_relaxed) + rows,
                        memory_order_relaxed);
  if (__builtin_expect(st->shared, 0))
    bn_hist_record_shared(st->hist, ns);
  else
    bn_hist_record(st->hist, ns);
}

/* Counts a statement that failed. */
static inline void bn_statement_failed(struct bn_statement *st)
{
  atomic_store_explicit(&st->errors, atomic_load_explicit(&st->errors, memory_order_relaxed) + 1,
                        memory_order_relaxed);
}

/* All names of a run.  The sessions of a thread share its counters. */
struct bn_statements;
/* Makes an object without names.  Each of n_writers threads writes counters of its own.  Their
   times go into n_stripes histograms for each name, which threads share if there are more threads.
   The thread of a session is its number modulo n_writers. */
struct bn_statements *bn_statements_new(unsigned n_writers, unsigned n_stripes);
void bn_statements_free(struct bn_statements *all);
/* Returns the counters of the worker of a session for the name name[0..len), which is cut at a 0 or
   after BN_STATEMENT_NAME bytes.  They are always the same object for a name; since finding it
   takes a lock, callers keep it.  Any thread. */
struct bn_statement *bn_statements_get(struct bn_statements *all, unsigned session,
                                       const char *name, size_t len);

/* The counts of a name, summed over all workers. */
struct bn_statement_sum {
  char *name; /* owned */
  uint64_t rows, errors;
  struct bn_hist *hist; /* owned; NULL in a table without histograms */
};

/* Plain values: the sums of all names at an instant, or their difference.  A table that is all zero
   has no room for any. */
struct bn_statement_table {
  struct bn_statement_sum *sum; /* owned; [room] */
  size_t n, room;
  bool hists;
};

/* Makes an empty table with room for that many names.  hists: each has a histogram. */
void bn_statement_table_init(struct bn_statement_table *t, size_t room, bool hists);
void bn_statement_table_done(struct bn_statement_table *t);
/* Returns the sum of that name, or NULL. */
struct bn_statement_sum *bn_statement_table_find(const struct bn_statement_table *t,
                                                 const char *name);
/* Returns the sum of that name, a new one of 0 if there is none, or, beyond BN_STATEMENTS_MAX
   names, that of "other".  Returns NULL if the table is full. */
struct bn_statement_sum *bn_statement_table_find_or_add(struct bn_statement_table *t,
                                                        const char *name);
/* Sets a table to the sums of now.  Names beyond its room are left out, as in
   bn_statement_table_copy(). */
void bn_statement_table_take(struct bn_statement_table *t, struct bn_statements *all);
/* Sets a table to a copy of the sums of another, with histograms if both have them. */
void bn_statement_table_copy(struct bn_statement_table *to, const struct bn_statement_table *from);
/* Subtracts earlier sums of the same run, in which each name has the same row. */
void bn_statement_table_sub(struct bn_statement_table *now, const struct bn_statement_table *base);
/* Adds sums by name.  Returns false if one does not fit into 64 bits, or the table is full. */
bool bn_statement_table_merge(struct bn_statement_table *into,
                              const struct bn_statement_table *from);

#endif
