/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statements by name: what sessions count of each, under names that become known during the run,
   and the sums of that. */
#ifndef BN_MEASURE_STATEMENTS_H
#define BN_MEASURE_STATEMENTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hist.h"

enum {
  BN_STATEMENTS_MAX = 256,                    /* names; the rest is counted as "other" */
  BN_STATEMENTS_ROWS = BN_STATEMENTS_MAX + 1, /* with that */
  BN_STATEMENT_NAME = 1024                    /* bytes of a name; what is behind them is left out */
};

/* The counts of a session for a name: its worker writes, anybody reads.  The number of statements
   that succeeded is that of the times. */
struct bn_statement {
  _Alignas(64) struct bn_hist *hist; /* times; the session's stripe */
  bool shared;                       /* which has other writers */
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

static inline void bn_statement_failed(struct bn_statement *st)
{
  atomic_store_explicit(&st->errors, atomic_load_explicit(&st->errors, memory_order_relaxed) + 1,
                        memory_order_relaxed);
}

/* All names of a run.  The sessions of a thread share its counters. */
struct bn_statements;
struct bn_statements *bn_statements_new(unsigned n_writers, unsigned n_stripes);
void bn_statements_free(struct bn_statements *all);
/* Returns the counters of that session for the name, always the same object.  Any thread; it takes
   a lock, so callers keep the result. */
struct bn_statement *bn_statements_get(struct bn_statements *all, unsigned session,
                                       const char *name, size_t len);

/* The sum over all sessions. */
struct bn_statement_sum {
  char *name; /* owned */
  uint64_t rows, errors;
  struct bn_hist *hist; /* owned; NULL in a table without histograms */
};

/* Plain values: the sums of all names at an instant, or their difference.  All zeroes is a table
   that has no place for any. */
struct bn_statement_table {
  struct bn_statement_sum *sum; /* owned; [room] */
  size_t n, room;
  bool hists;
};

void bn_statement_table_init(struct bn_statement_table *t, size_t room, bool hists);
void bn_statement_table_done(struct bn_statement_table *t);
/* Returns the sum of that name, or NULL. */
struct bn_statement_sum *bn_statement_table_find(const struct bn_statement_table *t,
                                                 const char *name);
/* Returns the sum of that name, possibly a new one, beyond BN_STATEMENTS_MAX names that of "other";
   NULL: the table is full. */
struct bn_statement_sum *bn_statement_table_get(struct bn_statement_table *t, const char *name);
/* Takes the sums of now.  Names beyond the room of the table are left out, here and in a copy. */
void bn_statement_table_take(struct bn_statement_table *t, struct bn_statements *all);
/* Copies the sums, with histograms if both tables have them. */
void bn_statement_table_copy(struct bn_statement_table *to, const struct bn_statement_table *from);
/* now -= base, both of one run. */
void bn_statement_table_sub(struct bn_statement_table *now, const struct bn_statement_table *base);
/* into += from, by name; false: it does not fit into 64 bits. */
bool bn_statement_table_merge(struct bn_statement_table *into,
                              const struct bn_statement_table *from);

#endif
