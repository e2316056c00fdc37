/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Assertions: what is one and what is wrong with others, and what they say of views with known
   numbers, on the borders, without events, and where values are only known to be at least that. */
#include "cm.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "measure/assert.h"

/* --- grammar ---------------------------------------------------------------------------------- */

struct form {
  const char *text;
  enum bn_assert_what what;
  const char *field, *timing;
  double rank;
  enum bn_assert_op op;
  double limit;
  const char *unit;
  double scale;
};

static const struct form forms[] = {
    {"p99<50ms", BN_ASSERT_RANK, NULL, "", 99, BN_ASSERT_LT, 50, "ms", 1e3},
    {"p99.9@read<2ms", BN_ASSERT_RANK, NULL, "read", 99.9, BN_ASSERT_LT, 2, "ms", 1e3},
    {"p100>=1s", BN_ASSERT_RANK, NULL, "", 100, BN_ASSERT_GE, 1, "s", 1},
    {"p.5>0ns", BN_ASSERT_RANK, NULL, "", 0.5, BN_ASSERT_GT, 0, "ns", 1e9},
    {" p50 @ fsync_latency <= 1.5e2 us ", BN_ASSERT_RANK, NULL, "fsync_latency", 50, BN_ASSERT_LE,
     150, "us", 1e6},
    {"max<1s", BN_ASSERT_MAX, "max_s", "", 0, BN_ASSERT_LT, 1, "s", 1},
    {"min@write>1us", BN_ASSERT_MIN, "min_s", "write", 0, BN_ASSERT_GT, 1, "us", 1e6},
    {"avg_s<1ms", BN_ASSERT_AVG, "avg_s", "", 0, BN_ASSERT_LT, 1, "ms", 1e3},
    {"median<1ms", BN_ASSERT_MEDIAN, "median_s", "", 0, BN_ASSERT_LT, 1, "ms", 1e3},
    {"tps>1000", BN_ASSERT_FIELD, "transactions_per_s", "", 0, BN_ASSERT_GT, 1000, "1/s", 1},
    {"qps>1e3", BN_ASSERT_FIELD, "queries_per_s", "", 0, BN_ASSERT_GT, 1000, "1/s", 1},
    {"eps>0.5", BN_ASSERT_FIELD, "events_per_s", "", 0, BN_ASSERT_GT, 0.5, "1/s", 1},
    {"events_per_s>1", BN_ASSERT_FIELD, "events_per_s", "", 0, BN_ASSERT_GT, 1, "1/s", 1},
    {"errors<0.1%", BN_ASSERT_ERRORS, "errors", "", 0, BN_ASSERT_LT, 0.1, "%", 100},
    {"errors<=0", BN_ASSERT_FIELD, "errors", "", 0, BN_ASSERT_LE, 0, "1", 1},
    {"errors_per_s<1", BN_ASSERT_FIELD, "errors_per_s", "", 0, BN_ASSERT_LT, 1, "1/s", 1},
    {"served>=99.5 %", BN_ASSERT_FIELD, "served", "", 0, BN_ASSERT_GE, 99.5, "%", 100},
    {"mib_per_s>100", BN_ASSERT_FIELD, "bytes_moved_per_s", "", 0, BN_ASSERT_GT, 100, "MiB/s",
     0x1p-20},
    {"bytes_read>1", BN_ASSERT_FIELD, "bytes_read", "", 0, BN_ASSERT_GT, 1, "bytes", 1},
    {"p90@event:new_order<1ms", BN_ASSERT_RANK, NULL, "event:new_order", 90, BN_ASSERT_LT, 1, "ms",
     1e3},
    {"eps @ event:a > 5", BN_ASSERT_KIND, "events_per_s", "event:a", 0, BN_ASSERT_GT, 5, "1/s", 1},
    {"share@event:a>=44%", BN_ASSERT_KIND, "share", "event:a", 0, BN_ASSERT_GE, 44, "%", 100},
    {"failed_events@event:a<1", BN_ASSERT_KIND, "failed_events", "event:a", 0, BN_ASSERT_LT, 1, "1",
     1},
    {"lag_p99_s<1ms", BN_ASSERT_FIELD, "lag_p99_s", "", 0, BN_ASSERT_LT, 1, "ms", 1e3},
};

