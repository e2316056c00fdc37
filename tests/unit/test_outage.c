/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Outages lie between the latest end before a long event and its own. */
#include "cm.h"

#include <pthread.h>
#include <sched.h>

#include "engine/outage.h"

enum { N = 3, MANY = 4000, ROUNDS = 1000 };

static const uint64_t s = UINT64_C(1000000000);

struct scene {
  struct bn_statset set;
  struct bn_outage outage;
};

static void set_scene_of(struct scene *c, unsigned n, unsigned apart)
{
  assert_int_equal(bn_statset_init(&c->set, n, n, NULL, apart), 0);
  bn_outage_init(&c->outage, &c->set);
  for (unsigned i = 0; i < n; i++)
    atomic_store(&c->set.stat[i]->running, true);
}

static void set_scene(struct scene *c, unsigned apart)
{
  set_scene_of(c, N, apart);
}

static void end_scene(struct scene *c)
{
  bn_outage_done(&c->outage);
  bn_statset_done(&c->set);
}

static void begin(struct scene *c, unsigned i, uint64_t at_ns)
{
  bn_stat_bump(&c->set.stat[i]->begun_at, at_ns);
  bn_stat_bump(&c->set.stat[i]->begun, 1);
}

static uint64_t start_of(const struct bn_stat *st)
{
  return bn_stat_get(&st->begun_at) - bn_stat_get(&st->ended_at);
}

/* As the event path does, before the end is seen. */
static void look(struct scene *c, unsigned i, uint64_t at_ns)
{
  const struct bn_stat *st = c->set.stat[i];
  const uint64_t start_ns = start_of(st);

  bn_outage_search(&c->outage, st, start_ns,
                   st->service_hist != 0 ? bn_stat_get(&st->last_end_ns) : start_ns, at_ns,
                   100 * s);
}

static void show(struct scene *c, unsigned i, uint64_t at_ns)
{
  struct bn_stat *st = c->set.stat[i];

  bn_stat_bump(&st->ended_at, start_of(st));
  bn_stat_bump(&st->ended, 1);
  atomic_store(&st->last_end_ns, at_ns);
}

static void end(struct scene *c, unsigned i, uint64_t at_ns)
{
  look(c, i, at_ns);
  show(c, i, at_ns);
}

static void expect(struct scene *c, uint64_t n, uint64_t longest_ns)
{
  const struct bn_outages o = bn_outage_get(&c->outage);

  assert_int_equal(o.n, n);
  assert_int_equal(o.longest_ns, longest_ns);
}

/* All were stuck from 2 s on, when the last of them began. */
static void the_first_end_tells_how_long(void **state)
{
  struct scene c;

  (void)state;
  set_scene(&c, 0);
  begin(&c, 0, 1 * s);
  begin(&c, 1, 2 * s);
  begin(&c, 2, s / 2);
  end(&c, 0, 5 * s);
  expect(&c, 1, 3 * s);
  begin(&c, 0, 5 * s);
  end(&c, 1, 5 * s + 10);
  begin(&c, 1, 5 * s + 10);
  end(&c, 2, 5 * s + 20);
  expect(&c, 1, 3 * s);
  end_scene(&c);
}

/* In whatever order they look and are seen, one of them finds it, and it is one. */
static void several_that_end_together_are_one(void **state)
{
  static const unsigned apart[] = {0, BN_STAT_WAITING};

  (void)state;
  for (int i = 0; i < 2; i++) {
    struct scene c;

    set_scene(&c, apart[i]);
    begin(&c, 0, 1 * s);
    begin(&c, 1, 2 * s);
    begin(&c, 2, 1 * s);
    look(&c, 0, 5 * s + 20);
    look(&c, 1, 5 * s);
    show(&c, 1, 5 * s);
    show(&c, 0, 5 * s + 20);
    look(&c, 2, 5 * s + 10);
    show(&c, 2, 5 * s + 10);
    expect(&c, 1, (apart[i] != 0 ? 4 : 3) * s + 20);
    end_scene(&c);
  }
}

