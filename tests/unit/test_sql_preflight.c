/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a server allows what a run needs, by numbers. */
#include "base/log.h"
#include "cm.h"
#include "option/conf.h"
#include "sql/preflight.h"

#define SECOND_NS     UINT64_C(1000000000)
#define HALF_A_MINUTE (30 * SECOND_NS)

static const struct {
  struct bn_sql_cost cost;
  enum bn_sql_excess expected;
} costs[] = {
    {{.all = 50000, .on_server = 50000, .unused = -1}, BN_EXCESS_NONE},
    {{.all = 50001, .on_server = 50001, .unused = -1}, BN_EXCESS_NUMBER},
    {{.all = 50001, .on_server = 25001, .unused = 10}, BN_EXCESS_NUMBER},
    {{.all = 100, .on_server = 100, .unused = 200}, BN_EXCESS_NONE},
    {{.all = 100, .on_server = 100, .unused = 199}, BN_EXCESS_SHARE},
    {{.all = 100, .on_server = 50, .unused = 100}, BN_EXCESS_NONE}, /* on two servers */
    {{.all = 100, .on_server = 100, .unused = 0}, BN_EXCESS_SHARE},
    {{.all = 0, .on_server = 0, .unused = 0}, BN_EXCESS_NONE},
    {{.all = 9, .on_server = 9, .unused = -1, .rest_ns = HALF_A_MINUTE}, BN_EXCESS_NONE},
    {{.all = 9, .on_server = 9, .unused = -1, .rest_ns = HALF_A_MINUTE + 1}, BN_EXCESS_TIME},
};

static void weighs_what_all_would_cost(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof costs / sizeof costs[0]; i++) {
    struct bn_sql_cost cost = costs[i].cost;

    cost.most_ns = HALF_A_MINUTE;
    assert_int_equal(bn_sql_preflight_find_excess(&cost), costs[i].expected);
  }
}

/* A session of a run with 32 threads that has prepared 11 of 902 statements. */
static enum bn_sql_rest judged(enum bn_sql_prepare_way way, int64_t allowed, uint64_t spent_ns)
{
  struct bn_conf conf = {.plan = {.threads = 32}};
  const struct bn_services services = {.conf = &conf};
  const struct bn_session s = {.services = &services};
  const struct bn_sql_expected e = {11, 902, way, spent_ns};
  struct bn_sql_preflight p = {
      .asked = true, .info = {.max_prepared_statements = allowed}, .places = 1};
  enum bn_sql_rest rest;

  bn_sql_preflight_init(&p);
  rest = bn_sql_preflight_judge_statements(&p, &s, &e);
  assert_int_equal(bn_sql_preflight_judge_statements(&p, &s, NULL), rest); /* once */
  assert_int_equal(bn_sql_preflight_is_lazy(&p), rest == BN_SQL_REST_LATER);
  bn_sql_preflight_done(&p);
  return rest;
}

static void decides_when_statements_are_prepared(void **state)
{
  (void)state;
  bn_log_set_asides(false);
  assert_int_equal(judged(BN_SQL_PREPARE_AUTO, -1, 0), BN_SQL_REST_NOW);
  assert_int_equal(judged(BN_SQL_PREPARE_AUTO, 1000000, 0), BN_SQL_REST_NOW);
  assert_int_equal(judged(BN_SQL_PREPARE_AUTO, 2 * 32 * 902, 0), BN_SQL_REST_NOW);
  assert_int_equal(judged(BN_SQL_PREPARE_AUTO, 2 * 32 * 902 - 1, 0), BN_SQL_REST_LATER);
  assert_int_equal(judged(BN_SQL_PREPARE_AUTO, 16382, 0), BN_SQL_REST_LATER);
  assert_int_equal(judged(BN_SQL_PREPARE_AUTO, -1, 11 * SECOND_NS / 30), BN_SQL_REST_NOW);
  assert_int_equal(judged(BN_SQL_PREPARE_AUTO, -1, 11 * SECOND_NS / 29), BN_SQL_REST_LATER);
  assert_int_equal(judged(BN_SQL_PREPARE_LAZY, -1, 0), BN_SQL_REST_LATER);
  assert_int_equal(judged(BN_SQL_PREPARE_LAZY, 1, 0), BN_SQL_REST_LATER);
  assert_int_equal(judged(BN_SQL_PREPARE_EAGER, -1, 60 * SECOND_NS), BN_SQL_REST_NOW);
  assert_int_equal(judged(BN_SQL_PREPARE_EAGER, 32 * 902, 0), BN_SQL_REST_NOW);
  assert_int_equal(judged(BN_SQL_PREPARE_EAGER, 32 * 902 - 1, 0), BN_SQL_REST_REFUSED);
  bn_log_set_asides(true);
}

static bool asks(enum bn_sql_prepare_way way, unsigned threads, uint64_t in_all)
{
  struct bn_conf conf = {.plan = {.threads = threads}};
  const struct bn_services services = {.conf = &conf};
  const struct bn_session s = {.services = &services};
  const struct bn_sql_expected e = {11, in_all, way, 0};
  const struct bn_sql_preflight p = {.asked = false};

  return bn_sql_preflight_wants_limits(&p, &s, &e);
}

static void asks_before_it_prepares_more(void **state)
{
  (void)state;
  assert_false(asks(BN_SQL_PREPARE_AUTO, 4, 250));
  assert_true(asks(BN_SQL_PREPARE_AUTO, 4, 251));
  assert_false(asks(BN_SQL_PREPARE_AUTO, 1000, 11));
  assert_true(asks(BN_SQL_PREPARE_EAGER, 1, 11));
  assert_false(asks(BN_SQL_PREPARE_LAZY, 4, 902));
  assert_true(asks(BN_SQL_PREPARE_LAZY, 32, 902));
}

static int64_t others(int64_t in_use, int64_t ours, size_t places)
{
  const struct bn_sql_info info = {.prepared_statements = in_use};
  struct bn_sql_preflight p = {.asked = false};

  bn_sql_preflight_note_limits(&p, &info, places, ours);
  assert_true(p.asked);
  return p.info.prepared_statements;
}

static void takes_its_own_statements_for_nobody_elses(void **state)
{
  (void)state;
  assert_int_equal(others(50, 11, 1), 39);
  assert_int_equal(others(50, 20, 2), 40);
  assert_int_equal(others(50, 60, 1), 0);
  assert_int_equal(others(-1, 11, 1), -1); /* not known */
}

static void escapes_names_of_accounts(void **state)
{
  struct bn_sql_info info = {.connections = -1};
  struct bn_sql_preflight p = {.asked = false};

  (void)state;
  (void)snprintf(info.quota[0].by, sizeof info.quota[0].by, "ROLE \"a\x1b[2J\n\"");
  (void)snprintf(info.quota[1].raise, sizeof info.quota[1].raise, "ALTER ROLE \"b\x9b\" LIMIT %%n");
  bn_sql_preflight_note_limits(&p, &info, 1, 0);
  assert_string_equal(p.info.quota[0].by, "ROLE \"a\\x1b[2J\\x0a\"");
  assert_string_equal(p.info.quota[1].raise, "ALTER ROLE \"b\\x9b\" LIMIT %n");
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

BN_TESTS(sql_preflight)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weighs_what_all_would_cost),
      cmocka_unit_test(decides_when_statements_are_prepared),
      cmocka_unit_test(asks_before_it_prepares_more),
      cmocka_unit_test(takes_its_own_statements_for_nobody_elses),
      cmocka_unit_test(escapes_names_of_accounts),
      cmocka_unit_test(lets_the_first_in_alone),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
