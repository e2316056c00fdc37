/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A row of /proc/diskstats: what the kernel has counted of a block device since it was found. */
#ifndef BN_MEASURE_DISKROW_H
#define BN_MEASURE_DISKROW_H

#include <stdbool.h>
#include <stdint.h>

/* In the order of the file, which Documentation/admin-guide/iostats.rst of Linux explains.  Sectors
   have 512 bytes.  Times are 32 bits of milliseconds and wrap around. */
enum bn_disk_field {
  BN_ROW_READS,
  BN_ROW_READS_MERGED,
  BN_ROW_SECTORS_READ,
  BN_ROW_READ_MS,
  BN_ROW_WRITES,
  BN_ROW_WRITES_MERGED,
  BN_ROW_SECTORS_WRITTEN,
  BN_ROW_WRITE_MS,
  BN_ROW_IN_FLIGHT, /* now */
  BN_ROW_BUSY_MS,   /* time with a request in flight */
  BN_ROW_QUEUE_MS,  /* requests in flight, integrated over time */
  BN_ROW_DISCARDS,  /* absent before Linux 4.18, as the next three */
  BN_ROW_DISCARDS_MERGED,
  BN_ROW_SECTORS_DISCARDED,
  BN_ROW_DISCARD_MS,
  BN_ROW_FLUSHES, /* absent before Linux 5.5, as the next one */
  BN_ROW_FLUSH_MS,
  BN_ROW_FIELDS
};

/* Reads the row of a device from a line.  A field that the kernel does not have is BN_ABSENT
   (api/metric.h).  Returns false, with `out` undefined, if the line is that of another device or
   lacks one of the first eleven fields. */
bool bn_diskrow_parse(const char *line, unsigned major, unsigned minor,
                      uint64_t out[BN_ROW_FIELDS]);
/* Widens the times of a row to 64 bits.  `before` is the widened row that was read before it: each
   time may have grown by less than 2^32 ms since then. */
void bn_diskrow_widen(uint64_t row[BN_ROW_FIELDS], const uint64_t before[BN_ROW_FIELDS]);

/* A device and its row, of which only major and minor are set at first. */
struct bn_diskrow {
  unsigned major, minor;
  bool was_read;
  uint64_t value[BN_ROW_FIELDS]; /* with wide times, if they are read before they have grown by 2^32
                                    ms: at a queue of 128 requests, after nine hours */
};

/* Reads the row of a device as it is now.  Returns false, and leaves the values, if the device has
   none, or the file cannot be read. */
bool bn_diskrow_read(struct bn_diskrow *row);

#endif
