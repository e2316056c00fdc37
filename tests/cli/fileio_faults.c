/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Preloaded by tests: a device that fails, a disk that fills up.

   FAULT names a call, how many of its kind succeed first and the error: "pwrite 3 ENOSPC's number".
   write: to plain files other than standard output and standard error; half: the first of them that
   fails writes half of its bytes.  open: only where the file may be made.
   short: pread and pwrite move half of what they are asked for.
   reap stands for the completions of asynchronous engines.  inodes: statvfs knows of so many.
   reserve: statvfs says that all free blocks are kept for root; sizeless: that there are no blocks.
   room: so many blocks are free whatever is true, as where a quota is used up.
   nofile: so many is the hard limit on open files, and the user may raise it.
   stall: fdatasync takes so many seconds.
   populate: madvise finds no huge pages, for which ordinary ones stand.
   ring: the library must wait with a deadline as on a kernel before 5.11. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#ifdef WITH_AIO
#include <libaio.h>
#endif
#ifdef WITH_URING
#include <liburing.h>
#endif

static atomic_int calls;

/* The error this call is to fail with, or 0. */
static int fault(const char *call)
{
  const char *spec = getenv("FAULT");
  char name[32];
  int after, error;

  if (spec == NULL || sscanf(spec, "%31s %d %d", name, &after, &error) != 3 ||
      strcmp(name, call) != 0)
    return 0;
  return atomic_fetch_add(&calls, 1) >= after ? error : 0;
}

