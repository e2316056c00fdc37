/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The queue of the SQLite driver: in order, one at a time, nobody left waiting. */
#include <string.h>
#include <time.h>

#include "cm.h"
#include "drivers/sqlite/queue.h"

enum { THREADS = 64, ROUNDS = 200 };

struct shared {
  struct bn_sqlite_queue q;
  unsigned inside; /* both are guarded by the queue itself */
  unsigned served;
};

static void *write_often(void *arg)
{
  struct shared *sh = arg;
  struct bn_sqlite_turn t;

  bn_sqlite_turn_init(&t);
  for (int i = 0; i < ROUNDS; i++) {
    assert_int_equal(bn_sqlite_queue_enter(&sh->q, &t, BN_SQLITE_EXCLUSIVE), BN_SQLITE_GRANTED);
    if (sh->inside++ != 0)
      abort();
    sh->served++;
    sh->inside--;
    bn_sqlite_queue_leave(&sh->q, &t, BN_SQLITE_EXCLUSIVE);
  }
  bn_sqlite_turn_destroy(&t);
  return NULL;
}

static void lets_64_threads_in_one_at_a_time(void **state)
{
  struct shared sh;
  pthread_t thread[THREADS];

  (void)state;
  memset(&sh, 0, sizeof sh);
  bn_sqlite_queue_init(&sh.q);
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&thread[i], NULL, write_often, &sh), 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(thread[i], NULL);
  assert_int_equal(sh.served, THREADS * ROUNDS);
  assert_int_equal(sh.inside, 0);
  assert_false(sh.q.busy);
  assert_null(sh.q.first);
  bn_sqlite_queue_destroy(&sh.q);
}

struct waiter {
  struct bn_sqlite_queue *q;
  struct bn_sqlite_turn turn;
  enum bn_sqlite_hold wants;
  enum bn_sqlite_wait got;
  unsigned *order;
  unsigned place;
};

static void *wait_once(void *arg)
{
  struct waiter *w = arg;

  w->got = bn_sqlite_queue_enter(w->q, &w->turn, w->wants);
  if (w->got == BN_SQLITE_GRANTED) {
    w->place = (*w->order)++;
    bn_sqlite_queue_leave(w->q, &w->turn, w->wants);
  }
  return NULL;
}