static void assertions_are_read(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
    const struct form *want = &forms[i];
    struct bn_err err = {0};
    struct bn_assert a;

    if (bn_assert_parse(&a, want->text, &err) != 0)
      fail_msg("%s: %s", want->text, err.text);
    assert_ptr_equal(a.text, want->text);
    assert_int_equal(a.what, want->what);
    assert_true((a.field == NULL) == (want->field == NULL));
    if (want->field != NULL)
      assert_string_equal(a.field->name, want->field);
    assert_string_equal(a.part, want->timing);
    assert_int_equal(a.op, want->op);
    assert_string_equal(a.unit, want->unit);
    assert_true(a.rank == want->rank && a.limit == want->limit && a.scale == want->scale);
  }
}

static void every_figure_of_documents_is_a_metric(void **state)
{
  struct bn_buf names = {0};

  (void)state;
  bn_assert_list_names(&names);
  for (const struct bn_view_field *f = bn_view_fields; f->name != NULL; f++) {
    struct bn_err err = {0};
    struct bn_assert a;
    char text[128];

    (void)snprintf(text, sizeof text, "%s<1%s", f->name, strcmp(f->unit, "s") == 0 ? "s" : "");
    assert_int_equal(bn_assert_parse(&a, text, &err), 0);
    assert_ptr_equal(a.field, f);
    assert_non_null(strstr(names.data, f->name));
  }
  bn_buf_done(&names);
}

static const struct {
  const char *text, *wrong;
  int code;
} bad[] = {
    {"",
     "there is no comparison; write 'METRIC<LIMIT' in quotes, with <, <=, > or >=, such as "
     "'p99<50ms' or 'errors<=0'",
     0},
    {"p99",
     "there is no comparison; write 'METRIC<LIMIT' in quotes, with <, <=, > or >=, such as "
     "'p99<50ms' or 'errors<=0'",
     0},
    {"tps=5",
     "there is no comparison; write 'METRIC<LIMIT' in quotes, with <, <=, > or >=, such as "
     "'p99<50ms' or 'errors<=0'",
     0},
    {"<5", "the metric before the comparison is missing", ENOENT},
    {"tsp>5", "no metric is called 'tsp'; did you mean tps?", ENOENT},
    {"mib-per-s>5", "no metric is called 'mib-per-s'; did you mean mib_per_s?", ENOENT},
    {"unknown>5", "no metric is called 'unknown'", ENOENT},
    {"p>5ms", "no metric is called 'p'", ENOENT},
    {"p99=<5ms", "no metric is called 'p99='", ENOENT},
    {"p0<5ms", "p0 is not a percentile; a rank is more than 0 and at most 100", 0},
    {"p100.1<5ms", "p100.1 is not a percentile; a rank is more than 0 and at most 100", 0},
    {"p9.9.9<5ms", "p9.9.9 is not a percentile; a rank is more than 0 and at most 100", 0},
    {"tps@read>5", "tps is not a latency; only pN, min, avg, median and max take @", 0},
    {"p99@<5ms", "the name of a part after @ is missing, such as read or event:NAME", 0},
    {"p99<50", "the time has no unit; add ns, us, ms or s", 0},
    {"setup_s<1", "the time has no unit; add ns, us, ms or s", 0},
    {"p99<50%", "'%' is not a unit of time; use ns, us, ms or s", 0},
    {"p99<1m", "'m' is not a unit of time; use ns, us, ms or s", 0},
    {"tps>5ms", "'ms' does not fit the metric; use a number without a unit", 0},
    {"tps>5%", "'%' does not fit the metric; use a number without a unit", 0},
    {"errors<5ms", "'ms' does not fit the metric; use a number without a unit, or %", 0},
    {"tps>", "the limit '' is not a number of 0 or more", 0},
    {"tps>-1", "the limit '-1' is not a number of 0 or more", 0},
    {"tps>nan", "the limit 'nan' is not a number of 0 or more", 0},
    {"tps>inf", "the limit 'inf' is not a number of 0 or more", 0},
    {"tps>1e999", "the limit '1e999' is not a number of 0 or more", 0},
    {"tps>0x10", "'x10' does not fit the metric; use a number without a unit", 0},
    {"tps>1<2", "'<2' does not fit the metric; use a number without a unit", 0},
};

