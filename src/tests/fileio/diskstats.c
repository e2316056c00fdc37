/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the counters of the device under the files: /proc/diskstats. */
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "measure/diskrow.h"
#include "tests/fileio/fileio.h"

enum { SECTOR = 512, NS_PER_MS = 1000000 };

/* The column of each value in a row. */
static const enum bn_disk_field fields[BN_DISK_VALUES] = {
    [BN_DISK_READS] = BN_ROW_READS,
    [BN_DISK_BYTES_READ] = BN_ROW_SECTORS_READ,
    [BN_DISK_READ_NS] = BN_ROW_READ_MS,
    [BN_DISK_WRITES] = BN_ROW_WRITES,
    [BN_DISK_BYTES_WRITTEN] = BN_ROW_SECTORS_WRITTEN,
    [BN_DISK_WRITE_NS] = BN_ROW_WRITE_MS,
    [BN_DISK_FLUSHES] = BN_ROW_FLUSHES,
    [BN_DISK_FLUSH_NS] = BN_ROW_FLUSH_MS,
    [BN_DISK_BUSY_NS] = BN_ROW_BUSY_MS,
    [BN_DISK_QUEUE_NS] = BN_ROW_QUEUE_MS,
};

void bn_diskstats_init(struct bn_diskstats *d, int fd)
{
  struct stat st;

  *d = (struct bn_diskstats){0};
  /* File systems without a device of their own (tmpfs, overlay, NFS) have numbers with major 0,
     which no device has. */
  if (fstat(fd, &st) == 0) {
    const dev_t device = S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev;

    d->major = major(device);
    d->minor = minor(device);
  }
}

/* Returns by how much a value of the kernel has grown, in the unit of its name.  Times are 32 bits
   of milliseconds: at a queue of 128, a time wraps around after nine hours. */
static uint64_t diskstats_growth(enum bn_disk_value value, uint64_t now, uint64_t before)
{
  switch (value) {
  case BN_DISK_BYTES_READ:
  case BN_DISK_BYTES_WRITTEN:
    return (now - before) * SECTOR;
  case BN_DISK_READ_NS:
  case BN_DISK_WRITE_NS:
  case BN_DISK_FLUSH_NS:
  case BN_DISK_BUSY_NS:
  case BN_DISK_QUEUE_NS:
    return (uint64_t)(uint32_t)(now - before) * NS_PER_MS;
  default:
    return now - before;
  }
}

void bn_diskstats_add(struct bn_diskstats *d, const uint64_t *row, uint64_t out[BN_DISK_VALUES])
{
  for (enum bn_disk_value i = 0; i < BN_DISK_VALUES; i++) {
    const uint64_t raw = row != NULL ? row[fields[i]] : BN_ABSENT;

    if (raw == BN_ABSENT) {
      out[i] = BN_ABSENT;
      continue;
    }
    if (d->has_last)
      d->value[i] += diskstats_growth(i, raw, d->last[i]);
    d->last[i] = raw;
    out[i] = d->value[i];
  }
  d->has_last = d->has_last || row != NULL;
}

void bn_diskstats_update(struct bn_diskstats *d, uint64_t out[BN_DISK_VALUES])
{
  uint64_t row[BN_ROW_FIELDS];
  const bool has_row = d->major != 0 && bn_diskrow_read(d->major, d->minor, row);

  bn_diskstats_add(d, has_row ? row : NULL, out);
}
