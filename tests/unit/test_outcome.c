/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Exit statuses: of several reasons the first in the order signal, timeout, script's own, failure,
   arrivals not served, assertion violated counts; and nothing that was set is taken back. */
#include "cm.h"

#include <signal.h>

#include "engine/outcome.h"

struct row {
  unsigned flags;
  int signo, script_status;
  int status, status_05; /* where overload is no failure */
};

enum { ALL = 131071 };

static const struct row rows[] = {
    {0, 0, -1, 0, 0},
    {BN_OUTCOME_OPENED, 0, -1, 0, 0},
    {BN_OUTCOME_ABANDONED, 0, -1, 0, 0},
    {BN_OUTCOME_WATCHER_HANGS | BN_OUTCOME_INTERRUPT_HANGS, 0, -1, 0, 0},
    {BN_OUTCOME_FAILED, 0, -1, 1, 1},
    {BN_OUTCOME_REPORT_FAILED, 0, -1, 1, 1},
    {BN_OUTCOME_THREAD_FAILED, 0, -1, 1, 1},
    {BN_OUTCOME_THREAD_FAILED | BN_OUTCOME_VIOLATED, 0, -1, 1, 1},
    {BN_OUTCOME_OVERLOADED, 0, -1, 1, 0},
    {BN_OUTCOME_UNSERVED, 0, -1, 4, 4},
    {BN_OUTCOME_UNSERVED | BN_OUTCOME_OVERLOADED, 0, -1, 1, 4},
    {BN_OUTCOME_UNSERVED, 0, 5, 5, 5},
    {BN_OUTCOME_UNSERVED | BN_OUTCOME_TIMEOUT, 0, -1, 2, 2},
    {BN_OUTCOME_VIOLATED, 0, -1, 3, 3},
    {BN_OUTCOME_VIOLATED | BN_OUTCOME_UNSERVED, 0, -1, 4, 4},
    {BN_OUTCOME_VIOLATED | BN_OUTCOME_OVERLOADED, 0, -1, 1, 3},
    {BN_OUTCOME_VIOLATED | BN_OUTCOME_FAILED, 0, -1, 1, 1},
    {BN_OUTCOME_VIOLATED | BN_OUTCOME_REPORT_FAILED, 0, -1, 1, 1},
    {BN_OUTCOME_VIOLATED | BN_OUTCOME_TIMEOUT, 0, -1, 2, 2},
    {BN_OUTCOME_VIOLATED, 0, 5, 5, 5},
    {BN_OUTCOME_VIOLATED, 0, 0, 3, 3},
    {BN_OUTCOME_VIOLATED, SIGINT, -1, 130, 130},
    {0, 0, 0, 0, 0},
    {0, 0, 3, 3, 3},
    {BN_OUTCOME_FAILED, 0, 0, 1, 1},
    {BN_OUTCOME_FAILED | BN_OUTCOME_OVERLOADED, 0, 7, 7, 7},
    {BN_OUTCOME_TIMEOUT, 0, -1, 2, 2},
    {BN_OUTCOME_TIMEOUT | BN_OUTCOME_FAILED, 0, 3, 2, 2},
    {0, SIGINT, -1, 130, 130},
    {ALL, SIGTERM, 9, 143, 143},
    {ALL, SIGHUP, -1, 129, 129},
};

static void set_all(struct bn_outcome *o, const struct row *r)
{
  bn_outcome_init(o);
  for (unsigned bit = 1; bit <= ALL; bit <<= 1)
    if ((r->flags & bit) != 0)
      bn_outcome_set(o, (enum bn_outcome_flag)bit);
  if (r->signo != 0)
    bn_outcome_record_signal(o, r->signo);
  if (r->script_status >= 0)
    bn_outcome_record_exit(o, r->script_status);
}

static void the_first_reason_counts(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct bn_outcome o;

    set_all(&o, &rows[i]);
    assert_int_equal(bn_outcome_status(&o), rows[i].status);
    o.overload_passes = true;
    assert_int_equal(bn_outcome_status(&o), rows[i].status_05);
  }
}

