/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of MySQL: values of every type as text, and lengths that are lies. */
#include <math.h>
#include <string.h>

#include "cm.h"
#include "drivers/mysql/wire/row.h"

struct sample {
  const char *bytes;
  size_t len;
};
#define SAMPLE(literal)                                                                            \
  {                                                                                                \
    literal, sizeof(literal) - 1                                                                   \
  }

static const struct {
  uint8_t type, decimals;
  uint16_t flags;
  uint32_t length;
  struct sample bytes;
  const char *text;
} values[] = {
    {1, 0, 0, 4, SAMPLE("\x80"), "-128"},
    {1, 0, 32, 3, SAMPLE("\xff"), "255"},
    {2, 0, 0, 6, SAMPLE("\xff\xff"), "-1"},
    {13, 0, 96, 4, SAMPLE("\x00\x00"), "0000"},
    {3, 0, 0, 11, SAMPLE("\x00\x00\x00\x80"), "-2147483648"},
    {3, 0, 96, 10, SAMPLE("\x07\x00\x00\x00"), "0000000007"},
    {9, 0, 32, 8, SAMPLE("\xff\xff\xff\x00"), "16777215"},
    {8, 0, 0, 20, SAMPLE("\x00\x00\x00\x00\x00\x00\x00\x80"), "-9223372036854775808"},
    {8, 0, 32, 20, SAMPLE("\xff\xff\xff\xff\xff\xff\xff\xff"), "18446744073709551615"},
    {4, 31, 0, 12, SAMPLE("\xcd\xcc\xcc\x3d"), "0.1"},
    {5, 31, 0, 22, SAMPLE("\x9a\x99\x99\x99\x99\x99\xb9\x3f"), "0.1"},
    {5, 2, 0, 10, SAMPLE("\x00\x00\x00\x00\x00\x00\xf8\xbf"), "-1.50"},
    {5, 31, 96, 6, SAMPLE("\x00\x00\x00\x00\x00\x00\xf8\x3f"), "0001.5"},
    {10, 0, 0, 10, SAMPLE("\x04\xe4\x07\x02\x03"), "2020-02-03"},
    {10, 0, 0, 10, SAMPLE("\x00"), "0000-00-00"},
    {12, 0, 0, 19, SAMPLE("\x07\xe4\x07\x02\x03\x04\x05\x06"), "2020-02-03 04:05:06"},
    {12, 3, 0, 23, SAMPLE("\x0b\xe4\x07\x02\x03\x04\x05\x06\x58\x1b\x00\x00"),
     "2020-02-03 04:05:06.007"},
    {7, 1, 0, 21, SAMPLE("\x04\xe4\x07\x02\x03"), "2020-02-03 00:00:00.0"},
    {11, 0, 0, 10, SAMPLE("\x08\x01\x01\x00\x00\x00\x0b\x0c\x0d"), "-35:12:13"},
    {11, 6, 0, 17, SAMPLE("\x0c\x00\x00\x00\x00\x00\x01\x02\x03\x01\x00\x00\x00"),
     "01:02:03.000001"},
    {11, 2, 0, 13, SAMPLE("\x00"), "00:00:00.00"},
    {253, 0, 0, 9,
     SAMPLE("\x03"
            "abc"),
     "abc"},
    {252, 0, 0, 9, SAMPLE("\x00"), ""},
};

static void test_binary_values(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    const struct bn_mysql_column c = {values[i].type, values[i].decimals, values[i].flags,
                                      values[i].length};
    const size_t len = 2 + values[i].bytes.len;
    uint8_t *data = calloc(1, len);
    struct bn_mysql_row row = {data, len};
    char cell[BN_MYSQL_CELL];
    struct bn_sql_value v;

    memcpy(data + 2, values[i].bytes.bytes, values[i].bytes.len);
    assert_int_equal(bn_mysql_row_get_binary(&row, &c, 1, cell, &v), 0);
    assert_int_equal(v.len, strlen(values[i].text));
    assert_memory_equal(v.ptr, values[i].text, v.len);
    row.len--;
    assert_int_equal(bn_mysql_row_get_binary(&row, &c, 1, cell, &v), -1);
    data[1] = 4;
    assert_int_equal(bn_mysql_row_get_binary(&row, &c, 1, cell, &v),
                     values[i].bytes.len == 1 ? 0 : -1);
    row.len = 2;
    assert_int_equal(bn_mysql_row_get_binary(&row, &c, 1, cell, &v), 0);
    assert_null(v.ptr);
    free(data);
  }
}

