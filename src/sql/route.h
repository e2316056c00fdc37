/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --db-read-hosts: what the text of a statement says about the server that may have it. */
#ifndef BN_SQL_ROUTE_H
#define BN_SQL_ROUTE_H

#include <stdbool.h>
#include <stddef.h>

#include "api/driver.h"

enum bn_sql_route {
  BN_ROUTE_WRITE,     /* it may write, or nobody can tell */
  BN_ROUTE_READ,      /* it only reads, and what it reads is not of its session */
  BN_ROUTE_BEGIN_READ /* begins a transaction that cannot write */
};

/* Returns the server for the text; a text that is not understood is BN_ROUTE_WRITE.  Pure.
   sql[len] is 0. */
enum bn_sql_route bn_sql_route_of(const char *sql, size_t len, const struct bn_sql_caps *caps);

/* Returns whether a text cannot be sent within a transaction that was begun with
   BN_ROUTE_BEGIN_READ, because it may write: another statement follows one that ends the
   transaction, or a statement ends it by itself and is no part of it.  Pure.  sql[len] is 0. */
bool bn_sql_leaves_reading(const char *sql, size_t len, const struct bn_sql_caps *caps);

/* Returns whether a text lets a transaction of PostgreSQL write that was begun with
   BN_ROUTE_BEGIN_READ.  The server allows that before the first query.  Pure.  sql[len] is 0. */
bool bn_sql_turns_writing(const char *sql, size_t len, const struct bn_sql_caps *caps);

#endif
