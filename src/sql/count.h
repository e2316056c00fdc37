/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How statements are counted.

   A statement is begun when a query or an execution sends it to the driver.  view.error tells the
   script what became of it:

     begun = completed + failed + given up + in flight

     completed   NONE        the server has carried it out: BN_C_READ + BN_C_WRITE + BN_C_OTHER
     failed      IGNORABLE   the script repeats its event
     given up    FATAL       the script's event fails
     in flight               at most one for each connection: the driver has it, or it failed and
                             the script has not decided yet whether to ignore that

     failed + given up + not prepared = BN_C_ERROR + losses

   "Not prepared" is the number of statements that an event could not prepare or bind, so that they
   were not begun; in dialects they are not counted.

   A loss is an ignored failure whose connection was lost and opened again, which counts as a
   BN_C_RECONNECT and not as an error.  A repeated statement is begun again, and retries have their
   own counter.  BN_C_RECONNECT counts each new connection, also if a script has asked for it, or if
   a statement is prepared on it.  No counter has the begun statements; the sum is their number.

   The sums do not include the layer's own statements, failures in an interrupted session, failures
   that the script never settles, and in dialect 0.5 the statements that are given up.  A further
   result of a statement counts only if it is an error.  An ignored error whose ROLLBACK finds the
   connection lost counts as an error and a reconnect, or as two errors if the connection cannot be
   opened again.

   Rows are counted for completed statements: the rows that a statement has returned, and the rows
   that the server says it has changed, whatever becomes of its transaction.  The first word of the
   statement decides whether these count as inserted, updated or deleted. */
#ifndef BN_SQL_COUNT_H
#define BN_SQL_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/driver.h"
#include "api/metric.h"
#include "measure/stat.h"

/* The option or the dialect that a metric depends on. */
enum bn_sql_condition {
  BN_SQL_ALWAYS,
  BN_SQL_WITH_COMMITS,   /* the dialect counts COMMITs */
  BN_SQL_WITH_VERIFYING, /* set at the end of the run; hosts/interval_result.c knows the names */
  BN_SQL_WITH_READ_HOSTS,
  BN_SQL_WITH_TIMES
};

/* The metrics that bn_sqlsys_metrics returns, in the order of their indices: counters with index,
   condition, name, unit, and whether they are of events; histograms and labelled counts with index,
   condition and name.  The counters without a condition come first.  The index of a later one is
   right only in runs that have all counters before it; bn_sql_counter_index returns it for any run.
   The labels are servers, as users write them. */
#define BN_SQL_METRICS(COUNTER, HISTOGRAM, LABELLED)                                               \
  /* by enum bn_sql_verb */                                                                        \
  COUNTER(BN_SQL_C_ROWS_READ, BN_SQL_ALWAYS, "rows_read", "1", false)                              \
  COUNTER(BN_SQL_C_ROWS_INSERTED, BN_SQL_ALWAYS, "rows_inserted", "1", false)                      \
  COUNTER(BN_SQL_C_ROWS_UPDATED, BN_SQL_ALWAYS, "rows_updated", "1", false)                        \
  COUNTER(BN_SQL_C_ROWS_DELETED, BN_SQL_ALWAYS, "rows_deleted", "1", false)                        \
  COUNTER(BN_SQL_C_UPDATES_WITHOUT_ROWS, BN_SQL_ALWAYS, "updates_without_rows", "1", false)        \
  COUNTER(BN_SQL_C_DELETES_WITHOUT_ROWS, BN_SQL_ALWAYS, "deletes_without_rows", "1", false)        \
  COUNTER(BN_SQL_C_RETRIED, BN_SQL_ALWAYS, "retried_events", "1", true)                            \
  COUNTER(BN_SQL_C_RETRIES, BN_SQL_ALWAYS, "retries", "1", true)                                   \
  COUNTER(BN_SQL_C_FAILED, BN_SQL_ALWAYS, "failed_events", "1", true)                              \
  COUNTER(BN_SQL_C_FATAL, BN_SQL_ALWAYS, "fatal_errors", "1", false)                               \
  /* time spent on making lost connections again */                                                \
  COUNTER(BN_SQL_C_CONNECTION_WAIT, BN_SQL_ALWAYS, "connection_wait", "ns", false)                 \
  COUNTER(BN_SQL_C_COMMITS, BN_SQL_WITH_COMMITS, "transactions", "1", false)                       \
  COUNTER(BN_SQL_C_ACKNOWLEDGED, BN_SQL_WITH_VERIFYING, "acknowledged_commits", "1", false)        \
  COUNTER(BN_SQL_C_MISSING, BN_SQL_WITH_VERIFYING, "missing_commits", "1", false)                  \
  COUNTER(BN_SQL_C_UNKNOWN, BN_SQL_WITH_VERIFYING, "unknown_commits", "1", false)                  \
  COUNTER(BN_SQL_C_UNKNOWN_STORED, BN_SQL_WITH_VERIFYING, "unknown_commits_stored", "1", false)    \
  COUNTER(BN_SQL_C_READ_HOST_READS, BN_SQL_WITH_READ_HOSTS, "read_host_reads", "1", false)         \
  HISTOGRAM(BN_SQL_H_EXECUTE, BN_SQL_WITH_TIMES, "sql_execute")                                    \
  HISTOGRAM(BN_SQL_H_FETCH, BN_SQL_WITH_TIMES, "sql_fetch")                                        \
  /* connections that it lost, and connections that were made again to it */                       \
  LABELLED(BN_SQL_L_LOSSES, BN_SQL_ALWAYS, "losses_by_server")                                     \
  LABELLED(BN_SQL_L_RECONNECTS, BN_SQL_ALWAYS, "reconnects_by_server")

