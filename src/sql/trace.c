/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --sql-trace: every statement as one line "[sN] text", whole lines whatever the threads do. */
#include "sql/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

static int refuse(int fd, const char *path, const char *what, struct bn_err *err)
{
  if (fd >= 0)
    (void)close(fd);
  return bn_err_set(err, ELOOP,
                    "--sql-trace=%s: it is a %s link, which could lead to another's file; remove "
                    "it, or name the file that is meant",
                    path, what);
}

/* Another user may have put a link there, as in /tmp.  Those of /dev, such as /dev/stdout, are the
   system's. */
static int open_own(const char *path, struct bn_err *err)
{
  const int follow = strncmp(path, "/dev/", 5) == 0 ? 0 : O_NOFOLLOW;
  const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | follow, 0666);
  struct stat st;

  if (fd < 0 && errno == ELOOP)
    return refuse(fd, path, "symbolic", err);
  if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
    if (st.st_nlink > 1)
      return refuse(fd, path, "hard", err);
    if (ftruncate(fd, 0) != 0) {
      (void)close(fd);
      return bn_err_set(err, errno, "cannot empty the trace file '%s': %s", path, strerror(errno));
    }
  }
  if (fd < 0)
    return bn_err_set(err, errno, "cannot open the trace file '%s': %s", path, strerror(errno));
  return fd;
}

int bn_sql_trace_open(FILE **out, const char *path, struct bn_err *err)
{
  const int fd = open_own(path, err);

  if (fd < 0)
    return -1;
  *out = fdopen(fd, "w");
  if (*out == NULL) {
    (void)close(fd);
    return bn_err_set(err, errno, "cannot open the trace file '%s': %s", path, strerror(errno));
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
