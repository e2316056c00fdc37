/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers, sizes and durations: what is accepted, with its value, and what is refused. */
#include "base/units.h"

#include <math.h>
#include <stdio.h>

#include "cm.h"

static void test_int(void **state)
{
  static const struct {
    const char *text;
    int64_t value;
  } good[] = {{"0", 0},
              {"42", 42},
              {"+42", 42},
              {" \t7", 7},
              {"-5", -5},
              {"007", 7},
              {"9223372036854775807", INT64_MAX},
              {"-9223372036854775808", INT64_MIN}};
  static const char *const bad[] = {"",     " ",    "abc", "1e3", "0x10", "5 ",
                                    "99.9", "1K",   "+",   "--1", "+ 1",  "9223372036854775808",
                                    "1,2",  "1\n2", "½"};
  int64_t x;

  (void)state;
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    assert_int_equal(bn_units_parse_int(good[i].text, &x), 0);
    assert_int_equal(x, good[i].value);
  }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_int_equal(bn_units_parse_int(bad[i], &x), -1);
}

static void test_double(void **state)
{
  static const struct {
    const char *text;
    double value;
  } good[] = {{"0", 0},  {"1.5", 1.5},  {"-2", -2},      {"+.25", 0.25},
              {" 3", 3}, {"1e3", 1000}, {"1.5E-1", .15}, {"1e-400", 0}};
  static const char *const bad[] = {"",       " ",   "abc",  "1.5x", "1K", "1e",
                                    "1e9999", "inf", "-inf", "nan",  "1 ", "1.2.3"};
  double x;

  (void)state;
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    assert_int_equal(bn_units_parse_double(good[i].text, &x), 0);
    assert_true(x == good[i].value);
  }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_int_equal(bn_units_parse_double(bad[i], &x), -1);
}

static void test_size(void **state)
{
  static const struct {
    const char *text;
    uint64_t value;
  } good[] = {{"0", 0},
              {"1024", 1024},
              {"2K", 2048},
              {"2k", 2048},
              {"64KB", 65536},
              {"64KiB", 65536},
              {"64kib", 65536},
              {"10B", 10},
              {"3M", 3 << 20},
              {"100G", UINT64_C(100) << 30},
              {"1T", UINT64_C(1) << 40},
              {"+1K", 1024},
              {" 1K", 1024},
              {"16777215T", UINT64_C(16777215) << 40},
              {"18446744073709551615", UINT64_MAX}};
  static const char *const bad[] = {"",
                                    "K",
                                    "2Q",
                                    "2Kfoo",
                                    "1.5G",
                                    "16X",
                                    "-1",
                                    "- 1",
                                    "+ 1",
                                    "1 K",
                                    "1iB",
                                    "1KK",
                                    "1Ki",
                                    "1BK",
                                    "1KBs",
                                    "1K ",
                                    "0x1",
                                    "++1",
                                    "1P",
                                    "abc",
                                    "16777216T",
                                    "1e3",
                                    "18446744073709551616",
                                    "17592186044416M"};
  uint64_t x;

  (void)state;
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    assert_int_equal(bn_units_parse_size(good[i].text, &x), 0);
    assert_true(x == good[i].value);
  }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_int_equal(bn_units_parse_size(bad[i], &x), -1);
}

static void test_number(void **state)
{
  static const struct {
    const char *text;
    double value;
  } good[] = {{"1.5", 1.5}, {"-3", -3}, {"1e6", 1e6}, {"1K", 1024}, {"10m", 10485760}};
  static const char *const bad[] = {"", "1.5K", "-1K", "1e3K", "abc", "1Q", "inf"};
  double x;

  (void)state;
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    assert_int_equal(bn_units_parse_number(good[i].text, &x), 0);
    assert_true(x == good[i].value);
  }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_int_equal(bn_units_parse_number(bad[i], &x), -1);
}

static void test_duration(void **state)
{
  static const struct {
    const char *text;
    double value;
  } good[] = {{"10", 10},  {"0", 0},     {"1.5s", 1.5},  {"250ms", 0.25},
              {"2m", 120}, {"1h", 3600}, {"0.5h", 1800}, {"1e1s", 10}};
  static const char *const bad[] = {"",   "s",  "-1",    "-1s", "10 s", "1d",    "1us",
                                    "1S", "1M", "1h30m", "1ss", "inf",  "1e308h"};
  double x;

  (void)state;
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    assert_int_equal(bn_units_parse_duration(good[i].text, &x), 0);
    assert_true(x == good[i].value);
  }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_int_equal(bn_units_parse_duration(bad[i], &x), -1);
}

