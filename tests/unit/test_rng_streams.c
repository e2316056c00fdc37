/* SPDX-License-Identifier: GPL-2.0-or-later */
/* With the same seed every session draws the same numbers, whatever the number of threads, the
   order in which they start, and what is drawn for other purposes. */
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/dist.h"
#include "base/rng.h"
#include "cm.h"

enum { SESSIONS = 32, DRAWS = 64, ROUNDS = 10 };

struct session {
  pthread_barrier_t *start;
  const struct bn_dist *dist;
  uint64_t seed;
  unsigned id;
  uint64_t drawn[DRAWS];
  char text[16];
};

/* A bit of everything, after a common start that shuffles who comes first; the numbers for pacing
   in between must not matter. */
static void *draw(void *arg)
{
  struct session *s = arg;
  struct bn_rng work, pacing;

  (void)pthread_barrier_wait(s->start);
  bn_rng_seed(&work, s->seed, BN_RNG_WORKLOAD, s->id);
  bn_rng_seed(&pacing, s->seed, BN_RNG_PACER, s->id);
  for (int i = 0; i < DRAWS; i++) {
    struct bn_dist d = *s->dist;

    d.type = (enum bn_dist_type)(i % (BN_DIST_ZIPFIAN + 1));
    s->drawn[i] = bn_dist_default(&d, &work, 1, 1000000);
    (void)bn_dist_exponential(bn_rng_next(&pacing));
  }
  bn_dist_fill_template(&work, "###-@@@-###-@@@", sizeof s->text - 1, s->text);
  return NULL;
}

static void run(struct session *sessions, unsigned n, uint64_t seed)
{
  struct bn_dist dist = {
      .iterations = 12, .special_pct = 1, .special_res = 75, .pareto_h = 0.2, .zipf_exp = 0.8};
  pthread_barrier_t start;
  pthread_t threads[SESSIONS];

  bn_dist_init(&dist);
  assert_int_equal(pthread_barrier_init(&start, NULL, n), 0);
  memset(sessions, 0, n * sizeof *sessions);
  for (unsigned i = 0; i < n; i++) {
    sessions[i].start = &start;
    sessions[i].dist = &dist;
    sessions[i].seed = seed;
    sessions[i].id = i;
    assert_int_equal(pthread_create(&threads[i], NULL, draw, &sessions[i]), 0);
  }
  for (unsigned i = 0; i < n; i++)
    assert_int_equal(pthread_join(threads[i], NULL), 0);
  (void)pthread_barrier_destroy(&start);
}

static void test_sessions_repeat(void **state)
{
  static struct session first[SESSIONS], again[SESSIONS];

  (void)state;
  run(first, SESSIONS, 42);
  for (unsigned round = 0; round < ROUNDS; round++) {
    const unsigned n = round % 2 == 0 ? SESSIONS : round;

    run(again, n, 42);
    for (unsigned i = 0; i < n; i++) {
      assert_memory_equal(again[i].drawn, first[i].drawn, sizeof first[i].drawn);
      assert_string_equal(again[i].text, first[i].text);
    }
  }
}

/* Two sessions agree in a draw by chance only: none of 496 pairs in more than eight of 64. */
static unsigned most_in_common(const struct session *a, const struct session *b, bool same_run)
{
  unsigned most = 0;

  for (unsigned i = 0; i < SESSIONS; i++)
    for (unsigned j = same_run ? i + 1 : i; j < (same_run ? SESSIONS : i + 1); j++) {
      unsigned common = 0;

      for (unsigned k = 0; k < DRAWS; k++)
        common += a[i].drawn[k] == b[j].drawn[k];
      if (common > most)
        most = common;
    }
  return most;
}

static void test_sessions_and_seeds_differ(void **state)
{
  static struct session a[SESSIONS], b[SESSIONS];

  (void)state;
  run(a, SESSIONS, 1);
  run(b, SESSIONS, 2);
  assert_in_range(most_in_common(a, a, true), 0, 8);
  assert_in_range(most_in_common(a, b, false), 0, 8);
}

BN_TESTS(rng_streams)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sessions_repeat),
      cmocka_unit_test(test_sessions_and_seeds_differ),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
