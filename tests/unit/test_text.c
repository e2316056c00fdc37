/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text report around its figures: header, interval lines, checkpoints, histogram, sessions. */
#include "report/reporters.h"

#include <math.h>
#include <string.h>

#include "base/hist.h"
#include "base/log.h"
#include "cm.h"
#include "measure/result.h"
#include "page.h"

/* --- header ----------------------------------------------------------------------------------- */

static void shows_a_header_in_each_dialect(void **unused)
{
  static const struct {
    enum bn_version version;
    const char *text;
  } rows[] = {
      {BN_V11, "Running the test with following options:\n"
               "Number of threads: 1\n"
               "Initializing random number generator from current time\n"
               "\n"
               "\n"},
      {BN_V10, "Running the test with following options:\n"
               "Number of threads: 1\n"
               "Initializing random number generator from current time\n"
               "\n"
               "\n"},
      {BN_V05, "Running the test with following options:\n"
               "Number of threads: 1\n"
               "Random number generator seed is 0 and will be ignored\n"
               "\n"
               "\n"},
  };

  (void)unused;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct bn_page *p = bn_page_new(rows[i].version, BN_KIND_CPU);

    bn_page_begin(p);
    bn_page_expect(p, rows[i].text);
    bn_reporter_text.starting(p->state, &p->facts);
    bn_page_expect(p, "Initializing worker threads...\n\n");
    bn_reporter_text.started(p->state, &p->facts);
    bn_page_expect(p, "Threads started!\n\n");
    bn_page_free(p);
  }
}

/* The option that repeats the run. */
static void names_the_seed_outside_dialects(void **unused)
{
  struct bn_page *p = bn_page_new(BN_V11, BN_KIND_CPU);

  (void)unused;
  p->plan->native = true;
  p->plan->seed = 9223372036854775807;
  bn_page_begin(p);
  bn_page_expect(p, "Running the test with following options:\n"
                    "Number of threads: 1\n"
                    "Random numbers from a new seed "
                    "(--rand-seed=9223372036854775807 repeats them)\n"
                    "\n"
                    "\n");
  bn_page_free(p);
}

static void fill_header(struct bn_plan *c)
{
  c->threads = 16;
  c->warmup_ns = 2 * BN_NSEC_PER_SEC;
  c->rate = 2000000;
  c->interval_ns = 10 * BN_NSEC_PER_SEC;
  c->n_checkpoints = 3;
  c->checkpoint_ns[0] = 1 * BN_NSEC_PER_SEC;
  c->checkpoint_ns[1] = 20 * BN_NSEC_PER_SEC;
  c->checkpoint_ns[2] = 300 * BN_NSEC_PER_SEC;
  c->debug = true;
  c->validate = true;
  c->seed_from_timer = true;
  c->seed_typed = 42;
  c->seed_given = true;
  c->forced = true;
  c->time_ns = 10 * BN_NSEC_PER_SEC;
  c->forced_ns = 5 * BN_NSEC_PER_SEC;
}

static void keeps_the_order_of_all_header_lines(void **unused)
{
  struct bn_page *p = bn_page_new(BN_V11, BN_KIND_CPU);

  (void)unused;
  fill_header(p->plan);
  bn_page_begin(p);
  bn_page_expect(p, "Running the test with following options:\n"
                    "Number of threads: 16\n"
                    "Warmup time: 2s\n"
                    "Target transaction rate: 2000000/sec\n"
                    "Report intermediate results every 10 second(s)\n"
                    "Report checkpoint(s) at 1, 20, 300 seconds\n"
                    "Debug mode enabled.\n"
                    "\n"
                    "Validation checks: on.\n"
                    "\n"
                    "Initializing random number generator from seed (42).\n"
                    "\n"
                    "Forcing shutdown in 15 seconds\n"
                    "\n");
  bn_reporter_text.started(p->state, &p->facts);
  bn_page_expect(p, "Threads started!\n"
                    "\n"
                    "Warming up for 2 seconds...\n"
                    "\n");
  bn_page_free(p);
}

