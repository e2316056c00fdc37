/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --sql-trace: writes every statement as a line "[sN] text"; lines of threads do not mix. */
#ifndef BN_SQL_TRACE_H
#define BN_SQL_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "api/session.h"
#include "base/err.h"

struct bn_sql_trace {
  FILE *file;       /* NULL: the option is not given */
  const char *path; /* borrowed */
  _Atomic bool failed;
};

/* Opens the file.  Returns 0, or -1 and err. */
int bn_sql_trace_open(struct bn_sql_trace *t, const char *path, struct bn_err *err);
/* Writes a statement.  Any thread may call it.  The first failure is logged, and lets the run end
   as a failed one. */
void bn_sql_trace_write(struct bn_sql_trace *t, const struct bn_session *s, const char *sql,
                        size_t len);
/* Closes the file, if there is one; a failure to write the rest is logged. */
void bn_sql_trace_close(struct bn_sql_trace *t);

/* Writes a statement if there is --sql-trace. */
static inline void bn_sql_trace(struct bn_sql_trace *t, const struct bn_session *s, const char *sql,
                                size_t len)
{
  if (__builtin_expect(t->file != NULL, 0))
    bn_sql_trace_write(t, s, sql, len);
}

#endif
