/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What structured reports are told of a fileio run: latencies apart, and the device's own
   counts. */
#include "cm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "dialect/dialect.h"
#include "engine/run.h"
#include "engine/stop.h"
#include "measure/diskrow.h"
#include "measure/snap.h"
#include "tests/fileio/fileio.h"
#include "tests/tests.h"

enum { FILES = 2, FILE_SIZE = 65536, BLOCK = 4096 };

static const char row[] = " 254       2 vda2 10 1 80 7 20 2 320 9 3 11 130 5 0 40 2 6 4\n";
static const char old_row[] = "   8       1 sda1 10 1 80 7 20 2 320 9 0 11 130\n";

static void rows_are_read(void **state)
{
  uint64_t v[BN_ROW_FIELDS];

  (void)state;
  assert_false(bn_diskrow_parse(row, 254, 0, v));
  assert_false(bn_diskrow_parse(row, 8, 2, v));
  assert_false(bn_diskrow_parse(" 254       2 vda2 10 1 80\n", 254, 2, v));
  assert_false(bn_diskrow_parse("", 254, 2, v));
  assert_false(bn_diskrow_parse("254 2", 254, 2, v));
  assert_true(bn_diskrow_parse(row, 254, 2, v));
  assert_int_equal(v[BN_ROW_READS], 10);
  assert_int_equal(v[BN_ROW_READS_MERGED], 1);
  assert_int_equal(v[BN_ROW_SECTORS_READ], 80);
  assert_int_equal(v[BN_ROW_READ_MS], 7);
  assert_int_equal(v[BN_ROW_WRITES], 20);
  assert_int_equal(v[BN_ROW_WRITES_MERGED], 2);
  assert_int_equal(v[BN_ROW_SECTORS_WRITTEN], 320);
  assert_int_equal(v[BN_ROW_WRITE_MS], 9);
  assert_int_equal(v[BN_ROW_IN_FLIGHT], 3);
  assert_int_equal(v[BN_ROW_BUSY_MS], 11);
  assert_int_equal(v[BN_ROW_QUEUE_MS], 130);
  assert_int_equal(v[BN_ROW_DISCARDS], 5);
  assert_int_equal(v[BN_ROW_FLUSHES], 6);
  assert_int_equal(v[BN_ROW_FLUSH_MS], 4);
  assert_true(bn_diskrow_parse(old_row, 8, 1, v));
  assert_int_equal(v[BN_ROW_QUEUE_MS], 130);
  assert_true(v[BN_ROW_DISCARDS] == BN_ABSENT && v[BN_ROW_FLUSHES] == BN_ABSENT);
}

static void values_have_units(void **state)
{
  uint64_t raw[BN_ROW_FIELDS], v[BN_DISK_VALUES];

  (void)state;
  assert_true(bn_diskrow_parse(row, 254, 2, raw));
  raw[BN_ROW_FLUSHES] = BN_ABSENT;
  bn_diskstats_convert(raw, v);
  assert_int_equal(v[BN_DISK_READS], 10);
  assert_int_equal(v[BN_DISK_BYTES_READ], 80 * 512);
  assert_int_equal(v[BN_DISK_READ_NS], 7000000);
  assert_int_equal(v[BN_DISK_WRITES], 20);
  assert_int_equal(v[BN_DISK_QUEUE_NS], 130000000);
  assert_true(v[BN_DISK_FLUSHES] == BN_ABSENT);
}

/* The numbers of no device. */
static void without_a_row_nothing_is_known(void **state)
{
  struct bn_diskrow none = {.major = 0};
  uint64_t v[BN_DISK_VALUES];

  (void)state;
  bn_diskstats_read(&none, v);
  for (int i = 0; i < BN_DISK_VALUES; i++)
    assert_true(v[i] == BN_ABSENT);
}

static double figure(const struct bn_figure *f, size_t n, const char *key)
{
  for (size_t i = 0; i < n; i++)
    if (strcmp(f[i].key, key) == 0)
      return f[i].value;
  return -1;
}

static void figures_leave_out_what_is_absent(void **state)
{
  uint64_t counter[BN_C_DISK + BN_DISK_VALUES] = {0};
  struct bn_view v = {.counter = counter, .rated = counter, .rated_s = 2};
  struct bn_figure f[32];
  size_t n;

  (void)state;
  counter[BN_C_READ] = 300;
  counter[BN_C_OTHER] = 5;
  counter[BN_C_BYTES_WRITTEN] = 6 << 20;
  counter[BN_C_DISK + BN_DISK_BUSY_NS] = 1500000000;
  counter[BN_C_DISK + BN_DISK_QUEUE_NS] = 64000000000;
  n = bn_workload_fileio.figures(&v, f, 32);
  assert_int_equal(n, 12);
  assert_true(figure(f, n, "reads_per_s") == 150);
  assert_true(figure(f, n, "fsyncs_per_s") == 2.5);
  assert_true(figure(f, n, "written_mib_per_s") == 3);
  assert_true(fabs(figure(f, n, "device_utilization") - 0.75) < 1e-12);
  assert_true(fabs(figure(f, n, "device_queue_length") - 32) < 1e-12);
  for (int i = 0; i < BN_DISK_VALUES; i++)
    counter[BN_C_DISK + i] = BN_ABSENT;
  n = bn_workload_fileio.figures(&v, f, 32);
  assert_int_equal(n, 5);
  assert_true(figure(f, n, "device_utilization") == -1);
  assert_int_equal(bn_workload_fileio.figures(&v, f, 2), 2);
}

