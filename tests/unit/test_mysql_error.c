/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors of MySQL: what is left of a transaction, and what the server's status says of it. */
#include <stdio.h>
#include <string.h>

#include "cm.h"
#include "drivers/mysql/error.h"

/* Bits of a server's status. */
enum { IN_TRANSACTION = 1, AUTOCOMMIT = 2, OTHER = 0x20 };

static void the_status_tells_the_transaction(void **state)
{
  (void)state;
  assert_int_equal(bn_mysql_transaction_of(AUTOCOMMIT | OTHER), BN_TRANSACTION_OWN);
  assert_int_equal(bn_mysql_transaction_of(AUTOCOMMIT | IN_TRANSACTION), BN_TRANSACTION_OPEN);
  assert_int_equal(bn_mysql_transaction_of(OTHER), BN_TRANSACTION_MANUAL);
  assert_int_equal(bn_mysql_transaction_of(IN_TRANSACTION), BN_TRANSACTION_MANUAL);
}

static void after_a_deadlock_no_transaction_is_open(void **state)
{
  unsigned status = AUTOCOMMIT | IN_TRANSACTION | OTHER;
  struct bn_sql_diag d = {0};

  (void)state;
  assert_int_equal(bn_mysql_fail_with_status(&status, 1062, "23000", "f()", "duplicate", &d),
                   BN_SQL_ERROR);
  assert_false(d.rolled_back);
  assert_int_equal(bn_mysql_transaction_of(status), BN_TRANSACTION_OPEN);
  assert_int_equal(bn_mysql_fail_with_status(&status, 1213, "40001", "f()", "deadlock", &d),
                   BN_SQL_ERROR);
  assert_true(d.rolled_back);
  assert_int_equal(bn_mysql_transaction_of(status), BN_TRANSACTION_OWN);
  assert_int_equal(status, AUTOCOMMIT | OTHER);
}

static enum bn_sql_class class_of(int code, const char *text)
{
  unsigned status = AUTOCOMMIT | IN_TRANSACTION;
  struct bn_sql_diag d = {0};

  assert_int_equal(bn_mysql_fail_with_status(&status, code, "HY000", "f()", text, &d),
                   BN_SQL_ERROR);
  return bn_mysql_classify(&d);
}

/* The connection stands, and is of no use. */
static void a_server_that_has_left_its_cluster_is_as_good_as_lost(void **state)
{
  (void)state;
  assert_int_equal(class_of(1047, "WSREP has not yet prepared node for application use"),
                   BN_CLASS_CONNECTION);
  assert_int_equal(class_of(1047, "Unknown command"), BN_CLASS_OTHER);
  assert_int_equal(class_of(1180, "Got error 6 \"No such device or address\" during COMMIT"),
                   BN_CLASS_CONNECTION);
  assert_int_equal(class_of(1180, "Error while appending streaming replication fragment(provider "
                                  "status: Not connected to Primary Component)"),
                   BN_CLASS_CONNECTION);
  assert_int_equal(class_of(1180, "Fehler 7 beim COMMIT"), BN_CLASS_CONNECTION);
  assert_int_equal(class_of(1180, "Got error 5 \"Input/output error\" during COMMIT"),
                   BN_CLASS_OTHER);
  assert_int_equal(class_of(1180, "Got error 149 during COMMIT"), BN_CLASS_OTHER);
  assert_int_equal(class_of(1180, ""), BN_CLASS_OTHER);
  assert_int_equal(
      class_of(3100, "Error on observer while running replication hook 'before_commit'."),
      BN_CLASS_CONNECTION);
  assert_int_equal(class_of(3101, "Plugin instructed the server to rollback"),
                   BN_CLASS_SERIALIZATION);
}

