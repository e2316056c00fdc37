/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --sql-trace: every statement as one line "[sN] text", whole lines whatever the threads do. */
#include "sql/trace.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"

int bn_sql_trace_open(FILE **out, const char *path, struct bn_err *err)
{
  *out = fopen(path, "we");
  if (*out == NULL)
    return bn_err_set(err, errno, "cannot open the trace file '%s': %s", path, strerror(errno));
  /* Complete lines also when the process has to leave in a hurry. */
  (void)setvbuf(*out, NULL, _IOLBF, 1 << 16);
  return 0;
}

void bn_sql_trace_write(FILE *f, unsigned session, const char *sql, size_t len)
{
  flockfile(f);
  (void)fprintf(f, "[s%u] ", session);
  for (size_t i = 0; i < len; i++)
    (void)putc_unlocked(sql[i] == '\n' || sql[i] == '\r' ? ' ' : sql[i], f);
  (void)putc_unlocked('\n', f);
  funlockfile(f);
}

void bn_sql_trace_close(FILE *f, const char *path)
{
  const bool failed = ferror(f) != 0;

  if (fclose(f) != 0 || failed)
    bn_log_stderr("cannot write the trace file '%s' completely: %s", path, strerror(errno));
}
