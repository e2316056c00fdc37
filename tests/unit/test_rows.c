/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of values as CSV and JSON: quotes, what is unknown, and texts that a spreadsheet obeys. */
#include "report/rows/line.h"

#include <string.h>

#include "cm.h"

static const struct bn_row row = {
    .cell = {{.name = "time", .type = BN_CELL_TIME, .whole = UINT64_C(951782400007999999)},
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
  bn_line_names(&b, &row);
  bn_line_values(&b, &row);
  assert_string_equal(b.data, "time,events,p99.9_s,late,tps,big\n"
                              "2000-02-29T00:00:00.007,18446744073709551614,0.1,,100.0,1e+22\n");
  bn_buf_done(&b);
}

static void test_json(void **state)
{
  struct bn_buf b = {.max = 0};

  (void)state;
  bn_line_json(&b, &row);
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
    const struct bn_row one = {.cell = {{.type = BN_CELL_TEXT, .text = rows[i][0]}}, .n = 1};
    struct bn_buf b = {.max = 0};

    bn_line_values(&b, &one);
    assert_string_equal(b.data, rows[i][1]);
    bn_buf_done(&b);
  }
}

/* A joined report has the names once, and no row under the names of others. */
static void test_first(void **state)
{
  const struct bn_row other = {.cell = {{.name = "else"}}, .n = 1};
  struct bn_buf b = {.max = 0}, names = {.max = 0};
  struct bn_err err = {0};

  (void)state;
  assert_int_equal(bn_line_first(&b, &row, &names, &err), 0);
  assert_int_equal(bn_line_first(&b, &row, &names, &err), 0);
  assert_int_equal(b.len, strlen("time,events,p99.9_s,late,tps,big\n"));
  assert_int_equal(bn_line_first(&b, &other, &names, &err), -1);
  assert_non_null(strstr(err.text, "--percentile"));
  bn_buf_done(&b);
  bn_buf_done(&names);
}

BN_TESTS(rows)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names_and_values),
      cmocka_unit_test(test_json),
      cmocka_unit_test(test_texts),
      cmocka_unit_test(test_first),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