static void what_is_wrong_is_said(void **state)
{
  char metric[200], part[200], limit[200];
  struct bn_err err = {0};
  struct bn_assert a;

  (void)state;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    err = (struct bn_err){0};
    assert_int_equal(bn_assert_parse(&a, bad[i].text, &err), -1);
    assert_string_equal(err.text, bad[i].wrong);
    assert_int_equal(err.code, bad[i].code);
  }
  (void)snprintf(metric, sizeof metric, "%0150d<1", 1);
  (void)snprintf(part, sizeof part, "p99@%0150d<1ms", 1);
  (void)snprintf(limit, sizeof limit, "tps<%0150d", 1);
  assert_int_equal(bn_assert_parse(&a, metric, &err), -1);
  assert_string_equal(err.text, "the name of the metric is too long");
  assert_int_equal(bn_assert_parse(&a, part, &err), -1);
  assert_string_equal(err.text, "the name of the part after @ is too long");
  assert_int_equal(bn_assert_parse(&a, limit, &err), -1);
  assert_string_equal(err.text, "the limit is too long");
}

/* --- views ------------------------------------------------------------------------------------ */

static const struct bn_metric extra[] = {
    {.name = "read_latency", .unit = "ns", .kind = BN_HISTOGRAM},
    {.name = "service", .unit = "ns", .kind = BN_HISTOGRAM},
    {.name = NULL}};

struct bench {
  struct bn_statset set;
  struct bn_snap base, delta;
  struct bn_view_store store;
  struct bn_view view;
  struct bn_view_rules rules;
  struct bn_hist *ages;
};

static void open_bench(struct bench *b)
{
  memset(b, 0, sizeof *b);
  assert_int_equal(bn_statset_init(&b->set, 1, 1, extra, 0), 0);
  bn_snap_init(&b->base, &b->set);
  bn_snap_init(&b->delta, &b->set);
  bn_view_store_init(&b->store, &b->base);
  bn_snap_take(&b->base, &b->set, 0);
  b->ages = bn_hist_new();
  b->rules.exact = true;
}

static void close_bench(struct bench *b)
{
  bn_hist_free(b->ages);
  bn_view_store_done(&b->store);
  bn_snap_done(&b->base);
  bn_snap_done(&b->delta);
  bn_statset_done(&b->set);
}

static void one_event(struct bench *b, uint64_t took_ns)
{
  struct bn_stat *st = b->set.stat[0];

  bn_stat_count(st, BN_C_EVENTS, 1);
  bn_stat_bump(&st->busy_ns, took_ns);
  bn_stat_record(st, BN_H_LATENCY, took_ns);
  if (took_ns < st->min_ns)
    st->min_ns = took_ns;
  if (took_ns > st->max_ns)
    st->max_ns = took_ns;
}

/* All so far, in two seconds. */
static void fill(struct bench *b, enum bn_kind kind)
{
  bn_snap_take(&b->delta, &b->set, 2000000000);
  bn_snap_subtract(&b->delta, &b->base);
  bn_view_fill(&b->view, &b->store, &b->delta, &b->rules);
  b->view.kind = kind;
}

static struct bn_finding judged(const struct bench *b, const char *text)
{
  struct bn_err err = {0};
  struct bn_assert a;

  if (bn_assert_parse(&a, text, &err) != 0)
    fail_msg("%s: %s", text, err.text);
  return bn_assert_judge(&a, &b->view, &b->rules);
}

static void expect(const struct bench *b, const char *text, bool holds, double value)
{
  const struct bn_finding f = judged(b, text);

  if (!f.measured || f.at_least || f.holds != holds || fabs(f.value - value) > value * 1e-9)
    fail_msg("%s: %d %d %d %.17g", text, f.measured, f.at_least, f.holds, f.value);
}

/* Whatever the operator is, it does not hold. */
static void expect_nothing(const struct bench *b, const char *metric, const char *limit)
{
  static const char *const ops[] = {"<", "<=", ">", ">="};

  for (size_t i = 0; i < 4; i++) {
    struct bn_finding f;
    char text[128];

    (void)snprintf(text, sizeof text, "%s%s%s", metric, ops[i], limit);
    f = judged(b, text);
    assert_false(f.measured || f.holds || f.at_least);
    assert_true(f.value == 0);
  }
}

