/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows what of an argument is hidden, and what is not. */
#include "cm.h"

#include <stdio.h>
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
      {"--conect=mysql://u:x@h/db", "--conect=mysql://u:***"},
      {"--conect=mysql://u:x@/?y@h/db", "--conect=mysql://u:***"},
      {"mysql://u:x@h/db", "mysql://u:***"},
      {"mysql://u:x", "mysql://u:***"},
      {"mysql://h:3306", "mysql://h:3306"},
      {"mysql://h:3306,i:3306/db", "mysql://h:3306,i:3306/db"},
      {"--conect=mysql://u@h:3306/db", "--conect=mysql://u@h:3306/db"},
      {"--conect=mysql://h:3306/db?password=x", "--conect=mysql://h:3306/db?password=***"},
      {"--mysql-password", "--mysql-password"},
      {"--mysql-password-file", "--mysql-password-file"},
      {"--mysql-password=", "--mysql-password=***"},
      {"--threads=4", "--threads=4"},
      {"--mysql-port=3306", "--mysql-port=3306"},
      {"--percentile=99", "--percentile=99"},
      {"--keyword=x", "--keyword=x"},
      {"--upwind=x", "--upwind=x"},
      {"--user=MySecret", "--user=MySecret"},
      {"--mode=passive", "--mode=passive"},
      {"--dir=/tmp/tokens/x", "--dir=/tmp/tokens/x"},
      {"--json={\"password\":\"x\"}", "--json={\"password***"},
      {"run", "run"},
      {"", ""},
  };

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char out[BN_MASK_MAX];

    assert_string_equal(bn_mask_arg(rows[i][0], false, out), rows[i][1]);
  }
}

static const char *const secrets[] = {"MySecret", "my-token-9", "password1", "$ecret!",  "/x/y",
                                      "'quoted'", "x",          "pwd=1",     "Passwort", "a b"};

/* What a secret is made of changes nothing. */
static void values_are_not_looked_at(void **state)
{
  static const char *const names[] = {
      "--mysql-password", "--mysql-pasword", "--pgsql_paswrd", "--mysql-paswd",        "--mysql-pw",
      "--client-secet",   "mysql-pass",      "--api-token",    "--mysql-password-file"};

  (void)state;
  for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
    for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++)
      for (const char *part = "=: "; *part != '\0'; part++) {
        char arg[80], wanted[80], out[BN_MASK_MAX];

        (void)snprintf(arg, sizeof arg, "%s%c%s", names[n], *part, secrets[i]);
        (void)snprintf(wanted, sizeof wanted, "%s%c***", names[n], *part);
        assert_string_equal(bn_mask_arg(arg, false, out), wanted);
      }
}

static void a_value_may_follow_at_once(void **state)
{
  static const char *const rows[][2] = {
      {"--mysql-password$ecret!", "--mysql-password***"},
      {"--mysql-password/x/y", "--mysql-password***"},
      {"mysql-password'SECRET'", "mysql-password***"},
      {"mysql-pasword\"SECRET\"", "mysql-pasword***"},
      {"--mysql-password.x", "--mysql-password***"},
      {"--mysql-password-9", "--mysql-password***"},
      {"--mysql-password-Zq9-hunter2", "--mysql-password***"},
      {"--mysql-password-SECRET", "--mysql-password***"},
      {"--mysql-paswordMySecret", "--mysql-pasword***"},
      {"--mysql-paswordmypassword=x", "--mysql-pasword***"},
      {"--mysql-password-file/x", "--mysql-password***"},
  };

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char out[BN_MASK_MAX];

    assert_string_equal(bn_mask_arg(rows[i][0], false, out), rows[i][1]);
  }
}

static void names_of_settings_stay_distinct(void **state)
{
  static const char *const rows[][3] = {
      {"num-passes", "3", "num-passes"},
      {"tokens", "x", "tokens"},
      {"password2_file", "x", "password2_file"},
      {"mysql-password", "x", "mysql-password"},
      {"mysql-pasword:SECRET", "x", "mysql-pasword:***"},
      {"mysql-passwordSECRET", "=", "mysql-password***"},
      {"mysql-password 'x'", "x", "mysql-password ***"},
      {"mysql-passwordsecret", NULL, "mysql-password***"},
      {"num-passes", NULL, "num-pass***"},
      {"num-rows", NULL, "num-rows"},
  };

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char out[BN_MASK_MAX];

    assert_string_equal(bn_mask_name(rows[i][0], rows[i][1], false, out), rows[i][2]);
  }
}

static void harmless_values_are_whole(void **state)
{
  static const char *const rows[][2] = {
      {"passive", "passive"},
      {"/tmp/discrete_x", "/tmp/discrete_x"},
      {"/tmp/password-2", "/tmp/password-2"},
      {"secret", "secret"},
      {"", ""},
      {"user=x password=y", "user=x password=***"},
      {"tokens,Token: y", "tokens,Token:***"},
      {"x://y?pwd=z", "x://y?pwd=***"},
  };

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char out[BN_MASK_MAX];

    assert_string_equal(bn_mask_value(rows[i][0], out), rows[i][1]);
  }
}

static void what_the_caller_knows_is_hidden(void **state)
{
  char out[BN_MASK_MAX], text[2 * BN_MASK_MAX];

  (void)state;
  assert_string_equal(bn_mask_arg("--pin=1", true, out), "--pin=***");
  assert_string_equal(bn_mask_arg("--pin=1", false, out), "--pin=1");
  for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++) {
    (void)snprintf(text, sizeof text, "--pin=%s", secrets[i]);
    assert_string_equal(bn_mask_arg(text, true, out), "--pin=***");
  }
  /* Where the name reaches the end of what is shown. */
  for (size_t len = BN_MASK_MAX - 20; len < sizeof text - 12; len++) {
    memset(text, 'a', len);
    memcpy(text + len, "password=x", 11);
    assert_ptr_equal(bn_mask_arg(text, false, out), out);
    assert_null(strchr(out, 'x'));
    assert_string_equal(out + strlen(out) - 3, BN_MASK);
    assert_true(strlen(out) < BN_MASK_MAX);
  }
}

static void names_are_judged(void **state)
{
  (void)state;
  assert_true(bn_mask_names_secret("db-passwd"));
  assert_false(bn_mask_names_secret("db-pasword"));
  assert_true(bn_mask_resembles_secret("db-pasword"));
  assert_false(bn_mask_resembles_secret("db-user=password"));
  assert_false(bn_mask_resembles_secret("table-size"));
  assert_true(bn_mask_resembles_secret("mysql-pass"));
  assert_true(bn_mask_resembles_secret("mysqlpass=x"));
  assert_true(bn_mask_resembles_secret("db-pass2"));
  assert_true(bn_mask_resembles_secret("pass-of-db"));
  assert_true(bn_mask_resembles_secret("num-passes-pass"));
  assert_false(bn_mask_resembles_secret("num-passes"));
  assert_false(bn_mask_resembles_secret("passive-mode=pass"));
}

BN_TESTS(mask)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(passwords_are_hidden),
      cmocka_unit_test(values_are_not_looked_at),
      cmocka_unit_test(a_value_may_follow_at_once),
      cmocka_unit_test(names_of_settings_stay_distinct),
      cmocka_unit_test(harmless_values_are_whole),
      cmocka_unit_test(what_the_caller_knows_is_hidden),
      cmocka_unit_test(names_are_judged),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