static void words_the_header_of_0_5(void **unused)
{
  struct bn_page *p = bn_page_new(BN_V05, BN_KIND_CPU);

  (void)unused;
  p->plan->validate = true;
  p->plan->seed_from_timer = true;
  p->plan->interval_ns = BN_NSEC_PER_SEC / 2;
  bn_page_begin(p);
  bn_page_expect(p, "Running the test with following options:\n"
                    "Number of threads: 1\n"
                    "Report intermediate results every 0.5 second(s)\n"
                    "Additional request validation enabled.\n"
                    "\n"
                    "Initializing random number generator from timer.\n"
                    "\n"
                    "Random number generator seed is 0 and will be ignored\n"
                    "\n"
                    "\n");
  bn_page_free(p);
}

/* --- interval lines --------------------------------------------------------------------------- */

static void expect_interval(enum bn_version version, enum bn_kind kind, const char *text)
{
  struct bn_page *p = bn_page_new(version, kind);

  bn_page_skip_header(p);
  p->view.at_s = 2.0004;
  p->view.span_s = 2;
  p->view.running = 2;
  p->counter[BN_C_EVENTS] = 1346;
  p->view.backlog = 3;
  p->view.concurrency = 1;
  p->view.paced = true;
  p->counter[BN_C_BYTES_READ] = 363 * UINT64_C(1048576);
  p->counter[BN_C_BYTES_WRITTEN] = 242 * UINT64_C(1048576);
  bn_page_set_queries(p, 18834, 5380, 1855, 2);
  p->percentiles[0] = 0.0064512;
  bn_page_interval(p);
  bn_page_expect(p, text);
  bn_page_free(p);
}

static void shows_interval_lines_of_1_x(void **unused)
{
  static const enum bn_version versions[] = {BN_V10, BN_V11};

  (void)unused;
  for (size_t i = 0; i < 2; i++) {
    expect_interval(versions[i], BN_KIND_PLAIN,
                    "[ 2s ] thds: 2 eps: 673.00 lat (ms,95%): 6.45\n"
                    "[ 2s ] queue length: 3 concurrency: 1\n");
    expect_interval(versions[i], BN_KIND_CPU,
                    "[ 2s ] thds: 2 eps: 673.00 lat (ms,95%): 6.45\n"
                    "[ 2s ] queue length: 3 concurrency: 1\n");
    expect_interval(versions[i], BN_KIND_MEMORY, "[ 2s ] 302.50 MiB/sec\n");
    expect_interval(versions[i], BN_KIND_FILEIO,
                    "[ 2s ] reads: 181.50 MiB/s writes: 121.00 MiB/s fsyncs: 927.50/s "
                    "latency (ms,95%): 6.451\n");
    expect_interval(versions[i], BN_KIND_SQL,
                    "[ 2s ] thds: 2 tps: 673.00 qps: 13034.50 (r/w/o: 9417.00/2690.00/927.50) "
                    "lat (ms,95%): 6.45 err/s: 1.00 reconn/s: 0.00\n"
                    "[ 2s ] queue length: 3, concurrency: 1\n");
  }
}

static void shows_interval_lines_of_0_5(void **unused)
{
  (void)unused;
  expect_interval(BN_V05, BN_KIND_PLAIN, "");
  expect_interval(BN_V05, BN_KIND_CPU, "");
  expect_interval(BN_V05, BN_KIND_MEMORY, "[   2s] 302.50 MB/sec,\n");
  expect_interval(BN_V05, BN_KIND_FILEIO,
                  "[   2s] reads: 181.50 MB/s writes: 121.00 MB/s fsyncs: 927.50/s "
                  "response time: 6.451ms (95%)\n");
  expect_interval(BN_V05, BN_KIND_SQL,
                  "[   2s] threads: 2, tps: 673.00, reads: 9417.00, writes: 2690.00, "
                  "response time: 6.45ms (95%), errors: 1.00, reconnects:  0.00\n"
                  "[   2s] queue length: 3, concurrency: 1\n");
}

