/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors by SQLSTATE; knows no client library. */
#ifndef BN_DRIVERS_PGSQL_ERROR_H
#define BN_DRIVERS_PGSQL_ERROR_H

#include "api/driver.h"

/* The SQLSTATE of a lost connection whose server has not said why. */
static const char bn_pgsql_connection_failure[] = "08006";

/* The reason that the server is given if a text asks for rows: COPY ... FROM STDIN. */
static const char bn_pgsql_no_rows_to_copy[] = "COPY FROM STDIN is not possible in a query";

/* Fills all of d but `where` and rolled_back; returns LOST if the connection is lost after that
   state, else ERROR. */
enum bn_sql bn_pgsql_fail_text(const char *state, const char *call, const char *text,
                               struct bn_sql_diag *d);
/* Do the same, and return ERROR, for failures that bench finds itself: there is no memory for a
   message, a parameter does not fit into a message, or a text has begun COPY from or to the
   client. */
enum bn_sql bn_pgsql_fail_out_of_memory(const char *call, struct bn_sql_diag *d);
enum bn_sql bn_pgsql_fail_too_long(const char *call, struct bn_sql_diag *d);
enum bn_sql bn_pgsql_fail_copy(struct bn_sql_diag *d);
/* Returns the SQLSTATE of a lost connection: `last`, the state of the last failure or notice ("":
   there was none), if the server ended the connection with it, else connection_failure. */
const char *bn_pgsql_state_of_loss(const char *last);
/* Hooks of the driver. */
enum bn_sql_class bn_pgsql_classify(const struct bn_sql_diag *d);
bool bn_pgsql_missing(const struct bn_sql_diag *d);
const char *bn_pgsql_remedy(const struct bn_sql_diag *d);

#endif