static void test_bool(void **state)
{
  static const char *const yes[] = {"on", "true", "1"}, *const no[] = {"off", "false", "0"};
  static const char *const bad[] = {"", "ON", "yes", "maybe", "on ", "2", "10"};
  bool x;

  (void)state;
  for (size_t i = 0; i < 3; i++) {
    x = false;
    assert_int_equal(bn_units_parse_bool(yes[i], &x), 0);
    assert_true(x);
    assert_int_equal(bn_units_parse_bool(no[i], &x), 0);
    assert_false(x);
  }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_int_equal(bn_units_parse_bool(bad[i], &x), -1);
}

/* A refused text leaves *out alone: the caller's default survives. */
static void test_refusal_changes_nothing(void **state)
{
  int64_t i = 7;
  uint64_t u = 7;
  double d = 7;
  bool b = true;

  (void)state;
  assert_int_equal(bn_units_parse_int("12x", &i), -1);
  assert_int_equal(bn_units_parse_size("12x", &u), -1);
  assert_int_equal(bn_units_parse_double("12x", &d), -1);
  assert_int_equal(bn_units_parse_number("12x", &d), -1);
  assert_int_equal(bn_units_parse_duration("12x", &d), -1);
  assert_int_equal(bn_units_parse_bool("12x", &b), -1);
  assert_true(i == 7 && u == 7 && d == 7 && b);
}

static void test_format_size(void **state)
{
  static const struct {
    uint64_t bytes;
    const char *iec, *old;
  } rows[] = {{0, "0", "0"},
              {1000, "1000", "1000"},
              {1023, "1023", "1023"},
              {1024, "1Ki", "1K"},
              {333333, "325.52Ki", "325.52K"},
              {16 << 20, "16Mi", "16M"},
              {UINT64_C(2) << 30, "2Gi", "2G"},
              {UINT64_C(5) << 40, "5Ti", "5T"},
              {UINT64_C(5) << 50, "5120Ti", "5120T"}};
  char buf[32];

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    assert_string_equal(bn_units_format_size(buf, sizeof buf, rows[i].bytes, true), rows[i].iec);
    assert_string_equal(bn_units_format_size(buf, sizeof buf, rows[i].bytes, false), rows[i].old);
  }
}

static void test_decimals(void **state)
{
  static const struct {
    double value;
    int least, decimals;
  } rows[] = {{0, 2, 2},      {-1, 2, 2},     {12.3, 2, 2},   {1, 2, 2},      {0.99, 2, 3},
              {0.1, 2, 3},    {0.0999, 2, 4}, {0.0043, 2, 5}, {0.0043, 3, 5}, {0.5, 4, 4},
              {2.5e-6, 2, 8}, {1e-300, 2, 9}, {NAN, 2, 2},    {1e300, 3, 3}};

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    assert_int_equal(bn_units_count_decimals(rows[i].value, rows[i].least), rows[i].decimals);
}

static void test_shortest(void **state)
{
  static const struct {
    double value;
    const char *text;
  } rows[] = {{0, "0"},
              {4186, "4186"},
              {0.1, "0.1"},
              {99.9, "99.9"},
              {-2.5e-9, "-2.5e-09"},
              {0.1 + 0.2, "0.30000000000000004"},
              {1.0 / 3, "0.3333333333333333"},
              {1.7976931348623157e308, "1.7976931348623157e+308"}};
  char digits[BN_UNITS_DIGITS];

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const char *text = bn_units_format_shortest(digits, rows[i].value);

    assert_string_equal(text, rows[i].text);
    assert_true(strtod(text, NULL) == rows[i].value);
  }
}

static void test_point(void **state)
{
  static const char *const rows[][2] = {
      {"1,5", "1.5"},           {"1.5", "1.5"},      {"42", "42"},
      {"-0,5e-07", "-0.5e-07"}, {"1\u066b5", "1.5"}, {"inf", "inf"},
      {"0x1,8p+1", "0x1.8p+1"}};
  char digits[BN_UNITS_DIGITS];

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    (void)snprintf(digits, sizeof digits, "%s", rows[i][0]);
    bn_units_restore_point(digits);
    assert_string_equal(digits, rows[i][1]);
  }
}

BN_TESTS(units)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_int),
      cmocka_unit_test(test_double),
      cmocka_unit_test(test_size),
      cmocka_unit_test(test_number),
      cmocka_unit_test(test_duration),
      cmocka_unit_test(test_bool),
      cmocka_unit_test(test_refusal_changes_nothing),
      cmocka_unit_test(test_format_size),
      cmocka_unit_test(test_decimals),
      cmocka_unit_test(test_shortest),
      cmocka_unit_test(test_point),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
