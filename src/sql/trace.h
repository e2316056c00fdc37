/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --sql-trace: every statement as one line "[sN] text", whole lines whatever the threads do. */
#ifndef BN_SQL_TRACE_H
#define BN_SQL_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"

int bn_sql_trace_open(FILE **out, const char *path, struct bn_err *err);
/* Any thread.  0, or the errno value of a write that failed. */
int bn_sql_trace_write(FILE *f, unsigned session, const char *sql, size_t len);
/* told: the user knows of a write that failed. */
void bn_sql_trace_close(FILE *f, const char *path, bool told);

#endif
