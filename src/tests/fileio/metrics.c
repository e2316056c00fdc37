/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The metrics of the fileio test for structured reports, and the figures computed from them. */
#include "measure/view.h"
#include "tests/fileio/fileio.h"

const struct bn_metric bn_fileio_metrics[] = {
    {.name = "read_latency", .unit = "ns", .kind = BN_HISTOGRAM},
    {.name = "write_latency", .unit = "ns", .kind = BN_HISTOGRAM},
    {.name = "fsync_latency", .unit = "ns", .kind = BN_HISTOGRAM},
    /* The order is that of enum bn_disk_value.  Each process counts all that the device does. */
    {.name = "device_reads", .unit = "1", .merge = BN_MERGE_NONE},
    {.name = "device_bytes_read", .unit = "bytes", .merge = BN_MERGE_NONE},
    {.name = "device_read_time", .unit = "ns", .merge = BN_MERGE_NONE},
    {.name = "device_writes", .unit = "1", .merge = BN_MERGE_NONE},
    {.name = "device_bytes_written", .unit = "bytes", .merge = BN_MERGE_NONE},
    {.name = "device_write_time", .unit = "ns", .merge = BN_MERGE_NONE},
    {.name = "device_flushes", .unit = "1", .merge = BN_MERGE_NONE},
    {.name = "device_flush_time", .unit = "ns", .merge = BN_MERGE_NONE},
    {.name = "device_busy_time", .unit = "ns", .merge = BN_MERGE_NONE},
    {.name = "device_queue_time", .unit = "ns", .merge = BN_MERGE_NONE},
    {.name = NULL},
};

static const struct {
  const char *key;
  unsigned counter;
  double unit; /* units of the counter in a unit of the figure */
} figures[] = {
    {"reads_per_s", BN_C_READ, 1},
    {"writes_per_s", BN_C_WRITE, 1},
    {"fsyncs_per_s", BN_C_OTHER, 1},
    {"read_mib_per_s", BN_C_BYTES_READ, 0x1p20},
    {"written_mib_per_s", BN_C_BYTES_WRITTEN, 0x1p20},
    {"device_reads_per_s", BN_C_DISK + BN_DISK_READS, 1},
    {"device_writes_per_s", BN_C_DISK + BN_DISK_WRITES, 1},
    {"device_flushes_per_s", BN_C_DISK + BN_DISK_FLUSHES, 1},
    {"device_read_mib_per_s", BN_C_DISK + BN_DISK_BYTES_READ, 0x1p20},
    {"device_written_mib_per_s", BN_C_DISK + BN_DISK_BYTES_WRITTEN, 0x1p20},
    /* These are times per time. */
    {"device_utilization", BN_C_DISK + BN_DISK_BUSY_NS, 1e9},
    {"device_queue_length", BN_C_DISK + BN_DISK_QUEUE_NS, 1e9},
};

size_t bn_fileio_figures(const struct bn_view *v, struct bn_figure *out, size_t max)
{
  size_t n = 0;

  for (size_t i = 0; i < sizeof figures / sizeof figures[0] && n < max; i++) {
    const uint64_t value = v->counter[figures[i].counter];

    if (value != BN_ABSENT)
      out[n++] = (struct bn_figure){.key = figures[i].key,
                                    .value = (double)value / v->span_s / figures[i].unit,
                                    .merge = figures[i].counter < BN_C_DISK ? BN_MERGE_RATE
                                                                            : BN_MERGE_NONE};
  }
  return n;
}