static void one_that_goes_on_is_enough(void **state)
{
  struct scene c;

  (void)state;
  set_scene(&c, 0);
  begin(&c, 0, 1 * s);
  begin(&c, 1, 49 * s / 10);
  end(&c, 0, 5 * s);
  begin(&c, 0, 5 * s);
  /* Session 2 is between two events. */
  end(&c, 1, 9 * s);
  expect(&c, 0, 0);
  atomic_store(&c.set.stat[2]->running, false);
  bn_outage_leave(&c.outage, 12 * s);
  begin(&c, 1, 9 * s);
  end(&c, 0, 129 * s / 10);
  expect(&c, 0, 0);
  end_scene(&c);
}

/* The end of session 1 is half written: its start is subtracted, its number is not counted.  Under
   --rate nothing had been under way before. */
static void an_end_in_the_making_is_an_end(void **state)
{
  static const unsigned apart[] = {0, BN_STAT_WAITING};

  (void)state;
  for (int i = 0; i < 2; i++) {
    struct scene c;

    set_scene(&c, apart[i]);
    atomic_store(&c.set.stat[2]->running, false);
    begin(&c, 0, apart[i] != 0 ? 49 * s / 10 : 1 * s);
    begin(&c, 1, 49 * s / 10);
    bn_stat_bump(&c.set.stat[1]->ended_at, 49 * s / 10);
    end(&c, 0, 5 * s);
    expect(&c, 0, 0);
    end_scene(&c);
  }
}

/* Under --rate nothing is out while there is nothing to do. */
static void waiting_for_arrivals_is_no_outage(void **state)
{
  struct scene c;

  (void)state;
  set_scene(&c, BN_STAT_WAITING);
  begin(&c, 0, 1 * s);
  end(&c, 0, 1 * s + 10);
  begin(&c, 0, 20 * s);
  end(&c, 0, 43 * s / 2);
  expect(&c, 1, 3 * s / 2);
  begin(&c, 0, 21 * s);
  end(&c, 0, 22 * s);
  expect(&c, 1, 3 * s / 2);
  end_scene(&c);
}

/* As the event path does for an event that fails: its session succeeded until last_ns. */
static void waste(struct scene *c, unsigned i, uint64_t last_ns, uint64_t at_ns)
{
  struct bn_stat *st = c->set.stat[i];

  if (bn_stat_get(&st->failing_since_ns) == 0) {
    atomic_store(&st->last_ok_ns, last_ns);
    atomic_store(&st->failing_since_ns, start_of(st));
  }
  show(c, i, at_ns);
}

/* Sessions 1 and 2 fail from 2 s on, once in a second.  Under --rate they had their last success at
   1.5 s, and session 2 waits for an arrival in the end. */
static void events_that_fail_end_no_outage(void **state)
{
  static const unsigned apart[] = {0, BN_STAT_WAITING};

  (void)state;
  for (int i = 0; i < 2; i++) {
    struct scene c;

    set_scene(&c, apart[i]);
    begin(&c, 0, 2 * s);
    for (uint64_t at_ns = 2 * s; at_ns < 6 * s; at_ns += s)
      for (unsigned k = 1; k < 3; k++) {
        begin(&c, k, at_ns);
        waste(&c, k, apart[i] != 0 ? 3 * s / 2 : at_ns, at_ns + s);
      }
    begin(&c, 1, 6 * s);
    end(&c, 0, 13 * s / 2);
    expect(&c, 1, 9 * s / 2);
    end_scene(&c);
  }
}

static void the_end_of_the_run_ends_one(void **state)
{
  struct scene c;

  (void)state;
  set_scene(&c, 0);
  begin(&c, 0, 1 * s);
  begin(&c, 1, 2 * s);
  atomic_store(&c.set.stat[2]->running, false);
  bn_outage_search_at_end(&c.outage, 4 * s);
  expect(&c, 1, 2 * s);
  end_scene(&c);
}

/* Neither this search nor the next one goes on to sessions behind the one that shows that there is
   no outage: there may be ten thousand, and all may search at each end. */
static void a_search_ends_where_it_is_decided(void **state)
{
  struct scene c;

  (void)state;
  set_scene(&c, 0);
  struct bn_stat *const first = c.set.stat[0], *const last = c.set.stat[2];

  begin(&c, 0, 1 * s);
  begin(&c, 1, 49 * s / 10);
  c.set.stat[2] = NULL;
  look(&c, 0, 5 * s);
  c.set.stat[0] = NULL;
  bn_outage_search(&c.outage, first, 1 * s, 1 * s, 5 * s + 10, 100 * s);
  c.set.stat[0] = first;
  c.set.stat[2] = last;
  expect(&c, 0, 0);
  end_scene(&c);
}

