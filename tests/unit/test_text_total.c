/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Final reports byte for byte as the reference versions print them. */
#include "report/reporters.h"

#include <math.h>
#include <string.h>

#include "cm.h"
#include "measure/snap.h"
#include "page.h"

/* --- final reports ---------------------------------------------------------------------------- */

/* transcript cpu-basic */
static void reports_cpu_of_1_1(void **unused)
{
  struct bn_page *p = bn_page_new(BN_V11, BN_KIND_CPU);

  (void)unused;
  bn_page_skip_header(p);
  p->counter[BN_C_EVENTS] = 100;
  p->view.at_s = p->view.span_s = 100 / 40100.7009;
  bn_page_set_latency(p, 0.0216, 0.0227, 0.06, 2.27, 0.0223);
  bn_page_set_fairness(p, 100, 0, 0.0023, 0);
  bn_page_total(p);
  bn_page_expect(p, "CPU speed:\n"
                    "    events per second: 40100.70\n"
                    "\n"
                    "Throughput:\n"
                    "    events/s (eps):                      40100.7009\n"
                    "    time elapsed:                        0.0025s\n"
                    "    total number of events:              100\n"
                    "\n"
                    "Latency (ms):\n"
                    "         min:                                    0.02\n"
                    "         avg:                                    0.02\n"
                    "         max:                                    0.06\n"
                    "         95th percentile:                        0.02\n"
                    "         sum:                                    2.27\n"
                    "\n"
                    "Threads fairness:\n"
                    "    events (avg/stddev):           100.0000/0.00\n"
                    "    execution time (avg/stddev):   0.0023/0.00\n"
                    "\n");
  bn_page_free(p);
}

/* Reads are older than percentiles of timings, and nothing was flushed. */
static const double of_writes[] = {0.3e-3};
static const struct bn_timing file_timings[] = {
    {.name = "read_latency", .count = 60, .min_s = 4.3e-6, .avg_s = 2e-5, .max_s = 0.09},
    {.name = "write_latency",
     .count = 40,
     .percentile_s = of_writes,
     .min_s = 1e-4,
     .avg_s = 2e-4,
     .max_s = 0.123456},
    {.name = "fsync_latency"}};

/* Latencies have three significant digits, and those of reads and writes stand apart. */
static void reports_files_outside_dialects(void **unused)
{
  struct bn_page *p = bn_page_new(BN_V11, BN_KIND_FILEIO);

  (void)unused;
  p->plan->native = true;
  p->view.timings = file_timings;
  p->view.n_timings = 3;
  bn_page_skip_header(p);
  p->counter[BN_C_EVENTS] = 100;
  bn_page_set_latency(p, 0.0043, 0.0216, 123.456, 2.27, 0.1234);
  bn_page_interval(p);
  bn_page_expect(p, "[ 1s ] reads: 0.00 MiB/s writes: 0.00 MiB/s fsyncs: 0.00/s "
                    "latency (ms,95%): 0.123\n");
  bn_page_total(p);
  bn_page_expect(p, "\n"
                    "File operations:\n"
                    "         read:  IOPS=0.00 0.00 MiB/s (0.00 MB/s)\n"
                    "         write: IOPS=0.00 0.00 MiB/s (0.00 MB/s)\n"
                    "         fsync: IOPS=0.00\n"
                    "\n"
                    "Throughput:\n"
                    "    events/s (eps):                      100.0000\n"
                    "    time elapsed:                        1.0000s\n"
                    "    total number of events:              100\n"
                    "\n"
                    "Latency (ms):\n"
                    "         min:                                 0.00430\n"
                    "         avg:                                  0.0216\n"
                    "         max:                                  123.46\n"
                    "         95th percentile:                       0.123\n"
                    "         sum:                                    2.27\n"
                    "\n"
                    "Latency of reads (ms):\n"
                    "         min:                                 0.00430\n"
                    "         avg:                                  0.0200\n"
                    "         max:                                   90.00\n"
                    "\n"
                    "Latency of writes (ms):\n"
                    "         min:                                   0.100\n"
                    "         avg:                                   0.200\n"
                    "         max:                                  123.46\n"
                    "         95th percentile:                       0.300\n"
                    "\n"
                    "Threads fairness:\n"
                    "    events (avg/stddev):           0.0000/0.00\n"
                    "    execution time (avg/stddev):   0.0000/0.00\n"
                    "\n");
  bn_page_free(p);
}