/* A hundred events of 1 ms to 100 ms; reads of 7 us. */
static void limits_are_compared_on_their_borders(void **state)
{
  struct bench b;

  (void)state;
  open_bench(&b);
  for (uint64_t i = 1; i <= 100; i++)
    one_event(&b, i * 1000000);
  for (int i = 0; i < 10; i++)
    bn_stat_record(b.set.stat[0], BN_H_FIXED, 2000);
  fill(&b, BN_KIND_FILEIO);
  expect(&b, "max<100ms", false, 100);
  expect(&b, "max<=100ms", true, 100);
  expect(&b, "max>100ms", false, 100);
  expect(&b, "max>=100ms", true, 100);
  expect(&b, "max<0.1s", false, 0.1);
  expect(&b, "max<=100000us", true, 100000);
  expect(&b, "max<=100000000ns", true, 1e8);
  expect(&b, "max<=99.9999ms", false, 100);
  expect(&b, "min>=1ms", true, 1);
  expect(&b, "p100<=100ms", true, 100);
  expect(&b, "avg<50.5ms", false, 50.5);
  expect(&b, "avg<=50.5ms", true, 50.5);
  expect(&b, "events>100", false, 100);
  expect(&b, "events>=100", true, 100);
  expect(&b, "eps>=50", true, 50);
  expect(&b, "tps>50", false, 50);
  expect(&b, "span_s<=2s", true, 2);
  expect(&b, "p99@read<=2us", true, 2);
  expect(&b, "p99@read<2us", false, 2);
  expect(&b, "max@read_latency<=2us", true, 2);
  expect(&b, "median@read<=2us", true, 2);
  expect(&b, "avg@read<=2us", true, 2);
  expect(&b, "min@read>=2us", true, 2);
  expect(&b, "max@latency<=100ms", true, 100);
  expect_nothing(&b, "p99@service", "1ms");
  expect_nothing(&b, "max@fsync", "1ms");
  close_bench(&b);
}

/* Whatever the ranks of the view are; within the 0.1 % of the histogram. */
static void any_percentile_is_computed(void **state)
{
  static const double percents[] = {95};
  struct bench b;
  struct bn_finding f;

  (void)state;
  open_bench(&b);
  b.rules.percents = percents;
  b.rules.n_percents = 1;
  for (uint64_t i = 1; i <= 1000; i++)
    one_event(&b, i * 1000000);
  fill(&b, BN_KIND_CPU);
  f = judged(&b, "p95<1s");
  assert_true(f.value == b.view.percentile_s[0]);
  for (int p = 1; p <= 99; p++) {
    char text[32];

    (void)snprintf(text, sizeof text, "p%d.9<1ms", p);
    f = judged(&b, text);
    assert_true(f.measured && !f.holds);
    assert_true(fabs(f.value - (10 * p + 9)) <= f.value * 0.001);
  }
  close_bench(&b);
}

static void errors_are_a_share_of_all_attempts(void **state)
{
  struct bench b;

  (void)state;
  open_bench(&b);
  fill(&b, BN_KIND_SQL);
  expect_nothing(&b, "errors", "1%");
  expect(&b, "errors<=0", true, 0);
  for (int i = 0; i < 999; i++)
    one_event(&b, 1000);
  bn_stat_count(b.set.stat[0], BN_C_ERROR, 1);
  fill(&b, BN_KIND_SQL);
  expect(&b, "errors<0.1%", false, 0.1);
  expect(&b, "errors<=0.1%", true, 0.1);
  expect(&b, "errors<0.11%", true, 0.1);
  expect(&b, "errors<1", false, 1);
  expect(&b, "errors_per_s<=0.5", true, 0.5);
  close_bench(&b);
}

static void what_is_not_measured_does_not_hold(void **state)
{
  struct bench b;

  (void)state;
  open_bench(&b);
  fill(&b, BN_KIND_CPU);
  expect_nothing(&b, "p99", "1ms");
  expect_nothing(&b, "min", "1ms");
  expect_nothing(&b, "avg", "1ms");
  expect_nothing(&b, "median", "1ms");
  expect_nothing(&b, "max", "1ms");
  expect_nothing(&b, "qps", "1");
  expect_nothing(&b, "mib_per_s", "1");
  expect_nothing(&b, "served", "1%");
  expect_nothing(&b, "setup_s", "1s");
  expect(&b, "tps<1", true, 0);
  one_event(&b, 1000);
  bn_stat_count(b.set.stat[0], BN_C_BYTES_READ, 3 << 20);
  fill(&b, BN_KIND_FILEIO);
  expect(&b, "mib_per_s<=1.5", true, 1.5);
  expect(&b, "qps<1", true, 0);
  b.view.avg_s = NAN;
  expect_nothing(&b, "avg", "1ms");
  b.view.paced = true;
  b.view.setup_s = 0.25;
  b.view.served = 0.98;
  expect(&b, "served>97.9%", true, 98);
  expect(&b, "setup_s>=250ms", true, 250);
  close_bench(&b);
}

