/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors by SQLSTATE; knows no client library. */
#ifndef BN_DRIVERS_PGSQL_ERROR_H
#define BN_DRIVERS_PGSQL_ERROR_H

#include "api/driver.h"

/* Fills all of d but `where` and rolled_back; returns LOST if the connection is lost after that
   state, else ERROR. */
enum bn_sql bn_pgsql_fail_text(const char *state, const char *call, const char *text,
                               struct bn_sql_diag *d);
/* Returns the SQLSTATE of a lost connection: `last`, the state of the last failure or notice ("":
   there was none), if the server ended the connection with it, else 08006. */
const char *bn_pgsql_state_of_loss(const char *last);
/* Hooks of the driver. */
enum bn_sql_class bn_pgsql_classify(const struct bn_sql_diag *d);
bool bn_pgsql_missing(const struct bn_sql_diag *d);
const char *bn_pgsql_remedy(const struct bn_sql_diag *d);

#endif
