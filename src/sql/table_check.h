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
  double rows;        /* 0: however many there are */
  bool by_default;    /* nobody has said how many rows the run uses */
  const char *option; /* that says how many there are: "tables" */
};

/* Asks once, on a connection of its own that is not one of those which hosts are given in turn,
   with one query for each table, for five seconds at most; tables that were not looked at by then
   count as complete.  Notes tell of too few rows, of ids that are missing among those that a run
   draws, and of tables of which a default uses a part.  Returns 0, or -1: a table is missing
   and the run does not ignore that; or the driver cannot be used, the reason has been logged, and
   err->text is empty.  The run itself shows any other failure. */
int bn_sql_table_check(struct bn_sqlsys *sys, struct bn_session *s,
                       const struct bn_sql_table_check *t, struct bn_err *err);

#endif