static void expect_at_least(const struct bench *b, const char *text, bool holds, double value)
{
  const struct bn_finding f = judged(b, text);

  if (!f.measured || !f.at_least || f.holds != holds || fabs(f.value - value) > value * 0.001)
    fail_msg("%s: %d %d %d %.17g", text, f.measured, f.at_least, f.holds, f.value);
}

/* Nine events of 1 ms have ended, and one has been in flight for 5 s. */
static void at_least_proves_only_lower_limits(void **state)
{
  struct bench b;

  (void)state;
  open_bench(&b);
  for (int i = 0; i < 9; i++)
    one_event(&b, 1000000);
  bn_hist_put(b.ages, 5000000000, 1);
  b.rules.ages = b.ages;
  b.rules.oldest_ns = 5000000000;
  fill(&b, BN_KIND_SQL);
  expect_at_least(&b, "p95<10s", false, 5);
  expect_at_least(&b, "p95<=10s", false, 5);
  expect_at_least(&b, "p95<1s", false, 5);
  expect_at_least(&b, "p95>1s", true, 5);
  expect_at_least(&b, "p95>=10s", false, 5);
  expect_at_least(&b, "max<10s", false, 5);
  expect_at_least(&b, "max>1s", true, 5);
  assert_true(judged(&b, "p50<2ms").holds);
  close_bench(&b);
}

/* 99 events of 1 ms have ended, and one has been in flight for half of that. */
static void the_most_that_a_percentile_can_become_proves_upper_limits(void **state)
{
  struct bench b;

  (void)state;
  open_bench(&b);
  for (int i = 0; i < 99; i++)
    one_event(&b, 1000000);
  bn_hist_put(b.ages, 500000, 1);
  b.rules.ages = b.ages;
  b.rules.oldest_ns = 500000;
  fill(&b, BN_KIND_SQL);
  expect_at_least(&b, "p50<2ms", true, 1);
  expect_at_least(&b, "p99<=2ms", true, 1);
  expect_at_least(&b, "p99@latency<=2ms", true, 1);
  expect_at_least(&b, "p99<1us", false, 1000);
  expect_at_least(&b, "p99.5<2ms", false, 1);
  expect_at_least(&b, "p100<100s", false, 0.001);
  close_bench(&b);
}

/* Of a stored result without histograms. */
static void without_a_histogram_the_listed_percentiles_are_known(void **state)
{
  const double percents[] = {95};
  struct bench b;

  (void)state;
  open_bench(&b);
  for (int i = 0; i < 10; i++)
    one_event(&b, 1000000);
  b.rules.percents = percents;
  b.rules.n_percents = 1;
  fill(&b, BN_KIND_SQL);
  b.view.latency = NULL;
  assert_true(judged(&b, "p95<2ms").holds);
  assert_false(judged(&b, "p95<1us").holds);
  assert_false(judged(&b, "p99<2ms").measured);
  assert_true(judged(&b, "avg<2ms").holds);
  close_bench(&b);
}

static void a_metric_alone_is_read(void **state)
{
  struct bn_err err = {0};
  struct bn_assert a;

  (void)state;
  assert_int_equal(bn_assert_parse_metric(&a, "p99.9@read", &err), 0);
  assert_string_equal(a.unit, "s");
  assert_string_equal(a.part, "read");
  assert_int_equal(bn_assert_parse_metric(&a, "mib_per_s", &err), 0);
  assert_string_equal(a.unit, "MiB/s");
  assert_int_equal(bn_assert_parse_metric(&a, "errors", &err), 0);
  assert_string_equal(a.unit, "1");
  assert_int_equal(bn_assert_parse_metric(&a, "tsp", &err), -1);
  assert_string_equal(err.text, "no metric is called 'tsp'; did you mean tps?");
  assert_int_equal(bn_assert_parse_metric(&a, "p0", &err), -1);
}