/* Until so many wait. */
static void await_waiters(struct bn_sqlite_queue *q, unsigned n)
{
  for (;;) {
    unsigned waiting = 0;

    pthread_mutex_lock(&q->lock);
    for (const struct bn_sqlite_turn *t = q->first; t != NULL; t = t->next)
      waiting++;
    pthread_mutex_unlock(&q->lock);
    if (waiting == n)
      return;
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
}

/* Ten writers that came one after the other, the fourth of which is interrupted. */
static void keeps_the_order_of_arrival(void **state)
{
  struct bn_sqlite_queue q;
  struct bn_sqlite_turn mine;
  struct waiter w[10];
  pthread_t thread[10];
  unsigned order = 0;

  (void)state;
  bn_sqlite_queue_init(&q);
  bn_sqlite_turn_init(&mine);
  assert_int_equal(bn_sqlite_queue_enter(&q, &mine, BN_SQLITE_EXCLUSIVE), BN_SQLITE_GRANTED);
  for (unsigned i = 0; i < 10; i++) {
    w[i] = (struct waiter){.q = &q, .wants = BN_SQLITE_EXCLUSIVE, .order = &order};
    bn_sqlite_turn_init(&w[i].turn);
    assert_int_equal(pthread_create(&thread[i], NULL, wait_once, &w[i]), 0);
    await_waiters(&q, i + 1);
  }
  bn_sqlite_queue_interrupt(&q, &w[3].turn);
  pthread_join(thread[3], NULL);
  assert_int_equal(w[3].got, BN_SQLITE_INTERRUPTED);
  await_waiters(&q, 9);
  bn_sqlite_queue_leave(&q, &mine, BN_SQLITE_EXCLUSIVE);
  for (unsigned i = 0; i < 10; i++) {
    if (i == 3)
      continue;
    pthread_join(thread[i], NULL);
    assert_int_equal(w[i].place, i < 3 ? i : i - 1);
    bn_sqlite_turn_destroy(&w[i].turn);
  }
  bn_sqlite_turn_destroy(&w[3].turn);
  bn_sqlite_turn_destroy(&mine);
  bn_sqlite_queue_destroy(&q);
}

static void refuses_to_wait_for_itself(void **state)
{
  struct bn_sqlite_queue q;
  struct bn_sqlite_turn one, two;

  (void)state;
  bn_sqlite_queue_init(&q);
  bn_sqlite_turn_init(&one);
  bn_sqlite_turn_init(&two);
  assert_int_equal(bn_sqlite_queue_enter(&q, &one, BN_SQLITE_EXCLUSIVE), BN_SQLITE_GRANTED);
  assert_int_equal(bn_sqlite_queue_enter(&q, &two, BN_SQLITE_EXCLUSIVE), BN_SQLITE_OWN);
  bn_sqlite_queue_leave(&q, &one, BN_SQLITE_EXCLUSIVE);
  assert_int_equal(bn_sqlite_queue_enter(&q, &two, BN_SQLITE_EXCLUSIVE), BN_SQLITE_GRANTED);
  bn_sqlite_queue_leave(&q, &two, BN_SQLITE_EXCLUSIVE);
  bn_sqlite_turn_destroy(&one);
  bn_sqlite_turn_destroy(&two);
  bn_sqlite_queue_destroy(&q);
}

/* With the other journals: what would wait for the thread's own share is refused at once, and a
   second share does not stand behind a writer that waits for the first. */
static void does_not_wait_for_its_own_share(void **state)
{
  struct bn_sqlite_queue q;
  struct bn_sqlite_turn one, two;
  struct waiter writer = {.q = &q, .wants = BN_SQLITE_EXCLUSIVE};
  unsigned order = 0;
  pthread_t thread;

  (void)state;
  bn_sqlite_queue_init(&q);
  bn_sqlite_turn_init(&one);
  bn_sqlite_turn_init(&two);
  writer.order = &order;
  bn_sqlite_turn_init(&writer.turn);
  assert_int_equal(bn_sqlite_queue_enter(&q, &one, BN_SQLITE_SHARED), BN_SQLITE_GRANTED);
  assert_int_equal(bn_sqlite_queue_enter(&q, &two, BN_SQLITE_EXCLUSIVE), BN_SQLITE_OWN);
  assert_int_equal(pthread_create(&thread, NULL, wait_once, &writer), 0);
  await_waiters(&q, 1);
  assert_int_equal(bn_sqlite_queue_enter(&q, &two, BN_SQLITE_SHARED), BN_SQLITE_GRANTED);
  assert_int_equal(q.sharers, 2);
  assert_int_equal(bn_sqlite_queue_upgrade(&q, &two), BN_SQLITE_OWN);
  bn_sqlite_queue_leave(&q, &one, BN_SQLITE_SHARED);
  assert_int_equal(bn_sqlite_queue_upgrade(&q, &two), BN_SQLITE_GRANTED);
  assert_int_equal(q.sharers, 0);
  bn_sqlite_queue_leave(&q, &two, BN_SQLITE_EXCLUSIVE);
  pthread_join(thread, NULL);
  assert_int_equal(writer.got, BN_SQLITE_GRANTED);
  assert_null(q.sharing);
  bn_sqlite_turn_destroy(&one);
  bn_sqlite_turn_destroy(&two);
  bn_sqlite_turn_destroy(&writer.turn);
  bn_sqlite_queue_destroy(&q);
}

struct upgrade {
  struct bn_sqlite_queue *q;
  struct bn_sqlite_turn turn;
  enum bn_sqlite_wait got;
};

static void *upgrade_once(void *arg)
{
  struct upgrade *u = arg;

  u->got = bn_sqlite_queue_upgrade(u->q, &u->turn);
  return NULL;
}

static void lets_one_sharer_upgrade(void **state)
{
  struct bn_sqlite_queue q;
  struct upgrade first = {.q = &q}, second = {.q = &q};
  pthread_t thread;
  bool waiting = false;

  (void)state;
  bn_sqlite_queue_init(&q);
  bn_sqlite_turn_init(&first.turn);
  bn_sqlite_turn_init(&second.turn);
  assert_int_equal(bn_sqlite_queue_enter(&q, &first.turn, BN_SQLITE_SHARED), BN_SQLITE_GRANTED);
  assert_int_equal(bn_sqlite_queue_enter(&q, &second.turn, BN_SQLITE_SHARED), BN_SQLITE_GRANTED);
  assert_int_equal(pthread_create(&thread, NULL, upgrade_once, &first), 0);
  while (!waiting) {
    pthread_mutex_lock(&q.lock);
    waiting = q.upgrader != NULL;
    pthread_mutex_unlock(&q.lock);
  }
  assert_int_equal(bn_sqlite_queue_upgrade(&q, &second.turn), BN_SQLITE_CONFLICT);
  bn_sqlite_queue_leave(&q, &second.turn, BN_SQLITE_SHARED);
  pthread_join(thread, NULL);
  assert_int_equal(first.got, BN_SQLITE_GRANTED);
  assert_true(q.busy);
  assert_int_equal(q.sharers, 0);
  bn_sqlite_queue_leave(&q, &first.turn, BN_SQLITE_EXCLUSIVE);
  bn_sqlite_turn_destroy(&first.turn);
  bn_sqlite_turn_destroy(&second.turn);
  bn_sqlite_queue_destroy(&q);
}

BN_TESTS(sqlite_queue)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lets_64_threads_in_one_at_a_time),
      cmocka_unit_test(keeps_the_order_of_arrival),
      cmocka_unit_test(refuses_to_wait_for_itself),
      cmocka_unit_test(does_not_wait_for_its_own_share),
      cmocka_unit_test(lets_one_sharer_upgrade),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