static void proxies_and_tidb_have_numbers_of_their_own(void **state)
{
  static const struct {
    int code;
    enum bn_sql_class class;
  } rows[] = {{8002, BN_CLASS_SERIALIZATION}, {8005, BN_CLASS_SERIALIZATION},
              {8022, BN_CLASS_SERIALIZATION}, {9007, BN_CLASS_SERIALIZATION},
              {9001, BN_CLASS_CONNECTION},    {9002, BN_CLASS_CONNECTION},
              {9005, BN_CLASS_CONNECTION},    {8108, BN_CLASS_OTHER}};

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    assert_int_equal(class_of(rows[i].code, "of another program"), rows[i].class);
}

static void some_statements_can_be_sent_as_text(void **state)
{
  static const int answers[][2] = {{1235, 0}, {1064, -1}, {1999, -1},
                                   {2000, 1}, {2999, 1},  {3000, -1}};

  (void)state;
  for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
    const struct bn_sql_diag d = {.code = answers[i][0], .state = "42000"};

    assert_int_equal(bn_mysql_fails_as_text(&d), answers[i][1]);
  }
}

/* MariaDB's library says 2026 of an encrypted connection, whatever has become of it. */
static void a_connection_is_lost_with_its_encryption(void **state)
{
  static const int codes[] = {2006, 2013, 2026, 2055};
  unsigned status = AUTOCOMMIT;
  struct bn_sql_diag d = {0};

  (void)state;
  for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
    assert_int_equal(bn_mysql_fail_with_status(&status, codes[i], "HY000", "f()", "gone", &d),
                     BN_SQL_LOST);
    assert_int_equal(bn_mysql_classify(&d), BN_CLASS_CONNECTION);
  }
}

static const char *remedy(int code, const char *text)
{
  struct bn_sql_diag d = {.code = code};
  const char *said;

  (void)snprintf(d.text, sizeof d.text, "%s", text);
  said = bn_mysql_remedy(&d);
  return said != NULL ? said : "none";
}

static void connections_that_fail_have_remedies(void **state)
{
  (void)state;
  assert_non_null(strstr(remedy(1040, "Too many connections"), "max_connections"));
  assert_non_null(strstr(remedy(1203, "User a already has more than"), "MAX_USER_CONNECTIONS"));
  assert_non_null(strstr(
      remedy(1226, "User 'a' has exceeded the 'max_user_connections' resource (current value: 4)"),
      "MAX_USER_CONNECTIONS"));
  assert_non_null(strstr(
      remedy(1226, "User 'a' has exceeded the 'max_queries_per_hour' resource (current value: 4)"),
      "use another account"));
  assert_non_null(
      strstr(remedy(2002, "Can't connect to server on '127.0.0.1' (99)"), "port_range"));
  assert_non_null(
      strstr(remedy(2003, "Can't connect to MySQL server on '127.0.0.1:1' (99)"), "port_range"));
  assert_string_equal(remedy(2002, "Can't connect to server on '127.0.0.1' (111)"), "none");
  assert_non_null(strstr(remedy(1045, "Access denied for user 'a'@'localhost'"), "without TLS"));
  assert_non_null(strstr(remedy(3159, "Connections using insecure transport"), "--mysql-ssl"));
  assert_non_null(strstr(remedy(2006, "Server has gone away"), "wait_timeout"));
  assert_string_equal(remedy(2013, "Lost connection to server during query"), "none");
  assert_string_equal(remedy(1064, "You have an error near '(99)'"), "none");
}

BN_TESTS(mysql_error)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_status_tells_the_transaction),
      cmocka_unit_test(after_a_deadlock_no_transaction_is_open),
      cmocka_unit_test(a_server_that_has_left_its_cluster_is_as_good_as_lost),
      cmocka_unit_test(proxies_and_tidb_have_numbers_of_their_own),
      cmocka_unit_test(some_statements_can_be_sent_as_text),
      cmocka_unit_test(a_connection_is_lost_with_its_encryption),
      cmocka_unit_test(connections_that_fail_have_remedies),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
