/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The data folder of a database server on this host. */
#ifndef BN_WATCH_DATADIR_H
#define BN_WATCH_DATADIR_H

#include <limits.h>

#include "base/err.h"
#include "sql/side_query.h"

/* Asks the server for its folder, and sets `folder` to its path.  Returns 0, or -1 and err if the
   driver has no server, or if the server does not answer or is on another host. */
int bn_datadir_find(struct bn_sql_side_query *query, char folder[PATH_MAX], struct bn_err *err);

#endif
