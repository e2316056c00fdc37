/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens files for writing without being led to another one by a link, and replaces them whole. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/units.h"

enum { LINKS_MAX = 8 };

/* Closes the descriptor, if there is one (-1: none), sets errno to the error, and returns -1. */
static int file_give_up(int fd, int error)
{
  if (fd >= 0)
    (void)close(fd);
  errno = error;
  return -1;
}

int bn_file_open_standard(void)
{
  int fd;

  do
    fd = open("/dev/null", O_RDONLY);
  while (fd >= 0 && fd <= STDERR_FILENO);
  return fd < 0 ? -1 : close(fd);
}

int bn_file_find_descriptor(const char *path)
{
  static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};

  if (strcmp(path, "/dev/stdout") == 0)
    return STDOUT_FILENO;
  if (strcmp(path, "/dev/stderr") == 0)
    return STDERR_FILENO;
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    const size_t len = strlen(folders[i]);
    int64_t n;

    /* The kernel knows no blanks and signs before the number. */
    if (strncmp(path, folders[i], len) == 0 && path[len] >= '0' && path[len] <= '9' &&
        bn_units_parse_int(path + len, &n) == 0 && n <= INT_MAX)
      return (int)n;
  }
  return -1;
}

bool bn_file_is_stdout(const char *path)
{
  return path == NULL || bn_file_find_descriptor(path) == STDOUT_FILENO;
}

int bn_file_open(const char *path, int flags, mode_t mode)
{
  const int fd = open(path, flags | O_NOFOLLOW | O_CLOEXEC, mode);
  struct stat st;

  if (fd < 0)
    return -1;
  if (fstat(fd, &st) != 0)
    return file_give_up(fd, errno);
  return S_ISREG(st.st_mode) && st.st_nlink > 1 ? file_give_up(fd, EMLINK) : fd;
}

