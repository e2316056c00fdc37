/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Before a run: checks that the tables of the workload exist, with as many rows as it counts on. */
#ifndef BN_SQL_TABLE_CHECK_H
#define BN_SQL_TABLE_CHECK_H

#include "api/session.h"
#include "base/err.h"
#include "sql/sql.h"

/* The tables PREFIX1 to PREFIXn, whose rows have the ids 1 to `rows`. */
struct bn_sql_table_check {
  const char *prefix;
  unsigned n;
  double rows;        /* a whole number; 0: any number */
  bool by_default;    /* `rows` is the default of --table-size */
  const char *option; /* the option that sets n: "tables" */
};

/* Examines the tables on each server that connections take in turn, on connections that are not
   counted.  A table costs at most two queries.  After five seconds the check ends, and the tables
   that were not examined count as complete.  On the first server where that is necessary, warns of
   too few rows, of ids that are missing among those that a run draws, and of tables of which the
   default of --table-size uses only a part.  Returns 0; -1 and err if a table is missing and the
   run does not ignore that; or -1 with an empty err->text if the driver cannot be used, which has
   been logged.  After any other failure it returns 0, because the run will show it. */
int bn_sql_table_check(struct bn_sqlsys *sys, struct bn_session *s,
                       const struct bn_sql_table_check *t, struct bn_err *err);

#endif
