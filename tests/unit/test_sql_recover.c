/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is done about a failure, as a table: one row for each way a failure can go. */
#include "cm.h"
#include "sql/recover.h"

static struct bn_sql_error number_1213 = {.code = 1213};
static const struct bn_sql_errors user = {.classes = 1u << BN_CLASS_CONNECTION};
static const struct bn_sql_errors driver = {.error = &number_1213, .n = 1};
static const struct bn_sql_errors all = {.all = true};

static const struct bn_sql_diag listed = {.code = 1213, .state = "40001"};
static const struct bn_sql_diag ended = {.code = 1213, .state = "40001", .rolled_back = true};
static const struct bn_sql_diag other = {.code = 1146, .state = "42S02"};

#define LISTS                                                                                      \
  {                                                                                                \
    &user, &driver                                                                                 \
  }

static const struct {
  struct bn_sql_failing failing;
  struct bn_sql_recovery expected;
} rows[] = {
    /* An execution. */
    {{.step = BN_STEP_QUERY, .diag = &listed, .listed = LISTS},
     {.action = BN_SQL_IGNORE, .roll_back = true, .counts = true}},
    {{.step = BN_STEP_QUERY, .diag = &ended, .listed = LISTS},
     {.action = BN_SQL_IGNORE, .counts = true}},
    {{.step = BN_STEP_QUERY, .diag = &other, .listed = LISTS},
     {.action = BN_SQL_FAIL, .counts = true}},
    {{.step = BN_STEP_QUERY, .diag = &other, .listed = {&all}},
     {.action = BN_SQL_IGNORE, .roll_back = true, .counts = true}},
    {{.step = BN_STEP_QUERY, .diag = &listed}, {.action = BN_SQL_FAIL, .counts = true}},
    {{.step = BN_STEP_QUERY, .diag = &other, .listed = LISTS, .fatal_uncounted = true},
     {.action = BN_SQL_FAIL}},
    {{.step = BN_STEP_QUERY, .diag = &listed, .listed = LISTS, .fatal_uncounted = true},
     {.action = BN_SQL_IGNORE, .roll_back = true, .counts = true}},
    {{.step = BN_STEP_QUERY, .diag = &listed, .listed = LISTS, .over = true},
     {.action = BN_SQL_IGNORE, .roll_back = true, .counts = true}},
    /* The connection is lost. */
    {{.step = BN_STEP_QUERY,
      .diag = &other,
      .class = BN_CLASS_CONNECTION,
      .listed = LISTS,
      .lost = true},
     {.action = BN_SQL_RECONNECT, .counts = true}},
    {{.step = BN_STEP_QUERY,
      .diag = &other,
      .class = BN_CLASS_OTHER,
      .listed = LISTS,
      .lost = true},
     {.action = BN_SQL_FAIL, .counts = true}},
    {{.step = BN_STEP_PREPARE,
      .diag = &other,
      .class = BN_CLASS_CONNECTION,
      .listed = LISTS,
      .lost = true},
     {.action = BN_SQL_RECONNECT}},
    {{.step = BN_STEP_PREPARE,
      .diag = &other,
      .class = BN_CLASS_CONNECTION,
      .listed = LISTS,
      .lost = true,
      .reconnected = true},
     {.action = BN_SQL_RETRY}},
    {{.step = BN_STEP_PREPARE,
      .diag = &other,
      .class = BN_CLASS_CONNECTION,
      .listed = LISTS,
      .reconnected = true,
      .over = true},
     {.action = BN_SQL_IGNORE}},
    /* Before the execution nothing counts. */
    {{.step = BN_STEP_PREPARE, .diag = &listed, .listed = LISTS},
     {.action = BN_SQL_IGNORE, .roll_back = true}},
    {{.step = BN_STEP_PREPARE, .diag = &other, .listed = LISTS}, {.action = BN_SQL_FAIL}},
    {{.step = BN_STEP_BIND, .diag = &other, .listed = LISTS, .asks = true},
     {.action = BN_SQL_FAIL}},
    /* But in an event it does. */
    {{.step = BN_STEP_PREPARE, .diag = &listed, .listed = LISTS, .preparations_count = true},
     {.action = BN_SQL_IGNORE, .roll_back = true, .counts = true}},
    {{.step = BN_STEP_BIND, .diag = &other, .listed = LISTS, .preparations_count = true},
     {.action = BN_SQL_FAIL, .counts = true}},
    {{.step = BN_STEP_PREPARE, .diag = &listed, .interrupted = true, .preparations_count = true},
     {.action = BN_SQL_LEAVE}},
    /* No event is repeated because of a bulk insert. */
    {{.step = BN_STEP_QUERY, .diag = &listed, .listed = {&all}, .unrepeatable = true, .asks = true},
     {.action = BN_SQL_FAIL, .counts = true}},
    {{.step = BN_STEP_QUERY, .diag = &listed, .listed = {&all}, .unrepeatable = true, .lost = true},
     {.action = BN_SQL_FAIL, .counts = true}},
    /* The script is asked about what no list has. */
    {{.step = BN_STEP_QUERY, .diag = &other, .listed = LISTS, .asks = true},
     {.action = BN_SQL_ASK}},
    {{.step = BN_STEP_QUERY, .diag = &ended, .listed = LISTS, .asks = true},
     {.action = BN_SQL_IGNORE, .counts = true}},
    {{.step = BN_STEP_QUERY, .diag = &other, .asks = true, .answer = BN_ANSWER_IGNORE},
     {.action = BN_SQL_IGNORE, .roll_back = true, .counts = true}},
    {{.step = BN_STEP_QUERY,
      .diag = &other,
      .asks = true,
      .answer = BN_ANSWER_IGNORE,
      .lost = true},
     {.action = BN_SQL_RECONNECT, .counts = true}},
    {{.step = BN_STEP_QUERY, .diag = &other, .asks = true, .answer = BN_ANSWER_FAIL},
     {.action = BN_SQL_FAIL, .counts = true}},
    {{.step = BN_STEP_QUERY,
      .diag = &other,
      .asks = true,
      .answer = BN_ANSWER_FAIL,
      .fatal_uncounted = true},
     {.action = BN_SQL_FAIL}},
    /* An interrupted session leaves without a word. */
    {{.step = BN_STEP_QUERY, .diag = &listed, .listed = {&all}, .interrupted = true},
     {.action = BN_SQL_LEAVE}},
    {{.step = BN_STEP_PREPARE, .diag = &other, .interrupted = true, .lost = true},
     {.action = BN_SQL_LEAVE}},
    {{.step = BN_STEP_QUERY, .diag = &other, .interrupted = true, .answer = BN_ANSWER_FAIL},
     {.action = BN_SQL_FAIL, .counts = true}},
    /* Attempts to connect. */
    {{.step = BN_STEP_CONNECT, .diag = &other}, {.action = BN_SQL_RETRY, .wait_ms = 1}},
    {{.step = BN_STEP_CONNECT, .diag = &other, .tries = 1}, {.action = BN_SQL_RETRY, .wait_ms = 2}},
    {{.step = BN_STEP_CONNECT, .diag = &other, .tries = 7},
     {.action = BN_SQL_RETRY, .wait_ms = 128}},
    {{.step = BN_STEP_CONNECT, .diag = &other, .tries = 8},
     {.action = BN_SQL_RETRY, .wait_ms = 250}},
    {{.step = BN_STEP_CONNECT, .diag = &other, .tries = 4000000000},
     {.action = BN_SQL_RETRY, .wait_ms = 250}},
    {{.step = BN_STEP_CONNECT, .diag = &other, .tries = 3, .over = true}, {.action = BN_SQL_FAIL}},
    /* Of three servers: all of them before there is a wait. */
    {{.step = BN_STEP_CONNECT, .diag = &other, .places = 3}, {.action = BN_SQL_RETRY}},
    {{.step = BN_STEP_CONNECT, .diag = &other, .tries = 1, .places = 3}, {.action = BN_SQL_RETRY}},
    {{.step = BN_STEP_CONNECT, .diag = &other, .tries = 2, .places = 3},
     {.action = BN_SQL_RETRY, .wait_ms = 1}},
    {{.step = BN_STEP_CONNECT, .diag = &other, .tries = 3, .places = 3}, {.action = BN_SQL_RETRY}},
    {{.step = BN_STEP_CONNECT, .diag = &other, .tries = 8, .places = 3},
     {.action = BN_SQL_RETRY, .wait_ms = 4}},
    /* One that refuses to write is left if there is another. */
    {{.step = BN_STEP_QUERY,
      .diag = &other,
      .listed = {&all},
      .class = BN_CLASS_READ_ONLY,
      .places = 2},
     {.action = BN_SQL_RECONNECT, .counts = true}},
    {{.step = BN_STEP_QUERY,
      .diag = &other,
      .listed = {&all},
      .class = BN_CLASS_READ_ONLY,
      .places = 1},
     {.action = BN_SQL_IGNORE, .roll_back = true, .counts = true}},
    /* Or if its address may lead to another one. */
    {{.step = BN_STEP_QUERY,
      .diag = &other,
      .listed = {&all},
      .class = BN_CLASS_READ_ONLY,
      .places = 1,
      .may_move = true},
     {.action = BN_SQL_RECONNECT, .counts = true}},
    {{.step = BN_STEP_QUERY,
      .diag = &other,
      .listed = {&all},
      .class = BN_CLASS_CONNECTION,
      .places = 1,
      .may_move = true},
     {.action = BN_SQL_RECONNECT, .counts = true}},
    {{.step = BN_STEP_QUERY,
      .diag = &listed,
      .listed = {&all},
      .class = BN_CLASS_DEADLOCK,
      .places = 1,
      .may_move = true},
     {.action = BN_SQL_IGNORE, .roll_back = true, .counts = true}},
    {{.step = BN_STEP_QUERY,
      .diag = &other,
      .listed = LISTS,
      .class = BN_CLASS_READ_ONLY,
      .may_move = true},
     {.action = BN_SQL_FAIL, .counts = true}},
    /* Refused because of an ignored error before. */
    {{.step = BN_STEP_QUERY, .diag = &other, .aborted = true, .asks = true},
     {.action = BN_SQL_IGNORE, .roll_back = true}},
    {{.step = BN_STEP_QUERY, .diag = &other, .aborted = true, .unrepeatable = true},
     {.action = BN_SQL_FAIL, .counts = true}},
};

