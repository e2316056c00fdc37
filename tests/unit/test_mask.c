/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows what of an argument is hidden, and what is not. */
#include "cm.h"

#include <stdio.h>
#include <string.h>

#include "base/mask.h"

static void values_of_options_are_hidden(void **state)
{
  static const char *const rows[][2] = {
      {"--mysql-pasword=a=b", "--mysql-pasword=***"},
      {"-num_rows2=x y", "-num_rows2=***"},
      {"mysql-password=", "mysql-password=***"},
      {"--mysql-password:x", "--mysql-password:***"},
      {"mysql-password 'x'", "mysql-password ***"},
      {"--mysql-password$ecret!", "--mysql-password***"},
      {"--mysql-password", "--mysql-password"},
      {"a.b", "a.b"},
      {"--", "--"},
      {"", ""},
  };
  char out[BN_MASK_MAX], text[2 * BN_MASK_MAX];

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    assert_string_equal(bn_mask_arg(rows[i][0], out), rows[i][1]);
  /* Where the name reaches the end of what is shown. */
  for (size_t len = BN_MASK_MAX - 20; len < sizeof text - 3; len++) {
    memset(text, 'a', len);
    memcpy(text + len, "=x", 3);
    assert_ptr_equal(bn_mask_arg(text, out), out);
    assert_null(strchr(out, 'x'));
    assert_string_equal(out + strlen(out) - 3, BN_MASK);
    assert_true(strlen(out) < BN_MASK_MAX);
  }
}

static void passwords_in_texts_are_hidden(void **state)
{
  static const char *const rows[][2] = {
      {"--dsn=host=y password=x", "--dsn=host=y password=***"},
      {"--connect=mysql://u:x@h/db", "--connect=mysql://u:***"},
      {"--connect=mysql://u:x@/?y@h/db", "--connect=mysql://u:***"},
      {"--connect=mysql://u@h:3306/db", "--connect=mysql://u@h:3306/db"},
      {"--connect=mysql://h:3306/db?password=x", "--connect=mysql://h:3306/db?password=***"},
      {"mysql://u:x@h/db", "mysql://u:***"},
      {"mysql://u:x", "mysql://u:***"},
      {"mysql://h:3306", "mysql://h:3306"},
      {"mysql://h:3306,i:3306/db", "mysql://h:3306,i:3306/db"},
      {"x://y?pwd=z", "x://y?pwd=***"},
      {"tokens,Token: y", "tokens,Token:***"},
      {"SET PASSWORD = x", "SET PASSWORD ***"},
      {"{\"password\":\"x\"}", "{\"password***"},
      {"--user=MySecret", "--user=MySecret"},
      {"/tmp/password-2", "/tmp/password-2"},
      {"secret", "secret"},
      {"", ""},
  };
  char out[BN_MASK_MAX];

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    assert_string_equal(bn_mask_text(rows[i][0], out), rows[i][1]);
}

static void names_of_secrets_have_a_word(void **state)
{
  (void)state;
  assert_true(bn_mask_names_secret("db-passwd"));
  assert_true(bn_mask_names_secret("--MYSQL_PASSWORD=x"));
  assert_true(bn_mask_names_secret("api-token"));
  assert_false(bn_mask_names_secret("db-pasword"));
  assert_false(bn_mask_names_secret("db-user=password"));
  assert_false(bn_mask_names_secret("num-passes"));
}

static void an_overwritten_secret_does_not_show_its_length(void **state)
{
  static const char *const rows[][2] = {
      {"geheim", "xxxx  "}, {"four", "xxxx"}, {"pw", "xx"}, {"", ""}};
  char text[8];

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    (void)snprintf(text, sizeof text, "%s", rows[i][0]);
    bn_mask_overwrite(text);
    assert_string_equal(text, rows[i][1]);
  }
}

BN_TESTS(mask)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_of_options_are_hidden),
      cmocka_unit_test(passwords_in_texts_are_hidden),
      cmocka_unit_test(names_of_secrets_have_a_word),
      cmocka_unit_test(an_overwritten_secret_does_not_show_its_length),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
