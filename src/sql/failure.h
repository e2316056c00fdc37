/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Failures on a connection: acts on what recover.h decides. */
#ifndef BN_SQL_FAILURE_H
#define BN_SQL_FAILURE_H

#include <stdbool.h>
#include <stddef.h>

#include "api/driver.h"

struct bn_sql_conn;

/* The call failed: sets the view and ignores, reconnects, asks or tells.  true: a new connection
   stands, and what failed, a PREPARE or BIND outside of events, may be tried again on it. */
bool bn_sql_failed(struct bn_sql_conn *c, enum bn_sql rc, enum bn_sql_step step, const char *sql,
                   size_t len);
/* The rollback that an ignored failure has left due, unless the transaction is over.  c may be
   closed after it. */
void bn_sql_roll_back(struct bn_sql_conn *c);
/* The session was interrupted: an event ends without a word, as it is not repeated any more; a
   command fails. */
void bn_sql_leave(struct bn_sql_conn *c);

#endif