static void decides(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const struct bn_sql_recovery got = bn_sql_choose_recovery(&rows[i].failing);
    const struct bn_sql_recovery *e = &rows[i].expected;

    if (got.action != e->action || got.roll_back != e->roll_back || got.counts != e->counts ||
        got.wait_ms != e->wait_ms)
      fail_msg("row %zu: action %d, roll back %d, counts %d, wait %u ms", i, (int)got.action,
               got.roll_back, got.counts, got.wait_ms);
  }
}

/* The second half of a wait is left to chance. */
static const struct {
  uint64_t tries, max_tries;
  bool fails;
  uint64_t longest_ms;
} repetitions[] = {
    {1, 0, false, 0},
    {2, 0, false, 0},
    {1000000, 0, false, 0},
    {1, 1, true, 0},
    {1, 2, false, 0},
    {2, 2, true, 0},
    {2, 3, false, 1},
    {3, 3, true, 0},
    {3, 100, false, 2},
    {4, 100, false, 4},
    {9, 100, false, 128},
    {10, 100, false, 250},
    {99, 100, false, 250},
    {100, 100, true, 0},
    {101, 100, true, 0},
    {UINT32_MAX, 0, false, 0},
    {UINT32_MAX - 1, UINT32_MAX, false, 250},
};

static void repeats(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof repetitions / sizeof *repetitions; i++) {
    const uint64_t longest_ns = repetitions[i].longest_ms * 1000000;
    const uint64_t tries = repetitions[i].tries, max_tries = repetitions[i].max_tries;
    const struct bn_sql_repetition first = bn_sql_choose_repetition(tries, max_tries, 0);

    assert_int_equal(first.fails, repetitions[i].fails);
    assert_int_equal(first.wait_ns, longest_ns / 2);
    for (uint64_t noise = 1; longest_ns > 0 && noise != 0; noise *= 2)
      assert_in_range(bn_sql_choose_repetition(tries, max_tries, noise).wait_ns, longest_ns / 2,
                      longest_ns - 1);
    if (longest_ns > 0)
      assert_int_equal(bn_sql_choose_repetition(tries, max_tries, longest_ns / 2 - 1).wait_ns,
                       longest_ns - 1);
  }
}

BN_TESTS(sql_recover)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(decides), cmocka_unit_test(repeats)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
