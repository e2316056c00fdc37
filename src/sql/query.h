/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The path of every statement: is the connection ready, run it, count it, keep its result. */
#ifndef BN_SQL_QUERY_H
#define BN_SQL_QUERY_H

#include "sql/conn.h"

/* true: the connection takes a statement; the previous result is gone, view.error is NONE. */
bool bn_sql_begin(struct bn_sql_conn *c);
/* Instead of sending a statement that unread results are in the way of (cur.more after begin). */
enum bn_sql bn_sql_unread(struct bn_sql_conn *c, enum bn_sql_step step, bool prepared);
/* A statement sent at `since` has come back, its result in cur.result. */
struct bn_sql_rs *bn_sql_finish(struct bn_sql_conn *c, enum bn_sql rc, uint64_t since,
                                struct bn_sql_sort sort, const char *sql, size_t len);

#endif
