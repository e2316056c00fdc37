/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens files for writing without being led to another one by a link, and replaces them whole. */
#include "base/file.h"

#include <ctype.h>
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

enum { LINKS_MAX = 8 /* links that bn_file_follow goes through, one after another */ };

static int file_fail(int error)
{
  errno = error;
  return -1;
}

static int file_close_and_fail(int fd, int error)
{
  (void)close(fd);
  return file_fail(error);
}

int bn_file_open_standard(void)
{
  int fd;

  /* open(2) returns the lowest number that is free. */
  do
    fd = open("/dev/null", O_RDONLY);
  while (fd >= 0 && fd <= STDERR_FILENO);
  return fd < 0 ? -1 : close(fd);
}

/* Parses the number of a descriptor.  Returns -1 if the text is anything else. */
static int file_parse_descriptor(const char *text)
{
  int64_t number;

  /* The kernel knows no blanks and signs before the number. */
  if (!isdigit((unsigned char)text[0]) || bn_units_parse_int(text, &number) != 0)
    return -1;
  return number <= INT_MAX ? (int)number : -1;
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

    if (strncmp(path, folders[i], len) == 0)
      return file_parse_descriptor(path + len);
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
    return file_close_and_fail(fd, errno);
  if (S_ISREG(st.st_mode) && st.st_nlink > 1)
    return file_close_and_fail(fd, EMLINK);
  return fd;
}

static bool file_is_writable(int fd)
{
  const int flags = fcntl(fd, F_GETFL);

  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

static bool file_is_fifo(const char *path)
{
  struct stat st;

  return lstat(path, &st) == 0 && S_ISFIFO(st.st_mode);
}

/* Returns whether to go on waiting for the reader of a FIFO; set by bn_file_wait_while.  NULL: the
   wait goes on for ever. */
static bool (*file_wants_wait)(void);

void bn_file_wait_while(bool (*wanted)(void))
{
  file_wants_wait = wanted;
}

/* Opens a device or a FIFO for writing, and waits for the reader of a FIFO as bn_file_wait_while
   says.  open(2) itself would wait in spite of signals that the program has blocked.  Returns the
   descriptor, or -1 and errno. */
static int file_open_special(const char *path)
{
  static const uint64_t retry_ns = 20 * BN_NSEC_PER_MSEC;

  do {
    const int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd >= 0) /* writes are to wait until they can be done */
      return fcntl(fd, F_SETFL, 0) == 0 ? fd : file_close_and_fail(fd, errno);
    const bool lacks_reader = errno == ENXIO && file_is_fifo(path);

    if (!lacks_reader)
      return -1;
    bn_clock_sleep_until(bn_clock_mono() + retry_ns);
  } while (file_wants_wait == NULL || file_wants_wait());
  return file_fail(ENXIO);
}

int bn_file_reopen(const char *path)
{
  const int descriptor = bn_file_find_descriptor(path);

  if (descriptor >= 0) {
    if (!file_is_writable(descriptor))
      return file_fail(EBADF);
    return fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  }
  if (file_is_fifo(path))
    return file_open_special(path);
  return bn_file_open(path, O_WRONLY | O_CREAT, 0666);
}

int bn_file_create(const char *path)
{
  const int fd = bn_file_reopen(path);
  struct stat st;

  if (fd < 0 || bn_file_find_descriptor(path) >= 0)
    return fd;
  /* The file is emptied only now: with O_TRUNC, bn_file_open would empty a hard link before
     refusing it. */
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && ftruncate(fd, 0) != 0)
    return file_close_and_fail(fd, errno);
  return fd;
}

const char *bn_file_name(const char *path)
{
  const char *slash = strrchr(path, '/');

  return slash != NULL ? slash + 1 : path;
}

void bn_file_copy_folder(const char *path, char out[PATH_MAX])
{
  const char *slash = strrchr(path, '/');

  if (slash == NULL)
    (void)snprintf(out, PATH_MAX, ".");
  else
    (void)snprintf(out, PATH_MAX, "%.*s", (int)(slash - path) + 1, path);
}

/* A file, or the folder and the name of a file that does not exist. */
struct place {
  dev_t dev; /* of the file, or of the folder */
  ino_t ino;
  const char *name; /* in the folder; "": the file exists */
};

