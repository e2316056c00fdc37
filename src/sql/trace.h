/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --sql-trace: every statement as one line "[sN] text", whole lines whatever the threads do. */
#ifndef BN_SQL_TRACE_H
#define BN_SQL_TRACE_H

#include <stddef.h>
#include <stdio.h>

#include "base/err.h"

int bn_sql_trace_open(FILE **out, const char *path, struct bn_err *err);
void bn_sql_trace_write(FILE *f, unsigned session, const char *sql, size_t len); /* any thread */
void bn_sql_trace_close(FILE *f, const char *path);

#endif
