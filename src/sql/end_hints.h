/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hints at the end of a run: updates or deletes that have all found no row, reads of which many
   have found none, and events in which a statement was prepared because it was used for the first
   time. */
#ifndef BN_SQL_END_HINTS_H
#define BN_SQL_END_HINTS_H

#include <stdatomic.h>
#include <stdint.h>

#include "api/session.h"

/* Sums of the sessions that have ended. */
struct bn_sql_end_hints {
  _Atomic uint64_t updates, rows_updated; /* updates: those without rows */
  _Atomic uint64_t deletes, rows_deleted; /* deletes: those without rows */
  _Atomic uint64_t reads, rows_read;
  _Atomic uint64_t paid, events; /* paid: those in which a statement was prepared */
};

/* A session's own: its measured events in which a statement was prepared. */
struct bn_sql_lazy_prepare {
  uint64_t event; /* number of the last one of those */
  uint64_t paid;
};

/* A statement is being prepared.  Counts if it is in an event that is measured. */
void bn_sql_lazy_prepare_note(struct bn_sql_lazy_prepare *u, const struct bn_session *s);
/* By the thread of a session that ends; its warm-up counts too. */
void bn_sql_end_hints_add_rows(struct bn_sql_end_hints *h, const struct bn_stat *stat);
/* By the session's worker, which has left its loop. */
void bn_sql_end_hints_add_prepares(struct bn_sql_end_hints *all,
                                   const struct bn_sql_lazy_prepare *u, struct bn_session *s);
/* Once all sessions have ended, on standard error. */
void bn_sql_end_hints_log(const struct bn_sql_end_hints *all);

#endif