/* Finds the place of a file.  Returns false if neither the file nor its folder exists. */
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
  struct place place_a, place_b;

  if (strcmp(a, b) == 0)
    return true;
  if (!file_find_place(a, &place_a) || !file_find_place(b, &place_b))
    return false;
  return place_a.dev == place_b.dev && place_a.ino == place_b.ino &&
         strcmp(place_a.name, place_b.name) == 0;
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

/* Reads a symbolic link into text[0..size).  Returns the length of its text, or 0 if the path is no
   link or cannot be opened, which the later open reports.  Returns -1 and errno after a failure;
   ELOOP: a user other than this one and root may have made the link, because it belongs to that
   user, or because it has a second name. */
static ssize_t file_read_link(const char *path, char *text, size_t size)
{
  const int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  struct stat st;
  ssize_t n = 0;

  if (fd < 0)
    return 0;
  if (fstat(fd, &st) == 0 && S_ISLNK(st.st_mode)) {
    const bool is_trusted_owner = st.st_uid == geteuid() || st.st_uid == 0;

    if (!is_trusted_owner || st.st_nlink > 1)
      return file_close_and_fail(fd, ELOOP);
    n = readlinkat(fd, "", text, size);
  }
  (void)close(fd);
  return n;
}

/* Replaces the path of a link by the path that its text names, seen from the folder of the link.
   Returns false if the result is too long. */
static bool file_apply_link(char path[PATH_MAX], const char *text, size_t len)
{
  const char *slash = strrchr(path, '/');
  const size_t folder_len = text[0] == '/' || slash == NULL ? 0 : (size_t)(slash - path) + 1;

  if (folder_len + len >= PATH_MAX)
    return false;
  memcpy(path + folder_len, text, len);
  path[folder_len + len] = '\0';
  return true;
}

int bn_file_follow(const char *path, char out[PATH_MAX])
{
  char text[PATH_MAX];

  if ((size_t)snprintf(out, PATH_MAX, "%s", path) >= PATH_MAX)
    return file_fail(ENAMETOOLONG);
  for (int links = 0; links <= LINKS_MAX; links++) {
    const ssize_t len = file_read_link(out, text, sizeof text);

    if (len <= 0)
      return (int)len;
    if (!file_apply_link(out, text, (size_t)len))
      return file_fail(ENAMETOOLONG);
  }
  return file_fail(ELOOP);
}

/* --- replacing -------------------------------------------------------------------------------- */