static bool file_is_writable(int fd)
{
  const int flags = fcntl(fd, F_GETFL);

  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

/* Returns a duplicate of a descriptor that is open for writing, or -1 and errno. */
static int file_duplicate(int fd)
{
  if (!file_is_writable(fd))
    return file_give_up(-1, EBADF);
  return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

static bool file_is_fifo(const char *path)
{
  struct stat st;

  return lstat(path, &st) == 0 && S_ISFIFO(st.st_mode);
}

/* See bn_file_wait_while.  NULL: for ever. */
static bool (*file_wants_wait)(void);

void bn_file_wait_while(bool (*wanted)(void))
{
  file_wants_wait = wanted;
}

/* Opens a device or a FIFO for writing, and waits for the reader of a FIFO as bn_file_wait_while
   says.  open(2) itself would wait on and ignore the signals that the program blocks.  Returns the
   descriptor, or -1 and errno. */
static int file_open_special(const char *path)
{
  static const uint64_t retry_ns = 20 * BN_NSEC_PER_MSEC;
  int fd;

  do {
    fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0)
      return fcntl(fd, F_SETFL, 0) == 0 ? fd : file_give_up(fd, errno);
    if (errno != ENXIO || !file_is_fifo(path))
      return -1;
    bn_clock_sleep_until(bn_clock_mono() + retry_ns);
  } while (file_wants_wait == NULL || file_wants_wait());
  return file_give_up(-1, ENXIO);
}

int bn_file_reopen(const char *path)
{
  const int known = bn_file_find_descriptor(path);

  if (known >= 0)
    return file_duplicate(known);
  return file_is_fifo(path) ? file_open_special(path)
                            : bn_file_open(path, O_WRONLY | O_CREAT, 0666);
}

int bn_file_create(const char *path)
{
  const bool is_open = bn_file_find_descriptor(path) >= 0;
  const int fd = bn_file_reopen(path);
  struct stat st;

  /* The file is truncated after it is known to be no link. */
  if (fd >= 0 && !is_open && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && ftruncate(fd, 0) != 0)
    return file_give_up(fd, errno);
  return fd;
}

const char *bn_file_name(const char *path)
{
  const char *slash = strrchr(path, '/');

  return slash != NULL ? slash + 1 : path;
}

/* A file, or the folder and the name of a file that does not exist. */
struct place {
  dev_t dev;
  ino_t ino;
  const char *name;
};

void bn_file_copy_folder(const char *path, char out[PATH_MAX])
{
  const char *slash = strrchr(path, '/');

  if (slash == NULL)
    (void)snprintf(out, PATH_MAX, ".");
  else
    (void)snprintf(out, PATH_MAX, "%.*s", (int)(slash - path) + 1, path);
}

/* Finds the file, or the place of a new one.  Returns false if its folder does not exist either. */
static bool file_find_place(const char *path, struct place *place)
{
  char folder[PATH_MAX];
  struct stat st;

  *place = (struct place){.name = ""};
  if (stat(path, &st) != 0) {
    place->name = bn_file_name(path);
    bn_file_copy_folder(path, folder);
    if (stat(folder, &st) != 0)
      return false;
  }
  place->dev = st.st_dev;
  place->ino = st.st_ino;
  return true;
}

bool bn_file_is_same(const char *a, const char *b)
{
  struct place x, y;

  return strcmp(a, b) == 0 || (file_find_place(a, &x) && file_find_place(b, &y) && x.dev == y.dev &&
                               x.ino == y.ino && strcmp(x.name, y.name) == 0);
}

const char *bn_file_explain(int error)
{
  switch (error) {
  case ELOOP:
    return "it is a symbolic link, which could lead to a file of another user; remove it, or name "
           "its target";
  case EMLINK:
    return "it is a hard link, which could lead to a file of another user; remove it, or name "
           "another file";
  case ENXIO:
    return "no program reads this FIFO; start its reader first";
  case EBADF:
    return "it is not open for writing; name a file";
  default:
    return strerror(error);
  }
}

/* Reads a link of this user or of root.  Returns the length of its text; 0 if the path is no link,
   or if it cannot be opened, which the later open reports; or -1 and errno.  A link with a second
   name is refused too: another user may have made the name that was given. */
static ssize_t file_read_link(const char *path, char *text, size_t room)
{
  const int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  struct stat st;
  ssize_t n = 0;

  if (fd < 0)
    return 0;
  if (fstat(fd, &st) == 0 && S_ISLNK(st.st_mode)) {
    if ((st.st_uid != geteuid() && st.st_uid != 0) || st.st_nlink > 1)
      return file_give_up(fd, ELOOP);
    n = readlinkat(fd, "", text, room);
  }
  (void)close(fd);
  return n;
}

/* Replaces the path of a link by the path that its text names, seen from the folder of the link.
   Returns false if the result is too long. */
static bool file_apply_link(char path[PATH_MAX], const char *text, size_t len)
{
  const char *slash = strrchr(path, '/');
  const size_t folder = text[0] == '/' || slash == NULL ? 0 : (size_t)(slash - path) + 1;

  if (folder + len >= PATH_MAX)
    return false;
  memcpy(path + folder, text, len);
  path[folder + len] = '\0';
  return true;
}

int bn_file_follow(const char *path, char out[PATH_MAX])
{
  char text[PATH_MAX];

  if ((size_t)snprintf(out, PATH_MAX, "%s", path) >= PATH_MAX)
    return file_give_up(-1, ENAMETOOLONG);
  for (int i = 0; i <= LINKS_MAX; i++) {
    const ssize_t n = file_read_link(out, text, sizeof text);

    if (n <= 0)
      return (int)n;
    if (!file_apply_link(out, text, (size_t)n))
      return file_give_up(-1, ENAMETOOLONG);
  }
  return file_give_up(-1, ELOOP);
}

/* --- replacing -------------------------------------------------------------------------------- */

const char *bn_file_find_fault(const char *path)
{
  const int fd = bn_file_find_descriptor(path);
  struct stat st;

  if (path[0] == '\0')
    return "the name is empty; name a file";
  if (fd >= 0)
    return file_is_writable(fd) ? NULL : "this is not open for writing; name a file";
  /* Another user may have made the link to have another file overwritten. */
  if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
    return "this is a symbolic link; name the file that it leads to";
  if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
    return "this is a folder; name a file";
  return NULL;
}

int bn_file_write_all(int fd, const char *text, size_t len)
{
  while (len > 0) {
    const ssize_t n = write(fd, text, len);

    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return -1;
    text += n;
    len -= (size_t)n;
  }
  return 0;
}

/* Closes a file after an error, an errno value, or 0.  Returns 0, or -1 with the first error, which
   may be that of close(2). */
static int file_finish(int fd, int error)
{
  if (close(fd) != 0 && error == 0)
    error = errno;
  errno = error;
  return error == 0 ? 0 : -1;
}

/* Writes to a device or a FIFO. */
static int file_write_special(const char *path, const char *text, size_t len)
{
  const int fd = file_open_special(path);

  return fd < 0 ? -1 : file_finish(fd, bn_file_write_all(fd, text, len) != 0 ? errno : 0);
}

/* Gives the new file the owner, the group and the rights of the old one, as far as the user may do
   so.  Nobody gains the right to read: if the group cannot be kept, the new group has no rights. */
static void file_keep_rights(int fd, const struct stat *old)
{
  mode_t mode = old->st_mode & 0777;

  if (fchown(fd, old->st_uid, old->st_gid) != 0 && fchown(fd, (uid_t)-1, old->st_gid) != 0)
    mode &= (mode_t)~070;
  /* A file system without rights has none to keep. */
  (void)fchmod(fd, mode);
}

/* Writes a new file, which is on the disk when this returns.  The file has the rights of `old`,
   which it will replace; if `old` is NULL, there is none, and the umask decides.  Returns 0, or -1
   and errno; the caller removes what there may be of the file. */
static int file_write_fresh(const char *path, const struct stat *old, const char *text, size_t len)
{
  const int fd = open(path, O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL, old != NULL ? 0600 : 0666);

  if (fd < 0)
    return -1;
  if (old != NULL)
    file_keep_rights(fd, old);
  return file_finish(fd, bn_file_write_all(fd, text, len) != 0 || fsync(fd) != 0 ? errno : 0);
}

/* Makes the new name survive a crash of the machine, as far as the file system allows.  The file
   has been saved already, so that a failure here is not reported. */
static void file_sync_folder(const char *path)
{
  char folder[PATH_MAX];
  int fd;

  bn_file_copy_folder(path, folder);
  fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return;
  (void)fsync(fd);
  (void)close(fd);
}

/* Writes the name of the new file beside the old one to `fresh`, and removes a file of that name.
   Where a run could make its journal FILE.partial, this name is not too long either: a process
   number has at most six hexadecimal digits on Linux.  Returns 0, or -1 and errno. */
static int file_clear_fresh(const char *path, char fresh[PATH_MAX])
{
  if ((size_t)snprintf(fresh, PATH_MAX, "%s.n%lx", path, (unsigned long)getpid()) >= PATH_MAX)
    return file_give_up(-1, ENAMETOOLONG);
  (void)unlink(fresh); /* left by a killed process with the same number */
  return 0;
}

/* Writes a new file beside `path` and renames it to `path`.  Returns 0, or -1 and errno; `path` is
   then what it was. */
static int file_replace(const char *path, const char *text, size_t len)
{
  char fresh[PATH_MAX];
  struct stat old;
  const bool has_old = lstat(path, &old) == 0 && S_ISREG(old.st_mode);

  if (file_clear_fresh(path, fresh) != 0)
    return -1;
  if (file_write_fresh(fresh, has_old ? &old : NULL, text, len) != 0 || rename(fresh, path) != 0) {
    const int error = errno;

    (void)unlink(fresh);
    errno = error;
    return -1;
  }
  file_sync_folder(path);
  return 0;
}

bool bn_file_is_replaceable(const char *path)
{
  struct stat st;

  return lstat(path, &st) != 0 || S_ISREG(st.st_mode) || S_ISLNK(st.st_mode);
}

int bn_file_try_save(const char *path)
{
  char fresh[PATH_MAX];
  int fd;

  if (bn_file_find_descriptor(path) >= 0 || !bn_file_is_replaceable(path))
    return 0;
  if (file_clear_fresh(path, fresh) != 0)
    return -1;
  fd = open(fresh, O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL, 0600);
  if (fd < 0)
    return -1;
  (void)unlink(fresh);
  return close(fd);
}

int bn_file_save(const char *path, const char *text, size_t len)
{
  const int fd = bn_file_find_descriptor(path);

  if (fd >= 0)
    return bn_file_write_all(fd, text, len);
  return bn_file_is_replaceable(path) ? file_replace(path, text, len)
                                      : file_write_special(path, text, len);
}

void bn_file_drop_unsaved(const char *path)
{
  char fresh[PATH_MAX];

  /* Only the removal is of interest, and a name that is too long has no such file. */
  if (bn_file_find_descriptor(path) < 0 && bn_file_is_replaceable(path))
    (void)file_clear_fresh(path, fresh);
}

/* Appends what can be read from the descriptor up to its end.  Returns 0, or -1 and errno. */
static int file_read_all(int fd, struct bn_buf *text)
{
  char piece[1 << 14];
  ssize_t n;

  do {
    n = read(fd, piece, sizeof piece);
    /* At the end of the file, adding 0 bytes allocates text->data even if the file is empty. */
    if (n >= 0 && bn_buf_add(text, piece, (size_t)n) != 0)
      return file_give_up(-1, (size_t)n > text->max - text->len ? EFBIG : ENOMEM);
  } while (n > 0 || (n < 0 && errno == EINTR));
  return n < 0 ? -1 : 0;
}

int bn_file_read(const char *path, struct bn_buf *text)
{
  const int fd = open(path, O_RDONLY | O_CLOEXEC);

  if (fd < 0 || file_read_all(fd, text) != 0)
    return file_give_up(fd, errno);
  (void)close(fd);
  return 0;
}
