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

static _Atomic uint64_t counter;

/* What THREADS sessions that count TIMES each behind one lock of TYPE come to. */
static uint64_t count_behind(const struct bn_mutex_type *type)
{
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
  for (unsigned i = 0; i < THREADS; i++)
    free(context[i]);
  if (type->done != NULL)
    type->done(slot);
  free(slot);
  return counter;
}

static void check_type(const struct bn_mutex_type *type)
{
  uint64_t counted = count_behind(type);

  if (counted != THREADS * TIMES)
    fail_msg("%s: %llu of %d", type->name, (unsigned long long)counted, THREADS * TIMES);
}

static void all_types_exclude(void **state)
{
  (void)state;
  for (const struct bn_mutex_type *t = bn_mutex_types_posix; t->name != NULL; t++)
    check_type(t);
  for (const struct bn_mutex_type *t = bn_mutex_types_ck; t->name != NULL; t++)
    check_type(t);
}

/* A lock that lets all in at once, on any number of processors: each remembers the count when it
   comes in, all count, and each leaves behind what one alone would have. */
struct open_door {
  pthread_barrier_t all_in, all_counted;
};

static int init_open_door(void *slot, unsigned sessions)
{
  struct open_door *door = slot;

  return pthread_barrier_init(&door->all_in, NULL, sessions) == 0 &&
                 pthread_barrier_init(&door->all_counted, NULL, sessions) == 0
             ? 0
             : -1;
}

static void come_in(struct open_door *door, uint64_t *seen)
{
  *seen = counter;
  (void)pthread_barrier_wait(&door->all_in);
}

static void leave(struct open_door *door, const uint64_t *seen)
{
  (void)pthread_barrier_wait(&door->all_counted);
  counter = *seen + 1;
}

BN_MUTEX_WORK(open_door, come_in(lock, context), leave(lock, context))

/* Shows that the test above can fail. */
static void an_open_door_loses_counts(void **state)
{
  static const struct bn_mutex_type open_door = {.name = "open door",
                                                 .slot_size = sizeof(struct open_door),
                                                 .context_size = sizeof(uint64_t),
                                                 .init = init_open_door,
                                                 .work = mutex_work_open_door};

  (void)state;
  assert_int_equal(count_behind(&open_door), TIMES);
}

BN_TESTS(mutex)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_types_exclude),
      cmocka_unit_test(an_open_door_loses_counts),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