static bool fails(const char *call)
{
  const int error = fault(call);

  if (error != 0)
    errno = error;
  return error != 0;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* How many of n bytes a call moves. */
static size_t part(size_t n)
{
  return n > 1 && fault("short") != 0 ? n / 2 : n;
}

ssize_t pread(int fd, void *buf, size_t n, off_t at)
{
  return fails("pread") ? -1 : NEXT(pread)(fd, buf, part(n), at);
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t at)
{
  return fails("pwrite") ? -1 : NEXT(pwrite)(fd, buf, part(n), at);
}

ssize_t pread64(int fd, void *buf, size_t n, off64_t at)
{
  return fails("pread") ? -1 : NEXT(pread64)(fd, buf, part(n), at);
}

ssize_t pwrite64(int fd, const void *buf, size_t n, off64_t at)
{
  return fails("pwrite") ? -1 : NEXT(pwrite64)(fd, buf, part(n), at);
}

static bool is_file(int fd)
{
  struct stat st;

  return fd > STDERR_FILENO && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

ssize_t write(int fd, const void *buf, size_t n)
{
  static atomic_bool halved;

  if (!is_file(fd))
    return NEXT(write)(fd, buf, n);
  if (fails("half"))
    return atomic_exchange(&halved, true) ? -1 : NEXT(write)(fd, buf, n / 2);
  return fails("write") ? -1 : NEXT(write)(fd, buf, n);
}

int rename(const char *from, const char *to)
{
  return fails("rename") ? -1 : NEXT(rename)(from, to);
}

int open(const char *path, int flags, ...)
{
  va_list more;
  mode_t mode;

  if ((flags & O_CREAT) == 0)
    return NEXT(open)(path, flags);
  va_start(more, flags);
  mode = va_arg(more, mode_t);
  va_end(more);
  return fails("open") ? -1 : NEXT(open)(path, flags, mode);
}

char *strndup(const char *text, size_t n)
{
  return fails("strndup") ? NULL : NEXT(strndup)(text, n);
}

char *strdup(const char *text)
{
  return fails("strdup") ? NULL : NEXT(strdup)(text);
}

void *reallocarray(void *at, size_t n, size_t size)
{
  return fails("reallocarray") ? NULL : NEXT(reallocarray)(at, n, size);
}

int fsync(int fd)
{
  return fails("fsync") ? -1 : NEXT(fsync)(fd);
}

int flock(int fd, int operation)
{
  return fails("flock") ? -1 : NEXT(flock)(fd, operation);
}

int msync(void *at, size_t n, int flags)
{
  return fails("msync") ? -1 : NEXT(msync)(at, n, flags);
}

int shmget(key_t key, size_t size, int flags)
{
  const char *spec = getenv("FAULT");

  if (spec != NULL && strncmp(spec, "populate ", sizeof "populate " - 1) == 0)
    flags &= ~SHM_HUGETLB;
  return fails("shmget") ? -1 : NEXT(shmget)(key, size, flags);
}

int madvise(void *at, size_t size, int advice)
{
  enum { POPULATE_WRITE = 23 };

  return advice == POPULATE_WRITE && fails("populate") ? -1 : NEXT(madvise)(at, size, advice);
}

int fdatasync(int fd)
{
  (void)sleep((unsigned)fault("stall"));
  return NEXT(fdatasync)(fd);
}

int statvfs(const char *path, struct statvfs *out)
{
  const int rc = NEXT(statvfs)(path, out);
  const int left = fault("inodes");

  if (rc == 0 && left != 0) {
    out->f_files = 1000000;
    out->f_ffree = out->f_favail = (fsfilcnt_t)left;
  }
  if (rc == 0 && fault("reserve") != 0)
    out->f_bavail = 0;
  if (rc == 0 && fault("sizeless") != 0)
    out->f_blocks = out->f_bfree = out->f_bavail = 0;
  return rc;
}

int fstatvfs(int fd, struct statvfs *out)
{
  const int rc = NEXT(fstatvfs)(fd, out);
  const int left = fault("room");

  if (rc == 0 && left != 0)
    out->f_bfree = out->f_bavail = (fsblkcnt_t)left;
  return rc;
}

int getrlimit(__rlimit_resource_t what, struct rlimit *out)
{
  const int rc = NEXT(getrlimit)(what, out);
  const int hard = what == RLIMIT_NOFILE ? fault("nofile") : 0;

  if (rc == 0 && hard != 0)
    *out = (struct rlimit){(rlim_t)hard / 2, (rlim_t)hard};
  return rc;
}

int getrlimit64(__rlimit_resource_t what, struct rlimit64 *out)
{
  struct rlimit limit;
  const int rc = getrlimit(what, &limit);

  *out = (struct rlimit64){limit.rlim_cur, limit.rlim_max};
  return rc;
}

int setrlimit(__rlimit_resource_t what, const struct rlimit *to)
{
  struct rlimit limit;

  if (what != RLIMIT_NOFILE || fault("nofile") == 0)
    return NEXT(setrlimit)(what, to);
  (void)NEXT(getrlimit)(what, &limit);
  limit.rlim_cur = to->rlim_cur < limit.rlim_max ? to->rlim_cur : limit.rlim_max;
  return NEXT(setrlimit)(what, &limit);
}

int setrlimit64(__rlimit_resource_t what, const struct rlimit64 *to)
{
  const struct rlimit limit = {to->rlim_cur, to->rlim_max};

  return setrlimit(what, &limit);
}

#ifdef WITH_AIO
int io_getevents(io_context_t context, long min, long max, struct io_event *event,
                 struct timespec *timeout)
{
  const int n = NEXT(io_getevents)(context, min, max, event, timeout);

  for (int i = 0; i < n; i++) {
    const int error = fault("reap");

    if (error != 0)
      event[i].res = (unsigned long)-error;
  }
  return n;
}
#endif

#ifdef WITH_URING
int io_uring_queue_init(unsigned entries, struct io_uring *ring, unsigned flags)
{
  const int rc = NEXT(io_uring_queue_init)(entries, ring, flags);

  if (rc == 0 && fault("ring") != 0)
    ring->features &= ~(unsigned)IORING_FEAT_EXT_ARG;
  return rc;
}

int io_uring_submit_and_wait(struct io_uring *ring, unsigned wait)
{
  const int rc = NEXT(io_uring_submit_and_wait)(ring, wait);
  struct io_uring_cqe *cqe;
  unsigned head;

  io_uring_for_each_cqe(ring, head, cqe)
  {
    const int error = fault("reap");

    if (error != 0)
      cqe->res = -error;
  }
  return rc;
}
#endif
