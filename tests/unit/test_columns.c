/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of studies: widths, text that comes from files, Markdown, digits. */
#include "cm.h"

#include "study/columns.h"

static void expect(struct bn_columns *c, bool markdown, const char *want)
{
  struct bn_buf out = {.max = 0};

  assert_int_equal(bn_columns_print(c, markdown, &out), 0);
  assert_string_equal(out.data, want);
  bn_buf_done(&out);
}

static void cells_stand_below_each_other(void **state)
{
  struct bn_columns c = {.align = "lr"};

  (void)state;
  bn_columns_add(&c, "file");
  bn_columns_add(&c, "rate");
  bn_columns_add(&c, "g\u00fcn%s", "stig");
  bn_columns_add(&c, "%d", 12345);
  bn_columns_add(&c, "a|b\x1b[");
  bn_columns_add(&c, "7");
  expect(&c, false, "  file       rate\n  g\u00fcnstig   12345\n  a|b\\x1b[      7\n");
  expect(&c, true,
         "| file | rate |\n|---|---:|\n| g\u00fcnstig | 12345 |\n| a\\|b\\\\x1b\\[ | 7 |\n");
  bn_columns_done(&c);
}

static void numbers_have_four_digits(void **state)
{
  static const struct {
    double value;
    const char *want;
  } rows[] = {{0, "0"},         {1234567, "1234567"},       {1234.4, "1234"},   {99.876, "99.88"},
              {-5.5, "-5.500"}, {0.000123456, "0.0001235"}, {1e15, "1.000e+15"}};
  char digits[BN_COLUMNS_DIGITS];

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    assert_string_equal(bn_columns_number(digits, rows[i].value), rows[i].want);
}

static void times_are_of_utc(void **state)
{
  char digits[BN_COLUMNS_DIGITS];

  (void)state;
  assert_string_equal(bn_columns_time(digits, UINT64_C(1772323259999999999)), "2026-03-01 00:00");
  assert_string_equal(bn_columns_time(digits, 0), "1970-01-01 00:00");
}

BN_TESTS(columns)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cells_stand_below_each_other),
      cmocka_unit_test(numbers_have_four_digits),
      cmocka_unit_test(times_are_of_utc),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
