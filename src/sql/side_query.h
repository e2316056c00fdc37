/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A connection beside the run, for questions about its server.  It belongs to no session, and what
   is sent on it is neither counted, nor traced, nor repeated. */
#ifndef BN_SQL_SIDE_QUERY_H
#define BN_SQL_SIDE_QUERY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/driver.h"
#include "base/err.h"
#include "sql/link.h"

struct bn_sqlsys;

struct bn_sql_side_query {
  struct bn_sql_link link; /* ops NULL: no driver is in use */
  bool entered;            /* thread_init of the driver has succeeded */
  _Atomic bool open;       /* the link is open, and may be interrupted */
};

/* One thread calls all functions but interrupt.  It calls open first, on zeroed memory. */

/* Opens a connection with the driver and the credentials of the run, whose sessions are connected,
   to its server, or to the first of several.  Returns 0, or -1 and err.  The caller closes it also
   after a failure. */
int bn_sql_side_query_open(struct bn_sql_side_query *p, struct bn_sqlsys *sys, uint64_t deadline_ns,
                           struct bn_err *err);
/* Executes a query on an open link, and calls fn with the first two values of each row, whose text
   has no final 0.  Rows in which one of them is NULL or missing are left out.  Returns 0, or -1 and
   err; then fn may have been called for some rows. */
int bn_sql_side_query_read_pairs(const struct bn_sql_link *link, const char *sql,
                                 void (*fn)(void *arg, const struct bn_sql_value pair[2]),
                                 void *arg, struct bn_err *err);
/* Interrupts the call in which the other thread waits for the server.  Any thread may call it until
   the connection is closed. */
void bn_sql_side_query_interrupt(struct bn_sql_side_query *p);
/* Closes the connection, also one that could not be opened. */
void bn_sql_side_query_close(struct bn_sql_side_query *p);

#endif