/* Names and units of a document may be anybody's.  A histogram of a script is not a metric of the
   workload, even if it has the name of one. */
static void reports_what_a_script_adds(void **unused)
{
  static const struct bn_count counts[] = {
      {.name = "rows_skipped", .unit = "rows", .count = 4000, .per_s = 585.474},
      {.name = "odd\033", .unit = "1", .count = 0, .per_s = 0}};
  static const struct bn_timing timings[] = {
      {.name = "read_latency", .count = 2, .min_s = 1, .avg_s = 2, .max_s = 3, .of_script = true},
      {.name = "never", .of_script = true}};
  struct bn_page *p = bn_page_new(BN_V11, BN_KIND_PLAIN);

  (void)unused;
  p->plan->native = true;
  p->view.counts = counts;
  p->view.n_counts = 2;
  p->view.timings = timings;
  p->view.n_timings = 2;
  p->view.lines = "Cache:\n    hits:\t12\n";
  bn_page_skip_header(p);
  p->counter[BN_C_EVENTS] = 100;
  bn_page_set_latency(p, 0.0043, 0.0216, 123.456, 2.27, 0.1234);
  bn_page_interval(p);
  bn_page_expect(p, "[ 1s ] thds: 1 eps: 100.00 lat (ms,95%): 0.123\n"
                    "Cache:\n"
                    "    hits:\t12\n");
  bn_page_total(p);
  bn_page_expect(p, "\n"
                    "Throughput:\n"
                    "    events/s (eps):                      100.0000\n"
                    "    time elapsed:                        1.0000s\n"
                    "    total number of events:              100\n"
                    "\n"
                    "Latency (ms):\n"
                    "         min:                                 0.00430\n"
                    "         avg:                                  0.0216\n"
                    "         max:                                  123.46\n"
                    "         95th percentile:                       0.123\n"
                    "         sum:                                    2.27\n"
                    "\n"
                    "Counters of the script:\n"
                    "    rows_skipped (rows):                 4000   (585.47 per sec.)\n"
                    "    odd\\x1b:                             0      (0.00 per sec.)\n"
                    "\n"
                    "Latency of read_latency (ms):\n"
                    "         min:                                 1000.00\n"
                    "         avg:                                 2000.00\n"
                    "         max:                                 3000.00\n"
                    "\n"
                    "Threads fairness:\n"
                    "    events (avg/stddev):           0.0000/0.00\n"
                    "    execution time (avg/stddev):   0.0000/0.00\n"
                    "\n"
                    "Cache:\n"
                    "    hits:\t12\n"
                    "\n");
  bn_page_free(p);
}

/* 4 of 8 sessions are stuck, and --rate is too high. */
static void tells_what_did_not_end(void **unused)
{
  static const bool at_least[] = {true};
  struct bn_page *p = bn_page_new(BN_V11, BN_KIND_CPU);
  struct bn_view *v = &p->view;

  (void)unused;
  p->plan->native = true;
  bn_page_skip_header(p);
  p->counter[BN_C_EVENTS] = 100;
  bn_page_set_latency(p, 1, 2, 3003, 200, 3003);
  v->at_s = v->span_s = 4;
  v->in_grace = 4;
  v->unfinished = 14;
  v->oldest_s = 3.003;
  v->max_at_least = true;
  v->at_least = at_least;
  v->setup_s = 0.0123;
  v->grace_s = 2;
  v->teardown_s = 0.001;
  v->due = 114;
  v->started = 104;
  v->backlog = 10;
  v->finished = 96;
  v->served = 96 / 114.0;
  v->warmup_backlog = 3;
  bn_page_total(p);
  bn_page_expect(p, "CPU speed:\n"
                    "    events per second:    24.00\n"
                    "\n"
                    "Throughput:\n"
                    "    events/s (eps):                      24.0000\n"
                    "    time elapsed:                        4.0000s\n"
                    "    total number of events:              100\n"
                    "    finished in the grace:               4\n"
                    "    unfinished:                          14 (oldest 3.003 s)\n"
                    "    set-up, grace, teardown:             0.0123s, 2.0000s, 0.0010s\n"
                    "\n"
                    "Arrivals (--rate):\n"
                    "    due in the span:                     114\n"
                    "    started:                             104\n"
                    "    dropped:                             0\n"
                    "    queued at the end:                   10\n"
                    "    finished in the span:                96 (84.21 % of those due)\n"
                    "    queued when the warm-up ended:       3\n"
                    "\n"
                    "Latency (ms):\n"
                    "         min:                                    1.00\n"
                    "         avg:                                    2.00\n"
                    "         max:                                \u22653003.00\n"
                    "         95th percentile:                    \u22653003.00\n"
                    "         sum:                                  200.00\n"
                    "\n"
                    "Threads fairness:\n"
                    "    events (avg/stddev):           0.0000/0.00\n"
                    "    execution time (avg/stddev):   0.0000/0.00\n"
                    "\n");
  bn_page_free(p);
}

