/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hints at the end of a run: updates or deletes that have all found no row, reads of which many
   have found none, and events in which a statement was prepared because it was used for the first
   time. */
#include "sql/end_hints.h"

#include <inttypes.h>

#include "base/log.h"
#include "measure/stat.h"
#include "sql/count.h"

/* Adds a counter of a session to a sum over the sessions. */
static void end_hints_add_counter(_Atomic uint64_t *to, const struct bn_stat *stat,
                                  unsigned counter)
{
  atomic_fetch_add_explicit(to, bn_stat_get(&stat->counter[counter]), memory_order_relaxed);
}

void bn_sql_end_hints_add_rows(struct bn_sql_end_hints *h, const struct bn_stat *stat)
{
  end_hints_add_counter(&h->updates_without_rows, stat, BN_SQL_C_UPDATES_WITHOUT_ROWS);
  end_hints_add_counter(&h->rows_updated, stat, BN_SQL_C_ROWS_UPDATED);
  end_hints_add_counter(&h->deletes_without_rows, stat, BN_SQL_C_DELETES_WITHOUT_ROWS);
  end_hints_add_counter(&h->rows_deleted, stat, BN_SQL_C_ROWS_DELETED);
  end_hints_add_counter(&h->reads, stat, BN_C_READ);
  end_hints_add_counter(&h->rows_read, stat, BN_SQL_C_ROWS_READ);
}

/* Returns the number of the event in flight, counted from 1, or between two events that of the next
   one.  A repeated event keeps its number. */
static uint64_t end_hints_event_number(const struct bn_session *s)
{
  return bn_stat_get(&s->stat->counter[BN_C_EVENTS]) + bn_stat_get(&s->stat->failed) + 1;
}

/* Returns whether the event in flight was begun in the warm-up, or was due in it.  begun_at and
   ended_at are sums over all events, so their difference is the start of the only event in flight
   (measure/stat.h). */
static bool end_hints_is_in_warmup(const struct bn_stat *st)
{
  const uint64_t start_ns = bn_stat_get(&st->begun_at) - bn_stat_get(&st->ended_at);

  return start_ns < st->counts_from_ns;
}

void bn_sql_lazy_prepare_note(struct bn_sql_lazy_prepare *lazy, const struct bn_session *s)
{
  const bool is_in_event = atomic_load_explicit(&s->stat->running, memory_order_relaxed);
  const uint64_t event = end_hints_event_number(s);

  if (!is_in_event || end_hints_is_in_warmup(s->stat))
    return;
  if (event == lazy->event) /* it has prepared another statement before */
    return;
  lazy->event = event;
  lazy->preparing_events++;
}

void bn_sql_end_hints_add_prepares(struct bn_sql_end_hints *h,
                                   const struct bn_sql_lazy_prepare *lazy, struct bn_session *s)
{
  /* The end of the run may have dropped the last event, which is then not in counted_events. */
  const bool is_unfinished = lazy->preparing_events > 0 && lazy->event == end_hints_event_number(s);

  (void)atomic_fetch_add(&h->preparing_events, lazy->preparing_events - is_unfinished);
  (void)atomic_fetch_add(&h->events,
                         s->services->counted_events(s) + bn_stat_get(&s->stat->failed));
}

/* Hints at updates if no UPDATE has changed a row, and at deletes if no DELETE has.  The counter of
   the statements without rows, which the message shows, is then the number of all of them. */
static void end_hints_log_rows(const struct bn_sql_end_hints *h)
{
  const uint64_t updates = bn_stat_get(&h->updates_without_rows);
  const uint64_t deletes = bn_stat_get(&h->deletes_without_rows);

  if (updates > 0 && bn_stat_get(&h->rows_updated) == 0)
    bn_log_hint("UPDATE: none of %" PRIu64 " statements changed a row; do the rows exist, and do "
                "their new values differ? (--table-size)",
                updates);
  if (deletes > 0 && bn_stat_get(&h->rows_deleted) == 0)
    bn_log_hint("DELETE: none of %" PRIu64
                " statements found a row; has an earlier run deleted the "
                "rows? ('cleanup' and 'prepare' make them anew)",
                deletes);
}

/* Hints at reads that have found no row.  A read that finds something reads at least one row, so at
   least reads - rows have found none.  The hint is worth its line if there are at least WORTH_READS
   reads, and more than a tenth of them have found none. */
static void end_hints_log_reads(const struct bn_sql_end_hints *h)
{
  enum { WORTH_READS = 100 };
  const uint64_t reads = bn_stat_get(&h->reads), rows = bn_stat_get(&h->rows_read);
  const uint64_t tenth = reads / 10;

  if (reads >= WORTH_READS && rows < reads - tenth)
    bn_log_hint("SELECT: %" PRIu64 " statements have read %" PRIu64
                " rows, so that at least %" PRIu64
                " found none; do the tables have the ids from 1 to --table-size? ('cleanup' and "
                "'prepare' make them anew, --auto-inc=off without gaps)",
                reads, rows, reads - rows);
}

/* Hints at events that took longer because a statement was prepared in them.  One such event may be
   the maximum of the latencies. */
static void end_hints_log_prepares(const struct bn_sql_end_hints *h)
{
  const uint64_t events = atomic_load(&h->events), preparing = atomic_load(&h->preparing_events);

  if (preparing == 0 || events == 0)
    return;
  bn_log_hint("%" PRIu64 " of %" PRIu64 " events (%.3g %%) include the preparation of a statement, "
              "because a session used it for the first time (--db-prepare)",
              preparing, events, 100.0 * (double)preparing / (double)events);
}

void bn_sql_end_hints_log(const struct bn_sql_end_hints *h)
{
  end_hints_log_rows(h);
  end_hints_log_reads(h);
  end_hints_log_prepares(h);
}
