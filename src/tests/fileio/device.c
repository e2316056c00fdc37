/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks the file system and the device under the files of the fileio test: space, inodes, and the
   requirements of direct I/O. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "base/log.h"
#include "measure/host.h"
#include "tests/fileio/engines.h"
#include "tests/fileio/fileio.h"

const char *bn_device_folder(const struct bn_fileio_plan *p)
{
  return p->conf->dir != NULL && p->conf->dir[0] != '\0' ? p->conf->dir : ".";
}

/* Returns whether the open file is a block device; then *st is its state. */
static bool device_is_block(int fd, struct stat *st)
{
  return fstat(fd, st) == 0 && S_ISBLK(st->st_mode);
}

/* Returns whether the open file is in memory.  A block device is not, although the folder of its
   name is. */
static bool device_is_in_memory(int fd)
{
  struct statfs fs;
  struct stat st;

  if (device_is_block(fd, &st) || fstatfs(fd, &fs) != 0)
    return false;
  return fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC;
}

/* Returns whether requests are copies to and from mapped pages.  These are pages of the page cache
   whatever --file-extra-flags says: O_DIRECT, O_SYNC and O_DSYNC do not apply to them. */
static bool device_is_mapped(const struct bn_fileio_plan *p)
{
  return p->conf->io_mode == BN_IO_MMAP;
}

/* Returns whether each write reaches the device at once. */
static bool device_flushes_each_write(const struct bn_fileio_plan *p)
{
  const bool is_synced_by_flag = (p->sync || p->dsync) && !device_is_mapped(p);

  return p->conf->fsync_all || p->fsync_freq == 1 || is_synced_by_flag;
}

/* Returns how many bytes of the files the page cache can hold: the memory of the host, or the limit
   of the control group, for which the pages of the cache count. */
static uint64_t device_read_cache_size(void)
{
  struct bn_host host;

  bn_host_read(&host, "");
  if (host.memory_limit_bytes != 0 && host.memory_limit_bytes < host.memory_bytes)
    return host.memory_limit_bytes;
  return host.memory_bytes;
}

/* Logs that the page cache serves requests, if it can hold the files and the requests need not
   reach the device.  Direct I/O makes all requests reach it.  A flush after each write makes the
   writes reach it, but not the reads. */
static void device_warn_about_cache(const struct bn_fileio_plan *p)
{
  const uint64_t file_bytes = p->span * p->files;
  const bool writes_reach_device = p->writing && device_flushes_each_write(p);
  const bool mapped = device_is_mapped(p);
  const bool all_reach_device =
      (p->direct && !mapped) || (writes_reach_device && !bn_fileio_reads(p));
  const char *remedy = mapped ? "a larger --file-total-size, or another --file-io-mode with "
                                "--file-extra-flags=direct"
                              : "--file-extra-flags=direct or a larger --file-total-size";
  char files[64], memory[64];

  if (all_reach_device)
    return;
  const uint64_t cache_bytes = device_read_cache_size();

  if (file_bytes >= cache_bytes)
    return;
  bn_fileio_format_size(p, file_bytes, files, sizeof files);
  bn_fileio_format_size(p, cache_bytes, memory, sizeof memory);
  bn_log_note("the test files (%s) fit into memory (%s), so the page cache serves %s instead of "
              "the device: use %s",
              files, memory, writes_reach_device ? "reads" : "requests", remedy);
}

/* Reports what the run writes. */
static void device_report_data(const struct bn_fileio_plan *p, const struct bn_services *services)
{
  char text[32] = "random";

  if (p->validate)
    (void)snprintf(text, sizeof text, "random with checksums");
  else if (p->zeros > 0)
    (void)snprintf(text, sizeof text, "%u%% zeros", p->zeros);
  services->fact(services->of, "files", "data_written", text);
}

