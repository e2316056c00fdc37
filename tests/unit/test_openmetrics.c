/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Metrics are rendered line by line as OpenMetrics 1.0 defines them, whatever the texts are. */
#include "report/openmetrics/render.h"

#include <math.h>
#include <string.h>

#include "cm.h"

struct page {
  struct bn_facts facts;
  struct bn_snap delta;
  struct bn_view view;
  double percents[2], percentile_s[2];
  struct bn_buf text;
};

static struct page *page_new(void)
{
  static const struct bn_metric extra[] = {
      {.name = "rows", .unit = "1"},      {.name = "not_known", .unit = "1"},
      {.name = "wait", .unit = "ms"},     {.name = "moved", .unit = "bytes"},
      {.name = "pages", .unit = "pages"}, {.name = "connection_wait", .unit = "ns"},
      {.name = "retries", .unit = "1"},   {.name = NULL}};
  struct page *p = calloc(1, sizeof *p);
  struct bn_metrics metrics;

  assert_non_null(p);
  bn_metrics_init(&metrics, extra);
  bn_snap_init_for_metrics(&p->delta, &metrics, 0, true);
  bn_metrics_done(&metrics);
  p->delta.counter[BN_C_FIXED] = 7;
  p->delta.counter[BN_C_FIXED + 1] = BN_ABSENT;
  p->delta.counter[BN_C_FIXED + 2] = 1500;
  p->delta.counter[BN_C_FIXED + 3] = 4096;
  p->delta.counter[BN_C_FIXED + 4] = 5;
  p->delta.counter[BN_C_FIXED + 5] = 250000000;
  p->percents[0] = 95;
  p->percents[1] = 99.9;
  p->percentile_s[0] = 0.25;
  p->percentile_s[1] = HUGE_VAL;
  p->view = (struct bn_view){.delta = &p->delta,
                             .counter = p->delta.counter,
                             .percents = p->percents,
                             .percentile_s = p->percentile_s,
                             .n_percents = 2,
                             .span_s = 1,
                             .events = 3,
                             .sum_s = 0.75};
  return p;
}

static void page_free(struct page *p)
{
  bn_facts_done(&p->facts);
  bn_snap_done(&p->delta);
  bn_buf_done(&p->text);
  free(p);
}

static const char *render(struct page *p)
{
  bn_buf_clear(&p->text);
  bn_openmetrics_add_facts(&p->text, &p->facts);
  bn_openmetrics_add_view(&p->text, &p->view);
  assert_false(p->text.failed);
  return p->text.data;
}

static void expect(struct page *p, const char *lines)
{
  if (strstr(render(p), lines) == NULL)
    assert_string_equal(p->text.data, lines); /* shows both */
}

static void expect_not(struct page *p, const char *word)
{
  assert_null(strstr(render(p), word));
}

static void a_run_that_measured_nothing_has_facts_and_an_end(void **state)
{
  struct page *p = page_new();
  const struct bn_end failed = {.status = 1}, killed = {.partial = true};

  (void)state;
  p->facts.plan.threads = 4;
  p->facts.start_wall_ns = UINT64_C(1500000000);
  bn_openmetrics_add_facts(&p->text, &p->facts);
  bn_openmetrics_add_end(&p->text, &failed);
  assert_string_equal(p->text.data,
                      "# TYPE bench_run_info gauge\n"
                      "# HELP bench_run_info Test, server and version of the run.\n"
                      "bench_run_info 1\n"
                      "# TYPE bench_threads gauge\n"
                      "# HELP bench_threads Threads of the run.\n"
                      "bench_threads 4\n"
                      "# TYPE bench_start_time_seconds gauge\n"
                      "# UNIT bench_start_time_seconds seconds\n"
                      "# HELP bench_start_time_seconds When the run started, since 1970.\n"
                      "bench_start_time_seconds 1.5\n"
                      "# TYPE bench_exit_status gauge\n"
                      "# HELP bench_exit_status Exit status of the run.\n"
                      "bench_exit_status 1\n"
                      "# EOF\n");
  bn_buf_clear(&p->text);
  bn_openmetrics_add_end(&p->text, &killed);
  assert_string_equal(p->text.data, "# EOF\n");
  page_free(p);
}

static void texts_are_escaped(void **state)
{
  struct page *p = page_new();
  static const struct bn_figure figures[] = {{.key = "a\nb", .value = 1},
                                             {.key = "ns_per_load", .value = -0.5}};

  (void)state;
  bn_facts_set_text(&p->facts, "workload", "name", "a \"b\" \\c\n\x1b[m");
  bn_facts_set_text(&p->facts, "database", "driver", "mysql");
  p->view.figures = figures;
  p->view.n_figures = 2;
  expect(p, "bench_run_info{workload=\"a \\\"b\\\" \\\\c\\\\x0a\\\\x1b[m\",driver=\"mysql\"} 1\n");
  expect(p, "# TYPE bench_workload_ns_per_load gauge\n"
            "# HELP bench_workload_ns_per_load Figure of the workload.\n"
            "bench_workload_ns_per_load -0.5\n");
  expect_not(p, "bench_workload_a");
  page_free(p);
}

static void long_texts_are_not_cut(void **state)
{
  struct page *p = page_new();
  char path[400];

  (void)state;
  memset(path, 'x', sizeof path);
  path[sizeof path - 1] = '\0';
  bn_facts_set_text(&p->facts, "workload", "name", path);
  expect(p, path);
  page_free(p);
}