struct leaving {
  struct scene c;
  _Atomic int begun, done; /* rounds */
};

/* As a worker does whose last event has ended at 4.9 s. */
static void *leave(void *arg)
{
  struct leaving *l = arg;

  for (int i = 0; i < ROUNDS; i++) {
    for (int spin = 0; atomic_load(&l->begun) == i; spin++)
      if (spin > 100000)
        (void)sched_yield();
    for (volatile int spin = 0; spin < i % 100 * 50; spin++)
      ;
    bn_outage_leave(&l->c.outage, 49 * s / 10);
    atomic_store_explicit(&l->c.set.stat[MANY - 1]->running, false, memory_order_release);
    atomic_store(&l->done, i + 1);
  }
  return NULL;
}

/* While another session looks, for which there are many to look at: it has left, or has not. */
static void who_leaves_is_not_overlooked(void **state)
{
  struct leaving l = {.begun = 0};
  pthread_t thread;

  (void)state;
  set_scene_of(&l.c, MANY, 0);
  for (unsigned i = 0; i < MANY - 1; i++)
    begin(&l.c, i, 1 * s);
  assert_int_equal(pthread_create(&thread, NULL, leave, &l), 0);
  for (int i = 0; i < ROUNDS; i++) {
    atomic_store(&l.c.outage.gone_last_ok_ns, 0);
    atomic_store(&l.c.set.stat[MANY - 1]->running, true);
    atomic_store(&l.begun, i + 1);
    look(&l.c, 0, 5 * s);
    while (atomic_load(&l.done) == i)
      (void)sched_yield();
  }
  assert_int_equal(pthread_join(thread, NULL), 0);
  expect(&l.c, 0, 0);
  end_scene(&l.c);
}

enum { WITNESSES = 4 };

struct witness {
  struct scene *c;
  pthread_barrier_t *together;
  unsigned session;
};

static void *see_gap(void *arg)
{
  const struct witness *w = arg;

  for (int round = 1; round <= ROUNDS; round++) {
    const struct bn_stat *st = w->c->set.stat[w->session];
    const uint64_t ended_ns = 10 * (uint64_t)round * s;

    (void)pthread_barrier_wait(w->together);
    bn_outage_search(&w->c->outage, st, ended_ns - 5 * s, ended_ns - 5 * s, ended_ns, UINT64_MAX);
  }
  return NULL;
}

/* State that a lock guards is read under it: sessions that wake together from the same gap count it
   once.  ThreadSanitizer sees a look at it without the lock. */
static void witnesses_of_a_gap_count_it_once(void **state)
{
  struct scene c;
  pthread_barrier_t together;
  struct witness w[WITNESSES];
  pthread_t thread[WITNESSES];

  (void)state;
  set_scene_of(&c, WITNESSES, 0);
  assert_int_equal(pthread_barrier_init(&together, NULL, WITNESSES), 0);
  for (unsigned i = 0; i < WITNESSES; i++) {
    begin(&c, i, 1 * s);
    w[i] = (struct witness){&c, &together, i};
    assert_int_equal(pthread_create(&thread[i], NULL, see_gap, &w[i]), 0);
  }
  for (unsigned i = 0; i < WITNESSES; i++)
    assert_int_equal(pthread_join(thread[i], NULL), 0);
  expect(&c, ROUNDS, 5 * s);
  assert_int_equal(pthread_barrier_destroy(&together), 0);
  end_scene(&c);
}

BN_TESTS(outage)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_first_end_tells_how_long),
      cmocka_unit_test(several_that_end_together_are_one),
      cmocka_unit_test(one_that_goes_on_is_enough),
      cmocka_unit_test(an_end_in_the_making_is_an_end),
      cmocka_unit_test(waiting_for_arrivals_is_no_outage),
      cmocka_unit_test(events_that_fail_end_no_outage),
      cmocka_unit_test(the_end_of_the_run_ends_one),
      cmocka_unit_test(a_search_ends_where_it_is_decided),
      cmocka_unit_test(who_leaves_is_not_overlooked),
      cmocka_unit_test(witnesses_of_a_gap_count_it_once),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
