/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The buffer grows, keeps to its maximum, and after a failure holds exactly what it held before.
   Base64 gives the texts of RFC 4648 for every length of the last group, and every digit. */
#include "base/buf.h"

#include <string.h>

#include "cm.h"

static void test_text_is_terminated(void **state)
{
  struct bn_buf b;

  (void)state;
  bn_buf_init(&b, 0);
  assert_int_equal(bn_buf_str(&b, "a"), 0);
  assert_int_equal(bn_buf_char(&b, 'b'), 0);
  assert_int_equal(bn_buf_add(&b, "c\0d", 3), 0);
  assert_int_equal(bn_buf_printf(&b, "%d%s", -42, "e"), 0);
  assert_int_equal(b.len, 9);
  assert_memory_equal(b.data, "abc\0d-42e", 10);
  bn_buf_clear(&b);
  assert_int_equal(b.len, 0);
  assert_string_equal(b.data, "");
  bn_buf_done(&b);
  assert_null(b.data);
}

static void test_grows_by_any_amount(void **state)
{
  struct bn_buf b = {.max = 0};
  char *text;

  (void)state;
  for (int i = 0; i < 10000; i++)
    assert_int_equal(bn_buf_printf(&b, "%0*d", i % 200 + 1, i % 10), 0);
  size_t at = 0;

  for (int i = 0; i < 10000; i++) {
    at += (size_t)(i % 200) + 1;
    assert_int_equal(b.data[at - 1], '0' + i % 10);
  }
  assert_int_equal(b.len, at);
  text = bn_buf_take(&b);
  assert_int_equal(strlen(text), at);
  free(text);
  assert_null(b.data);
  assert_int_equal(b.len, 0);
}

/* Every way of adding, with one byte too many. */
static void test_maximum(void **state)
{
  struct bn_buf b;

  (void)state;
  for (int way = 0; way < 4; way++) {
    bn_buf_init(&b, 10);
    assert_int_equal(bn_buf_str(&b, "12345"), 0);
    assert_int_equal(way == 0   ? bn_buf_str(&b, "678901")
                     : way == 1 ? bn_buf_add(&b, "678901", 6)
                     : way == 2 ? bn_buf_printf(&b, "%s", "678901")
                                : bn_buf_reserve(&b, 6),
                     -1);
    assert_true(b.failed);
    assert_string_equal(b.data, "12345");
    assert_int_equal(b.len, 5);
    assert_int_equal(bn_buf_char(&b, '6'), -1); /* it would fit, but what came before is lost */
    assert_int_equal(bn_buf_printf(&b, "6"), -1);
    assert_string_equal(b.data, "12345");
    bn_buf_clear(&b);
    assert_int_equal(bn_buf_printf(&b, "%s", "1234567890"), 0);
    assert_string_equal(b.data, "1234567890");
    assert_int_equal(bn_buf_char(&b, '1'), -1);
    bn_buf_done(&b);
  }
}

static void test_impossible_sizes(void **state)
{
  struct bn_buf b;

  (void)state;
  bn_buf_init(&b, 0);
  assert_int_equal(bn_buf_str(&b, "x"), 0);
  assert_int_equal(bn_buf_reserve(&b, SIZE_MAX), -1);
  bn_buf_clear(&b);
  assert_int_equal(bn_buf_reserve(&b, SIZE_MAX - 1), -1);
  bn_buf_clear(&b);
  assert_int_equal(bn_buf_reserve(&b, PTRDIFF_MAX), -1);
  bn_buf_clear(&b);
  assert_int_equal(bn_buf_str(&b, "y"), 0);
  assert_string_equal(b.data, "y");
  bn_buf_done(&b);
}

static void test_reserve_is_room(void **state)
{
  struct bn_buf b;

  (void)state;
  bn_buf_init(&b, 0);
  assert_int_equal(bn_buf_reserve(&b, 1000), 0);
  char *const data = b.data;

  for (int i = 0; i < 1000; i++)
    assert_int_equal(bn_buf_char(&b, 'x'), 0);
  assert_ptr_equal(b.data, data);
  bn_buf_done(&b);
}

static void test_take(void **state)
{
  struct bn_buf b;
  char *text;

  (void)state;
  bn_buf_init(&b, 3);
  text = bn_buf_take(&b);
  assert_string_equal(text, "");
  free(text);
  assert_int_equal(bn_buf_str(&b, "abcd"), -1); /* the maximum outlives the text */
  assert_null(bn_buf_take(&b));
  assert_int_equal(bn_buf_str(&b, "abc"), 0);
  text = bn_buf_take(&b);
  assert_string_equal(text, "abc");
  free(text);
}

static void test_shift_waits_for_half(void **state)
{
  struct bn_buf b = {.max = 0};
  size_t gone = 4;

  (void)state;
  assert_int_equal(bn_buf_str(&b, "0123456789"), 0);
  bn_buf_shift(&b, &gone);
  assert_int_equal(gone, 4);
  assert_int_equal(b.len, 10);
  gone = 7;
  bn_buf_shift(&b, &gone);
  assert_int_equal(gone, 0);
  assert_int_equal(b.len, 3);
  assert_memory_equal(b.data, "789\0\0\0\0\0\0\0", 10);
  bn_buf_done(&b);
}

static void check_base64(const void *data, size_t len, const char *wanted)
{
  struct bn_buf b = {.max = 0};

  assert_int_equal(bn_buf_str(&b, "="), 0);
  assert_int_equal(bn_buf_base64(&b, data, len), 0);
  assert_string_equal(b.data + 1, wanted);
  bn_buf_done(&b);
}

static void test_base64_texts_of_the_rfc(void **state)
{
  static const char *const texts[] = {"",         "Zg==",     "Zm8=",    "Zm9v",
                                      "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};

  (void)state;
  for (size_t len = 0; len < sizeof texts / sizeof *texts; len++)
    check_base64("foobar", len, texts[len]);
}

static void test_base64_every_digit(void **state)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  unsigned char data[48];

  (void)state;
  for (unsigned i = 0; i < 16; i++) {
    const unsigned bits = 4 * i << 18 | (4 * i + 1) << 12 | (4 * i + 2) << 6 | (4 * i + 3);

    data[3 * i] = (unsigned char)(bits >> 16);
    data[3 * i + 1] = (unsigned char)(bits >> 8);
    data[3 * i + 2] = (unsigned char)bits;
  }
  check_base64(data, sizeof data, digits);
}

static void test_base64_in_a_full_buffer(void **state)
{
  struct bn_buf b = {.max = 7};

  (void)state;
  assert_int_equal(bn_buf_base64(&b, "foobar", 6), -1);
  bn_buf_done(&b);
}

BN_TESTS(buf)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_text_is_terminated),
      cmocka_unit_test(test_grows_by_any_amount),
      cmocka_unit_test(test_maximum),
      cmocka_unit_test(test_impossible_sizes),
      cmocka_unit_test(test_reserve_is_room),
      cmocka_unit_test(test_take),
      cmocka_unit_test(test_shift_waits_for_half),
      cmocka_unit_test(test_base64_texts_of_the_rfc),
      cmocka_unit_test(test_base64_every_digit),
      cmocka_unit_test(test_base64_in_a_full_buffer),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
