/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the fileio test are on: file system, device, room, and what direct I/O needs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "base/log.h"
#include "tests/fileio/fileio.h"

struct mount {
  char point[PATH_MAX], type[64], source[256];
};

static const char *folder(const struct bn_fileio_plan *p)
{
  return p->conf->dir != NULL && p->conf->dir[0] != '\0' ? p->conf->dir : ".";
}

/* mountinfo writes blanks and the like as \040. */
static void decode(char *text)
{
  char *out = text;

  for (const char *in = text; *in != '\0'; in++) {
    if (in[0] == '\\' && in[1] >= '0' && in[1] <= '3' && in[2] != '\0' && in[3] != '\0') {
      *out++ = (char)((in[1] - '0') * 64 + (in[2] - '0') * 8 + (in[3] - '0'));
      in += 3;
    } else {
      *out++ = *in;
    }
  }
  *out = '\0';
}

static bool is_above(const char *point, const char *path)
{
  const size_t n = strlen(point);

  return strcmp(point, "/") == 0 ||
         (strncmp(point, path, n) == 0 && (path[n] == '/' || path[n] == '\0'));
}

/* One line: "36 35 98:0 /root /point options [more] - type source super". */
static bool read_mount(char *line, struct mount *m)
{
  char *dash = strstr(line, " - ");

  if (dash == NULL || sscanf(line, "%*s %*s %*s %*s %4095s", m->point) != 1 ||
      sscanf(dash + 3, "%63s %255s", m->type, m->source) != 2)
    return false;
  decode(m->point);
  decode(m->source);
  return true;
}

/* The mount with the longest point above path; of equal ones the last, which hides the others. */
static bool find_mount(const char *path, struct mount *out)
{
  FILE *f = fopen("/proc/self/mountinfo", "re");
  struct mount *m = malloc(sizeof *m);
  char *line = NULL;
  size_t room = 0;
  bool found = false;

  while (f != NULL && m != NULL && getline(&line, &room, f) > 0)
    if (read_mount(line, m) && is_above(m->point, path) &&
        (!found || strlen(m->point) >= strlen(out->point))) {
      *out = *m;
      found = true;
    }
  free(line);
  free(m);
  if (f != NULL)
    (void)fclose(f);
  return found;
}

static bool is_device(int fd, struct stat *st)
{
  return fstat(fd, st) == 0 && S_ISBLK(st->st_mode);
}

static bool is_in_memory(int fd)
{
  struct statfs fs;
  struct stat st;

  /* Names of devices are in memory, too. */
  return !is_device(fd, &st) && fstatfs(fd, &fs) == 0 &&
         (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}

static void warn_about_memory(const struct bn_fileio_plan *p, int fd)
{
  const uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
  const uint64_t all = p->span * p->files;
  char is[64], has[64];

  if (is_in_memory(fd)) {
    bn_log_stderr("files: they are in memory, so this measures memory: choose a folder on a device "
                  "with --file-dir");
    return;
  }
  if (p->direct || all >= memory)
    return;
  bn_fileio_size_text(p, all, is, sizeof is);
  bn_fileio_size_text(p, memory, has, sizeof has);
  bn_log_stderr(
      "files: %s fit into the %s of memory, so the page cache answers for the device: use "
      "--file-extra-flags=direct or a larger --file-total-size",
      is, has);
}

void bn_device_describe(const struct bn_fileio_plan *p, int fd)
{
  char *path = realpath(folder(p), NULL);
  struct mount *m = malloc(sizeof *m);
  struct stat st;

  if (is_device(fd, &st))
    bn_log_stderr("files: test_file.0 is the device %u:%u itself", major(st.st_rdev),
                  minor(st.st_rdev));
  else if (path != NULL && m != NULL && find_mount(path, m))
    bn_log_stderr("files: %s is %s on %s, mounted on %s", path, m->type, m->source, m->point);
  else if (path != NULL && fstat(fd, &st) == 0)
    bn_log_stderr("files: %s is on device %u:%u, whose mount point cannot be seen from here", path,
                  major(st.st_dev), minor(st.st_dev));
  free(path);
  free(m);
  warn_about_memory(p, fd);
}

/* What offsets and lengths of direct I/O must be multiples of; 0: there is none; -1: not known. */
#ifdef STATX_DIOALIGN
static int64_t direct_alignment(int fd)
{
  struct statx x;

  if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &x) != 0 || (x.stx_mask & STATX_DIOALIGN) == 0)
    return -1;
  return x.stx_dio_offset_align;
}
#else
static int64_t direct_alignment(int fd)
{
  (void)fd;
  return -1;
}
#endif

static int no_direct(struct bn_err *err)
{
  return bn_err_set(err, EINVAL,
                    "this file system has no direct I/O: use --file-dir, or leave 'direct' out of "
                    "--file-extra-flags");
}

int bn_device_check_direct(const struct bn_fileio_plan *p, int fd, struct bn_err *err)
{
  const int64_t unit = direct_alignment(fd);

  if (unit == 0)
    return no_direct(err);
  if (unit > 0 && p->conf->block_size % (uint64_t)unit != 0)
    return bn_err_set(err, EINVAL,
                      "direct I/O here needs a --file-block-size that is a multiple of %lld, not "
                      "%llu",
                      (long long)unit, (unsigned long long)p->conf->block_size);
  return 0;
}

int bn_device_try(const struct bn_fileio_plan *p, int *fd, struct bn_err *err)
{
  *fd = open(folder(p), O_TMPFILE | O_RDWR | p->open_flags, 0600);
  if (*fd < 0)
    return errno == EINVAL && p->direct ? no_direct(err) : 0;
  return p->direct ? bn_device_check_direct(p, *fd, err) : 0;
}

int bn_device_check_space(const struct bn_fileio_plan *p, uint64_t bytes, uint64_t files,
                          struct bn_err *err)
{
  char need[64], has[64];
  struct statvfs fs;
  uint64_t room;

  if (statvfs(folder(p), &fs) != 0)
    return bn_err_set(err, errno, "cannot look at the folder '%s': %s", folder(p), strerror(errno));
  /* File systems that make inodes as they need them say that they have none. */
  if (fs.f_files != 0 && files > (uint64_t)fs.f_favail)
    return bn_err_set(err, ENOSPC,
                      "%llu files have to be made, but the file system of '%s' can hold only %llu "
                      "more: lower --file-num or use --file-dir",
                      (unsigned long long)files, folder(p), (unsigned long long)fs.f_favail);
  room = (uint64_t)fs.f_bavail * fs.f_frsize;
  if (bytes <= room)
    return 0;
  bn_fileio_size_text(p, bytes, need, sizeof need);
  bn_fileio_size_text(p, room, has, sizeof has);
  return bn_err_set(err, ENOSPC,
                    "the files need %s more, but the file system of '%s' has %s left: lower "
                    "--file-total-size or use --file-dir",
                    need, folder(p), has);
}