/* Any length of a time, of which a server has only some. */
static void test_times_of_any_length(void **state)
{
  static const uint8_t types[] = {7, 10, 11, 12};
  char cell[BN_MYSQL_CELL];

  (void)state;
  for (size_t len = 0; len < 20; len++) {
    for (size_t t = 0; t < sizeof types; t++) {
      const struct bn_mysql_column c = {.type = types[t], .decimals = 200};
      uint8_t *data = malloc(3 + len);
      const struct bn_mysql_row row = {data, 3 + len};
      struct bn_sql_value v;

      memset(data, 0xff, 3 + len);
      data[0] = data[1] = 0;
      data[2] = (uint8_t)len;
      assert_int_equal(bn_mysql_row_get_binary(&row, &c, 1, cell, &v), 0);
      assert_true(v.len >= 10 && v.len < 60);
      free(data);
    }
  }
}

static void test_text_rows(void **state)
{
  static const uint8_t good[] = "\x03"
                                "abc\xfb\x00\xfc\x01\x00z";
  const size_t len = sizeof good - 1;
  struct bn_sql_value v[5];

  (void)state;
  assert_int_equal(bn_mysql_row_get_text(&(struct bn_mysql_row){good, len}, 4, v), 0);
  assert_int_equal(v[0].len, 3);
  assert_null(v[1].ptr);
  assert_non_null(v[2].ptr);
  assert_int_equal(v[2].len, 0);
  assert_memory_equal(v[3].ptr, "z", 1);
  assert_int_equal(bn_mysql_row_get_text(&(struct bn_mysql_row){good, len}, 3, v), -1);
  assert_int_equal(bn_mysql_row_get_text(&(struct bn_mysql_row){good, len}, 5, v), -1);
  /* Of memory that ends with the row: AddressSanitizer sees a read behind it. */
  for (size_t n = 1; n < len; n++) {
    uint8_t *cut = malloc(n);

    memcpy(cut, good, n);
    assert_int_equal(bn_mysql_row_get_text(&(struct bn_mysql_row){cut, n}, 4, v), -1);
    free(cut);
  }
  assert_int_equal(
      bn_mysql_row_get_text(
          &(struct bn_mysql_row){(const uint8_t *)"\xfe\xff\xff\xff\xff\xff\xff\xff\xff", 9}, 1, v),
      -1);
}

/* --- numbers with a point
   ------------------------------------------------------------------------- */

static void check_real(double value, int digits, const char *text)
{
  char out[BN_MYSQL_CELL] = {0};

  assert_int_equal(bn_mysql_put_real(out, value, digits), strlen(text));
  assert_string_equal(out, text);
}

static void check_fixed(double value, unsigned decimals, const char *text)
{
  char out[BN_MYSQL_CELL] = {0};

  assert_int_equal(bn_mysql_put_fixed(out, value, decimals), strlen(text));
  assert_memory_equal(out, text, strlen(text));
}

static void test_reals(void **state)
{
  (void)state;
  check_real(0, 0, "0");
  check_real(1, 0, "1");
  check_real(-1.5, 0, "-1.5");
  check_real(0.1, 0, "0.1");
  check_real(123456789012345, 0, "123456789012345");
  check_real(1e15, 0, "1e15");
  check_real(1e-15, 0, "0.000000000000001");
  check_real(1e-16, 0, "1e-16");
  check_real(1.7976931348623157e308, 0, "1.7976931348623157e308");
  check_real(5e-324, 0, "5e-324");
  check_real(0.30000000000000004, 0, "0.30000000000000004");
  check_real((double)3.4e38F, 6, "3.4e38");
  check_real((double)16777216.0F, 6, "16777200");
  check_fixed(1.5, 3, "1.500");
  check_fixed(-0.005, 2, "-0.01");
  check_fixed(0.1, 25, "0.1000000000000000000000000");
  check_fixed(1e22, 1, "10000000000000000000000.0");
  check_fixed(0, 0, "0");
  check_fixed(INFINITY, 2, "0");
}

/* The longest texts there are fit. */
static void test_extremes_fit_their_cells(void **state)
{
  char out[BN_MYSQL_CELL];

  (void)state;
  assert_int_equal(bn_mysql_put_fixed(out, -1.7976931348623157e308, 30), 341);
  assert_true(bn_mysql_put_fixed(out, -4.9e-324, 255) < BN_MYSQL_CELL - 1);
  assert_true(bn_mysql_put_real(out, -1.2345678901234567e-14, 0) < 40);
}

BN_TESTS(mysql_row)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_binary_values),
      cmocka_unit_test(test_times_of_any_length),
      cmocka_unit_test(test_text_rows),
      cmocka_unit_test(test_reals),
      cmocka_unit_test(test_extremes_fit_their_cells),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
