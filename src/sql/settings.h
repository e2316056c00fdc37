/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about the server of a run: settings, its role, and how much data it has. */
#ifndef BN_SQL_SETTINGS_H
#define BN_SQL_SETTINGS_H

#include "sql/conn.h"

/* Asks the server of c the questions of the driver, on another connection, and adds the answers to
   the facts.  Only the first call by a starting worker of the run does so, and only if a report
   wants to know (bn_sqlsys_ask_settings).  A question that fails is passed over.  `target` is the
   target of c. */
void bn_sql_settings_gather(struct bn_sql_conn *c, const struct bn_sql_target *target);

#endif