static void an_age_that_is_not_known_is_not_told(void **unused)
{
  struct bn_page *p = bn_page_new(BN_V11, BN_KIND_CPU);

  (void)unused;
  p->plan->native = true;
  bn_page_skip_header(p);
  p->counter[BN_C_EVENTS] = 100;
  p->view.unfinished = 2;
  bn_page_total(p);
  assert_non_null(strstr(p->text, "    total number of events:              100\n"
                                  "    unfinished:                          2\n"
                                  "\n"
                                  "Latency (ms):\n"));
  bn_page_free(p);
}

/* In older documents waiting events are not among the unfinished ones.  Natively only a forced
   shutdown has the line. */
static void counts_those_in_flight_apart(void **unused)
{
  static const char line[] = "Number of unfinished transactions on forced shutdown: 3\n";
  static const struct {
    uint64_t due, unfinished, backlog;
    bool forced, told;
  } rows[] = {{20, 8, 5, true, true},
              {20, 5, 5, true, false},
              {0, 3, 5, true, true},
              {0, 0, 5, true, false},
              {0, 3, 5, false, false}};

  (void)unused;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct bn_page *p = bn_page_new(BN_V11, BN_KIND_CPU);

    p->plan->native = true;
    p->plan->forced = rows[i].forced;
    bn_page_skip_header(p);
    p->view.due = rows[i].due;
    p->view.unfinished = rows[i].unfinished;
    p->view.backlog = rows[i].backlog;
    bn_page_total(p);
    assert_int_equal(strstr(p->text, line) != NULL, rows[i].told);
    assert_int_equal(strstr(p->text, "forced") != NULL, rows[i].told);
    assert_int_equal(strstr(p->text, "    unfinished:   ") != NULL, rows[i].unfinished > 0);
    bn_page_free(p);
  }
}

/* A tenth of the median is 0.1 ms.  Without an event that ended there is no median. */
static void tells_a_lag_that_matters(void **unused)
{
  static const char line[] = "    wake-up lag (ms, 50th/99th/max):     0.05/0.11/2.00\n";
  static const struct {
    uint64_t events;
    double lag_p99_s;
    bool told;
  } rows[] = {{100, 0.11e-3, true}, {100, 0.1e-3, false}, {0, 0.11e-3, false}};

  (void)unused;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct bn_page *p = bn_page_new(BN_V11, BN_KIND_CPU);

    p->plan->native = true;
    bn_page_skip_header(p);
    p->counter[BN_C_EVENTS] = rows[i].events;
    p->view.due = 100;
    p->view.median_s = rows[i].events > 0 ? 1e-3 : NAN;
    p->view.lag_p50_s = 0.05e-3;
    p->view.lag_p99_s = rows[i].lag_p99_s;
    p->view.lag_max_s = 2e-3;
    bn_page_total(p);
    assert_int_equal(strstr(p->text, line) != NULL, rows[i].told);
    assert_int_equal(strstr(p->text, "lag") != NULL, rows[i].told);
    bn_page_free(p);
  }
}

