/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a database server on this host keeps its data. */
#ifndef BN_WATCH_DATADIR_H
#define BN_WATCH_DATADIR_H

#include <limits.h>

#include "base/err.h"
#include "sql/side_query.h"

/* Asks the server.  -1: err says that it is another host's, or that it does not say. */
int bn_datadir_find(struct bn_sql_side_query *p, char folder[PATH_MAX], struct bn_err *err);

#endif
