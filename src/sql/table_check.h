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
  double rows;        /* 0: any number */
  bool by_default;    /* `rows` is the default of --table-size */
  const char *option; /* the option that sets n: "tables" */
};

/* Looks at the tables once on each server that connections take in turn, on connections of its own
   that do not count among these.  A table costs at most two queries.  After five seconds the check
   ends, and the other tables count as complete.  Warns of too few rows, of ids that are missing
   among those that a run draws, and of tables of which a default uses a part, on the first server
   with such tables.  Returns 0; -1 if a table is missing and the run does not ignore that; -1 with
   an empty err->text if the driver cannot be used, which has been logged.  The run itself shows any
   other failure. */
int bn_sql_table_check(struct bn_sqlsys *sys, struct bn_session *s,
                       const struct bn_sql_table_check *t, struct bn_err *err);

#endif