/* 128 flushes came after the span, with what the device did for them. */
static void figures_are_rates_of_the_span(void **state)
{
  uint64_t counter[BN_C_DISK + BN_DISK_VALUES] = {[BN_C_WRITE] = 31, [BN_C_OTHER] = 128};
  uint64_t rated[BN_C_DISK + BN_DISK_VALUES] = {[BN_C_WRITE] = 30};
  struct bn_view v = {.counter = counter, .span_s = 2, .rated = rated, .rated_s = 2.5};
  struct bn_figure f[32];
  size_t n;

  (void)state;
  counter[BN_C_DISK + BN_DISK_BUSY_NS] = 3000000000;
  rated[BN_C_DISK + BN_DISK_BUSY_NS] = 2000000000;
  counter[BN_C_DISK + BN_DISK_FLUSHES] = BN_ABSENT; /* it was in the baseline */
  n = bn_workload_fileio.figures(&v, f, 32);
  assert_int_equal(n, 11);
  assert_true(figure(f, n, "writes_per_s") == 12 && figure(f, n, "fsyncs_per_s") == 0);
  assert_true(figure(f, n, "device_utilization") == 2 / 2.5);
  assert_true(figure(f, n, "device_flushes_per_s") == -1);
}

/* A program that computes the figure from the counter gets the same bits. */
static void units_divide_the_rate(void **state)
{
  uint64_t counter[BN_C_DISK + BN_DISK_VALUES] = {0};
  struct bn_view v = {.counter = counter, .rated = counter, .rated_s = 0.7};
  struct bn_figure f[32];
  size_t n;

  (void)state;
  counter[BN_C_DISK + BN_DISK_BUSY_NS] = 1500000001;
  n = bn_workload_fileio.figures(&v, f, 32);
  assert_true(figure(f, n, "device_utilization") == 1500000001 / 0.7 / 1e9);
  assert_true(figure(f, n, "device_utilization") != 1500000001 / 1e9 / 0.7);
}

/* --- a whole run ---------------------------------------------------------------------------------
 */

/* What the recording reporter saw. */
struct record {
  uint64_t counter[BN_C_DISK + BN_DISK_VALUES], hist[BN_H_FSYNC + 1], median[BN_H_FSYNC + 1];
  size_t n_counters, n_hists, n_figures;
  double span_s;
  char hist_name[BN_H_FSYNC + 1][32];
  char disk_name[32];
};

static int note_total(void *self, const struct bn_view *v, struct bn_err *err)
{
  struct record *seen = *(struct record **)self;
  const struct bn_snap *s = v->delta;

  (void)err;
  seen->n_counters = s->metrics.n_counters;
  seen->n_hists = s->metrics.n_hists;
  seen->n_figures = v->n_figures;
  seen->span_s = v->span_s;
  memcpy(seen->counter, v->counter, sizeof seen->counter);
  for (size_t i = 0; i <= BN_H_FSYNC; i++) {
    seen->hist[i] = bn_hist_count(s->hist[i]);
    seen->median[i] = bn_hist_percentile(s->hist[i], 50);
    (void)snprintf(seen->hist_name[i], sizeof seen->hist_name[i], "%s", s->metrics.hist[i].name);
  }
  (void)snprintf(seen->disk_name, sizeof seen->disk_name, "%s",
                 s->metrics.counter[BN_C_DISK + BN_DISK_WRITES].name);
  return 0;
}

static int note_open(void *self, const void *conf, const char *path, FILE *out, struct bn_err *err)
{
  (void)path;
  (void)out;
  (void)err;
  memcpy(self, &conf, sizeof conf);
  return 0;
}

static const struct bn_reporter recorder = {
    .name = "record", .state_size = sizeof(void *), .open = note_open, .total = note_total};

static void make_files(char *dir)
{
  char path[64];

  assert_non_null(mkdtemp(dir));
  for (int i = 0; i < FILES; i++) {
    FILE *f;

    (void)snprintf(path, sizeof path, "%s/test_file.%d", dir, i);
    assert_non_null(f = fopen(path, "w"));
    assert_int_equal(fseek(f, FILE_SIZE - 1, SEEK_SET), 0);
    assert_int_equal(fputc('x', f), 'x');
    assert_int_equal(fclose(f), 0);
  }
}

