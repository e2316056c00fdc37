/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Base64 gives the texts of RFC 4648 for every length of the last group, and every digit. */
#include "base/base64.h"

#include <string.h>

#include "cm.h"

static void check(const void *data, size_t len, const char *wanted)
{
  struct bn_buf b = {.max = 0};

  assert_int_equal(bn_buf_str(&b, "="), 0);
  assert_int_equal(bn_base64_add(&b, data, len), 0);
  assert_string_equal(b.data + 1, wanted);
  bn_buf_done(&b);
}

static void texts_of_the_rfc(void **state)
{
  static const char *const texts[] = {"",         "Zg==",     "Zm8=",    "Zm9v",
                                      "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};

  (void)state;
  for (size_t len = 0; len < sizeof texts / sizeof *texts; len++)
    check("foobar", len, texts[len]);
}

static void every_digit(void **state)
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
  check(data, sizeof data, digits);
}

static void a_full_buffer_is_told(void **state)
{
  struct bn_buf b = {.max = 7};

  (void)state;
  assert_int_equal(bn_base64_add(&b, "foobar", 6), -1);
  bn_buf_done(&b);
}

BN_TESTS(base64)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(texts_of_the_rfc),
      cmocka_unit_test(every_digit),
      cmocka_unit_test(a_full_buffer_is_told),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
