/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a PostgreSQL server may ask for, by rule, and what of it reaches the client library. */
#include <stdio.h>
#include <string.h>

#include "cm.h"
#include "drivers/pgsql/login.h"

#define BYTES(text) text, sizeof(text) - 1

#define REQUEST(n)  "R\0\0\0\10\0\0\0" n
#define LET_IN      REQUEST("\0")
#define CLEAR       REQUEST("\3")
#define MD5         "R\0\0\0\14\0\0\0\5salt"
#define GSS         REQUEST("\7")
#define SCRAM       "R\0\0\0\27\0\0\0\12SCRAM-SHA-256\0\0"
#define SCRAM_NEXT  "R\0\0\0\11\0\0\0\13x"
#define SCRAM_FINAL "R\0\0\0\11\0\0\0\14x"

/* At most two items. */
static const char *make_rule(struct bn_pgsql_login_rule *rule, const char *first,
                             const char *second)
{
  static char text[2][32];
  static char *items[] = {text[0], text[1]};
  const struct bn_list list = {.item = items, .n = (first != NULL) + (size_t)(second != NULL)};

  (void)snprintf(text[0], sizeof text[0], "%s", first != NULL ? first : "");
  (void)snprintf(text[1], sizeof text[1], "%s", second != NULL ? second : "");
  return bn_pgsql_login_rule(rule, &list);
}

/* Whether the server can let the client in after these messages, one at a time. */
static bool lets_in(const struct bn_pgsql_login_rule *rule, const char *bytes, size_t len)
{
  struct bn_pgsql_login l = {.rule = rule};
  size_t n;

  for (;;) {
    switch (bn_pgsql_login_look(&l, false, bytes, len, &n)) {
    case BN_LOGIN_LAST:
      assert_int_equal(n, len);
      return true;
    case BN_LOGIN_PASS:
      assert_true(n < len);
      bytes += n;
      len -= n;
      break;
    default:
      return false;
    }
  }
}

static void rules_allow_what_they_name(void **state)
{
  static const struct {
    const char *first, *second;
    bool none, clear, md5, gss, scram;
  } rows[] = {
      {NULL, NULL, true, false, true, true, true},
      {"password", NULL, false, true, false, false, false},
      {"password", "scram-sha-256", false, true, false, false, true},
      {"md5", "none", true, false, true, false, false},
      {"gss", NULL, false, false, false, true, false},
      {"!md5", NULL, true, false, false, true, true},
      {"!none", "!scram-sha-256", false, false, true, true, false},
  };

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct bn_pgsql_login_rule rule;

    assert_null(make_rule(&rule, rows[i].first, rows[i].second));
    assert_int_equal(lets_in(&rule, BYTES(LET_IN)), rows[i].none);
    assert_int_equal(lets_in(&rule, BYTES(CLEAR LET_IN)), rows[i].clear);
    assert_int_equal(lets_in(&rule, BYTES(MD5 LET_IN)), rows[i].md5);
    assert_int_equal(lets_in(&rule, BYTES(GSS LET_IN)), rows[i].gss);
    assert_int_equal(lets_in(&rule, BYTES(SCRAM SCRAM_NEXT SCRAM_FINAL LET_IN)), rows[i].scram);
    assert_int_equal(lets_in(&rule, BYTES(SCRAM CLEAR LET_IN)), rows[i].scram && rows[i].clear);
  }
}

static void lists_are_checked(void **state)
{
  struct bn_pgsql_login_rule rule;

  (void)state;
  assert_string_equal(make_rule(&rule, "scram", NULL), "scram");
  assert_string_equal(make_rule(&rule, "md5", "!none"), "!none");
  assert_string_equal(make_rule(&rule, "!md5", "none"), "none");
  assert_string_equal(make_rule(&rule, "md5", ""), "");
}

/* It need not be the server that has the password's verifier. */
static void a_listed_scram_has_to_be_complete(void **state)
{
  struct bn_pgsql_login_rule rule;

  (void)state;
  assert_null(make_rule(&rule, "scram-sha-256", NULL));
  assert_false(lets_in(&rule, BYTES(SCRAM LET_IN)));
  assert_false(lets_in(&rule, BYTES(SCRAM SCRAM_NEXT LET_IN)));
  assert_false(lets_in(&rule, BYTES(SCRAM SCRAM_FINAL SCRAM LET_IN)));
  assert_true(lets_in(&rule, BYTES(SCRAM SCRAM_NEXT SCRAM_FINAL LET_IN)));
  assert_null(make_rule(&rule, NULL, NULL));
  assert_true(lets_in(&rule, BYTES(SCRAM LET_IN)));
}