static void an_interval_without_an_end_has_no_latency(void **unused)
{
  struct bn_page *p = bn_page_new(BN_V11, BN_KIND_PLAIN);

  (void)unused;
  p->plan->native = true;
  bn_page_skip_header(p);
  bn_page_interval(p);
  bn_page_expect(p, "[ 1s ] thds: 1 eps: 0.00 lat (ms,95%): -\n");
  p->view.oldest_s = 1.0034;
  bn_page_interval(p);
  bn_page_expect(p, "[ 1s ] thds: 1 eps: 0.00 lat (ms,95%): - (oldest 1003)\n");
  bn_page_free(p);
}

/* transcript cpu-verbosity4 */
static void reports_cpu_of_1_0(void **unused)
{
  struct bn_page *p = bn_page_new(BN_V10, BN_KIND_CPU);

  (void)unused;
  bn_page_skip_header(p);
  p->counter[BN_C_EVENTS] = 10;
  p->view.at_s = 0.0005;
  p->view.span_s = 10 / 8073.93;
  bn_page_set_latency(p, 0.02, 0.05, 0.25, 0.48, 0.26);
  bn_page_set_fairness(p, 5, 1, 0.0002, 0);
  bn_page_total(p);
  bn_page_expect(p, "CPU speed:\n"
                    "    events per second:  8073.93\n"
                    "\n"
                    "General statistics:\n"
                    "    total time:                          0.0005s\n"
                    "    total number of events:              10\n"
                    "\n"
                    "Latency (ms):\n"
                    "         min:                                    0.02\n"
                    "         avg:                                    0.05\n"
                    "         max:                                    0.25\n"
                    "         95th percentile:                        0.26\n"
                    "         sum:                                    0.48\n"
                    "\n"
                    "Threads fairness:\n"
                    "    events (avg/stddev):           5.0000/1.00\n"
                    "    execution time (avg/stddev):   0.0002/0.00\n"
                    "\n");
  bn_page_free(p);
}

/* transcript cpu-basic */
static void reports_cpu_of_0_5(void **unused)
{
  struct bn_page *p = bn_page_new(BN_V05, BN_KIND_CPU);

  (void)unused;
  bn_page_skip_header(p);
  p->counter[BN_C_EVENTS] = 100;
  p->view.at_s = 5;
  p->view.span_s = 0.0023;
  bn_page_set_latency(p, 0.02, 0.02, 0.05, 2.2, 0.02);
  bn_page_set_fairness(p, 100, 0, 0.0022, 0);
  bn_page_total(p);
  bn_page_expect(p, "\n"
                    "General statistics:\n"
                    "    total time:                          0.0023s\n"
                    "    total number of events:              100\n"
                    "    total time taken by event execution: 0.0022s\n"
                    "    response time:\n"
                    "         min:                                  0.02ms\n"
                    "         avg:                                  0.02ms\n"
                    "         max:                                  0.05ms\n"
                    "         approx.  95 percentile:               0.02ms\n"
                    "\n"
                    "Threads fairness:\n"
                    "    events (avg/stddev):           100.0000/0.00\n"
                    "    execution time (avg/stddev):   0.0022/0.00\n"
                    "\n");
  bn_page_free(p);
}

/* The general part of a run without events; what begins a report is compared by the callers. */
#define EMPTY_10                                                                                   \
  "\n"                                                                                             \
  "General statistics:\n"                                                                          \
  "    total time:                          3.0006s\n"                                             \
  "    total number of events:              0\n" EMPTY_REST
#define EMPTY_11                                                                                   \
  "\n"                                                                                             \
  "Throughput:\n"                                                                                  \
  "    events/s (eps):                      0.0000\n"                                              \
  "    time elapsed:                        3.0006s\n"                                             \
  "    total number of events:              0\n" EMPTY_REST
#define EMPTY_REST                                                                                 \
  "\n"                                                                                             \
  "Latency (ms):\n"                                                                                \
  "         min:                                    0.00\n"                                        \
  "         avg:                                    0.00\n"                                        \
  "         max:                                    0.00\n"                                        \
  "         95th percentile:                        0.00\n"                                        \
  "         sum:                                    0.00\n"                                        \
  "\n"                                                                                             \
  "Threads fairness:\n"                                                                            \
  "    events (avg/stddev):           0.0000/0.00\n"                                               \
  "    execution time (avg/stddev):   0.0000/0.00\n"                                               \
  "\n"
