/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hints at the end of a run: updates or deletes that have all found no row, reads of which many
   have found none, and events in which a statement was prepared because it was used for the first
   time. */
#ifndef BN_SQL_END_HINTS_H
#define BN_SQL_END_HINTS_H

#include <stdatomic.h>
#include <stdint.h>

#include "api/session.h"

/* Sums over the sessions that have ended. */
struct bn_sql_end_hints {
  _Atomic uint64_t updates_without_rows, rows_updated;
  _Atomic uint64_t deletes_without_rows, rows_deleted;
  _Atomic uint64_t reads, rows_read;
  _Atomic uint64_t events, preparing_events; /* preparing: in which a statement was prepared */
};

/* The measured events of a session in which a statement was prepared. */
struct bn_sql_lazy_prepare {
  uint64_t event;            /* number of the last one */
  uint64_t preparing_events; /* how many there were */
};

/* Counts the event in which a statement is being prepared, once, if the event is measured. */
void bn_sql_lazy_prepare_note(struct bn_sql_lazy_prepare *lazy, const struct bn_session *s);
/* Adds the reads and writes of a session that ends, those of its warm-up included.  Its thread
   calls this. */
void bn_sql_end_hints_add_rows(struct bn_sql_end_hints *h, const struct bn_stat *stat);
/* Adds the events of a session that ends, and those in `lazy`.  Its worker calls this after the
   loop of the events. */
void bn_sql_end_hints_add_prepares(struct bn_sql_end_hints *h,
                                   const struct bn_sql_lazy_prepare *lazy, struct bn_session *s);
/* Writes the hints to standard error.  It is called when all sessions have ended. */
void bn_sql_end_hints_log(const struct bn_sql_end_hints *h);

#endif
