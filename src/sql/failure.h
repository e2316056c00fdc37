/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Failures on a connection: carries out the decisions of recover.h.  The thread that drives the
   session of the connection calls these functions. */
#ifndef BN_SQL_FAILURE_H
#define BN_SQL_FAILURE_H

#include <stdbool.h>
#include <stddef.h>

#include "api/driver.h"

struct bn_sql_conn;

/* Acts on a failed call, whose outcome is rc, and which c->diag describes: sets the view, and
   ignores the failure, opens the connection again, leaves the decision to the script, or logs the
   failure.  sql is the statement's text, of len bytes; NULL: it is not known any more.  Returns
   true if the failed call, a PREPARE or BIND outside of events, may be tried again on a new
   connection, which is open. */
bool bn_sql_handle_failure(struct bn_sql_conn *c, enum bn_sql rc, enum bn_sql_step step,
                           const char *sql, size_t len);
/* Sends the rollback that is due after an ignored failure, unless the transaction is over.  If the
   server does not carry it out, c is opened again.  If that fails too, c is not open afterwards. */
void bn_sql_roll_back(struct bn_sql_conn *c);
/* Sets the view for a statement of an interrupted session, without a message: IGNORABLE in an
   event, which is not repeated any more, and FATAL in a command, which fails. */
void bn_sql_leave_session(struct bn_sql_conn *c);

#endif
