/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a connection that wire.c has; all return LOST, in libpq's words. */
#ifndef BN_DRIVERS_PGSQL_WIRE_LOST_H
#define BN_DRIVERS_PGSQL_WIRE_LOST_H

#include "drivers/pgsql/wire/wire.h"

/* The connection is of no use to anybody. */
enum bn_sql bn_pgsql_lose(struct bn_pgsql_wire *w, const char *call, const char *text,
                          struct bn_sql_diag *d);
/* Its stream has failed at `doing`: "receive data from". */
enum bn_sql bn_pgsql_lose_socket(struct bn_pgsql_wire *w, const char *call, const char *doing,
                                 struct bn_sql_diag *d);
/* Nothing can be sent; what the server said before that may have come. */
enum bn_sql bn_pgsql_lose_unsent(struct bn_pgsql_wire *w, const char *call, struct bn_sql_diag *d);
/* The reply has what no server says. */
enum bn_sql bn_pgsql_lose_track(struct bn_pgsql_wire *w, const char *call, struct bn_sql_diag *d);

#endif
