/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors of PostgreSQL: what a user may do about them. */
#include <stdio.h>
#include <string.h>

#include "cm.h"
#include "drivers/pgsql/error.h"

#define FAILED "connection to server at \"127.0.0.1\", port 5432 failed: "

static const struct {
  const char *state, *text, *remedy;
} cases[] = {
    {"08006", FAILED "FATAL:  sorry, too many clients already\n\n", "raise max_connections"},
    {"08006",
     FAILED "FATAL:  remaining connection slots are reserved for roles with the SUPERUSER "
            "attribute\n\n",
     "raise max_connections"},
    {"08006", FAILED "FATAL:  too many connections for role \"a\"\n\n", "ALTER ROLE"},
    {"08006", FAILED "FATAL:  too many connections for database \"a\"\n\n", "ALTER DATABASE"},
    {"08006", FAILED "Cannot assign requested address\n", "net.ipv4.ip_local_port_range"},
    {"08006", FAILED "Connection refused\n", NULL},
    {"42601", "ERROR:  syntax error at or near \"too many clients already\"\n", NULL},
    {"26000", "ERROR:  prepared statement \"s\" does not exist\n", "PgBouncer"},
};

static void names_what_to_raise(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct bn_sql_diag d = {.code = 0};
    const char *remedy;

    (void)snprintf(d.state, sizeof d.state, "%s", cases[i].state);
    (void)snprintf(d.text, sizeof d.text, "%s", cases[i].text);
    remedy = bn_pgsql_remedy(&d);
    if (cases[i].remedy == NULL)
      assert_null(remedy);
    else
      assert_true(remedy != NULL && strstr(remedy, cases[i].remedy) != NULL);
  }
}

static void a_loss_has_the_state_of_what_the_server_said_last(void **state)
{
  static const char *const last[] = {"57P01", "57P02", "57P03", "57P05", "25P03", "08P01"};

  (void)state;
  for (size_t i = 0; i < sizeof last / sizeof *last; i++)
    assert_string_equal(bn_pgsql_state_of_loss(last[i]), last[i]);
  assert_string_equal(bn_pgsql_state_of_loss(""), "08006");
  assert_string_equal(bn_pgsql_state_of_loss("23505"), "08006");
  assert_string_equal(bn_pgsql_state_of_loss("00000"), "08006");
  assert_string_equal(bn_pgsql_state_of_loss("53300"), "08006");
}

BN_TESTS(pgsql_error)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_what_to_raise),
      cmocka_unit_test(a_loss_has_the_state_of_what_the_server_said_last),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
