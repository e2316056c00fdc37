/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernels of the memory test touch every word of the block, and only those, with what the
   version stores. */
#include "cm.h"

#include <stdbool.h>
#include <string.h>

#include "tests/memory_area.h"
#include "tests/memory_kernel.h"
#include "tests/memory_vector.h"

enum { GUARD = 16, WORDS_MAX = 4096 };

static bn_memory_word block[WORDS_MAX + 2 * GUARD];

static struct bn_memory_job make_job(size_t n, struct bn_rng *rng, struct bn_dist *dist)
{
  const struct bn_memory_job job = {
      .word = block + GUARD, .n = n, .tid = 7, .rng = rng, .dist = dist};

  memset(dist, 0, sizeof *dist);
  dist->type = BN_DIST_UNIFORM;
  dist->iterations = 12;
  dist->special_pct = 1;
  dist->special_res = 75;
  dist->pareto_h = 0.2;
  bn_dist_init(dist);
  bn_rng_seed(rng, 3, BN_RNG_WORKLOAD, 0);
  for (size_t i = 0; i < WORDS_MAX + 2 * GUARD; i++)
    block[i] = UINT64_MAX;
  return job;
}

static void check_guards(size_t n)
{
  for (size_t i = 0; i < GUARD; i++) {
    assert_true(block[i] == UINT64_MAX);
    assert_true(block[GUARD + n + i] == UINT64_MAX);
  }
}

static void sequential_writes_reach_every_word(void **state)
{
  struct bn_rng rng;
  struct bn_dist dist;

  (void)state;
  for (size_t n = 1; n <= WORDS_MAX; n = n < 40 ? n + 1 : 2 * n) {
    struct bn_memory_job job = make_job(n, &rng, &dist);

    bn_memory_kernel_get(false, BN_MEMORY_WRITE, BN_MEMORY_SEQ, dist.type)(&job);
    for (size_t i = 0; i < n; i++)
      assert_true(block[GUARD + i] == 7);
    check_guards(n);
    bn_memory_kernel_get(true, BN_MEMORY_WRITE, BN_MEMORY_SEQ, dist.type)(&job);
    for (size_t i = 0; i < n; i++)
      assert_true(block[GUARD + i] == n - i);
    check_guards(n);
  }
}

/* n draws out of n leave (1 - 1/n)^n = 36.8 % of the words untouched. */
static void random_writes_spread(void **state)
{
  static const bool uniform_only[] = {false, true};
  struct bn_rng rng;
  struct bn_dist dist;

  (void)state;
  for (size_t v = 0; v < 2; v++) {
    struct bn_memory_job job = make_job(WORDS_MAX, &rng, &dist);
    size_t untouched = 0;

    bn_memory_kernel_get(uniform_only[v], BN_MEMORY_WRITE, BN_MEMORY_RND, dist.type)(&job);
    check_guards(WORDS_MAX);
    for (size_t i = 0; i < WORDS_MAX; i++)
      untouched += block[GUARD + i] == UINT64_MAX;
    assert_in_range(untouched, WORDS_MAX * 34 / 100, WORDS_MAX * 40 / 100);
  }
}

/* In 1.1 indexes follow --rand-type, in 1.0 they are uniform whatever it is. */
static void indexes_follow_the_version(void **state)
{
  struct bn_rng rng;
  struct bn_dist dist;
  size_t upper[2] = {0, 0};

  (void)state;
  for (int v = 0; v < 2; v++) {
    struct bn_memory_job job = make_job(WORDS_MAX, &rng, &dist);

    dist.type = BN_DIST_PARETO;
    bn_memory_kernel_get(v != 0, BN_MEMORY_WRITE, BN_MEMORY_RND, dist.type)(&job);
    for (size_t i = WORDS_MAX / 2; i < WORDS_MAX; i++)
      upper[v] += block[GUARD + i] != UINT64_MAX;
  }
  assert_true(upper[0] < WORDS_MAX / 10);
  assert_true(upper[1] > WORDS_MAX / 4);
}

static void others_write_nothing(void **state)
{
  static const enum bn_memory_oper opers[] = {BN_MEMORY_READ, BN_MEMORY_NONE};
  struct bn_rng rng;
  struct bn_dist dist;

  (void)state;
  for (int k = 0; k < 8; k++) {
    struct bn_memory_job job = make_job(64, &rng, &dist);

    bn_memory_kernel_get((k & 1) == 0, opers[k >> 1 & 1], k & 4 ? BN_MEMORY_RND : BN_MEMORY_SEQ,
                         dist.type)(&job);
    for (size_t i = 0; i < WORDS_MAX + 2 * GUARD; i++)
      assert_true(block[i] == UINT64_MAX);
  }
}

/* Every version of every vector kernel that this processor can run does what STREAM defines, on all
   elements and on no others. */
