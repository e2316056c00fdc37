/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How failures are worded: the driver's texts with what it said filled in. */
#ifndef BN_SQL_MESSAGE_H
#define BN_SQL_MESSAGE_H

#include <stddef.h>

#include "api/driver.h"

/* Logs it.  sql NULL: the statement is not known any more. */
void bn_sql_message(const struct bn_driver *ops, const struct bn_policy *policy,
                    enum bn_sql_step step, const struct bn_sql_diag *d, const char *sql,
                    size_t len);

#endif
