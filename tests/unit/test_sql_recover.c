/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is done about a failure, as a table: one row for each way a failure can go. */
#include "cm.h"
#include "sql/recover.h"

static const struct {
  struct bn_sql_failing failing;
  struct bn_sql_recovery expected;
} rows[] = {
    /* An execution. */
    {{.step = BN_STEP_QUERY, .listed = true},
     {.action = BN_SQL_IGNORE, .roll_back = true, .counts = true}},
    {{.step = BN_STEP_QUERY, .listed = true, .rolled_back = true},
     {.action = BN_SQL_IGNORE, .counts = true}},
    {{.step = BN_STEP_QUERY}, {.action = BN_SQL_FAIL, .counts = true}},
    {{.step = BN_STEP_QUERY, .fatal_uncounted = true}, {.action = BN_SQL_FAIL}},
    {{.step = BN_STEP_QUERY, .listed = true, .fatal_uncounted = true},
     {.action = BN_SQL_IGNORE, .roll_back = true, .counts = true}},
    /* The connection is lost. */
    {{.step = BN_STEP_QUERY, .class = BN_CLASS_CONNECTION, .listed = true, .lost = true},
     {.action = BN_SQL_RECONNECT, .counts = true}},
    {{.step = BN_STEP_QUERY, .lost = true}, {.action = BN_SQL_FAIL, .counts = true}},
    {{.step = BN_STEP_PREPARE, .class = BN_CLASS_CONNECTION, .listed = true, .lost = true},
     {.action = BN_SQL_RECONNECT}},
    /* Before the execution nothing counts. */
    {{.step = BN_STEP_PREPARE, .listed = true}, {.action = BN_SQL_IGNORE, .roll_back = true}},
    {{.step = BN_STEP_PREPARE}, {.action = BN_SQL_FAIL}},
    {{.step = BN_STEP_BIND, .asks = true}, {.action = BN_SQL_FAIL}},
    /* But in an event it does. */
    {{.step = BN_STEP_PREPARE, .listed = true, .preparations_count = true},
     {.action = BN_SQL_IGNORE, .roll_back = true, .counts = true}},
    {{.step = BN_STEP_BIND, .preparations_count = true}, {.action = BN_SQL_FAIL, .counts = true}},
    {{.step = BN_STEP_PREPARE, .interrupted = true, .preparations_count = true},
     {.action = BN_SQL_LEAVE}},
    /* No event is repeated because of a bulk insert. */
    {{.step = BN_STEP_QUERY, .listed = true, .unrepeatable = true, .asks = true},
     {.action = BN_SQL_FAIL, .counts = true}},
    {{.step = BN_STEP_QUERY, .listed = true, .unrepeatable = true, .lost = true},
     {.action = BN_SQL_FAIL, .counts = true}},
    /* The script is asked about what no list has. */
    {{.step = BN_STEP_QUERY, .asks = true}, {.action = BN_SQL_ASK}},
    {{.step = BN_STEP_QUERY, .listed = true, .rolled_back = true, .asks = true},
     {.action = BN_SQL_IGNORE, .counts = true}},
    {{.step = BN_STEP_QUERY, .asks = true, .answer = BN_ANSWER_IGNORE},
     {.action = BN_SQL_IGNORE, .roll_back = true, .counts = true}},
    {{.step = BN_STEP_QUERY, .asks = true, .answer = BN_ANSWER_IGNORE, .lost = true},
     {.action = BN_SQL_RECONNECT, .counts = true}},
    {{.step = BN_STEP_QUERY, .asks = true, .answer = BN_ANSWER_FAIL},
     {.action = BN_SQL_FAIL, .counts = true}},
    {{.step = BN_STEP_QUERY, .asks = true, .answer = BN_ANSWER_FAIL, .fatal_uncounted = true},
     {.action = BN_SQL_FAIL}},
    /* An interrupted session leaves without a word. */
    {{.step = BN_STEP_QUERY, .listed = true, .interrupted = true}, {.action = BN_SQL_LEAVE}},
    {{.step = BN_STEP_PREPARE, .interrupted = true, .lost = true}, {.action = BN_SQL_LEAVE}},
    {{.step = BN_STEP_QUERY, .interrupted = true, .answer = BN_ANSWER_FAIL},
     {.action = BN_SQL_FAIL, .counts = true}},
    /* A server that refuses to write, or cannot work, is left if there may be another. */
    {{.step = BN_STEP_QUERY, .listed = true, .class = BN_CLASS_READ_ONLY, .may_move = true},
     {.action = BN_SQL_RECONNECT, .counts = true}},
    {{.step = BN_STEP_QUERY, .listed = true, .class = BN_CLASS_READ_ONLY},
     {.action = BN_SQL_IGNORE, .roll_back = true, .counts = true}},
    {{.step = BN_STEP_QUERY, .listed = true, .class = BN_CLASS_CONNECTION, .may_move = true},
     {.action = BN_SQL_RECONNECT, .counts = true}},
    {{.step = BN_STEP_QUERY, .listed = true, .class = BN_CLASS_DEADLOCK, .may_move = true},
     {.action = BN_SQL_IGNORE, .roll_back = true, .counts = true}},
    {{.step = BN_STEP_QUERY, .class = BN_CLASS_READ_ONLY, .may_move = true},
     {.action = BN_SQL_FAIL, .counts = true}},
    /* Refused because of an ignored error before. */
    {{.step = BN_STEP_QUERY, .aborted = true, .asks = true},
     {.action = BN_SQL_IGNORE, .roll_back = true}},
    {{.step = BN_STEP_QUERY, .aborted = true, .unrepeatable = true},
     {.action = BN_SQL_FAIL, .counts = true}},
};

static void decides(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const struct bn_sql_recovery got = bn_sql_choose_recovery(&rows[i].failing);
    const struct bn_sql_recovery *e = &rows[i].expected;

    if (got.action != e->action || got.roll_back != e->roll_back || got.counts != e->counts)
      fail_msg("row %zu: action %d, roll back %d, counts %d", i, (int)got.action, got.roll_back,
               got.counts);
  }
}

/* All servers are tried before there is a wait. */
static void waits_between_attempts_to_connect(void **state)
{
  static const struct {
    unsigned tries, places, wait_ms;
  } waits[] = {{0, 1, 1}, {1, 1, 2}, {7, 1, 128}, {8, 1, 250}, {4000000000, 1, 250},
               {0, 3, 0}, {1, 3, 0}, {2, 3, 1},   {3, 3, 0},   {8, 3, 4}};

  (void)state;
  for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++)
    assert_int_equal(bn_sql_choose_connect_wait(waits[i].tries, waits[i].places), waits[i].wait_ms);
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
  const struct CMUnitTest tests[] = {cmocka_unit_test(decides),
                                     cmocka_unit_test(waits_between_attempts_to_connect),
                                     cmocka_unit_test(repeats)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
