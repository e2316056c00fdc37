/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The start barrier opens for all or for nobody, keeps its deadline and wakes a thousand threads at
   once. */
#include "base/start_barrier.h"

#include <pthread.h>

#include "base/clock.h"
#include "cm.h"

enum { CROWD = 1000, STACK = 128 * 1024 };

/* What takes longer hangs; a loaded machine under a sanitizer is only slow. */
static const uint64_t SLOW_NS = 30 * BN_NSEC_PER_SEC;

static void *wait_at(void *start_barrier)
{
  return bn_start_barrier_arrive(start_barrier, 1) ? start_barrier : NULL;
}

static void *fail_it(void *start_barrier)
{
  bn_start_barrier_fail(start_barrier);
  return NULL;
}

/* As many as the machine allows, up to n. */
static unsigned start(pthread_t *threads, unsigned n, void *(*body)(void *),
                      struct bn_start_barrier *g)
{
  pthread_attr_t attr;
  unsigned i = 0;

  assert_int_equal(pthread_attr_init(&attr), 0);
  assert_int_equal(pthread_attr_setstacksize(&attr, STACK), 0);
  while (i < n && pthread_create(&threads[i], &attr, body, g) == 0)
    i++;
  assert_int_equal(pthread_attr_destroy(&attr), 0);
  return i;
}

/* Returns how many were let through. */
static unsigned join(const pthread_t *threads, unsigned n)
{
  unsigned passed = 0;

  for (unsigned i = 0; i < n; i++) {
    void *result;

    assert_int_equal(pthread_join(threads[i], &result), 0);
    passed += result != NULL;
  }
  return passed;
}

static void test_crowd_starts_together(void **state)
{
  static pthread_t threads[CROWD];
  struct bn_start_barrier g;

  (void)state;
  bn_start_barrier_init(&g, CROWD);
  assert_int_equal(start(threads, CROWD, wait_at, &g), CROWD);
  assert_int_equal(bn_start_barrier_wait_for_all(&g, UINT64_MAX), BN_START_BARRIER_OPEN);
  const uint64_t before = bn_clock_mono();

  bn_start_barrier_open(&g);
  assert_int_equal(join(threads, CROWD), CROWD);
  assert_in_range(bn_clock_mono() - before, 0, SLOW_NS);
  bn_start_barrier_done(&g);
}

static void test_nobody_passes_before_it_opens(void **state)
{
  pthread_t threads[3];
  struct bn_start_barrier g;

  (void)state;
  bn_start_barrier_init(&g, 3);
  assert_int_equal(start(threads, 2, wait_at, &g), 2);
  const uint64_t deadline = bn_clock_mono() + 20 * BN_NSEC_PER_MSEC;

  assert_int_equal(bn_start_barrier_wait_for_all(&g, deadline), BN_START_BARRIER_CLOSED);
  assert_in_range(bn_clock_mono(), deadline, deadline + SLOW_NS);
  assert_int_equal(bn_start_barrier_wait_for_all(&g, 0), BN_START_BARRIER_CLOSED); /* long past */
  assert_int_equal(start(threads + 2, 1, wait_at, &g), 1);
  assert_int_equal(bn_start_barrier_wait_for_all(&g, UINT64_MAX), BN_START_BARRIER_OPEN);
  assert_int_equal(g.state, BN_START_BARRIER_CLOSED);
  bn_start_barrier_open(&g);
  assert_int_equal(join(threads, 3), 3);
  assert_true(bn_start_barrier_arrive(&g, 1)); /* who comes late finds it open */
  bn_start_barrier_done(&g);
}

/* Failed by a party that never arrives; the opener must not wait for the rest. */
static void test_party_fails(void **state)
{
  pthread_t threads[11];
  struct bn_start_barrier g;

  (void)state;
  bn_start_barrier_init(&g, 20);
  assert_int_equal(start(threads, 10, wait_at, &g), 10);
  assert_int_equal(start(threads + 10, 1, fail_it, &g), 1);
  assert_int_equal(bn_start_barrier_wait_for_all(&g, UINT64_MAX), BN_START_BARRIER_FAILED);
  bn_start_barrier_open(&g);
  assert_int_equal(join(threads, 11), 0);
  assert_false(bn_start_barrier_arrive(&g, 1));
  bn_start_barrier_done(&g);
}

static void test_opener_fails(void **state)
{
  pthread_t threads[10];
  struct bn_start_barrier g;

  (void)state;
  bn_start_barrier_init(&g, 10);
  assert_int_equal(start(threads, 10, wait_at, &g), 10);
  bn_start_barrier_fail(&g);
  assert_int_equal(join(threads, 10), 0);
  assert_int_equal(bn_start_barrier_wait_for_all(&g, UINT64_MAX), BN_START_BARRIER_FAILED);
  bn_start_barrier_done(&g);
}

/* All agree, whichever of the two comes first. */
static void test_open_and_fail_at_once(void **state)
{
  (void)state;
  for (int round = 0; round < 50; round++) {
    pthread_t threads[5];
    struct bn_start_barrier g;

    bn_start_barrier_init(&g, 4);
    assert_int_equal(start(threads, 4, wait_at, &g), 4);
    assert_int_equal(start(threads + 4, 1, fail_it, &g), 1);
    bn_start_barrier_open(&g);
    const unsigned passed = join(threads, 5);

    assert_true(passed == 0 || passed == 4);
    bn_start_barrier_done(&g);
  }
}

static void test_nobody_expected(void **state)
{
  struct bn_start_barrier g;

  (void)state;
  bn_start_barrier_init(&g, 0);
  assert_int_equal(bn_start_barrier_wait_for_all(&g, UINT64_MAX), BN_START_BARRIER_OPEN);
  bn_start_barrier_open(&g);
  bn_start_barrier_done(&g);
}

BN_TESTS(start_barrier)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_crowd_starts_together),
      cmocka_unit_test(test_nobody_passes_before_it_opens),
      cmocka_unit_test(test_party_fails),
      cmocka_unit_test(test_opener_fails),
      cmocka_unit_test(test_open_and_fail_at_once),
      cmocka_unit_test(test_nobody_expected),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
