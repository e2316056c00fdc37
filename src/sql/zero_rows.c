/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether all updates, or all deletes, of a run have found no row. */
#include "sql/zero_rows.h"

#include <inttypes.h>

#include "base/log.h"
#include "measure/stat.h"
#include "sql/count.h"

static void zero_rows_add(_Atomic uint64_t *to, const struct bn_stat *stat, unsigned counter)
{
  atomic_fetch_add_explicit(to, bn_stat_get(&stat->counter[counter]), memory_order_relaxed);
}

void bn_sql_zero_rows_add(struct bn_sql_zero_rows *m, const struct bn_stat *stat)
{
  zero_rows_add(&m->updates, stat, BN_SQL_C_UPDATES_WITHOUT_ROWS);
  zero_rows_add(&m->rows_updated, stat, BN_SQL_C_ROWS_UPDATED);
  zero_rows_add(&m->deletes, stat, BN_SQL_C_DELETES_WITHOUT_ROWS);
  zero_rows_add(&m->rows_deleted, stat, BN_SQL_C_ROWS_DELETED);
}

void bn_sql_zero_rows_tell(const struct bn_sql_zero_rows *m)
{
  const uint64_t updates = bn_stat_get(&m->updates), deletes = bn_stat_get(&m->deletes);

  if (updates > 0 && bn_stat_get(&m->rows_updated) == 0)
    bn_log_hint("UPDATE: none of %" PRIu64 " statements changed a row; do the rows exist, and do "
                "their new values differ? (--table-size)",
                updates);
  if (deletes > 0 && bn_stat_get(&m->rows_deleted) == 0)
    bn_log_hint("DELETE: none of %" PRIu64
                " statements found a row; has an earlier run deleted the "
                "rows? ('cleanup' and 'prepare' make them anew)",
                deletes);
}
