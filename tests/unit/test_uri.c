/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows the parts of a URI, and what is said about one that is wrong, which never has its
   password. */
#include "cm.h"

#include <string.h>

#include "base/uri.h"

static void parts_are_found(void **state)
{
  static const struct {
    const char *text, *scheme, *user, *password, *host, *path;
    unsigned port;
  } rows[] = {
      {"mysql://u:p@h:3307/db", "mysql", "u", "p", "h", "db", 3307},
      {"mysql://h", "mysql", NULL, NULL, "h", NULL, 0},
      {"mysql://", "mysql", NULL, NULL, NULL, NULL, 0},
      {"postgresql:///db", "postgresql", NULL, NULL, NULL, "db", 0},
      {"mysql://u@/db", "mysql", "u", NULL, NULL, "db", 0},
      {"mysql://u:@h:", "mysql", "u", "", "h", NULL, 0},
      {"mysql://:p@h", "mysql", NULL, "p", "h", NULL, 0},
      {"mysql://u%40x:p%2F%3a%25@%2Frun%2fpg/d%20b", "mysql", "u@x", "p/:%", "/run/pg", "d b", 0},
      {"mysql://u:p@p:q@h", "mysql", "u", "p@p:q", "h", NULL, 0},
      {"mysql://[::1]:3307/db", "mysql", NULL, NULL, "::1", "db", 3307},
      {"mysql://a:1,[::1]:1,b:1/d", "mysql", NULL, NULL, "a,::1,b", "d", 1},
      {"mysql://a,b", "mysql", NULL, NULL, "a,b", NULL, 0},
  };

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct bn_uri u;
    struct bn_err err = {0};

    assert_int_equal(bn_uri_parse(&u, rows[i].text, &err), 0);
    const char *const got[] = {u.scheme, u.user, u.password, u.host, u.path};
    const char *const want[] = {rows[i].scheme, rows[i].user, rows[i].password, rows[i].host,
                                rows[i].path};

    for (size_t k = 0; k < sizeof got / sizeof got[0]; k++) {
      assert_int_equal(got[k] == NULL, want[k] == NULL);
      if (want[k] != NULL)
        assert_string_equal(got[k], want[k]);
    }
    assert_int_equal(u.port, rows[i].port);
    assert_int_equal(u.n_params, 0);
    bn_uri_done(&u);
    assert_null(u.text);
  }
}

static void parameters_are_found(void **state)
{
  struct bn_uri u;

  (void)state;
  assert_int_equal(bn_uri_parse(&u, "mysql://h/?socket=%2Ftmp%2Fx&&ssl-mode=a%3Db=c", NULL), 0);
  assert_null(u.path);
  assert_int_equal(u.n_params, 2);
  assert_string_equal(u.param[0].name, "socket");
  assert_string_equal(u.param[0].value, "/tmp/x");
  assert_string_equal(u.param[1].name, "ssl-mode");
  assert_string_equal(u.param[1].value, "a=b=c");
  bn_uri_done(&u);
}

static void wrong_parts_are_named(void **state)
{
  static const char *const rows[][2] = {
      {"u:SECRET@h", "it has no '://'; the form is scheme://user@host:port/database"},
      {"mysql://u:SECRET%@h", "in the password, two hexadecimal digits must follow '%'; "
                              "for '%' write %25"},
      {"mysql://u:SECRET%4@h", "in the password, two hexadecimal digits must follow '%'; "
                               "for '%' write %25"},
      {"mysql://u:SECRET%00@h", "the password contains %00, which no server accepts"},
      {"mysql://%zz:SECRET@h", "in the user, two hexadecimal digits must follow '%'; for "
                               "'%' write %25"},
      {"mysql://u:SEC/RET@h",
       "'@' or '#' is where none can be: write %2F for '/', %3F for '?', %23 "
       "for '#' and %40 for '@'"},
      {"mysql://u:p@SEC?RET@h", "'@' or '#' is where none can be: write %2F for '/', %3F for '?', "
                                "%23 for '#' and %40 for '@'"},
      {"mysql://u:SEC#RET@h",
       "'@' or '#' is where none can be: write %2F for '/', %3F for '?', %23 "
       "for '#' and %40 for '@'"},
      {"mysql://u:SECRET/db", "the port is not a number from 1 to 65535"},
      {"mysql://h:0", "the port is not a number from 1 to 65535"},
      {"mysql://h:65536", "the port is not a number from 1 to 65535"},
      {"mysql://h:99999999999999999999", "the port is not a number from 1 to 65535"},
      {"mysql://::1", "the host has two ':': write an IPv6 address in brackets"},
      {"mysql://[::1", "the host has '[' without ']'"},
      {"mysql://[::1]3306", "the host has '[' without ']'"},
      {"mysql://a:1,b:2", "the hosts have different ports: list them in the options of the driver"},
      {"mysql://a,b:2", "the hosts have different ports: list them in the options of the driver"},
      {"mysql://h?socket", "the parameter 'socket' has no value"},
      {"mysql://h?a=1&a=2", "the parameter 'a' is given twice"},
  };

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct bn_uri u;
    struct bn_err err = {0};

    assert_int_equal(bn_uri_parse(&u, rows[i][0], &err), -1);
    assert_string_equal(err.text, rows[i][1]);
    assert_null(strstr(err.text, "SEC"));
    bn_uri_done(&u);
  }
}

BN_TESTS(uri)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_are_found),
      cmocka_unit_test(parameters_are_found),
      cmocka_unit_test(wrong_parts_are_named),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
