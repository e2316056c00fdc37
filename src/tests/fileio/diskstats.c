/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the counters of the device under the files: /proc/diskstats. */
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/clock.h"
#include "tests/fileio/fileio.h"

/* The column of each value in a row, and the unit of that column. */
static const struct {
  enum bn_disk_field field;
  uint64_t unit;
} columns[BN_DISK_VALUES] = {
    [BN_DISK_READS] = {BN_ROW_READS, 1},
    [BN_DISK_BYTES_READ] = {BN_ROW_SECTORS_READ, 512},
    [BN_DISK_READ_NS] = {BN_ROW_READ_MS, BN_NSEC_PER_MSEC},
    [BN_DISK_WRITES] = {BN_ROW_WRITES, 1},
    [BN_DISK_BYTES_WRITTEN] = {BN_ROW_SECTORS_WRITTEN, 512},
    [BN_DISK_WRITE_NS] = {BN_ROW_WRITE_MS, BN_NSEC_PER_MSEC},
    [BN_DISK_FLUSHES] = {BN_ROW_FLUSHES, 1},
    [BN_DISK_FLUSH_NS] = {BN_ROW_FLUSH_MS, BN_NSEC_PER_MSEC},
    [BN_DISK_BUSY_NS] = {BN_ROW_BUSY_MS, BN_NSEC_PER_MSEC},
    [BN_DISK_QUEUE_NS] = {BN_ROW_QUEUE_MS, BN_NSEC_PER_MSEC},
};

void bn_diskstats_find(struct bn_diskrow *row, int fd)
{
  struct stat st;

  *row = (struct bn_diskrow){.major = 0};
  /* File systems without a device of their own (tmpfs, overlay, NFS) have numbers with major 0,
     which no device has. */
  if (fstat(fd, &st) == 0) {
    const dev_t device = S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev;

    row->major = major(device);
    row->minor = minor(device);
  }
}

void bn_diskstats_convert(const uint64_t row[BN_ROW_FIELDS], uint64_t out[BN_DISK_VALUES])
{
  for (size_t i = 0; i < BN_DISK_VALUES; i++) {
    const uint64_t n = row[columns[i].field];

    out[i] = n != BN_ABSENT ? n * columns[i].unit : BN_ABSENT;
  }
}

void bn_diskstats_read(struct bn_diskrow *row, uint64_t out[BN_DISK_VALUES])
{
  if (row->major != 0 && bn_diskrow_read(row)) {
    bn_diskstats_convert(row->value, out);
    return;
  }
  for (size_t i = 0; i < BN_DISK_VALUES; i++)
    out[i] = BN_ABSENT;
}
