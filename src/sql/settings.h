/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about the server of a run: settings, its role, and how much data it has. */
#ifndef BN_SQL_SETTINGS_H
#define BN_SQL_SETTINGS_H

#include "sql/conn.h"

/* Asks the server of c the questions of the driver, on a connection of its own, and adds the
   answers to the facts.  The first call in a process that a starting worker of a run makes does so,
   if a report wants to know (bn_sqlsys_ask_settings).  A question that fails is passed over.
   target: that of c. */
void bn_sql_settings_gather(struct bn_sql_conn *c, const struct bn_sql_target *target);

#endif
