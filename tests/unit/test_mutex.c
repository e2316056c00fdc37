/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every kind of lock of the mutex test excludes: a counter behind one lock loses nothing. */
#include "cm.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/mutex_type.h"

enum { THREADS = 3, TIMES = 3000, LINE = 64 };

struct share {
  const struct bn_mutex_type *type;
  struct bn_mutex_job job;
  struct bn_rng rng;
};

static void *work(void *arg)
{
  struct share *s = arg;

  s->job.rng = &s->rng;
  s->type->work(&s->job);
  return NULL;
}

static void *zeroed(size_t size)
{
  void *p = aligned_alloc(LINE, (size + LINE) / LINE * LINE);

  assert_non_null(p);
  memset(p, 0, (size + LINE) / LINE * LINE);
  return p;
}

static void check_type(const struct bn_mutex_type *type)
{
  static _Atomic uint64_t counter;
  struct share share[THREADS];
  pthread_t thread[THREADS];
  void *slot = zeroed(type->slot_size), *context[THREADS];

  counter = 0;
  assert_int_equal(type->init(slot, THREADS), 0);
  for (unsigned i = 0; i < THREADS; i++) {
    context[i] = zeroed(type->context_size);
    if (type->context_init != NULL)
      type->context_init(context[i]);
    share[i] = (struct share){.type = type,
                              .job = {.slot = slot,
                                      .n = 1,
                                      .times = TIMES,
                                      .loops = 3,
                                      .counter = &counter,
                                      .context = context[i]}};
    bn_rng_seed(&share[i].rng, 1, BN_RNG_WORKLOAD, i);
    assert_int_equal(pthread_create(&thread[i], NULL, work, &share[i]), 0);
  }
  for (unsigned i = 0; i < THREADS; i++)
    (void)pthread_join(thread[i], NULL);
  if (counter != THREADS * TIMES)
    fail_msg("%s: %llu of %d", type->name, (unsigned long long)counter, THREADS * TIMES);
  for (unsigned i = 0; i < THREADS; i++)
    free(context[i]);
  if (type->done != NULL)
    type->done(slot);
  free(slot);
}

static void all_types_exclude(void **state)
{
  (void)state;
  for (const struct bn_mutex_type *t = bn_mutex_types_posix; t->name != NULL; t++)
    check_type(t);
  for (const struct bn_mutex_type *t = bn_mutex_types_ck; t->name != NULL; t++)
    check_type(t);
}

/* Shows that the test above can fail. */
BN_MUTEX_WORK(nothing, (void)lock, (void)lock)

/* Long enough for both to be switched in the middle, even where they share one busy processor. */
static void no_lock_loses_counts(void **state)
{
  static const struct bn_mutex_type none = {.name = "none", .slot_size = 8, .work = work_nothing};
  static _Atomic uint64_t counter;
  bool lost = false;

  (void)state;
  for (int tries = 0; tries < 50 && !lost; tries++) {
    struct share share[2];
    pthread_t thread[2];

    counter = 0;
    for (unsigned i = 0; i < 2; i++) {
      share[i] =
          (struct share){.type = &none, .job = {.n = 1, .times = 20000000, .counter = &counter}};
      bn_rng_seed(&share[i].rng, 1, BN_RNG_WORKLOAD, i);
      assert_int_equal(pthread_create(&thread[i], NULL, work, &share[i]), 0);
    }
    for (unsigned i = 0; i < 2; i++)
      (void)pthread_join(thread[i], NULL);
    lost = counter != 40000000;
  }
  assert_true(lost);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_types_exclude),
      cmocka_unit_test(no_lock_loses_counts),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
