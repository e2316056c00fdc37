/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel counts of the device under the files: /proc/diskstats. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "tests/fileio/fileio.h"

enum { SECTOR = 512, NS_PER_MS = 1000000 };

bool bn_diskstats_parse(const char *line, unsigned major, unsigned minor,
                        uint64_t out[BN_DISK_VALUES])
{
  unsigned long long reads, sectors_read, read_ms, writes, sectors_written, write_ms, busy_ms,
      queue_ms, flushes, flush_ms;
  unsigned dev_major, dev_minor;
  const int n = sscanf(line,
                       "%u %u %*s %llu %*u %llu %llu %llu %*u %llu %llu %*u %llu %llu "
                       "%*u %*u %*u %*u %llu %llu",
                       &dev_major, &dev_minor, &reads, &sectors_read, &read_ms, &writes,
                       &sectors_written, &write_ms, &busy_ms, &queue_ms, &flushes, &flush_ms);

  if (n < 10 || dev_major != major || dev_minor != minor)
    return false;
  out[BN_DISK_READS] = reads;
  out[BN_DISK_BYTES_READ] = sectors_read;
  out[BN_DISK_READ_NS] = read_ms;
  out[BN_DISK_WRITES] = writes;
  out[BN_DISK_BYTES_WRITTEN] = sectors_written;
  out[BN_DISK_WRITE_NS] = write_ms;
  out[BN_DISK_BUSY_NS] = busy_ms;
  out[BN_DISK_QUEUE_NS] = queue_ms;
  out[BN_DISK_FLUSHES] = n == 12 ? flushes : BN_ABSENT;
  out[BN_DISK_FLUSH_NS] = n == 12 ? flush_ms : BN_ABSENT;
  return true;
}

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

static bool read_row(const struct bn_diskstats *d, uint64_t out[BN_DISK_VALUES])
{
  FILE *f = d->major == 0 ? NULL : fopen("/proc/diskstats", "re");
  char *line = NULL;
  size_t room = 0;
  bool found = false;

  while (f != NULL && !found && getline(&line, &room, f) > 0)
    found = bn_diskstats_parse(line, d->major, d->minor, out);
  free(line);
  if (f != NULL)
    (void)fclose(f);
  return found;
}

/* Times are 32 bits of milliseconds: at a queue of 128 one wraps around after nine hours. */
static uint64_t grown(enum bn_disk_value i, uint64_t now, uint64_t before)
{
  switch (i) {
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

void bn_diskstats_add(struct bn_diskstats *d, const uint64_t *now, uint64_t out[BN_DISK_VALUES])
{
  for (enum bn_disk_value i = 0; i < BN_DISK_VALUES; i++) {
    if (now == NULL || now[i] == BN_ABSENT) {
      out[i] = BN_ABSENT;
      continue;
    }
    d->value[i] += d->known ? grown(i, now[i], d->last[i]) : 0;
    d->last[i] = now[i];
    out[i] = d->value[i];
  }
  d->known = d->known || now != NULL;
}

void bn_diskstats_look(struct bn_diskstats *d, uint64_t out[BN_DISK_VALUES])
{
  uint64_t now[BN_DISK_VALUES];

  bn_diskstats_add(d, read_row(d, now) ? now : NULL, out);
}