#define EMPTY_05                                                                                   \
  "\n"                                                                                             \
  "General statistics:\n"                                                                          \
  "    total time:                          3.0006s\n"                                             \
  "    total number of events:              0\n"                                                   \
  "    total time taken by event execution: 0.0000s\n"                                             \
  "    response time:\n"                                                                           \
  "         min:                                  0.00ms\n"                                        \
  "         avg:                                  0.00ms\n"                                        \
  "         max:                                  0.00ms\n"                                        \
  "\n"                                                                                             \
  "Threads fairness:\n"                                                                            \
  "    events (avg/stddev):           0.0000/0.00\n"                                               \
  "    execution time (avg/stddev):   0.0000/0.00\n"                                               \
  "\n"

static void reports_a_run_without_events(void **unused)
{
  static const struct {
    enum bn_version version;
    const char *text;
  } rows[] = {{BN_V11, EMPTY_11}, {BN_V10, EMPTY_10}, {BN_V05, EMPTY_05}};

  (void)unused;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct bn_page *p = bn_page_new(rows[i].version, BN_KIND_PLAIN);

    bn_page_skip_header(p);
    p->view.at_s = p->view.span_s = 3.0006;
    bn_page_total(p);
    bn_page_expect(p, rows[i].text);
    bn_page_free(p);
  }
}

/* `own` and then the general part of a run without latencies. */
static void expect_total(struct bn_page *p, const char *own)
{
  const char *const rest[] = {[BN_V05] = EMPTY_05, [BN_V10] = EMPTY_10, [BN_V11] = EMPTY_11};
  char *text;

  bn_page_skip_header(p);
  p->view.at_s = p->view.span_s = 3.0006;
  bn_page_total(p);
  assert_true(asprintf(&text, "%s%s", own, rest[p->plan->version]) > 0);
  bn_page_expect(p, text);
  free(text);
  bn_page_free(p);
}

/* form of the transcripts memory-report-interval; rates are what went through in 3.0006 s */
static void reports_memory(void **unused)
{
  static const char *const own[] = {
      [BN_V05] = "Operations performed: 0 (    0.00 ops/sec)\n"
                 "\n"
                 "20675.63 MB transferred (6890.50 MB/sec)\n"
                 "\n",
      [BN_V10] = "Total operations: 0 (    0.00 per second)\n"
                 "\n"
                 "20675.63 MiB transferred (6890.50 MiB/sec)\n"
                 "\n",
      [BN_V11] = "Total operations: 0 (    0.00 per second)\n"
                 "\n"
                 "20675.63 MiB transferred (6890.50 MiB/sec)\n"
                 "\n",
  };

  (void)unused;
  for (int version = BN_V05; version <= BN_V11; version++) {
    struct bn_page *p = bn_page_new((enum bn_version)version, BN_KIND_MEMORY);

    p->counter[BN_C_BYTES_READ] = 675 * UINT64_C(1048576);
    p->counter[BN_C_BYTES_WRITTEN] = 20000 * UINT64_C(1048576) + 660603;
    expect_total(p, own[version]);
  }
}

/* Gives the counters of all runs a name that nobody asks for, and the one behind them `last`. */
static void name_counters(struct bn_metric metrics[BN_C_FIXED + 1], const char *last)
{
  for (size_t i = 0; i <= BN_C_FIXED; i++)
    metrics[i] = (struct bn_metric){.name = i < BN_C_FIXED ? "fixed" : last, .unit = "1"};
}

static void counts_untouched_memory_in_rates_only(void **unused)
{
  struct bn_metric metrics[BN_C_FIXED + 1];
  const struct bn_snap delta = {.metrics = {.n_counters = BN_C_FIXED + 1, .counter = metrics}};
  struct bn_page *p = bn_page_new(BN_V10, BN_KIND_MEMORY);

  (void)unused;
  name_counters(metrics, "bytes_untouched");
  p->view.delta = &delta;
  p->counter[BN_C_FIXED] = 7500 * UINT64_C(1048576);
  bn_page_skip_header(p);
  bn_page_interval(p);
  bn_page_expect(p, "[ 1s ] 7500.00 MiB/sec\n");
  expect_total(p, "Total operations: 0 (    0.00 per second)\n\n");
}

