/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --mysql-ssl with MariaDB Connector/C: modes that do not verify say so, whatever the default of
   the library is, which is to verify from 3.4 on. */
#include "cm.h"
#include "drivers/mysql/lib/lib.h"

/* Returns whether a library with this default verifies in the mode. */
static bool verifies(my_bool by_default, int mode)
{
  MYSQL *handle = mysql_init(NULL);
  const char *text = NULL;
  my_bool found = 2;

  assert_non_null(handle);
  assert_int_equal(mysql_optionsv(handle, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &by_default), 0);
  assert_int_equal(bn_mysql_lib_set_ssl_mode(handle, mode, &text), 0);
  assert_int_equal(mysql_get_optionv(handle, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &found), 0);
  assert_in_range(found, 0, 1);
  mysql_close(handle);
  return found != 0;
}

static void the_mode_decides_whether_the_library_verifies(void **state)
{
  (void)state;
  for (my_bool by_default = 0; by_default <= 1; by_default++) {
    assert_false(verifies(by_default, BN_MYSQL_SSL_DISABLED));
    assert_false(verifies(by_default, BN_MYSQL_SSL_PREFERRED));
    assert_false(verifies(by_default, BN_MYSQL_SSL_REQUIRED));
    /* Before 3.4, by the certificates that are named and not by this option. */
    assert_int_equal(verifies(by_default, BN_MYSQL_SSL_VERIFY_CA),
                     by_default != 0 || MARIADB_PACKAGE_VERSION_ID >= 30400);
    assert_true(verifies(by_default, BN_MYSQL_SSL_VERIFY_IDENTITY));
  }
}

BN_TESTS(mysql_ssl)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_mode_decides_whether_the_library_verifies),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