/* 2^42 ns are 4398 s. */
static void beyond_the_histogram_is_at_least_its_end(void **state)
{
  struct bench b;

  (void)state;
  open_bench(&b);
  b.rules.exact = false;
  one_event(&b, UINT64_C(9000000000000));
  fill(&b, BN_KIND_CPU);
  expect_at_least(&b, "p99<9999s", false, 4398.046511104);
  expect_at_least(&b, "p99>4000s", true, 4398.046511104);
  expect_at_least(&b, "max>5000s", false, 4398.046511104);
  close_bench(&b);
}

/* --- before the run --------------------------------------------------------------------------- */

static const char *refused(const struct bn_assert_scope *scope, const char *text)
{
  static struct bn_err err;
  struct bn_assert a;
  int rc;

  err = (struct bn_err){0};
  assert_int_equal(bn_assert_parse(&a, text, &err), 0);
  rc = bn_assert_check(&a, scope, &err);
  assert_true((rc == 0) == (err.text[0] == '\0'));
  return err.text;
}

static void what_cannot_be_measured_is_refused(void **state)
{
  struct bn_metrics m;
  struct bn_assert_scope scope = {.metrics = &m, .kinds = 1U << BN_KIND_CPU, .native = true};

  (void)state;
  bn_metrics_init(&m, extra);
  assert_string_equal(refused(&scope, "p99@fsync<1ms"),
                      "the run has no latency called 'fsync'; it has: latency, read_latency, "
                      "service");
  assert_string_equal(refused(&scope, "p99@r<1ms"),
                      "the run has no latency called 'r'; it has: latency, read_latency, service");
  assert_string_equal(refused(&scope, "p99@read<1ms"), "");
  assert_string_equal(refused(&scope, "p99@service<1ms"), "");
  assert_string_equal(refused(&scope, "p99<1ms"), "");
  assert_string_equal(refused(&scope, "setup_s<1s"), "");
  assert_string_equal(refused(&scope, "served>9%"), "served is only measured with --rate");
  assert_string_equal(refused(&scope, "missing_commits<1"),
                      "missing_commits is only measured with --verify-commits");
  assert_string_equal(refused(&scope, "qps>9"), "this test does not measure queries_per_s");
  assert_string_equal(refused(&scope, "mib_per_s>9"),
                      "this test does not measure bytes_moved_per_s");
  assert_string_equal(refused(&scope, "outages<1"), "this test does not measure outages");
  scope = (struct bn_assert_scope){.metrics = &m, .kinds = UINT_MAX, .paced = true};
  assert_string_equal(refused(&scope, "qps>9"), "");
  assert_string_equal(refused(&scope, "backlog<9"), "");
  assert_string_equal(refused(&scope, "served>9%"), "served is not measured in a dialect");
  assert_string_equal(refused(&scope, "lag_max_s<9s"), "lag_max_s is not measured in a dialect");
  bn_metrics_done(&m);
}

static void a_list_of_names_that_is_cut_says_so(void **state)
{
  enum { N = 40 };
  char name[N][16];
  struct bn_metric rows[N + 1] = {{.name = NULL}};
  struct bn_metrics m;
  const struct bn_assert_scope scope = {.metrics = &m, .kinds = 1U << BN_KIND_CPU};
  const char *text, *last;

  (void)state;
  for (size_t i = 0; i < N; i++) {
    (void)snprintf(name[i], sizeof name[i], "timing_%02zu", i);
    rows[i] = (struct bn_metric){.name = name[i], .unit = "ns", .kind = BN_HISTOGRAM};
  }
  bn_metrics_init(&m, rows);
  text = refused(&scope, "p99@fsync<1ms");
  assert_non_null(strstr(text, "it has: latency, timing_00, timing_01, "));
  last = strrchr(text, ',');
  assert_non_null(last);
  assert_string_equal(last, ", ...");
  bn_metrics_done(&m);
}

/* --- a second --------------------------------------------------------------------------------- */

static enum bn_assert_second second(const struct bench *b, const char *text)
{
  struct bn_err err = {0};
  struct bn_assert a;

  assert_int_equal(bn_assert_parse(&a, text, &err), 0);
  return bn_assert_judge_second(&a, &b->view, &b->rules);
}

