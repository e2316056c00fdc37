/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows what of an argument is hidden, and what is not. */
#include "cm.h"

#include <string.h>

#include "base/mask.h"

static void passwords_are_hidden(void **state)
{
  static const char *const rows[][2] = {
      {"--mysql-password=x", "--mysql-password=***"},
      {"--mysql-pasword=a=b", "--mysql-pasword=***"},
      {"--pgsql_pasword=x y", "--pgsql_pasword=***"},
      {"-mysql-password=x", "-mysql-password=***"},
      {"mysql-password=x", "mysql-password=***"},
      {"--mysqlpaswrd=x", "--mysqlpaswrd=***"},
      {"--MYSQL-PASSWORD=x", "--MYSQL-PASSWORD=***"},
      {"--mysql-password:x", "--mysql-password:***"},
      {"--mysql-password x", "--mysql-password ***"},
      {"--mysql-passwordx", "--mysql-password***"},
      {"--mysql-passwd=x", "--mysql-passwd=***"},
      {"--mysql-pwd=x", "--mysql-pwd=***"},
      {"--mysql-pass=x", "--mysql-pass=***"},
      {"--api-token=x", "--api-token=***"},
      {"--client-secert=x", "--client-secert=x"}, /* two letters away, in a word of six */
      {"--client-secet=x", "--client-secet=***"},
      {"--dsn=host=y password=x", "--dsn=host=y password=***"},
      {"--mysql-password", "--mysql-password"},
      {"--mysql-password-file", "--mysql-password-file"},
      {"--mysql-password=", "--mysql-password=***"},
      {"--threads=4", "--threads=4"},
      {"--mysql-port=3306", "--mysql-port=3306"},
      {"--percentile=99", "--percentile=99"},
      {"--keyword=x", "--keyword=x"},
      {"run", "run"},
      {"", ""},
  };

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char out[BN_MASK_MAX];

    assert_string_equal(bn_mask_arg(rows[i][0], false, out), rows[i][1]);
  }
}

static void what_the_caller_knows_is_hidden(void **state)
{
  char out[BN_MASK_MAX], text[2 * BN_MASK_MAX];

  (void)state;
  assert_string_equal(bn_mask_arg("--pin=1", true, out), "--pin=***");
  assert_string_equal(bn_mask_arg("--pin=1", false, out), "--pin=1");
  memset(text, 'a', sizeof text);
  memcpy(text + sizeof text - 12, "password=x", 11);
  text[sizeof text - 1] = '\0';
  assert_int_equal(strlen(bn_mask_arg(text, false, out)), BN_MASK_MAX - 1);
  assert_null(strstr(out, "=x"));
}

static void names_are_judged(void **state)
{
  (void)state;
  assert_true(bn_mask_names_secret("db-passwd"));
  assert_false(bn_mask_names_secret("db-pasword"));
  assert_true(bn_mask_resembles_secret("db-pasword"));
  assert_false(bn_mask_resembles_secret("db-user=password"));
  assert_false(bn_mask_resembles_secret("table-size"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(passwords_are_hidden),
      cmocka_unit_test(what_the_caller_knows_is_hidden),
      cmocka_unit_test(names_are_judged),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
