/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether all updates, or all deletes, of a run have found no row. */
#ifndef BN_SQL_ZERO_ROWS_H
#define BN_SQL_ZERO_ROWS_H

#include <stdatomic.h>
#include <stdint.h>

struct bn_stat;

/* Sums of the sessions that have ended. */
struct bn_sql_zero_rows {
  _Atomic uint64_t updates, rows_updated; /* updates: those without rows */
  _Atomic uint64_t deletes, rows_deleted; /* deletes: those without rows */
};

/* By the thread of a session that ends; its warm-up counts too. */
void bn_sql_zero_rows_add(struct bn_sql_zero_rows *m, const struct bn_stat *stat);
/* Once all sessions have ended. */
void bn_sql_zero_rows_tell(const struct bn_sql_zero_rows *m);

#endif