static void remove_files(const char *dir)
{
  char path[64];

  for (int i = 0; i < FILES; i++) {
    (void)snprintf(path, sizeof path, "%s/test_file.%d", dir, i);
    assert_int_equal(unlink(path), 0);
  }
  assert_int_equal(rmdir(dir), 0);
}

/* rndrw, one thread, 4 reads per write, a series of flushes after every 10 requests. */
static void run_in(char *dir, struct record *seen)
{
  static char mode[] = "rndrw";
  struct bn_fileio_conf fc = {.num = FILES,
                              .block_size = BLOCK,
                              .total_size = FILES * FILE_SIZE,
                              .test_mode = mode,
                              .backlog = 1,
                              .fsync_freq = 10,
                              .fsync_end = true,
                              .rw_ratio = 4,
                              .dir = dir};
  struct bn_conf c = {
      .policy = &bn_policy_bench, .plan = {.threads = 1, .events = 1200}, .seed = 42};
  const struct bn_report_use use = {&recorder, seen, stdout, NULL};
  const struct bn_run_setup setup = {.conf = &c,
                                     .ops = &bn_workload_fileio,
                                     .workload_conf = &fc,
                                     .reporters = &use,
                                     .n_reporters = 1};
  struct bn_err err = {0};
  struct bn_run *run;

  c.raw.thread_stack_size = 65536;
  c.init_timeout_ns = 10 * BN_NSEC_PER_SEC;
  assert_int_equal(bn_run_new(&run, &setup, &err), 0);
  assert_int_equal(bn_run_execute(run), 0);
  bn_run_free(run);
}

/* Has the device of the folder a row? */
static bool device_is_known(const char *dir)
{
  struct bn_diskrow present;
  struct stat st;

  assert_int_equal(stat(dir, &st), 0);
  present = (struct bn_diskrow){.major = major(st.st_dev), .minor = minor(st.st_dev)};
  return bn_diskrow_read(&present);
}

static void kinds_are_counted_apart(void **state)
{
  char dir[] = "./fileio-metrics-XXXXXX";
  struct record seen = {0};

  (void)state;
  make_files(dir);
  run_in(dir, &seen);
  assert_int_equal(seen.n_counters, BN_C_DISK + BN_DISK_VALUES);
  assert_int_equal(seen.n_hists, BN_H_FSYNC + 1);
  assert_string_equal(seen.hist_name[BN_H_WRITE], "write_latency");
  assert_string_equal(seen.disk_name, "device_writes");
  /* 100 rounds of 10 requests and 2 flushes; the files once more at the end. */
  assert_int_equal(seen.counter[BN_C_READ], 800);
  assert_int_equal(seen.hist[BN_H_READ], 800);
  assert_int_equal(seen.hist[BN_H_WRITE], 200);
  assert_int_equal(seen.hist[BN_H_FSYNC], 202);
  assert_int_equal(seen.hist[BN_H_LATENCY], 1200);
  for (int i = BN_H_READ; i <= BN_H_FSYNC; i++)
    assert_in_range(seen.median[i], 1, (uint64_t)10 * BN_NSEC_PER_SEC);
  if (device_is_known(dir)) {
    assert_int_equal(seen.n_figures, 12);
    /* 200 writes to 32 blocks that are flushed: not one is lost on the way to the device. */
    assert_true(seen.counter[BN_C_DISK + BN_DISK_BYTES_WRITTEN] >= 100 * BLOCK);
    assert_true(seen.counter[BN_C_DISK + BN_DISK_WRITES] >= 100);
    assert_true(seen.counter[BN_C_DISK + BN_DISK_BUSY_NS] != BN_ABSENT);
  } else {
    assert_int_equal(seen.n_figures, 5);
    for (int i = 0; i < BN_DISK_VALUES; i++)
      assert_true(seen.counter[BN_C_DISK + i] == BN_ABSENT);
  }
  remove_files(dir);
}

static void memory_has_no_device(void **state)
{
  char dir[] = "/dev/shm/fileio-metrics-XXXXXX";
  struct record seen = {0};
  struct stat st;

  (void)state;
  if (access("/dev/shm", W_OK) != 0 || stat("/dev/shm", &st) != 0 || major(st.st_dev) != 0)
    return;
  make_files(dir);
  run_in(dir, &seen);
  assert_int_equal(seen.hist[BN_H_FSYNC], 202);
  assert_int_equal(seen.n_figures, 5);
  assert_true(seen.counter[BN_C_DISK + BN_DISK_WRITES] == BN_ABSENT);
  remove_files(dir);
}

BN_TESTS(fileio_metrics)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_read),
      cmocka_unit_test(values_have_units),
      cmocka_unit_test(without_a_row_nothing_is_known),
      cmocka_unit_test(figures_leave_out_what_is_absent),
      cmocka_unit_test(figures_are_rates_of_the_span),
      cmocka_unit_test(units_divide_the_rate),
      cmocka_unit_test(kinds_are_counted_apart),
      cmocka_unit_test(memory_has_no_device),
  };

  bn_stop_block_signals();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
