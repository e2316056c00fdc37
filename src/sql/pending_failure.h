/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The failure that a script is asked about, until it has answered. */
#ifndef BN_SQL_PENDING_FAILURE_H
#define BN_SQL_PENDING_FAILURE_H

#include <stdbool.h>
#include <stddef.h>

#include "api/driver.h"

struct bn_sql_kept;

/* A connection's part.  failure.c decides about the failure that waits; unsettled.c owns `kept`. */
struct bn_sql_pending_failure {
  bool asks;    /* the script is asked about a failure */
  bool pending; /* and has not answered yet */
  bool told;    /* it was told of before the script was asked */
  bool once;    /* bulk inserts set it: whatever fails now is not repeated, so nothing is ignored */
  /* The failure that waits to be settled; its diag is the connection's.  The text is borrowed. */
  enum bn_sql_step step;
  const char *sql;
  size_t len;
  /* It as it was before the hook that is asked about it used the connection itself. */
  struct bn_sql_kept *kept;
};

/* The connection is about to be used or opened anew while a failure waits: keeps the failure. */
void bn_sql_pending_failure_keep(struct bn_sql_pending_failure *u, const struct bn_sql_diag *diag);
/* There is a new connection: the transaction of the failure that was kept is no longer open. */
void bn_sql_pending_failure_rolled_back(struct bn_sql_pending_failure *u);
/* true: what was kept waits again, and *diag is its own.  Its text is valid until
   bn_sql_pending_failure_free. */
bool bn_sql_pending_failure_take(struct bn_sql_pending_failure *u, struct bn_sql_diag *diag);
void bn_sql_pending_failure_free(struct bn_sql_pending_failure *u);

#endif
