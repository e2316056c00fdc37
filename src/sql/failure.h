/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Failures on a connection: acts on what recover.h decides. */
#ifndef BN_SQL_FAILURE_H
#define BN_SQL_FAILURE_H

#include <stdbool.h>
#include <stddef.h>

#include "api/driver.h"

struct bn_sql_conn;

/* What failed; the text is borrowed. */
struct bn_sql_failure {
  struct bn_sql_diag diag;
  enum bn_sql_step step;
  const char *sql;
  size_t len;
  bool told;
};

/* A connection's part; failure.c owns it. */
struct bn_sql_unsettled {
  bool asks;    /* the script is asked about a failure */
  bool pending; /* and has not answered yet */
  bool told;    /* it was told of before the script was asked */
  bool once;    /* bulk inserts set it: whatever fails now is not repeated, so nothing is ignored */
  /* The failure that waits to be settled; its diag is the connection's. */
  enum bn_sql_step step;
  const char *sql;
  size_t len;
  /* It as it was before the hook that is asked about it used the connection itself. */
  struct bn_sql_failure *kept;
};

/* The call failed: sets the view and ignores, reconnects, asks or tells.  true: a new connection
   stands, and what failed, a PREPARE or BIND outside of events, may be tried again on it. */
bool bn_sql_failed(struct bn_sql_conn *c, enum bn_sql rc, enum bn_sql_step step, const char *sql,
                   size_t len);
/* The session was interrupted: an event ends without a word, as it is not repeated any more; a
   command fails. */
void bn_sql_leave(struct bn_sql_conn *c);
/* A statement is about to be sent while a failure waits to be settled. */
void bn_sql_keep_failure(struct bn_sql_conn *c);

#endif