/* transcripts fileio-rndrw (1.0) and fileio-rndrw-report-interval (0.5), figures of 3.0006 s */
static void reports_fileio(void **unused)
{
  struct bn_page *p = bn_page_new(BN_V10, BN_KIND_FILEIO);

  (void)unused;
  bn_page_set_queries(p, 43380, 28920, 2892, 0);
  p->counter[BN_C_BYTES_READ] = 43380 * UINT64_C(16384);
  p->counter[BN_C_BYTES_WRITTEN] = 28920 * UINT64_C(16384);
  expect_total(p, "\n"
                  "File operations:\n"
                  "    reads/s:                      14457.11\n"
                  "    writes/s:                     9638.07\n"
                  "    fsyncs/s:                     963.81\n"
                  "\n"
                  "Throughput:\n"
                  "    read, MiB/s:                  225.89\n"
                  "    written, MiB/s:               150.59\n");

  p = bn_page_new(BN_V05, BN_KIND_FILEIO);
  bn_page_set_queries(p, 43380, 28920, 2892, 0);
  p->counter[BN_C_BYTES_READ] = 43380 * UINT64_C(16384);
  p->counter[BN_C_BYTES_WRITTEN] = 28920 * UINT64_C(16384);
  expect_total(p, "Operations performed:  43380 reads, 28920 writes, 2892 Other = 75192 Total\n"
                  "Read 677.81Mb  Written 451.88Mb  Total transferred 1.1032Gb  (376.49Mb/sec)\n"
                  "24095.18 Requests/sec executed\n");
}

/* transcripts fileio-rndrd and fileio-percentile0: no general part at all */
static void reports_fileio_of_1_1(void **unused)
{
  struct bn_page *p = bn_page_new(BN_V11, BN_KIND_FILEIO);

  (void)unused;
  bn_page_skip_header(p);
  p->view.at_s = 3;
  bn_page_set_queries(p, 66711, 44474, 4453, 0);
  p->counter[BN_C_BYTES_READ] = 66711 * UINT64_C(16384);
  p->counter[BN_C_BYTES_WRITTEN] = 44474 * UINT64_C(16384);
  p->counter[BN_C_EVENTS] = 115638;
  bn_page_set_latency(p, 0.001, 0.0085, 4.31, 977.56, 0.004);
  bn_page_total(p);
  bn_page_expect(p, "\n"
                    "Throughput:\n"
                    "         read:  IOPS=66711.00 1042.36 MiB/s (1092.99 MB/s)\n"
                    "         write: IOPS=44474.00 694.91 MiB/s (728.66 MB/s)\n"
                    "         fsync: IOPS=4453.00\n"
                    "\n"
                    "Latency (ms):\n"
                    "         min:                                  0.00\n"
                    "         avg:                                  0.01\n"
                    "         max:                                  4.31\n"
                    "         95th percentile:                      0.00\n"
                    "         sum:                                977.56\n"
                    "\n");
  p->view.n_percents = 0;
  p->view.sum_s = 0;
  bn_page_set_queries(p, 0, 0, 0, 0);
  p->counter[BN_C_BYTES_READ] = p->counter[BN_C_BYTES_WRITTEN] = 0;
  bn_page_total(p);
  bn_page_expect(p, "\n"
                    "Throughput:\n"
                    "         read:  IOPS=0.00 0.00 MiB/s (0.00 MB/s)\n"
                    "         write: IOPS=0.00 0.00 MiB/s (0.00 MB/s)\n"
                    "         fsync: IOPS=0.00\n"
                    "\n"
                    "Latency (ms):\n"
                    "         min:                                  0.00\n"
                    "         avg:                                  0.01\n"
                    "         max:                                  4.31\n"
                    "         percentile stats:               disabled\n"
                    "         sum:                                  0.00\n"
                    "\n");
  bn_page_free(p);
}

