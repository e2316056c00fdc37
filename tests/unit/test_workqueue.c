/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Work is taken in the order in which it was handed over, none is lost, and those who wait for it
   are woken when it comes and when there will be none. */
#include "cm.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "api/session.h"
#include "script/api/workqueue.h"

enum { GIVERS = 3, TAKERS = 4, PIECES = 3000 };

static struct bn_limit open_limit = {.until_ns = UINT64_MAX, .span_ns = UINT64_MAX};

/* Returns work that was handed over at 5 ns, with the numbers a and -a. */
static struct bn_work make_work(double a)
{
  return (struct bn_work){.at_ns = 5, .value = {a, -a}};
}

static void join_as(struct bn_workqueue *q, struct bn_workqueue_part *p,
                    enum bn_workqueue_role role)
{
  memset(p, 0, sizeof *p);
  assert_int_equal(bn_workqueue_join(q, p, role), 0);
}

static void keeps_the_order_and_a_bound(void **state)
{
  struct bn_session s = {.limit = &open_limit};
  struct bn_workqueue_part giver, taker;
  struct bn_workqueue q;
  struct bn_work work = make_work(0);

  (void)state;
  bn_workqueue_init(&q);
  join_as(&q, &giver, BN_WORKQUEUE_GIVES);
  assert_int_equal(bn_workqueue_give(&q, &work), BN_WORKQUEUE_NOBODY);
  join_as(&q, &taker, BN_WORKQUEUE_TAKES);
  for (unsigned round = 0; round < 3; round++) {
    for (unsigned i = 0; i < BN_WORKQUEUE_ROOM; i++) {
      work = make_work(i);
      assert_int_equal(bn_workqueue_give(&q, &work), BN_WORKQUEUE_DONE);
    }
    assert_int_equal(bn_workqueue_give(&q, &work), BN_WORKQUEUE_FULL);
    for (unsigned i = 0; i < BN_WORKQUEUE_ROOM - round; i++) {
      assert_true(bn_workqueue_take(&q, &taker, &s));
      assert_int_equal(taker.taken.value[0], i);
      assert_int_equal(taker.taken.value[1], -(int)i);
      assert_int_equal(taker.taken.at_ns, 5);
    }
    for (unsigned i = 0; i < round; i++)
      assert_true(bn_workqueue_take(&q, &taker, &s));
  }
  assert_int_equal(bn_workqueue_longest(&q), BN_WORKQUEUE_ROOM);
  bn_workqueue_leave(&q, &taker);
  assert_int_equal(bn_workqueue_give(&q, &work), BN_WORKQUEUE_NOBODY);
  bn_workqueue_leave(&q, &giver);
  bn_workqueue_leave(&q, &giver);
  bn_workqueue_done(&q);
}

static void carries_out_what_was_handed_over(void **state)
{
  struct bn_session s = {.limit = &open_limit};
  struct bn_workqueue_part giver, taker;
  struct bn_workqueue q;
  const struct bn_work work = make_work(1);

  (void)state;
  bn_workqueue_init(&q);
  join_as(&q, &giver, BN_WORKQUEUE_GIVES);
  join_as(&q, &taker, BN_WORKQUEUE_TAKES);
  assert_int_equal(bn_workqueue_give(&q, &work), BN_WORKQUEUE_DONE);
  assert_int_equal(bn_workqueue_give(&q, &work), BN_WORKQUEUE_DONE);
  bn_workqueue_leave(&q, &giver);
  assert_true(bn_workqueue_take(&q, &taker, &s));
  assert_true(bn_workqueue_take(&q, &taker, &s));
  assert_false(bn_workqueue_take(&q, &taker, &s));
  assert_int_equal(bn_workqueue_longest(&q), 2);
  bn_workqueue_leave(&q, &taker);
  bn_workqueue_done(&q);
}