static void a_second_speaks_for_itself(void **state)
{
  struct bench b;

  (void)state;
  open_bench(&b);
  fill(&b, BN_KIND_SQL);
  b.view.oldest_s = 0.5;
  assert_int_equal(second(&b, "tps>1"), BN_SECOND_VIOLATED);
  assert_int_equal(second(&b, "tps<1"), BN_SECOND_HOLDS);
  assert_int_equal(second(&b, "events>1"), BN_SECOND_UNKNOWN);
  assert_int_equal(second(&b, "errors<1"), BN_SECOND_UNKNOWN);
  assert_int_equal(second(&b, "errors<1%"), BN_SECOND_UNKNOWN);
  assert_int_equal(second(&b, "setup_s<1ns"), BN_SECOND_UNKNOWN);
  assert_int_equal(second(&b, "p99<600ms"), BN_SECOND_UNKNOWN);
  assert_int_equal(second(&b, "p99<400ms"), BN_SECOND_VIOLATED);
  assert_int_equal(second(&b, "p99>400ms"), BN_SECOND_UNKNOWN);
  assert_int_equal(second(&b, "p99@read<400ms"), BN_SECOND_UNKNOWN);
  one_event(&b, 1000000);
  fill(&b, BN_KIND_SQL);
  b.view.oldest_s = 0.5;
  assert_int_equal(second(&b, "p99<400ms"), BN_SECOND_HOLDS);
  assert_int_equal(second(&b, "p99<1ms"), BN_SECOND_VIOLATED);
  assert_int_equal(second(&b, "errors<1%"), BN_SECOND_HOLDS);
  close_bench(&b);
}

/* --- showing ---------------------------------------------------------------------------------- */

static void values_are_shown_with_their_units(void **state)
{
  static char ns[] = "ns", ms[] = "ms", one[] = "1", rate[] = "1/s", percent[] = "%",
              mib[] = "MiB/s";
  static const struct {
    struct bn_verdict v;
    const char *text;
  } rows[] = {
      {{NULL, ms, {.value = 63.1, .measured = true}}, "63.10 ms"},
      {{NULL, ms, {.value = 0.01234, .measured = true}}, "0.0123 ms"},
      {{NULL, ms, {.value = 5, .measured = true, .at_least = true}}, "at least 5.00 ms"},
      {{NULL, ns, {.value = 4593579.000000001, .measured = true}}, "4593579 ns"},
      {{NULL, ns, {.value = 49.73, .measured = true}}, "49.7 ns"},
      {{NULL, one, {.value = 12, .measured = true}}, "12"},
      {{NULL, one, {.value = 0.5, .measured = true}}, "0.500"},
      {{NULL, rate, {.value = 12, .measured = true}}, "12.00/s"},
      {{NULL, percent, {.value = 0, .measured = true}}, "0.00 %"},
      {{NULL, mib, {.value = 1.5, .measured = true}}, "1.50 MiB/s"},
      {{NULL, ms, {.value = 0}}, "not measured"},
  };
  char shown[64];

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    assert_string_equal(bn_assert_format(&rows[i].v, shown, sizeof shown), rows[i].text);
}

BN_TESTS(assert)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(assertions_are_read),
      cmocka_unit_test(every_figure_of_documents_is_a_metric),
      cmocka_unit_test(what_is_wrong_is_said),
      cmocka_unit_test(limits_are_compared_on_their_borders),
      cmocka_unit_test(any_percentile_is_computed),
      cmocka_unit_test(errors_are_a_share_of_all_attempts),
      cmocka_unit_test(what_is_not_measured_does_not_hold),
      cmocka_unit_test(at_least_proves_only_lower_limits),
      cmocka_unit_test(the_most_that_a_percentile_can_become_proves_upper_limits),
      cmocka_unit_test(without_a_histogram_the_listed_percentiles_are_known),
      cmocka_unit_test(a_metric_alone_is_read),
      cmocka_unit_test(beyond_the_histogram_is_at_least_its_end),
      cmocka_unit_test(what_cannot_be_measured_is_refused),
      cmocka_unit_test(a_list_of_names_that_is_cut_says_so),
      cmocka_unit_test(a_second_speaks_for_itself),
      cmocka_unit_test(values_are_shown_with_their_units),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
