/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about the server of a run: settings, its role, and how much data it has. */
#ifndef BN_SQL_SETTINGS_H
#define BN_SQL_SETTINGS_H

#include "sql/conn.h"

/* Asks the server of c, once in a process and on a connection of its own, the questions of the
   driver, and adds the answers to the facts.  A question that fails is passed over.  target: of c.
 */
void bn_sql_settings_gather(struct bn_sql_conn *c, const struct bn_sql_target *target);

#endif