const char *bn_file_find_fault(const char *path)
{
  const int descriptor = bn_file_find_descriptor(path);
  struct stat st;

  if (path[0] == '\0')
    return "the name is empty; name a file";
  if (descriptor >= 0)
    return file_is_writable(descriptor) ? NULL : "this is not open for writing; name a file";
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

/* Closes a file.  `error` is the errno value of an earlier failure, or 0.  Returns 0, or -1 and in
   errno the first error, which may be that of close(2). */
static int file_finish(int fd, int error)
{
  if (close(fd) != 0 && error == 0)
    error = errno;
  return error == 0 ? 0 : file_fail(error);
}

/* Writes to a device or a FIFO. */
static int file_write_special(const char *path, const char *text, size_t len)
{
  const int fd = file_open_special(path);

  if (fd < 0)
    return -1;
  const bool is_written = bn_file_write_all(fd, text, len) == 0;

  return file_finish(fd, is_written ? 0 : errno);
}

/* Gives the new file the owner, the group and the rights of the old one, as far as the user may do
   so.  Nobody gains the right to read: if the group cannot be kept, the new group has no rights. */
static void file_keep_rights(int fd, const struct stat *old)
{
  mode_t mode = old->st_mode & 0777; /* without the bits that set the user or the group */
  const bool keeps_group = fchown(fd, old->st_uid, old->st_gid) == 0 ||
                           fchown(fd, (uid_t)-1 /* the user stays */, old->st_gid) == 0;

  if (!keeps_group)
    mode &= (mode_t)~S_IRWXG;
  /* A file system without rights has none to keep. */
  (void)fchmod(fd, mode);
}

/* Writes a new file, which is on the disk when this returns.  The file has the rights of `old`,
   which it will replace; if `old` is NULL, there is none, and the umask decides.  Returns 0, or -1
   and errno; the caller then removes the file, which may exist in part. */
static int file_write_temp(const char *path, const struct stat *old, const char *text, size_t len)
{
  /* No other user can open the new file before it has the rights of the old one. */
  const mode_t mode = old != NULL ? 0600 : 0666;
  const int fd = open(path, O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL, mode);

  if (fd < 0)
    return -1;
  if (old != NULL)
    file_keep_rights(fd, old);
  const bool is_on_disk = bn_file_write_all(fd, text, len) == 0 && fsync(fd) == 0;

  return file_finish(fd, is_on_disk ? 0 : errno);
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

/* Writes the name of a temporary file beside `path` to `temp`, and removes a file of that name.
   The suffix is not longer than ".partial", because a process number has at most six hexadecimal
   digits on Linux.  So a run whose journal FILE.partial has no name too long can also save FILE.
   Returns 0, or -1 and errno. */
static int file_clear_temp(const char *path, char temp[PATH_MAX])
{
  if ((size_t)snprintf(temp, PATH_MAX, "%s.n%lx", path, (unsigned long)getpid()) >= PATH_MAX)
    return file_fail(ENAMETOOLONG);
  (void)unlink(temp); /* left by a killed process with the same number */
  return 0;
}

/* Writes a new file beside `path` and renames it to `path`.  Returns 0, or -1 and errno; a file at
   `path` is then unchanged. */
static int file_replace(const char *path, const char *text, size_t len)
{
  char temp[PATH_MAX];
  struct stat old;
  const bool has_old = lstat(path, &old) == 0 && S_ISREG(old.st_mode);

  if (file_clear_temp(path, temp) != 0)
    return -1;
  if (file_write_temp(temp, has_old ? &old : NULL, text, len) != 0 || rename(temp, path) != 0) {
    const int error = errno;

    (void)unlink(temp);
    return file_fail(error);
  }
  file_sync_folder(path);
  return 0;
}

bool bn_file_is_replaceable(const char *path)
{
  struct stat st;

  return bn_file_find_descriptor(path) < 0 &&
         (lstat(path, &st) != 0 || S_ISREG(st.st_mode) || S_ISLNK(st.st_mode));
}

int bn_file_try_save(const char *path)
{
  char temp[PATH_MAX];
  int fd;

  if (!bn_file_is_replaceable(path))
    return 0;
  if (file_clear_temp(path, temp) != 0)
    return -1;
  fd = open(temp, O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL, 0600);
  if (fd < 0)
    return -1;
  (void)unlink(temp);
  return close(fd);
}

int bn_file_save(const char *path, const char *text, size_t len)
{
  const int descriptor = bn_file_find_descriptor(path);

  if (descriptor >= 0)
    return bn_file_write_all(descriptor, text, len);
  if (bn_file_is_replaceable(path))
    return file_replace(path, text, len);
  return file_write_special(path, text, len);
}

void bn_file_drop_unsaved(const char *path)
{
  char temp[PATH_MAX];

  /* Only the removal is of interest, and a name that is too long has no such file. */
  if (bn_file_is_replaceable(path))
    (void)file_clear_temp(path, temp);
}

int bn_file_read_all(int fd, struct bn_buf *text)
{
  char piece[1 << 14];
  ssize_t n;

  do {
    n = read(fd, piece, sizeof piece);
    /* At the end of the file, adding 0 bytes allocates text->data even if the file is empty. */
    if (n >= 0 && bn_buf_add(text, piece, (size_t)n) != 0)
      return file_fail((size_t)n > text->max - text->len ? EFBIG : ENOMEM);
  } while (n > 0 || (n < 0 && errno == EINTR));
  return n < 0 ? -1 : 0;
}

int bn_file_read(const char *path, struct bn_buf *text)
{
  const int fd = open(path, O_RDONLY | O_CLOEXEC);

  if (fd < 0)
    return -1;
  if (bn_file_read_all(fd, text) != 0)
    return file_close_and_fail(fd, errno);
  (void)close(fd);
  return 0;
}
