/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The identity of sql/count.h, over random outcomes of statements. */
#include <string.h>

#include "base/rng.h"
#include "cm.h"
#include "sqlfake.h"

/* The messages of so many steps are captured together. */
enum { STEPS = 20000, AT_A_TIME = 100, LISTED = 1213, UNLISTED = 1146 };

/* What the test saw, as the comment names it. */
struct tally {
  uint64_t begun, committed, failed, given_up, in_flight;
  uint64_t losses;         /* to be ignored, and a new connection was made */
  uint64_t other_connects; /* new connections for another reason */
};

struct trial {
  struct fixture f;
  struct bn_rng rng;
  struct bn_sql_conn *c;
  struct bn_sql_stmt *st;
  struct tally seen;
  bool lost; /* the last statement's connection */
};

static unsigned draw(struct trial *t, unsigned n)
{
  return (unsigned)bn_rng_below(&t->rng, n);
}

static void plan_outcome(struct trial *t)
{
  static const enum bn_sql outcomes[] = {BN_SQL_DONE, BN_SQL_ROWS, BN_SQL_ROWS, BN_SQL_ERROR,
                                         BN_SQL_LOST};
  struct fake_answer a = {.rc = outcomes[draw(t, 5)],
                          .nrows = draw(t, 3),
                          .affected = draw(t, 2),
                          .code = draw(t, 2) ? LISTED : UNLISTED,
                          .rolled_back = draw(t, 2)};

  fake.n_answers = fake.next_answer = 0;
  fake.log[0] = '\0';
  plan(a);
  t->lost = a.rc == BN_SQL_LOST;
  /* The ROLLBACK, if one is sent, finds the connection lost now and then. */
  if (a.rc == BN_SQL_ERROR && !a.rolled_back && draw(t, 4) == 0)
    plan((struct fake_answer){.rc = BN_SQL_LOST, .code = UNLISTED});
  fake.refuse_connect = draw(t, 200) == 0;
}

/* What became of the last statement. */
static void look(struct trial *t)
{
  switch (bn_sql_conn_view(t->c)->error) {
  case BN_VERDICT_NONE:
    t->seen.committed++;
    break;
  case BN_VERDICT_IGNORABLE:
    t->seen.failed++;
    t->seen.losses += t->lost;
    /* The plan's second answer was taken. */
    t->seen.other_connects += fake.n_answers == 2 && fake.next_answer == 2;
    break;
  default:
    t->seen.given_up++;
  }
}

static void check(const struct trial *t)
{
  const struct fixture *f = &t->f;
  const struct tally *s = &t->seen;

  assert_int_equal(s->begun, s->committed + s->failed + s->given_up + s->in_flight);
  assert_int_equal(s->committed,
                   counted(f, BN_C_READ) + counted(f, BN_C_WRITE) + counted(f, BN_C_OTHER));
  assert_int_equal(s->failed + s->given_up, counted(f, BN_C_ERROR) + s->losses);
  assert_int_equal(counted(f, BN_C_RECONNECT), s->losses + s->other_connects);
}

static void step(struct trial *t, bool asks)
{
  plan_outcome(t);
  /* A connection that has been of use is made again at once. */
  bn_stat_count(t->f.s->stat, BN_C_EVENTS, 1);
  t->seen.begun++;
  if (draw(t, 2))
    (void)bn_sql_query(t->c, "SELECT 1", 8);
  else
    (void)bn_sql_execute(t->st);
  if (asks && bn_sql_conn_view(t->c)->error == BN_VERDICT_FATAL) {
    t->seen.in_flight = 1;
    check(t);
    t->seen.in_flight = 0;
    bn_sql_settle_failure(t->c, draw(t, 2));
  }
  look(t);
  check(t);
  /* A script that goes on after a fatal loss connects again. */
  if (t->lost && bn_sql_conn_view(t->c)->error == BN_VERDICT_FATAL) {
    assert_int_equal(bn_sql_reconnect(t->c), 0);
    t->seen.other_connects++;
  }
}

static void run_trial(bool asks)
{
  char ignored[] = "1213";
  struct trial t;

  memset(&t, 0, sizeof t);
  bn_rng_seed(&t.rng, asks ? 2 : 1, BN_RNG_WORKLOAD, 0);
  t.f.ignored = ignored;
  fixture_open_with(&t.f, BN_V11);
  t.c = bn_sql_connect(t.f.drv, t.f.s, NULL, NULL, 0);
  t.st = bn_sql_prepare(t.c, "UPDATE t", 8);
  if (asks)
    bn_sql_defer_failure(t.c);
  for (unsigned i = 0; i < STEPS / AT_A_TIME; i++) {
    capture_begin();
    for (unsigned k = 0; k < AT_A_TIME; k++)
      step(&t, asks);
    (void)capture_end();
  }
  /* Each outcome has happened. */
  assert_true(t.seen.committed > STEPS / 2 && t.seen.failed > STEPS / 10 &&
              t.seen.given_up > STEPS / 20 && t.seen.losses > STEPS / 20);
  bn_sql_stmt_free(t.st);
  fixture_close(&t.f);
}

static void adds_up_over_random_outcomes(void **state)
{
  (void)state;
  run_trial(false);
}

static void adds_up_when_the_script_is_asked(void **state)
{
  (void)state;
  run_trial(true);
}

BN_TESTS(sql_count)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(adds_up_over_random_outcomes),
      cmocka_unit_test(adds_up_when_the_script_is_asked),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