/* transcripts mysql-oltp_read_write-checkpoints, mysql-oltp-interval (0.5) */
static void reports_sql(void **unused)
{
  struct bn_metric metrics[BN_C_FIXED + 1];
  const struct bn_snap delta = {.metrics = {.n_counters = BN_C_FIXED + 1, .counter = metrics}};
  static const char own[] = "SQL statistics:\n"
                            "    queries performed:\n"
                            "        read:                            13705\n"
                            "        write:                           3889\n"
                            "        other:                           1975\n"
                            "        total:                           19569\n"
                            "    transactions:                        0      (0.00 per sec.)\n"
                            "    queries:                             19569  (6521.70 per sec.)\n"
                            "    ignored errors:                      3      (1.00 per sec.)\n"
                            "    reconnects:                          0      (0.00 per sec.)\n";
  struct bn_page *p;

  (void)unused;
  name_counters(metrics, "transactions");
  for (int version = BN_V10; version <= BN_V11; version++) {
    p = bn_page_new((enum bn_version)version, BN_KIND_SQL);
    p->view.delta = &delta;
    p->counter[BN_C_FIXED] = 1887;
    bn_page_set_queries(p, 13705, 3889, 1975, 3);
    expect_total(p, own);
  }
  p = bn_page_new(BN_V05, BN_KIND_SQL);
  p->view.delta = &delta;
  p->counter[BN_C_FIXED] = 1887;
  bn_page_set_queries(p, 26460, 7553, 3777, 3);
  expect_total(p, "OLTP test statistics:\n"
                  "    queries performed:\n"
                  "        read:                            26460\n"
                  "        write:                           7553\n"
                  "        other:                           3777\n"
                  "        total:                           37790\n"
                  "    transactions:                        1887   (628.87 per sec.)\n"
                  "    read/write requests:                 34013  (11335.40 per sec.)\n"
                  "    other operations:                    3777   (1258.75 per sec.)\n"
                  "    ignored errors:                      3      (1.00 per sec.)\n"
                  "    reconnects:                          0      (0.00 per sec.)\n");
}

/* A document may lack a counter, or its value. */
static void reports_rows_outside_dialects(void **unused)
{
  static const char line[] = "    reconnects:                          0      (0.00 per sec.)\n"
                             "    rows read/inserted/updated/deleted:  12/34/56/78\n"
                             "\n";
  struct bn_metric metrics[] = {{.name = "rows_read", .unit = "1"},
                                {.name = "rows_inserted", .unit = "1"},
                                {.name = "rows_updated", .unit = "1"},
                                {.name = "rows_deleted", .unit = "1"}};

  (void)unused;
  for (int own = 0; own < 2; own++)
    for (size_t n = 3; n <= 5; n++) {
      struct bn_page *p = bn_page_new(BN_V11, BN_KIND_SQL);
      const uint64_t rows[BN_C_FIXED] = {12, 34, 56, n == 5 ? BN_ABSENT : 78};

      p->plan->native = own != 0;
      p->delta.metrics = (struct bn_metrics){.n_counters = n < 4 ? n : 4, .counter = metrics};
      bn_page_skip_header(p);
      bn_view_set_counts_and_rates(&p->view, &(struct bn_view_rules){.commits = false});
      p->view.counter = rows;
      assert_int_equal(bn_reporter_text.total(p->state, &p->view, NULL), 0);
      (void)fflush(p->out);
      assert_true((strstr(p->text, line) != NULL) == (own == 1 && n == 4));
      assert_true((strstr(p->text, "rows read") != NULL) == (own == 1 && n == 4));
      bn_page_free(p);
    }
}

static void reports_transactions_and_reconnects(void **unused)
{
  struct bn_page *p = bn_page_new(BN_V11, BN_KIND_SQL);

  (void)unused;
  bn_page_skip_header(p);
  p->counter[BN_C_EVENTS] = 1234567;
  p->counter[BN_C_RECONNECT] = 2;
  p->view.span_s = 10;
  bn_page_total(p);
  assert_non_null(strstr(p->text,
                         "    transactions:                        1234567 (123456.70 per sec.)\n"
                         "    queries:                             0      (0.00 per sec.)\n"
                         "    ignored errors:                      0      (0.00 per sec.)\n"
                         "    reconnects:                          2      (0.20 per sec.)\n"));
  assert_non_null(strstr(p->text, "    events/s (eps):                      123456.7000\n"
                                  "    time elapsed:                        1.0000s\n"));
  bn_page_free(p);
}

/* --- percentiles ------------------------------------------------------------------------------ */

static void set_percentile_list(struct bn_page *p)
{
  static const double ranks[] = {99.9, 1, 50, 99.999, 100, 99.9};

  p->view.n_percents = sizeof ranks / sizeof *ranks;
  for (size_t i = 0; i < p->view.n_percents; i++) {
    p->percents[i] = ranks[i];
    p->percentiles[i] = ranks[i] / 1e3;
  }
  p->percentiles[4] = HUGE_VAL;
}

