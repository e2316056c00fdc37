/* SPDX-License-Identifier: GPL-2.0-or-later */
/* HELLO and WELCOME come back as they were, and foreign ones are refused by a sentence. */
#include "cm.h"

#include <string.h>

#include "hosts/handshake.h"

static void a_hello_comes_back(void **state)
{
  static const char want[] =
      "{\"protocol\":1,\"version\":\"" PACKAGE_VERSION "\",\"host\":1,\"first_session\":2,"
      "\"sessions\":4,\"argv\":[\"cpu\",\"--mysql-password=a \\\"b\\\"\",\"run\"],\"outside\":2,"
      "\"environment\":[\"PGPASSWORD=c\"]}";
  char *words[] = {(char[]){"cpu"}, (char[]){"--mysql-password=a \"b\""}, (char[]){"run"}};
  char *environment[] = {(char[]){"PGPASSWORD=c"}};
  struct bn_handshake back, h = {.host = 1,
                                 .first_session = 2,
                                 .sessions = 4,
                                 .outside = 2,
                                 .argv = {words, 3},
                                 .environment = {environment, 1}};
  struct bn_err err;
  size_t len = 0;
  char *text = bn_handshake_print(&h, &len, &err);

  (void)state;
  assert_non_null(text);
  assert_string_equal(text, want);
  assert_int_equal(len, strlen(want));
  assert_int_equal(bn_handshake_parse(text, len, &back, &err), 0);
  assert_int_equal(back.host, 1);
  assert_int_equal(back.first_session, 2);
  assert_int_equal(back.sessions, 4);
  assert_int_equal(back.outside, 2);
  assert_int_equal(back.argv.n, 3);
  assert_string_equal(back.argv.item[1], words[1]);
  assert_int_equal(bn_handshake_set_environment(&back, &err), 0);
  assert_string_equal(getenv("PGPASSWORD"), "c");
  bn_handshake_done(&back);
  free(text);
}

static void a_welcome_comes_back(void **state)
{
  struct bn_welcome back;
  struct bn_err err;
  size_t len = 0;
  char *text = bn_welcome_print("db-7", &len);

  (void)state;
  assert_string_equal(text, "{\"protocol\":1,\"version\":\"" PACKAGE_VERSION
                            "\",\"host name\":\"db-7\"}");
  assert_int_equal(bn_welcome_parse(text, len, &back, &err), 0);
  assert_string_equal(back.version, PACKAGE_VERSION);
  assert_string_equal(back.host_name, "db-7");
  bn_welcome_done(&back);
  free(text);
}

static void an_argument_that_is_not_utf8_is_refused_but_not_shown(void **state)
{
  char *words[] = {(char[]){"cpu"}, (char[]){"--mysql-password=\xe4"}};
  const struct bn_handshake h = {.sessions = 1, .argv = {words, 2}};
  struct bn_err err;
  size_t len;

  (void)state;
  assert_null(bn_handshake_print(&h, &len, &err));
  assert_string_equal(err.text,
                      "argument 2 of the command line is not UTF-8 and cannot be sent to hosts");
}

static void another_protocol_is_named(void **state)
{
  static const char later[] = "{\"protocol\":2,\"version\":\"9\\u001b[1m\"}";
  struct bn_handshake h;
  struct bn_welcome w;
  struct bn_err err;

  (void)state;
  assert_int_equal(bn_handshake_parse(later, strlen(later), &h, &err), -1);
  assert_string_equal(err.text, "bench 9\\x1b[1m there has protocol 2, and this bench has 1; "
                                "install the same version on all hosts");
  assert_int_equal(bn_welcome_parse(later, strlen(later), &w, &err), -1);
  assert_null(w.version);
}

static void what_is_no_hello_is_refused(void **state)
{
  static const char lacks[] = "a frame HELLO lacks a member or has a wrong one";
  static const struct {
    const char *text, *sentence;
  } cases[] = {
      {"password", "a frame HELLO is not JSON"},
      {"[1]", "a frame HELLO names no protocol"},
      {"{\"protocol\":\"1\"}", "a frame HELLO names no protocol"},
      {"{\"protocol\":-1}", "a frame HELLO names no protocol"},
      {"{\"protocol\":1}", lacks},
      {"{\"protocol\":1,\"version\":\"1\",\"host\":0,\"first_session\":4,"
       "\"sessions\":4,\"argv\":[\"cpu\"],\"environment\":[]}",
       lacks},
      {"{\"protocol\":1,\"version\":\"1\",\"host\":0,\"first_session\":0,"
       "\"sessions\":4294967296,\"argv\":[\"cpu\"],\"environment\":[]}",
       lacks},
      {"{\"protocol\":1,\"version\":\"1\",\"host\":0,\"first_session\":0,"
       "\"sessions\":4,\"argv\":[],\"environment\":[]}",
       lacks},
      {"{\"protocol\":1,\"version\":\"1\",\"host\":0,\"first_session\":0,"
       "\"sessions\":4,\"argv\":[\"cpu\",7],\"environment\":[]}",
       lacks},
  };

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct bn_handshake h;
    struct bn_err err = {0};

    assert_int_equal(bn_handshake_parse(cases[i].text, strlen(cases[i].text), &h, &err), -1);
    assert_string_equal(err.text, cases[i].sentence);
    assert_null(h.argv.item);
  }
}

static void only_passwords_are_taken_and_set(void **state)
{
  char *const bad[] = {(char[]){"LD_PRELOAD=x.so"}, (char[]){"MYSQL_PWD"}, (char[]){"MYSQL_PWDX=a"},
                       (char[]){""}};
  struct bn_handshake h = {.host = 0};
  struct bn_err err;

  (void)state;
  assert_int_equal(setenv("MYSQL_PWD", "a=b", 1), 0);
  assert_int_equal(unsetenv("PGPASSWORD"), 0);
  bn_handshake_add_passwords(&h);
  assert_int_equal(h.environment.n, 1);
  assert_string_equal(h.environment.item[0], "MYSQL_PWD=a=b");
  bn_handshake_done(&h);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char *word[] = {bad[i]};

    h.environment = (struct bn_list){word, 1};
    assert_int_equal(bn_handshake_set_environment(&h, &err), -1);
    assert_string_equal(err.text, "a frame HELLO sets a variable that is not a password");
  }
  assert_null(getenv("LD_PRELOAD"));
}

BN_TESTS(handshake)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_hello_comes_back),
      cmocka_unit_test(only_passwords_are_taken_and_set),
      cmocka_unit_test(a_welcome_comes_back),
      cmocka_unit_test(an_argument_that_is_not_utf8_is_refused_but_not_shown),
      cmocka_unit_test(another_protocol_is_named),
      cmocka_unit_test(what_is_no_hello_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