/* The reason in a document, in the same order. */
static void the_reason_is_the_first_that_applies(void **state)
{
  static const struct {
    unsigned flags;
    int signo, script_status;
    enum bn_end_reason reason, reason_05;
  } reasons[] = {
      {0, 0, -1, BN_END_FAILURE, BN_END_FAILURE},
      {BN_OUTCOME_OPENED, 0, -1, BN_END_DONE, BN_END_DONE},
      {BN_OUTCOME_OPENED | BN_OUTCOME_SPENT, 0, -1, BN_END_EVENTS, BN_END_EVENTS},
      {BN_OUTCOME_OPENED | BN_OUTCOME_SPENT | BN_OUTCOME_VIOLATED, 0, -1, BN_END_EVENTS,
       BN_END_EVENTS},
      {BN_OUTCOME_OPENED | BN_OUTCOME_SPENT | BN_OUTCOME_JUDGED, 0, -1, BN_END_ASSERTION,
       BN_END_ASSERTION},
      {BN_OUTCOME_OPENED | BN_OUTCOME_SPENT | BN_OUTCOME_TIME_UP, 0, -1, BN_END_TIME, BN_END_TIME},
      {BN_OUTCOME_OPENED | BN_OUTCOME_OVERLOADED, 0, -1, BN_END_OVERLOAD, BN_END_DONE},
      {BN_OUTCOME_OPENED | BN_OUTCOME_UNSERVED | BN_OUTCOME_TIME_UP, 0, -1, BN_END_TIME,
       BN_END_TIME},
      {BN_OUTCOME_OPENED | BN_OUTCOME_FAILED | BN_OUTCOME_TIME_UP, 0, -1, BN_END_FAILURE,
       BN_END_FAILURE},
      {BN_OUTCOME_OPENED | BN_OUTCOME_THREAD_FAILED | BN_OUTCOME_SPENT, 0, -1, BN_END_EVENTS,
       BN_END_EVENTS},
      {BN_OUTCOME_OPENED | BN_OUTCOME_FAILED, 0, 0, BN_END_SCRIPT, BN_END_SCRIPT},
      {ALL & ~1u, 0, 3, BN_END_TIMEOUT, BN_END_TIMEOUT},
      {ALL, SIGINT, 3, BN_END_SIGNAL, BN_END_SIGNAL},
  };

  (void)state;
  for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
    const struct row r = {reasons[i].flags, reasons[i].signo, reasons[i].script_status, 0, 0};
    struct bn_outcome o;

    set_all(&o, &r);
    assert_int_equal(bn_outcome_reason(&o), reasons[i].reason);
    o.overload_passes = true;
    assert_int_equal(bn_outcome_reason(&o), reasons[i].reason_05);
  }
}

static void nothing_is_taken_back(void **state)
{
  struct bn_outcome o;

  (void)state;
  bn_outcome_init(&o);
  bn_outcome_record_exit(&o, 256 + 5);
  bn_outcome_record_exit(&o, 6);
  assert_int_equal(bn_outcome_status(&o), 5);
  bn_outcome_record_signal(&o, SIGINT);
  bn_outcome_record_signal(&o, SIGTERM);
  assert_int_equal(bn_outcome_status(&o), 130);
  assert_int_equal(bn_outcome_arrivals_end_ns(&o, 1000), 1000);
  bn_outcome_record_cut(&o, 700);
  bn_outcome_record_cut(&o, 600);
  assert_int_equal(bn_outcome_arrivals_end_ns(&o, 1000), 700);
  assert_int_equal(bn_outcome_arrivals_end_ns(&o, 500), 500);
  bn_outcome_record_end(&o, 20);
  bn_outcome_record_end(&o, 10);
  assert_int_equal(atomic_load(&o.end_ns), 20);
  bn_outcome_record_looped(&o, 30, 40);
  bn_outcome_record_looped(&o, 35, 38);
  assert_int_equal(atomic_load(&o.last_ns), 35);
  assert_int_equal(atomic_load(&o.looped_ns), 40);
}

static void stages_advance(void **state)
{
  struct bn_outcome o;

  (void)state;
  bn_outcome_init(&o);
  assert_int_equal(bn_outcome_stage(&o), BN_STAGE_PREPARE);
  bn_outcome_advance(&o, BN_STAGE_MEASURE);
  bn_outcome_advance(&o, BN_STAGE_FINISH);
  bn_outcome_advance(&o, BN_STAGE_REPORT);
  assert_int_equal(bn_outcome_stage(&o), BN_STAGE_FINISH);
}

static bool left_behind(unsigned flags)
{
  const struct row r = {flags, 0, -1, 0, 0};
  struct bn_outcome o;

  set_all(&o, &r);
  return bn_outcome_has_stuck_threads(&o);
}

static void who_comes_back_is_not_left_behind(void **state)
{
  (void)state;
  assert_false(left_behind(BN_OUTCOME_OPENED | BN_OUTCOME_FAILED | BN_OUTCOME_TIMEOUT));
  assert_true(left_behind(BN_OUTCOME_ABANDONED));
  assert_false(left_behind(BN_OUTCOME_ABANDONED | BN_OUTCOME_RETURNED));
  assert_true(left_behind(BN_OUTCOME_ABANDONED | BN_OUTCOME_RETURNED | BN_OUTCOME_WATCHER_HANGS));
  assert_true(left_behind(BN_OUTCOME_INTERRUPT_HANGS));
}

BN_TESTS(outcome)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_first_reason_counts),
      cmocka_unit_test(the_reason_is_the_first_that_applies),
      cmocka_unit_test(nothing_is_taken_back),
      cmocka_unit_test(stages_advance),
      cmocka_unit_test(who_comes_back_is_not_left_behind),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