static void a_run_that_is_asked_to_stop_leaves_the_rest(void **state)
{
  struct bn_limit limit = {.until_ns = 1};
  struct bn_session s = {.limit = &limit};
  struct bn_workqueue_part giver, taker;
  struct bn_workqueue q;
  const struct bn_work work = make_work(1);

  (void)state;
  bn_workqueue_init(&q);
  join_as(&q, &giver, BN_WORKQUEUE_GIVES);
  join_as(&q, &taker, BN_WORKQUEUE_TAKES);
  for (unsigned i = 0; i < 3; i++)
    assert_int_equal(bn_workqueue_give(&q, &work), BN_WORKQUEUE_DONE);
  assert_true(bn_workqueue_take(&q, &taker, &s));
  atomic_store(&limit.until_ns, 0);
  assert_false(bn_workqueue_take(&q, &taker, &s));
  assert_int_equal(bn_workqueue_count(&q), 2);
  bn_workqueue_leave(&q, &taker);
  bn_workqueue_leave(&q, &giver);
  bn_workqueue_done(&q);
}

static void an_interrupted_session_takes_nothing(void **state)
{
  struct bn_session s = {.limit = &open_limit};
  struct bn_workqueue_part giver, taker;
  struct bn_workqueue q;

  (void)state;
  bn_workqueue_init(&q);
  join_as(&q, &giver, BN_WORKQUEUE_GIVES);
  join_as(&q, &taker, BN_WORKQUEUE_TAKES);
  atomic_store(&s.interrupted, true);
  assert_false(bn_workqueue_take(&q, &taker, &s));
  bn_workqueue_leave(&q, &taker);
  bn_workqueue_leave(&q, &giver);
  bn_workqueue_done(&q);
}

struct thread {
  struct bn_workqueue *q;
  struct bn_workqueue_part part;
  pthread_t id;
  unsigned n;
  double sum;
};

/* A thread that gives PIECES pieces of work. */
static void *give_all(void *arg)
{
  struct thread *t = arg;

  while (t->n < PIECES) {
    const struct bn_work work = make_work(t->n + 1);

    t->n += bn_workqueue_give(t->q, &work) == BN_WORKQUEUE_DONE;
  }
  bn_workqueue_leave(t->q, &t->part);
  return NULL;
}

/* A thread that takes work until there is none, and sums it up. */
static void *take_all(void *arg)
{
  struct bn_session s = {.limit = &open_limit};
  struct thread *t = arg;

  while (bn_workqueue_take(t->q, &t->part, &s)) {
    t->n++;
    t->sum += t->part.taken.value[0];
  }
  bn_workqueue_leave(t->q, &t->part);
  return NULL;
}

static void threads_lose_nothing(void **state)
{
  struct thread thread[GIVERS + TAKERS] = {{.n = 0}};
  struct bn_workqueue q;
  unsigned n = 0;
  double sum = 0;

  (void)state;
  bn_workqueue_init(&q);
  for (unsigned i = 0; i < GIVERS + TAKERS; i++) {
    thread[i].q = &q;
    join_as(&q, &thread[i].part, i < GIVERS ? BN_WORKQUEUE_GIVES : BN_WORKQUEUE_TAKES);
  }
  for (unsigned i = GIVERS + TAKERS; i-- > 0;)
    assert_int_equal(
        pthread_create(&thread[i].id, NULL, i < GIVERS ? give_all : take_all, &thread[i]), 0);
  for (unsigned i = 0; i < GIVERS + TAKERS; i++) {
    (void)pthread_join(thread[i].id, NULL);
    n += i < GIVERS ? 0 : thread[i].n;
    sum += thread[i].sum;
  }
  assert_int_equal(n, GIVERS * PIECES);
  assert_true(sum == GIVERS * (PIECES * (PIECES + 1.0) / 2));
  bn_workqueue_done(&q);
}

BN_TESTS(workqueue)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keeps_the_order_and_a_bound),
      cmocka_unit_test(carries_out_what_was_handed_over),
      cmocka_unit_test(a_run_that_is_asked_to_stop_leaves_the_rest),
      cmocka_unit_test(an_interrupted_session_takes_nothing),
      cmocka_unit_test(threads_lose_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
