/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls on stacks of their own: left and entered again, they keep what a call keeps. */
#include "base/fiber.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "cm.h"

enum { FIBERS = 1000, TURNS = 20 };

struct sum {
  struct bn_fiber *fiber;
  uint64_t n, total;
  double root;
};

/* Many values live over each leave, in registers and in memory. */
static void add_up(void *arg)
{
  struct sum *s = arg;
  uint64_t a = s->n, b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5, g = a + 6;
  double x = (double)s->n, y = x + 0.5;

  for (int i = 0; i < TURNS; i++) {
    bn_fiber_leave(s->fiber);
    s->total += a + b + c + d + e + f + g;
    a++, b++, c++, d++, e++, f++, g++;
    x += 1;
    y += sqrt(x);
  }
  s->root = y;
}

static double root_of(uint64_t n)
{
  double x = (double)n, y = x + 0.5;

  for (int i = 0; i < TURNS; i++) {
    x += 1;
    y += sqrt(x);
  }
  return y;
}

static void many_calls_take_turns(void **state)
{
  static struct sum sum[FIBERS];
  struct bn_fiber_pool pool = {.mapped = 0};

  (void)state;
  for (uint64_t i = 0; i < FIBERS; i++) {
    sum[i] = (struct sum){.fiber = bn_fiber_take(&pool), .n = i};
    assert_non_null(sum[i].fiber);
    assert_false(bn_fiber_call(sum[i].fiber, add_up, &sum[i]));
  }
  for (int turn = 0; turn < TURNS; turn++)
    for (uint64_t i = 0; i < FIBERS; i++)
      assert_int_equal(bn_fiber_resume(sum[i].fiber), turn == TURNS - 1);
  for (uint64_t i = 0; i < FIBERS; i++) {
    /* seven values, of which each grows by one in each turn */
    assert_int_equal(sum[i].total, TURNS * (7 * i + 21) + 7 * (TURNS * (TURNS - 1) / 2));
    assert_true(fabs(sum[i].root - root_of(i)) < 1e-9);
    bn_fiber_give_back(&pool, sum[i].fiber);
  }
  bn_fiber_pool_done(&pool);
}

static void note(void *arg)
{
  ++*(int *)arg;
}

/* The stack used last is used next. */
static void a_stack_is_used_again(void **state)
{
  struct bn_fiber_pool pool = {.mapped = 0};
  struct bn_fiber *first = bn_fiber_take(&pool), *second = bn_fiber_take(&pool);
  int n = 0;

  (void)state;
  for (int i = 0; i < 5; i++)
    assert_true(bn_fiber_call(first, note, &n));
  assert_int_equal(n, 5);
  bn_fiber_give_back(&pool, second);
  bn_fiber_give_back(&pool, first);
  assert_ptr_equal(bn_fiber_take(&pool), first);
  assert_ptr_equal(bn_fiber_take(&pool), second);
  bn_fiber_give_back(&pool, first);
  bn_fiber_give_back(&pool, second);
  bn_fiber_pool_done(&pool);
}

/* Client libraries need about 100 KiB; the frame of the call itself is small. */
static void use_most(void *arg)
{
  volatile char bytes[200 * 1024];

  memset((void *)(uintptr_t)bytes, 7, sizeof bytes);
  *(int *)arg = bytes[0] + bytes[sizeof bytes - 1];
}

static void a_stack_has_room(void **state)
{
  struct bn_fiber_pool pool = {.mapped = 0};
  struct bn_fiber *f = bn_fiber_take(&pool);
  int sum = 0;

  (void)state;
  assert_true(bn_fiber_call(f, use_most, &sum));
  assert_int_equal(sum, 14);
  bn_fiber_give_back(&pool, f);
  bn_fiber_pool_done(&pool);
}

/* Caches have few lines for addresses that are a multiple of a page apart. */
static void stacks_begin_at_different_places(void **state)
{
  enum { PLACES = 32, PAGE = 4096 };
  struct bn_fiber *fiber[PLACES];
  struct bn_fiber_pool pool = {.mapped = 0};

  (void)state;
  for (int i = 0; i < PLACES; i++) {
    fiber[i] = bn_fiber_take(&pool);
    for (int k = 0; k < i; k++)
      assert_int_not_equal((uintptr_t)fiber[i] % PAGE, (uintptr_t)fiber[k] % PAGE);
  }
  for (int i = 0; i < PLACES; i++)
    bn_fiber_give_back(&pool, fiber[i]);
  bn_fiber_pool_done(&pool);
}

BN_TESTS(fiber)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(many_calls_take_turns),
      cmocka_unit_test(a_stack_is_used_again),
      cmocka_unit_test(a_stack_has_room),
      cmocka_unit_test(stacks_begin_at_different_places),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