static void stamps_fractional_intervals(void **unused)
{
  struct bn_page *p = bn_page_new(BN_V11, BN_KIND_CPU), *old = bn_page_new(BN_V05, BN_KIND_MEMORY);

  (void)unused;
  p->plan->interval_decimals = 2;
  p->percents[0] = 99.9;
  p->percentiles[0] = HUGE_VAL;
  bn_page_skip_header(p);
  p->view.at_s = 0.25;
  bn_page_interval(p);
  bn_page_expect(p, "[ 0.25s ] thds: 1 eps: 0.00 lat (ms,99.9%): >4398046.51\n");
  p->view.n_percents = 0;
  bn_page_interval(p);
  bn_page_expect(p, "[ 0.25s ] thds: 1 eps: 0.00 lat (ms,0%): 0.00\n");
  bn_page_free(p);

  old->plan->interval_decimals = 1;
  bn_page_skip_header(old);
  old->view.at_s = 12.5;
  bn_page_interval(old);
  bn_page_expect(old, "[  12.5s] 0.00 MB/sec,\n");
  bn_page_free(old);
}

static void leaves_interval_lines_to_a_hook(void **unused)
{
  struct bn_page *p = bn_page_new(BN_V11, BN_KIND_SQL);

  (void)unused;
  bn_page_skip_header(p);
  p->view.replaced = true;
  p->view.paced = true;
  bn_page_interval(p);
  bn_page_expect(p, "");
  bn_page_free(p);
}

/* --- what else a report may have -------------------------------------------------------------- */

/* transcript cpu-debug (1.1, 0.5) */
static void shows_each_session_when_debugging(void **unused)
{
  static const struct bn_session_view sessions[] = {
      {.min_s = 0.00002, .avg_s = 0.00007, .max_s = 0.0168, .busy_s = 0.9949, .events = 10},
      {.events = 0}};
  struct bn_page *p;

  (void)unused;
  bn_log_set_verbosity(BN_DEBUG);
  p = bn_page_new(BN_V11, BN_KIND_PLAIN);
  p->view.sessions = sessions;
  p->view.n_sessions = 2;
  p->plan->debug = true;
  bn_page_skip_header(p);
  bn_page_total(p);
  assert_non_null(strstr(
      p->text, "    execution time (avg/stddev):   0.0000/0.00\n"
               "\n"
               "DEBUG: Verbose per-thread statistics:\n"
               "\n"
               "DEBUG:     thread #  0: min: 0.0000s  avg: 0.0001s  max: 0.0168s  events: 10\n"
               "DEBUG:                  total time taken by event execution: 0.9949s\n"
               "DEBUG:     thread #  1: min: 0.0000s  avg: 0.0000s  max: 0.0000s  events: 0\n"
               "DEBUG:                  total time taken by event execution: 0.0000s\n"
               "\n"));
  bn_page_free(p);

  p = bn_page_new(BN_V05, BN_KIND_PLAIN);
  p->view.sessions = sessions;
  p->plan->debug = true;
  p->view.n_sessions = 1;
  bn_page_skip_header(p);
  bn_page_total(p);
  assert_non_null(
      strstr(p->text, "DEBUG:                  total time taken by even execution: 0.9949s\n\n"));
  bn_page_free(p);
  bn_log_set_verbosity(BN_NOTICE);
}

