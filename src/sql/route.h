/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --db-read-hosts: what the text of a statement says about the server that may have it. */
#ifndef BN_SQL_ROUTE_H
#define BN_SQL_ROUTE_H

#include <stdbool.h>
#include <stddef.h>

#include "api/driver.h"

/* The kind of a statement, which decides about its server. */
enum bn_sql_route {
  BN_ROUTE_WRITE,     /* it may write, or is not understood */
  BN_ROUTE_READ,      /* it only reads, and nothing that belongs to its session */
  BN_ROUTE_BEGIN_READ /* it begins a transaction that cannot write */
};

/* Returns the kind of the statement.  sql[len] is 0, here and below.  Pure, as the functions
   below. */
enum bn_sql_route bn_sql_route_of(const char *sql, size_t len, const struct bn_sql_caps *caps);

/* Returns whether a text must not be sent within a transaction that was begun with
   BN_ROUTE_BEGIN_READ, because a part of it would be executed outside of that transaction and may
   write: it has a statement after one that ends the transaction, or a statement before which the
   server ends the transaction by itself. */
bool bn_sql_leaves_reading(const char *sql, size_t len, const struct bn_sql_caps *caps);

/* Returns whether a text lets a transaction that was begun with BN_ROUTE_BEGIN_READ write, as SET
   TRANSACTION READ WRITE does.  Only PostgreSQL allows that, before the first query. */
bool bn_sql_turns_writing(const char *sql, size_t len, const struct bn_sql_caps *caps);

#endif
