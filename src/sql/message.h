/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How failures are worded: the driver's texts with what it said filled in. */
#ifndef BN_SQL_MESSAGE_H
#define BN_SQL_MESSAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "api/driver.h"

/* Logs it.  sql NULL: the statement is not known any more. */
void bn_sql_message(const struct bn_driver *ops, const struct bn_policy *policy,
                    enum bn_sql_step step, const struct bn_sql_diag *d, const char *sql,
                    size_t len);

/* What a user may do about it, once in a run, on standard error.  before: begins the line, and what
   the server said follows; NULL: that has been logged. */
void bn_sql_tell_remedy(const struct bn_driver *ops, const struct bn_sql_diag *d,
                        const char *before, _Atomic bool *told);

/* Whether texts with this SQLSTATE name a value, a row, a lock or a limit, so that failures for one
   reason differ in them: data, integrity constraints, rollbacks, resources. */
bool bn_sql_message_varies(const char *state);

/* What a server said, in a form that a terminal only shows. */
struct bn_sql_shown {
  char text[4 * sizeof((struct bn_sql_diag *)0)->text];
};

struct bn_sql_shown bn_sql_shown(const struct bn_sql_diag *d);

#endif
