/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Failures on a connection: acts on what recover.h decides. */
#ifndef BN_SQL_FAILURE_H
#define BN_SQL_FAILURE_H

#include <stdbool.h>
#include <stddef.h>

#include "api/driver.h"

struct bn_sql_conn;

/* Acts on a failed call: sets the view and ignores, reconnects, asks or reports.  Returns true if a
   new connection stands on which the failed call, a PREPARE or BIND outside of events, may be tried
   again. */
bool bn_sql_failed(struct bn_sql_conn *c, enum bn_sql rc, enum bn_sql_step step, const char *sql,
                   size_t len);
/* Sends the rollback that an ignored failure has left due, unless the transaction is over.  c may
   be closed after it. */
void bn_sql_roll_back(struct bn_sql_conn *c);
/* Leaves an interrupted session: an event ends without a message, as it is not repeated any more; a
   command fails. */
void bn_sql_leave(struct bn_sql_conn *c);

#endif