void bn_device_describe(const struct bn_fileio_plan *p, int fd, const struct bn_services *services)
{
  struct bn_place place;
  struct stat st;

  bn_place_read(&place, "", bn_device_folder(p));
  services->fact(services->of, "files", "folder", place.path);
  services->fact(services->of, "files", "file_system", place.file_system);
  services->fact(services->of, "files", "device", place.device);
  if (p->writing)
    device_report_data(p, services);
  if (device_is_block(fd, &st))
    bn_log_note("files: test_file.0 is the device %u:%u itself", major(st.st_rdev),
                minor(st.st_rdev));
  if (device_is_in_memory(fd))
    bn_log_note("the file system of the test files is in memory, so the test measures memory: "
                "choose a folder on a device with --file-dir");
  else
    device_warn_about_cache(p);
}

/* Returns the alignment of offsets and lengths for direct I/O; 0: not possible; -1: not known. */
#ifdef STATX_DIOALIGN
static int64_t device_read_direct_alignment(int fd)
{
  struct statx x;

  if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &x) != 0 || (x.stx_mask & STATX_DIOALIGN) == 0)
    return -1;
  return x.stx_dio_offset_align;
}
#else
static int64_t device_read_direct_alignment(int fd)
{
  (void)fd;
  return -1;
}
#endif

/* Sets the sentence for a file system without direct I/O.  Returns -1. */
static int device_refuse_direct(struct bn_err *err)
{
  return bn_err_set(err, EINVAL,
                    "this file system has no direct I/O: use --file-dir, or leave 'direct' out of "
                    "--file-extra-flags");
}

int bn_device_check_direct(const struct bn_fileio_plan *p, int fd, struct bn_err *err)
{
  const int64_t unit = device_read_direct_alignment(fd);

  if (unit == 0)
    return device_refuse_direct(err);
  if (unit > 0 && p->conf->block_size % (uint64_t)unit != 0)
    return bn_err_set(err, EINVAL,
                      "direct I/O here needs a --file-block-size that is a multiple of %lld, not "
                      "%llu",
                      (long long)unit, (unsigned long long)p->conf->block_size);
  return 0;
}

int bn_device_try_file(const struct bn_fileio_plan *p, int *fd, struct bn_err *err)
{
  *fd = open(bn_device_folder(p), O_TMPFILE | O_RDWR | p->open_flags, 0600);
  if (*fd >= 0)
    return p->direct ? bn_device_check_direct(p, *fd, err) : 0;
  if (errno == EINVAL && p->direct)
    return device_refuse_direct(err);
  /* Any other failure ends only this check: some file systems have no files without names, and the
     test's own files report a folder that is missing, full or not writable. */
  return 0;
}

/* Returns how many bytes this user may still write: root may also use the blocks that a file system
   keeps for it. */
static uint64_t device_count_free_bytes(const struct statvfs *fs)
{
  return (uint64_t)(geteuid() == 0 ? fs->f_bfree : fs->f_bavail) * fs->f_frsize;
}

int bn_device_check_space(const struct bn_fileio_plan *p, uint64_t bytes, uint64_t files,
                          struct bn_err *err)
{
  char needed[64], available[64];
  struct statvfs fs;

  if (statvfs(bn_device_folder(p), &fs) != 0)
    return bn_err_set(err, errno, "cannot read how much room the file system of '%s' has: %s",
                      bn_device_folder(p), strerror(errno));
  /* File systems that create inodes on demand report that they have none. */
  if (fs.f_files != 0 && files > (uint64_t)fs.f_favail)
    return bn_err_set(err, ENOSPC,
                      "%llu files have to be made, but the file system of '%s' can hold only %llu "
                      "more: lower --file-num or use --file-dir",
                      (unsigned long long)files, bn_device_folder(p),
                      (unsigned long long)fs.f_favail);
  const uint64_t room = device_count_free_bytes(&fs);

  /* Some file systems report no size at all. */
  if (bytes <= room || fs.f_blocks == 0)
    return 0;
  bn_fileio_format_size(p, bytes, needed, sizeof needed);
  bn_fileio_format_size(p, room, available, sizeof available);
  return bn_err_set(err, ENOSPC,
                    "the files need %s more, but the file system of '%s' has %s left: lower "
                    "--file-total-size or use --file-dir",
                    needed, bn_device_folder(p), available);
}