/* transcript cpu-checkpoints: the elapsed time is since the start, rates are of the span */
static void stamps_checkpoints(void **unused)
{
  struct bn_page *p = bn_page_new(BN_V11, BN_KIND_CPU);

  (void)unused;
  bn_page_skip_header(p);
  p->view.at_s = 2.0124;
  p->view.span_s = 25939 / 25624.2421;
  p->counter[BN_C_EVENTS] = 25939;
  bn_page_set_latency(p, 0.02, 0.08, 82.66, 2007.52, 0.02);
  bn_page_set_fairness(p, 12960.5, 63.5, 1.0038, 0.01);
  bn_page_checkpoint(p);
  bn_page_expect(p, "[ 2s ] Checkpoint report:\n"
                    "CPU speed:\n"
                    "    events per second: 25624.24\n"
                    "\n"
                    "Throughput:\n"
                    "    events/s (eps):                      25624.2421\n"
                    "    time elapsed:                        2.0124s\n"
                    "    total number of events:              25939\n"
                    "\n"
                    "Latency (ms):\n"
                    "         min:                                    0.02\n"
                    "         avg:                                    0.08\n"
                    "         max:                                   82.66\n"
                    "         95th percentile:                        0.02\n"
                    "         sum:                                 2007.52\n"
                    "\n"
                    "Threads fairness:\n"
                    "    events (avg/stddev):           12960.5000/63.50\n"
                    "    execution time (avg/stddev):   1.0038/0.01\n"
                    "\n");
  p->view.replaced = true;
  bn_page_checkpoint(p);
  bn_page_expect(p, "[ 2s ] Checkpoint report:\n");
  bn_page_free(p);
}

static void stamps_checkpoints_of_0_5(void **unused)
{
  struct bn_page *p = bn_page_new(BN_V05, BN_KIND_SQL);

  (void)unused;
  bn_page_skip_header(p);
  p->view.replaced = true;
  bn_page_checkpoint(p);
  bn_page_expect(p, "[   0s] Checkpoint report:\n");
  bn_page_checkpoint(p);
  bn_page_expect(p, "[   1s] Checkpoint report:\n");
  bn_page_free(p);
}

/* transcripts cpu-histogram, lua-hooks-histogram: before the report, also before a hook's */
static void prints_the_histogram_first(void **unused)
{
  struct bn_page *p = bn_page_new(BN_V11, BN_KIND_PLAIN);
  struct bn_hist *h = bn_hist_new();

  (void)unused;
  assert_non_null(h);
  for (int i = 0; i < 100; i++)
    bn_hist_record(h, 10090000);
  p->view.latency = h;
  p->plan->histogram = true;
  bn_page_skip_header(p);
  p->view.replaced = true;
  bn_page_total(p);
  bn_page_expect(p, "Latency histogram (values are in milliseconds)\n"
                    "       value  ------------- distribution ------------- count\n"
                    "      10.090 |**************************************** 100\n"
                    " \n");
  bn_hist_clear(h);
  bn_page_total(p);
  bn_page_expect(p, "Latency histogram (values are in milliseconds)\n"
                    " \n");
  bn_hist_free(h);
  bn_page_free(p);
}

/* A percentile beyond the range of the histogram has the end of the range in every table. */
static void shows_the_end_of_the_range_in_tables(void **unused)
{
  static const double beyond_s[] = {HUGE_VAL};
  static const struct bn_timing timing = {
      .name = "slow", .percentile_s = beyond_s, .count = 1, .avg_s = 5000, .max_s = 5000};
  static const struct bn_event_kind kind = {
      .name = "slow", .timing = &timing, .events = 1, .events_per_s = 1, .share = 1};
  struct bn_page *p = bn_page_new(BN_V11, BN_KIND_PLAIN);
  char db1[] = "db1";
  struct bn_member member = {.host = db1, .threads = 1, .time_s = 1, .processor_s = 1};
  struct bn_group group = {.member = &member, .has_total = true};

  (void)unused;
  p->plan->native = true;
  p->plan->kind_lines = true;
  p->percentiles[0] = HUGE_VAL;
  p->view.event_kinds = &kind;
  p->view.n_event_kinds = 1;
  bn_page_skip_header(p);
  bn_page_interval(p);
  assert_non_null(strstr(p->text, "  slow: eps: 1.00 lat (ms,95%): >4398046.51 retries: 0"));
  bn_page_total(p);
  assert_non_null(strstr(p->text, "           1  100.0%         1.00        0        0"
                                  " 5000000.00 >4398046.51 5000000.00  slow\n"));
  group.total.view = p->view;
  assert_int_equal(bn_reporter_text.members(p->state, &group, 1, NULL), 0);
  assert_non_null(strstr(p->text, " >4398046.51        0 "));
  assert_null(strstr(p->text, "inf"));
  bn_page_free(p);
}

