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
  bool entered;            /* the driver knows the thread */
  _Atomic bool open;
};

/* All but interrupt are called by one thread, on zeroed memory first. */
/* Opens a connection with the driver, the server and the credentials of the run, whose sessions are
   connected; of several servers to the first.  -1: err says why not; close it all the same. */
int bn_sql_side_query_open(struct bn_sql_side_query *p, struct bn_sqlsys *sys, uint64_t deadline_ns,
                           struct bn_err *err);
/* Calls fn with the first two values of each row, which end where their length says; rows with NULL
   are left out.  Returns 0, or -1 and err; fn may have been called for some rows. */
int bn_sql_side_query_pairs(struct bn_sql_side_query *p, const char *sql,
                            void (*fn)(void *arg, const struct bn_sql_value pair[2]), void *arg,
                            struct bn_err *err);
/* Interrupts the call of the other thread: the server is waited for no longer.  Any thread. */
void bn_sql_side_query_interrupt(struct bn_sql_side_query *p);
void bn_sql_side_query_close(struct bn_sql_side_query *p);

#endif
