/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens files for writing without being led to another one by a link. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/units.h"

static int give_up(int fd, int error)
{
  if (fd >= 0)
    (void)close(fd);
  errno = error;
  return -1;
}

int bn_file_descriptor(const char *path)
{
  static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};

  if (strcmp(path, "/dev/stdout") == 0)
    return STDOUT_FILENO;
  if (strcmp(path, "/dev/stderr") == 0)
    return STDERR_FILENO;
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    const size_t len = strlen(folders[i]);
    int64_t n;

    if (strncmp(path, folders[i], len) == 0 && bn_units_int(path + len, &n) == 0 && n >= 0 &&
        n <= INT_MAX)
      return (int)n;
  }
  return -1;
}

int bn_file_open(const char *path, int flags, mode_t mode)
{
  const int fd = open(path, flags | O_NOFOLLOW | O_CLOEXEC, mode);
  struct stat st;

  if (fd < 0)
    return -1;
  if (fstat(fd, &st) != 0)
    return give_up(fd, errno);
  return S_ISREG(st.st_mode) && st.st_nlink > 1 ? give_up(fd, EMLINK) : fd;
}

static int duplicate(int fd)
{
  const int flags = fcntl(fd, F_GETFL);

  if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
    return give_up(-1, EBADF);
  return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

int bn_file_create(const char *path)
{
  const int known = bn_file_descriptor(path);
  struct stat st;
  int fd;

  if (known >= 0)
    return duplicate(known);
  fd = bn_file_open(path, O_WRONLY | O_CREAT, 0666);
  /* Not before it is known to be no link. */
  if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && ftruncate(fd, 0) != 0)
    return give_up(fd, errno);
  return fd;
}

const char *bn_file_reason(int error)
{
  switch (error) {
  case ELOOP:
    return "it is a symbolic link, which could lead to another's file; remove it, or name the file "
           "that is meant";
  case EMLINK:
    return "it is a hard link, which could lead to another's file; remove it, or name the file "
           "that is meant";
  case EBADF:
    return "it is not open for writing; name a file";
  default:
    return strerror(error);
  }
}