static void lists_percentiles_ascending_in_one_column(void **unused)
{
  struct bn_page *p = bn_page_new(BN_V10, BN_KIND_PLAIN);

  (void)unused;
  bn_page_skip_header(p);
  p->counter[BN_C_EVENTS] = 1;
  set_percentile_list(p);
  bn_page_total(p);
  assert_non_null(strstr(p->text, "         max:                                    0.00\n"
                                  "          1th percentile:                        1.00\n"
                                  "         50th percentile:                       50.00\n"
                                  "       99.9th percentile:                       99.90\n"
                                  "     99.999th percentile:                      100.00\n"
                                  "        100th percentile:                 >4398046.51\n"
                                  "         sum:                                    0.00\n"));
  bn_page_free(p);

  p = bn_page_new(BN_V11, BN_KIND_FILEIO);
  bn_page_skip_header(p);
  p->counter[BN_C_EVENTS] = 1;
  set_percentile_list(p);
  bn_page_total(p);
  assert_non_null(strstr(p->text, "         max:                                  0.00\n"
                                  "          1th percentile:                      1.00\n"
                                  "         50th percentile:                     50.00\n"
                                  "       99.9th percentile:                     99.90\n"));
  bn_page_free(p);

  p = bn_page_new(BN_V05, BN_KIND_PLAIN);
  bn_page_skip_header(p);
  p->counter[BN_C_EVENTS] = 1;
  set_percentile_list(p);
  bn_page_total(p);
  assert_non_null(strstr(p->text, "         max:                                  0.00ms\n"
                                  "         approx.   1 percentile:               1.00ms\n"
                                  "         approx.  50 percentile:              50.00ms\n"
                                  "         approx. 99.9 percentile:             99.90ms\n"));
  bn_page_free(p);
}

static void says_that_percentiles_are_disabled(void **unused)
{
  struct bn_page *p = bn_page_new(BN_V11, BN_KIND_CPU);

  (void)unused;
  bn_page_skip_header(p);
  p->counter[BN_C_EVENTS] = 1;
  p->view.n_percents = 0;
  bn_page_total(p);
  assert_non_null(strstr(p->text, "         max:                                    0.00\n"
                                  "         percentile stats:               disabled\n"
                                  "         sum:                                    0.00\n"));
  bn_page_free(p);
}

/* transcript cpu-forced-shutdown-expired */
static void names_unfinished_events(void **unused)
{
  struct bn_page *p = bn_page_new(BN_V10, BN_KIND_CPU);

  (void)unused;
  p->view.unfinished = 4;
  expect_total(p, "CPU speed:\n"
                  "    events per second:     0.00\n"
                  "\n"
                  "Number of unfinished transactions on forced shutdown: 4\n");
}

BN_TESTS(text_total)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reports_cpu_of_1_1),
      cmocka_unit_test(reports_files_outside_dialects),
      cmocka_unit_test(reports_what_a_script_adds),
      cmocka_unit_test(tells_what_did_not_end),
      cmocka_unit_test(an_age_that_is_not_known_is_not_told),
      cmocka_unit_test(counts_those_in_flight_apart),
      cmocka_unit_test(tells_a_lag_that_matters),
      cmocka_unit_test(an_interval_without_an_end_has_no_latency),
      cmocka_unit_test(reports_cpu_of_1_0),
      cmocka_unit_test(reports_cpu_of_0_5),
      cmocka_unit_test(reports_a_run_without_events),
      cmocka_unit_test(reports_memory),
      cmocka_unit_test(counts_untouched_memory_in_rates_only),
      cmocka_unit_test(reports_fileio),
      cmocka_unit_test(reports_fileio_of_1_1),
      cmocka_unit_test(reports_sql),
      cmocka_unit_test(reports_rows_outside_dialects),
      cmocka_unit_test(reports_transactions_and_reconnects),
      cmocka_unit_test(lists_percentiles_ascending_in_one_column),
      cmocka_unit_test(says_that_percentiles_are_disabled),
      cmocka_unit_test(names_unfinished_events),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
