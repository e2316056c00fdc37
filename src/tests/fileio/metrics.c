/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The metrics of the fileio test for structured reports, and the figures computed from them. */
#include "measure/view.h"
#include "tests/fileio/fileio.h"

const struct bn_metric bn_fileio_metrics[] = {
    {"read_latency", "ns", BN_HISTOGRAM},
    {"write_latency", "ns", BN_HISTOGRAM},
    {"fsync_latency", "ns", BN_HISTOGRAM},
    /* The order is that of enum bn_disk_value. */
    {"device_reads", "1", BN_COUNTER},
    {"device_bytes_read", "bytes", BN_COUNTER},
    {"device_read_time", "ns", BN_COUNTER},
    {"device_writes", "1", BN_COUNTER},
    {"device_bytes_written", "bytes", BN_COUNTER},
    {"device_write_time", "ns", BN_COUNTER},
    {"device_flushes", "1", BN_COUNTER},
    {"device_flush_time", "ns", BN_COUNTER},
    {"device_busy_time", "ns", BN_COUNTER},
    {"device_queue_time", "ns", BN_COUNTER},
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
                                    .value = (double)value / v->span_s / figures[i].unit};
  }
  return n;
}
