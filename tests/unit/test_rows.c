/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of values as CSV and JSON: quotes, what is unknown, and texts that a spreadsheet obeys. */
#include "report/rows/line.h"

#include <stdio.h>
#include <string.h>

#include "cm.h"

static const struct bn_row row = {
    .cell =
        (struct bn_cell[]){
            {.name = "time", .type = BN_CELL_TIME, .whole = UINT64_C(951782400007999999)},
            {.name = "events", .type = BN_CELL_WHOLE, .whole = UINT64_MAX - 1},
            {.name = "p99.9_s", .type = BN_CELL_REAL, .real = 0.1},
            {.name = "late", .type = BN_CELL_UNKNOWN},
            {.name = "tps", .type = BN_CELL_REAL, .real = 100},
            {.name = "big", .type = BN_CELL_REAL, .real = 1e22}},
    .n = 6};

static void test_names_and_values(void **state)
{
  struct bn_buf b = {.max = 0};

  (void)state;
  bn_line_add_names(&b, &row);
  bn_line_add_values(&b, &row);
  assert_string_equal(b.data, "time,events,p99.9_s,late,tps,big\n"
                              "2000-02-29T00:00:00.007,18446744073709551614,0.1,,100.0,1e+22\n");
  bn_buf_done(&b);
}

static void test_json(void **state)
{
  struct bn_buf b = {.max = 0};

  (void)state;
  bn_line_add_json(&b, &row);
  assert_string_equal(b.data, "{\"time\":\"2000-02-29T00:00:00.007Z\","
                              "\"events\":18446744073709551614,\"p99.9_s\":0.1,\"late\":null,"
                              "\"tps\":100.0,\"big\":1e+22}\n");
  bn_buf_done(&b);
}

static void test_texts(void **state)
{
  static const char *const rows[][2] = {{"", "\"\"\n"},
                                        {"a,b", "\"a,b\"\n"},
                                        {"\"", "\"\"\"\"\n"},
                                        {"=1+1", "\"'=1+1\"\n"},
                                        {"+1", "\"'+1\"\n"},
                                        {"-1", "\"'-1\"\n"},
                                        {"@a", "\"'@a\"\n"},
                                        {"a=-1", "\"a=-1\"\n"},
                                        {"\t=1", "\"\\x09=1\"\n"},
                                        {"a\nb", "\"a\\x0ab\"\n"},
                                        {"\xff\x1b", "\"\\xff\\x1b\"\n"}};

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const struct bn_row one = {.cell = &(struct bn_cell){.type = BN_CELL_TEXT, .text = rows[i][0]},
                               .n = 1};
    struct bn_buf b = {.max = 0};

    bn_line_add_values(&b, &one);
    assert_string_equal(b.data, rows[i][1]);
    bn_buf_done(&b);
  }
}

/* A joined report has the names once, and no row under the names of others. */
static void test_first(void **state)
{
  const struct bn_row other = {.cell = &(struct bn_cell){.name = "else"}, .n = 1};
  struct bn_buf b = {.max = 0}, names = {.max = 0};
  struct bn_err err = {0};

  (void)state;
  assert_int_equal(bn_line_add_names_once(&b, &row, &names, &err), 0);
  assert_int_equal(bn_line_add_names_once(&b, &row, &names, &err), 0);
  assert_int_equal(b.len, strlen("time,events,p99.9_s,late,tps,big\n"));
  assert_int_equal(bn_line_add_names_once(&b, &other, &names, &err), -1);
  assert_non_null(strstr(err.text, "--percentile"));
  bn_buf_done(&b);
  bn_buf_done(&names);
}

/* A row has a column for each percentile of each part, with as many of all as a run may have. */
static void test_most_columns(void **state)
{
  enum { PARTS = 32 };
  static char names[2 * PARTS][32];
  struct bn_metric extra[2 * PARTS + 1] = {{.name = NULL}};
  struct bn_plan plan = {.n_percents = BN_PERCENTS_MAX};
  struct bn_metrics m;
  struct bn_row total = {.n = 0};

  (void)state;
  for (size_t i = 0; i < BN_PERCENTS_MAX; i++)
    plan.percents[i] = 50 + (double)i;
  for (size_t i = 0; i < 2 * PARTS; i++) {
    const bool is_phase = i < PARTS;

    (void)snprintf(names[i], sizeof names[i], is_phase ? "phase:%zu hold" : "event:%zu",
                   i % PARTS + 1);
    extra[i] = (struct bn_metric){
        .name = names[i], .unit = "ns", .kind = is_phase ? BN_PHASE_HISTOGRAM : BN_EVENT_HISTOGRAM};
  }
  bn_metrics_init(&m, extra);
  plan.metrics = &m;
  bn_row_set_total(&total, &plan, NULL);
  assert_true(total.n > (size_t)2 * PARTS * BN_PERCENTS_MAX);
  assert_string_equal(total.cell[total.n - 1].name, "max_s@phase:32");
  assert_string_equal(total.cell[total.n - 2].name, "p81_s@phase:32");
  bn_row_append(&total, &row);
  assert_string_equal(total.cell[total.n - 1].name, "big");
  bn_row_done(&total);
  bn_metrics_done(&m);
}

BN_TESTS(rows)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names_and_values),
      cmocka_unit_test(test_json),
      cmocka_unit_test(test_texts),
      cmocka_unit_test(test_first),
      cmocka_unit_test(test_most_columns),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