static void messages_pass_one_by_one(void **state)
{
  struct bn_pgsql_login_rule rule;
  struct bn_pgsql_login l = {.rule = &rule};
  size_t n;

  (void)state;
  assert_null(make_rule(&rule, NULL, NULL));
  for (size_t len = 1; len < sizeof MD5 - 1; len++)
    assert_int_equal(bn_pgsql_login_look(&l, false, MD5, len, &n), BN_LOGIN_WAIT);
  assert_int_equal(bn_pgsql_login_look(&l, false, BYTES(MD5 CLEAR), &n), BN_LOGIN_PASS);
  assert_int_equal(n, sizeof MD5 - 1);
  assert_int_equal(bn_pgsql_login_look(&l, false, BYTES("R\0\0\0\7\0\0\0"), &n), BN_LOGIN_REFUSE);
  assert_int_equal(bn_pgsql_login_look(&l, false, BYTES("R\177\0\0\0\0\0\0\0"), &n),
                   BN_LOGIN_REFUSE);
  assert_int_equal(bn_pgsql_login_look(&l, false, BYTES("\0\0\0\0\3"), &n), BN_LOGIN_REFUSE);
  assert_int_equal(bn_pgsql_login_look(&l, false, BYTES("E\0\0\0\6x" CLEAR), &n), BN_LOGIN_PASS);
  assert_int_equal(n, sizeof "E\0\0\0\6x" CLEAR - 1);
  assert_int_equal(bn_pgsql_login_look(&l, false, BYTES("the rest of it"), &n), BN_LOGIN_PASS);
}

/* Behind the one letter comes what libpq must not read before it has gone on. */
static void encryption_is_negotiated_first(void **state)
{
  struct bn_pgsql_login_rule rule;
  struct bn_pgsql_login l = {.rule = &rule};
  size_t n;

  (void)state;
  assert_null(make_rule(&rule, NULL, NULL));
  assert_int_equal(bn_pgsql_login_look(&l, true, BYTES("N" CLEAR), &n), BN_LOGIN_PASS);
  assert_int_equal(n, 1);
  assert_int_equal(bn_pgsql_login_look(&l, false, BYTES(CLEAR), &n), BN_LOGIN_REFUSE);
  assert_int_equal(bn_pgsql_login_look(&l, true, BYTES("S"), &n), BN_LOGIN_OPEN);
  assert_int_equal(bn_pgsql_login_look(&l, true, BYTES("G"), &n), BN_LOGIN_OPEN);
  assert_int_equal(bn_pgsql_login_look(&l, true, BYTES(CLEAR), &n), BN_LOGIN_OPEN);
  assert_int_equal(bn_pgsql_login_look(&l, true, BYTES("Esorry"), &n), BN_LOGIN_PASS);
  assert_int_equal(n, 6);
}

static void refusals_say_why(void **state)
{
  struct bn_pgsql_login_rule rule;
  struct bn_pgsql_login l = {.rule = &rule, .asked = BN_LOGIN_PASSWORD};
  char text[256];

  (void)state;
  assert_null(make_rule(&rule, NULL, NULL));
  bn_pgsql_login_why(&l, text, sizeof text);
  assert_non_null(strstr(text, "--pgsql-require-auth=password to send it\n\n"));
  assert_null(make_rule(&rule, "scram-sha-256", NULL));
  bn_pgsql_login_why(&l, text, sizeof text);
  assert_string_equal(text, "the server asks for the login method 'password', which "
                            "--pgsql-require-auth does not allow\n\n");
}

BN_TESTS(pgsql_login)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rules_allow_what_they_name),
      cmocka_unit_test(lists_are_checked),
      cmocka_unit_test(a_listed_scram_has_to_be_complete),
      cmocka_unit_test(messages_pass_one_by_one),
      cmocka_unit_test(encryption_is_negotiated_first),
      cmocka_unit_test(refusals_say_why),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