/* With groups on hosts, the table has the parts on the hosts, and not the sums of the groups. */
static void names_groups_and_hosts(void **unused)
{
  struct bn_page *p = bn_page_new(BN_V11, BN_KIND_PLAIN);
  char db1[] = "db1", reads[] = "reads";
  struct bn_fact_option option = {
      .name = (char[]){"group"}, .origin = BN_FROM_COMMAND_LINE, .traits = BN_OPT_CONTROLLER_ONLY};
  struct bn_member sum = {.host = reads, .threads = 7},
                   part = {.host = db1, .group = reads, .threads = 3};
  const struct bn_group groups[] = {{.member = &sum}, {.member = &part}};

  (void)unused;
  p->plan->native = true;
  p->facts.option = &option;
  p->facts.n_options = 1;
  bn_page_skip_header(p);
  assert_int_equal(bn_reporter_text.members(p->state, groups, 2, NULL), 0);
  assert_non_null(
      strstr(p->text, "Processes of the groups (clock: greatest error; start: delay):\n"));
  assert_non_null(strstr(p->text, "  clock ms  start ms  host/group\n          3 "));
  assert_non_null(strstr(p->text, "  db1/reads\n"));
  assert_null(strstr(p->text, "  reads\n"));
  p->facts.n_options = 0;
  bn_page_free(p);
}

static void says_nothing_below_notice(void **unused)
{
  struct bn_page *p = bn_page_new(BN_V11, BN_KIND_CPU);

  (void)unused;
  bn_log_set_verbosity(BN_WARNING);
  p->plan->histogram = true;
  bn_page_begin(p);
  bn_reporter_text.starting(p->state, &p->facts);
  bn_reporter_text.started(p->state, &p->facts);
  bn_page_interval(p);
  bn_page_checkpoint(p);
  bn_page_total(p);
  assert_int_equal(p->len, 0);
  bn_log_set_verbosity(BN_NOTICE);
  bn_page_free(p);
}

static void tells_of_a_full_disk_at_close(void **unused)
{
  struct bn_page *p = bn_page_new(BN_V11, BN_KIND_CPU);
  FILE *full = fopen("/dev/full", "w");
  struct bn_err err = {0};

  (void)unused;
  assert_non_null(full);
  assert_int_equal(bn_reporter_text.open(p->state, NULL, NULL, full, NULL), 0);
  bn_page_begin(p);
  bn_page_total(p);
  assert_int_equal(bn_reporter_text.close(p->state, &err), -1);
  assert_string_equal(err.text, "cannot write the report: No space left on device");
  (void)fclose(full);
  assert_int_equal(bn_reporter_text.open(p->state, NULL, NULL, p->out, NULL), 0);
  bn_page_free(p);
}

BN_TESTS(text)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shows_a_header_in_each_dialect),
      cmocka_unit_test(names_the_seed_outside_dialects),
      cmocka_unit_test(keeps_the_order_of_all_header_lines),
      cmocka_unit_test(words_the_header_of_0_5),
      cmocka_unit_test(shows_interval_lines_of_1_x),
      cmocka_unit_test(shows_interval_lines_of_0_5),
      cmocka_unit_test(stamps_fractional_intervals),
      cmocka_unit_test(leaves_interval_lines_to_a_hook),
      cmocka_unit_test(shows_each_session_when_debugging),
      cmocka_unit_test(stamps_checkpoints),
      cmocka_unit_test(stamps_checkpoints_of_0_5),
      cmocka_unit_test(prints_the_histogram_first),
      cmocka_unit_test(names_groups_and_hosts),
      cmocka_unit_test(shows_the_end_of_the_range_in_tables),
      cmocka_unit_test(says_nothing_below_notice),
      cmocka_unit_test(tells_of_a_full_disk_at_close),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
