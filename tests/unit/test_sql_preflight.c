/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a server allows what a run needs, by numbers. */
#include "cm.h"
#include "sql/preflight.h"

static const struct {
  struct bn_sql_demand demand;
  enum bn_sql_judgement expected;
} rows[] = {
    {{.needed = 1000, .allowed = -1, .others = 5, .certain = true}, BN_ENOUGH}, /* no limit */
    {{.needed = 100, .allowed = 100, .others = 0, .certain = true}, BN_ENOUGH},
    {{.needed = 100, .allowed = 100, .others = -2, .certain = true}, BN_ENOUGH}, /* not known */
    {{.needed = 100, .allowed = 100, .others = 1, .certain = true}, BN_TIGHT},
    {{.needed = 90, .allowed = 100, .others = 10, .certain = true}, BN_ENOUGH},
    {{.needed = 90, .allowed = 100, .others = 11}, BN_TIGHT},
    {{.needed = 101, .allowed = 100}, BN_TOO_FEW},
    {{.needed = 101, .allowed = 100, .others = 50, .certain = true}, BN_REFUSED},
    {{.needed = 1, .allowed = 100, .others = INT64_MAX}, BN_TIGHT},
    {{.needed = 1, .allowed = 0, .certain = true}, BN_REFUSED},
};

static void judges(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    assert_int_equal(bn_sql_preflight_judge(&rows[i].demand), rows[i].expected);
}

static void lets_the_first_in_alone(void **state)
{
  struct bn_sql_preflight p = {.all_connect = false};

  (void)state;
  bn_sql_preflight_init(&p);
  assert_true(bn_sql_preflight_enter(&p));
  assert_int_not_equal(pthread_mutex_trylock(&p.lock), 0);
  bn_sql_preflight_unlock(&p);
  assert_false(bn_sql_preflight_enter(&p));
  assert_int_equal(pthread_mutex_trylock(&p.lock), 0);
  bn_sql_preflight_unlock(&p);
  bn_sql_preflight_done(&p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(judges),
      cmocka_unit_test(lets_the_first_in_alone),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
