/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loss of a connection that wire/ uses; all functions return LOST and use libpq's words. */
#ifndef BN_DRIVERS_PGSQL_WIRE_LOST_H
#define BN_DRIVERS_PGSQL_WIRE_LOST_H

#include "drivers/pgsql/wire/wire.h"

/* Shuts the connection down for all users, and reports the text. */
enum bn_sql bn_pgsql_lose(struct bn_pgsql_wire *w, const char *call, const char *text,
                          struct bn_sql_diag *d);
/* Reports that the stream has failed at `doing`: "receive data from". */
enum bn_sql bn_pgsql_lose_socket(struct bn_pgsql_wire *w, const char *call, const char *doing,
                                 struct bn_sql_diag *d);
/* Reports that nothing can be sent, with the server's last message if it has arrived. */
enum bn_sql bn_pgsql_lose_unsent(struct bn_pgsql_wire *w, const char *call, struct bn_sql_diag *d);
/* Reports a reply that is not valid: libpq says that it has lost synchronization. */
enum bn_sql bn_pgsql_lose_sync(struct bn_pgsql_wire *w, const char *call, struct bn_sql_diag *d);

#endif
