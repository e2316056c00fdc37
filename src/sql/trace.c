/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --sql-trace: every statement as one line "[sN] text", whole lines whatever the threads do. */
#include "sql/trace.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"

int bn_sql_trace_open(FILE **out, const char *path, struct bn_err *err)
{
  const int fd = bn_file_create(path);

  *out = fd >= 0 ? fdopen(fd, "w") : NULL;
  if (*out == NULL) {
    const int error = errno;

    if (fd >= 0)
      (void)close(fd);
    return bn_err_set(err, error, "--sql-trace=%s: %s", path, bn_file_reason(error));
  }
  /* Complete lines also when the process has to leave in a hurry. */
  (void)setvbuf(*out, NULL, _IOLBF, 1 << 16);
  return 0;
}

int bn_sql_trace_write(FILE *f, unsigned session, const char *sql, size_t len)
{
  int error = 0;

  flockfile(f);
  errno = 0;
  (void)fprintf(f, "[s%u] ", session);
  for (size_t i = 0; i < len; i++)
    (void)putc_unlocked(sql[i] == '\n' || sql[i] == '\r' ? ' ' : sql[i], f);
  (void)putc_unlocked('\n', f);
  if (ferror(f))
    error = errno != 0 ? errno : EIO;
  funlockfile(f);
  return error;
}

void bn_sql_trace_close(FILE *f, const char *path, bool told)
{
  if (fclose(f) != 0 && !told)
    bn_log_stderr("cannot write the trace file '%s' completely: %s", path, strerror(errno));
}