/* The indices of each kind continue those of the metrics that every run has. */
enum {
  BN_SQL_C_BEFORE = BN_C_FIXED - 1,
  BN_SQL_METRICS(BN_METRIC_INDEX, BN_METRIC_OTHER, BN_METRIC_OTHER)
};
enum {
  BN_SQL_H_BEFORE = BN_H_FIXED - 1,
  BN_SQL_METRICS(BN_METRIC_OTHER, BN_METRIC_INDEX, BN_METRIC_OTHER)
};
enum {
  BN_SQL_L_BEFORE = BN_L_FIXED - 1,
  BN_SQL_METRICS(BN_METRIC_OTHER, BN_METRIC_OTHER, BN_METRIC_INDEX)
};

/* The way to count a statement: by its first word in dialect 0.5, else by its result. */
enum bn_sql_kind {
  BN_SQL_BY_RESULT,
  BN_SQL_READ,
  BN_SQL_WRITE,
  BN_SQL_OTHER,
  BN_SQL_COMMIT,
  BN_SQL_UNCOUNTED /* no part of the load, or a further result of a statement that was counted */
};

/* The change that a statement makes to rows, by its first word. */
enum bn_sql_verb {
  BN_VERB_OTHER,
  BN_VERB_INSERT, /* also REPLACE */
  BN_VERB_UPDATE,
  BN_VERB_DELETE
};

/* The change that a statement makes to transactions, for --verify-commits and --db-read-hosts. */
enum bn_sql_boundary {
  BN_BOUNDARY_NONE,
  BN_BOUNDARY_BEGIN,
  BN_BOUNDARY_COMMIT,
  BN_BOUNDARY_ROLLBACK, /* not to a savepoint */
  BN_BOUNDARY_MANUAL,   /* autocommit goes off: each statement is part of a transaction */
  BN_BOUNDARY_AUTO,     /* autocommit goes on */
  BN_BOUNDARY_LOCK,     /* tables are locked: as FOREIGN in MySQL, in a transaction in PostgreSQL */
  BN_BOUNDARY_FOREIGN,  /* a transaction of XA begins, in which nobody may BEGIN another one */
  BN_BOUNDARY_NATIVE    /* a transaction of XA, or the locks of tables, are over */
};

/* Returns the boundary of the first statement in the text, by its first words after blanks and
   comments.  sql[len] is 0.  Pure. */
enum bn_sql_boundary bn_sql_boundary_of(const char *sql, size_t len);

/* The way to count a statement that succeeds, and its rows. */
struct bn_sql_statement_type {
  enum bn_sql_kind kind;
  enum bn_sql_verb verb;
};

/* Returns how the statement is counted.  The first word after blanks and comments decides about the
   verb; by_first_word: the first word after blanks decides about the kind, as in dialect 0.5.
   Pure. */
struct bn_sql_statement_type bn_sql_statement_type_of(bool by_first_word, const char *sql,
                                                      size_t len);

/* Returns the counter for a statement that has succeeded. */
static inline unsigned bn_sql_counter_of(enum bn_sql_kind kind, enum bn_sql rc, uint64_t affected)
{
  if (__builtin_expect(kind == BN_SQL_BY_RESULT, 1))
    return rc == BN_SQL_ROWS ? BN_C_READ : affected > 0 ? BN_C_WRITE : BN_C_OTHER;
  return kind == BN_SQL_READ ? BN_C_READ : kind == BN_SQL_WRITE ? BN_C_WRITE : BN_C_OTHER;
}

_Static_assert(BN_SQL_C_ROWS_READ + BN_VERB_DELETE == BN_SQL_C_ROWS_DELETED &&
                   BN_SQL_C_UPDATES_WITHOUT_ROWS + BN_VERB_DELETE - BN_VERB_UPDATE ==
                       BN_SQL_C_DELETES_WITHOUT_ROWS,
               "counters of rows are in the order of enum bn_sql_verb");

/* Counts the rows of a statement that has succeeded.  An UPDATE or DELETE of no row is counted too,
   unless the statement was not executed. */
static inline void bn_sql_count_rows(struct bn_stat *stat, enum bn_sql rc, enum bn_sql_verb verb,
                                     const struct bn_sql_result *r)
{
  if (rc == BN_SQL_ROWS) {
    bn_stat_count(stat, BN_SQL_C_ROWS_READ, r->nrows);
    return;
  }
  if (verb == BN_VERB_OTHER)
    return;
  bn_stat_count(stat, BN_SQL_C_ROWS_READ + verb, r->affected);
  if (__builtin_expect(r->affected == 0, 0) && verb >= BN_VERB_UPDATE && !r->dry)
    bn_stat_count(stat, BN_SQL_C_UPDATES_WITHOUT_ROWS + (verb - BN_VERB_UPDATE), 1);
}

#endif