static void latencies_are_summaries(void **state)
{
  static const double read_s[] = {0.001, 0.002};
  static const struct bn_timing timings[] = {
      {.name = "reads", .percentile_s = read_s, .count = 2, .sum_s = 0.003},
      {.name = "older", .count = 1, .sum_s = 0.5}};
  struct page *p = page_new();

  (void)state;
  p->view.timings = timings;
  p->view.n_timings = 2;
  expect(p, "# TYPE bench_event_latency_seconds summary\n"
            "# UNIT bench_event_latency_seconds seconds\n"
            "# HELP bench_event_latency_seconds Latency of events.\n"
            "bench_event_latency_seconds{quantile=\"0.95\"} 0.25\n"
            "bench_event_latency_seconds{quantile=\"0.999\"} +Inf\n"
            "bench_event_latency_seconds_sum 0.75\n"
            "bench_event_latency_seconds_count 3\n");
  expect(p, "bench_timing_seconds{timing=\"reads\",quantile=\"0.95\"} 0.001\n"
            "bench_timing_seconds{timing=\"reads\",quantile=\"0.999\"} 0.002\n"
            "bench_timing_seconds_sum{timing=\"reads\"} 0.003\n"
            "bench_timing_seconds_count{timing=\"reads\"} 2\n"
            "bench_timing_seconds_sum{timing=\"older\"} 0.5\n"
            "bench_timing_seconds_count{timing=\"older\"} 1\n");
  p->percentile_s[0] = p->view.min_s = p->view.max_s = NAN;
  expect(p, "{quantile=\"0.95\"} NaN\n");
  expect_not(p, "bench_event_latency_min_seconds");
  expect_not(p, "bench_event_latency_max_seconds");
  p->percentile_s[0] = 0.25;
  p->view.max_s = 2;
  expect(p, "{quantile=\"0.95\"} 0.25\n");
  expect(p, "bench_event_latency_max_seconds 2\n");
  page_free(p);
}

static void counters_end_in_total(void **state)
{
  struct page *p = page_new();

  (void)state;
  p->view.kind = BN_KIND_FILEIO;
  p->view.events = UINT64_MAX - 1;
  p->view.writes = 5;
  p->view.bytes_read = 4096;
  p->delta.label[0][0] = (struct bn_label){"1213", 2};
  p->delta.label[0][1] = (struct bn_label){"other", 1};
  p->delta.n_labels[0] = 2;
  expect(p, "bench_events_total 18446744073709551614\n");
  expect(p, "# TYPE bench_queries counter\n"
            "# HELP bench_queries Queries or requests by kind.\n"
            "bench_queries_total{kind=\"read\"} 0\n"
            "bench_queries_total{kind=\"write\"} 5\n"
            "bench_queries_total{kind=\"other\"} 0\n");
  expect(p, "# UNIT bench_read_bytes bytes\n"
            "# HELP bench_read_bytes Bytes that were read.\n"
            "bench_read_bytes_total 4096\n");
  expect(p, "bench_errors_by_code_total{code=\"1213\"} 2\n"
            "bench_errors_by_code_total{code=\"other\"} 1\n");
  page_free(p);
}

/* A quantity that has a row of its own is not among them. */
static void counters_of_a_workload_stand_by_unit(void **state)
{
  struct page *p = page_new();

  (void)state;
  expect(p, "# TYPE bench_workload_counts counter\n"
            "# HELP bench_workload_counts Counters of the workload, by name.\n"
            "bench_workload_counts_total{counter=\"rows\"} 7\n"
            "bench_workload_counts_total{counter=\"pages\",unit=\"pages\"} 5\n"
            "# TYPE bench_workload_bytes counter\n"
            "# UNIT bench_workload_bytes bytes\n"
            "# HELP bench_workload_bytes Sizes that the workload counts, by name.\n"
            "bench_workload_bytes_total{counter=\"moved\"} 4096\n"
            "# TYPE bench_workload_seconds counter\n"
            "# UNIT bench_workload_seconds seconds\n"
            "# HELP bench_workload_seconds Times that the workload counts, by name.\n"
            "bench_workload_seconds_total{counter=\"wait\"} 1.5\n");
  expect_not(p, "not_known");
  p->view.writes = 5;
  expect(p, "# HELP bench_queries Queries or requests by kind.\n"
            "bench_queries_total{kind=\"write\"} 5\n"
            "# TYPE");
  expect_not(p, "\"connection_wait\"");
  expect_not(p, "\"retries\"");
  p->view.kind = BN_KIND_SQL;
  p->view.connection_wait_s = 0.25;
  expect(p, "bench_connection_wait_seconds_total 0.25\n");
  expect(p, "bench_retries_total 0\n");
  page_free(p);
}

static void what_does_not_apply_is_left_out(void **state)
{
  static const char *const names[] = {
      "bench_arrivals",       "bench_outages", "bench_setup_seconds",    "bench_timing",
      "bench_errors_by_code", "bench_queries", "bench_event_latency_min"};
  struct page *p = page_new();

  (void)state;
  p->view.min_s = NAN;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    expect_not(p, names[i]);
  p->view.paced = true;
  p->view.kind = BN_KIND_SQL;
  p->view.setup_s = 0.5;
  p->view.due = 9;
  p->view.backlog = 4;
  expect(p, "bench_arrivals_total{state=\"due\"} 9\n");
  expect(p, "bench_arrivals_waiting 4\n");
  expect(p, "bench_outages_total 0\n");
  expect(p, "bench_setup_seconds 0.5\n");
  page_free(p);
}

BN_TESTS(openmetrics)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_run_that_measured_nothing_has_facts_and_an_end),
      cmocka_unit_test(texts_are_escaped),
      cmocka_unit_test(long_texts_are_not_cut),
      cmocka_unit_test(latencies_are_summaries),
      cmocka_unit_test(counters_end_in_total),
      cmocka_unit_test(counters_of_a_workload_stand_by_unit),
      cmocka_unit_test(what_does_not_apply_is_left_out),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