static void vector_kernels_compute(void **state)
{
  static const struct bn_vector_kernel *const tables[] = {bn_vector_kernels_wide,
                                                          bn_vector_kernels_plain};
  enum { N = 512, EDGE = 64, ALL = N + 2 * EDGE };
  static _Alignas(64) double a[ALL], b[ALL], c[ALL];
  const unsigned features = bn_vector_features();
  size_t seen = 0;

  (void)state;
  for (size_t t = 0; t < 2; t++)
    for (const struct bn_vector_kernel *k = tables[t]; k->name != NULL; k++) {
      const struct bn_vector_job job = {
          .a = a + EDGE, .b = b + EDGE, .c = c + EDGE, .bytes = N * sizeof(double)};

      if ((k->needs & ~features) != 0)
        continue;
      for (int i = 0; i < ALL; i++) {
        a[i] = 10 + i;
        b[i] = 2000 + 2 * i;
        c[i] = 5 * i;
      }
      k->work(&job);
      seen++;
      for (int i = 0; i < ALL; i++) {
        const bool in = i >= EDGE && i < EDGE + N;
        double x = 10 + i, y = 2000 + 2 * i, z = 5 * i;

        if (in && strcmp(k->name, "copy") == 0)
          z = x;
        else if (in && strcmp(k->name, "scale") == 0)
          y = 3 * z;
        else if (in && strcmp(k->name, "add") == 0)
          z = x + y;
        else if (in && strcmp(k->name, "triad") == 0)
          x = y + 3 * z;
        else if (in && k->writes == 1 && k->reads == 0)
          x = 3;
        assert_true(a[i] == x && b[i] == y && c[i] == z);
      }
    }
  assert_true(seen >= 4);
}

/* STREAM counts what is read and written, not what caches fetch for it. */
static void vector_kernels_count_as_stream(void **state)
{
  static const struct {
    const char *name;
    unsigned reads, writes;
  } rows[] = {{"copy", 1, 1}, {"scale", 1, 1}, {"add", 2, 1}, {"triad", 2, 1}};
  struct bn_err err = {0};

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (unsigned features = 0; features < 8; features++) {
      const struct bn_vector_kernel *k = bn_vector_find(rows[i].name, features, &err);

      assert_non_null(k);
      assert_int_equal(k->reads, rows[i].reads);
      assert_int_equal(k->writes, rows[i].writes);
      assert_int_equal(k->needs & ~features, 0);
    }
}

static void a_kernel_the_processor_lacks_is_refused(void **state)
{
  static const char *const names[] = {"avx-read", "avx-write", "nt-write"};
  struct bn_err err = {0};

  (void)state;
  for (size_t i = 0; i < 3; i++) {
    assert_null(bn_vector_find(names[i], 0, &err));
    assert_non_null(strstr(err.text, "this processor lacks AVX"));
    assert_non_null(strstr(err.text, names[i]));
  }
  assert_null(bn_vector_find("words", ~0U, &err));
  assert_string_equal(err.text, "Invalid value for memory-kernel: words");
}

/* One cycle through all lines, and not in order, also when they are linked piece by piece. */
static void the_chase_is_one_random_cycle(void **state)
{
  enum { LINES = 1000 };
  static _Alignas(BN_CHASE_LINE) char area[LINES * BN_CHASE_LINE];
  static bool seen[LINES];
  const void *at = area;
  size_t near = 0;
  struct bn_rng rng;

  (void)state;
  bn_rng_seed(&rng, 5, BN_RNG_WORKLOAD, 0);
  for (int from = 0, to = 1; from < LINES; from = to, to = to < 300 ? to + 299 : LINES)
    bn_chase_link(area, (size_t)from * BN_CHASE_LINE, (size_t)to * BN_CHASE_LINE, &rng);
  for (int i = 0; i < LINES; i++) {
    const size_t line = (size_t)((const char *)at - area) / BN_CHASE_LINE;
    const void *next = *(const void *const *)at;
    const ptrdiff_t step = (const char *)next - (const char *)at;

    assert_false(seen[line]);
    seen[line] = true;
    near += step >= -2 * BN_CHASE_LINE && step <= 2 * BN_CHASE_LINE;
    at = next;
  }
  assert_ptr_equal(at, area);
  assert_true(near < LINES / 50);
}

static void a_chase_makes_all_its_loads(void **state)
{
  enum { LINES = 8192 };
  static _Alignas(BN_CHASE_LINE) char area[LINES * BN_CHASE_LINE];
  const void *at = area;
  struct bn_rng rng;

  (void)state;
  bn_rng_seed(&rng, 6, BN_RNG_WORKLOAD, 0);
  bn_chase_link(area, 0, sizeof area, &rng);
  for (int i = 0; i < BN_CHASE_LOADS; i++)
    at = *(const void *const *)at;
  assert_ptr_equal(bn_chase_follow(area), at);
}

/* Swap is besides the memory that a control group allows. */
static void a_control_group_lowers_the_memory_of_the_machine(void **state)
{
  static const uint64_t gib = 1 << 30;

  (void)state;
  assert_true(bn_area_limit(16 * gib, 4 * gib, 0) == 20 * gib);
  assert_true(bn_area_limit(16 * gib, 4 * gib, 2 * gib) == 6 * gib);
  assert_true(bn_area_limit(16 * gib, 0, 2 * gib) == 2 * gib);
  assert_true(bn_area_limit(16 * gib, 0, 32 * gib) == 16 * gib);
}

BN_TESTS(memory)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sequential_writes_reach_every_word),
      cmocka_unit_test(random_writes_spread),
      cmocka_unit_test(indexes_follow_the_version),
      cmocka_unit_test(others_write_nothing),
      cmocka_unit_test(vector_kernels_compute),
      cmocka_unit_test(vector_kernels_count_as_stream),
      cmocka_unit_test(a_kernel_the_processor_lacks_is_refused),
      cmocka_unit_test(the_chase_is_one_random_cycle),
      cmocka_unit_test(a_chase_makes_all_its_loads),
      cmocka_unit_test(a_control_group_lowers_the_memory_of_the_machine),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
