/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --sql-trace: writes every statement as a line "[sN] text"; lines of threads do not mix. */
#include "sql/trace.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"

enum { BUFFER_BYTES = 1 << 16 };

int bn_sql_trace_open(struct bn_sql_trace *t, const char *path, struct bn_err *err)
{
  const int fd = bn_file_create(path);

  t->path = path;
  t->file = fd >= 0 ? fdopen(fd, "w") : NULL;
  if (t->file == NULL) {
    const int error = errno;

    if (fd >= 0)
      (void)close(fd);
    return bn_err_set(err, error, "--sql-trace=%s: %s", path, bn_file_explain(error));
  }
  /* The buffer is written at the end of each line, so that the file has complete lines even if the
     process ends by _exit. */
  (void)setvbuf(t->file, NULL, _IOLBF, BUFFER_BYTES);
  return 0;
}

/* Writes a line, with a blank for each line break of the text.  Returns 0, the errno value of a
   write that failed, or EIO if one has failed before and its errno is not known any more. */
static int trace_write_line(FILE *f, unsigned session, const char *sql, size_t len)
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

void bn_sql_trace_write(struct bn_sql_trace *t, const struct bn_session *s, const char *sql,
                        size_t len)
{
  const int error = trace_write_line(t->file, s->number, sql, len);

  if (error == 0 || atomic_exchange(&t->failed, true))
    return;
  bn_log_stderr("cannot write the trace file '%s': %s", t->path, strerror(error));
  s->services->fail(s->services->of);
}

void bn_sql_trace_close(struct bn_sql_trace *t)
{
  if (t->file != NULL && fclose(t->file) != 0 && !atomic_load(&t->failed))
    bn_log_stderr("cannot write the trace file '%s' completely: %s", t->path, strerror(errno));
  t->file = NULL;
}
