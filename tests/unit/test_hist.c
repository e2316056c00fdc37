/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Percentiles of recorded values are exact to 0.1 %, sums and differences exact, memory is used
   only where values fall, and snapshots may be taken while others record. */
#include "base/hist.h"

#include <math.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/rng.h"
#include "cm.h"

static void test_buckets_are_contiguous(void **state)
{
  uint64_t next = 0;

  (void)state;
  for (size_t i = 0; i < BN_HIST_BUCKETS; i++) {
    const uint64_t low = bn_hist_lowest(i);
    const uint64_t high = bn_hist_highest(i);

    assert_int_equal(low, next);
    assert_true((high - low) * 1024 <= low);
    assert_int_equal(bn_hist_index(low), i);
    assert_int_equal(bn_hist_index(high), i);
    next = high + 1;
  }
  assert_int_equal(next, UINT64_C(1) << BN_HIST_TOP_BIT);
}

static int compare(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

  return (x > y) - (x < y);
}

static void check_against_sorted(uint64_t *values, size_t n)
{
  static const double percents[] = {0, 0.01, 1, 5, 25, 50, 75, 90, 95, 99, 99.9, 99.99, 100};
  struct bn_hist *h = bn_hist_new();
  uint64_t low, high;

  assert_non_null(h);
  for (size_t i = 0; i < n; i++)
    bn_hist_record(h, values[i]);
  qsort(values, n, sizeof values[0], compare);
  assert_int_equal(bn_hist_count(h), n);
  for (size_t i = 0; i < sizeof percents / sizeof percents[0]; i++) {
    const double rank = fmax(1, floor((double)n * percents[i] / 100 + 0.5));
    const uint64_t exact = values[(size_t)rank - 1];
    const uint64_t got = bn_hist_percentile(h, percents[i]);

    assert_in_range(got, exact, exact + exact / 1024);
  }
  assert_true(bn_hist_bounds(h, &low, &high));
  assert_in_range(low, values[0] - values[0] / 1024, values[0]);
  assert_in_range(high, values[n - 1], values[n - 1] + values[n - 1] / 1024);
  bn_hist_free(h);
}

static void test_percentiles_match_sorted_arrays(void **state)
{
  static const size_t sizes[] = {1, 2, 3, 10, 19, 100, 1001, 20000};
  struct bn_rng r;
  uint64_t *values = malloc(20000 * sizeof *values);

  (void)state;
  assert_non_null(values);
  bn_rng_seed(&r, 1, BN_RNG_DATA, 0);
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
    for (unsigned bits = 1; bits <= 64; bits += 7) {
      for (size_t i = 0; i < sizes[s]; i++) /* any order of magnitude below 2^bits and 2^42 */
        values[i] = bn_rng_next(&r) >> (64 - bits) >> bn_rng_below(&r, 42) &
                    ((UINT64_C(1) << BN_HIST_TOP_BIT) - 1);
      check_against_sorted(values, sizes[s]);
    }
  free(values);
}

static void test_empty(void **state)
{
  struct bn_hist *h = bn_hist_new();
  uint64_t low, high;

  (void)state;
  assert_non_null(h);
  assert_int_equal(bn_hist_count(h), 0);
  assert_int_equal(bn_hist_percentile(h, 95), 0);
  assert_false(bn_hist_bounds(h, &low, &high));
  bn_hist_free(h);
  bn_hist_free(NULL);
}

static void test_overflow(void **state)
{
  struct bn_hist *h = bn_hist_new();
  uint64_t low, high;

  (void)state;
  assert_non_null(h);
  bn_hist_record(h, UINT64_MAX);
  assert_true(bn_hist_bounds(h, &low, &high));
  assert_int_equal(low, UINT64_C(1) << BN_HIST_TOP_BIT);
  assert_int_equal(high, UINT64_MAX);
  assert_int_equal(bn_hist_percentile(h, 0), UINT64_MAX);
  bn_hist_record(h, 7);
  bn_hist_record_shared(h, UINT64_C(1) << BN_HIST_TOP_BIT);
  bn_hist_record(h, (UINT64_C(1) << BN_HIST_TOP_BIT) - 1);
  assert_int_equal(bn_hist_count(h), 4);
  assert_int_equal(bn_hist_percentile(h, 25), 7);
  assert_int_equal(bn_hist_percentile(h, 50), (UINT64_C(1) << BN_HIST_TOP_BIT) - 1);
  assert_int_equal(bn_hist_percentile(h, 75), UINT64_MAX);
  assert_true(bn_hist_bounds(h, &low, &high));
  assert_int_equal(low, 7);
  assert_int_equal(high, UINT64_MAX);
  bn_hist_free(h);
}

struct list {
  uint64_t low[8], high[8], count[8];
  size_t n;
};

static void append(void *arg, uint64_t low, uint64_t high, uint64_t count)
{
  struct list *l = arg;

  assert_true(l->n < 8);
  l->low[l->n] = low;
  l->high[l->n] = high;
  l->count[l->n++] = count;
}

static void test_each_is_ascending(void **state)
{
  struct bn_hist *h = bn_hist_new();
  struct list l = {.n = 0};

  (void)state;
  assert_non_null(h);
  bn_hist_record(h, 1000000);
  bn_hist_record(h, 5);
  bn_hist_record(h, UINT64_MAX);
  bn_hist_record(h, 5);
  bn_hist_each(h, append, &l);
  assert_int_equal(l.n, 3);
  assert_true(l.low[0] == 5 && l.high[0] == 5 && l.count[0] == 2);
  assert_true(l.low[1] <= 1000000 && l.high[1] >= 1000000 && l.count[1] == 1);
  assert_true(l.low[2] == UINT64_C(1) << BN_HIST_TOP_BIT && l.high[2] == UINT64_MAX);
  bn_hist_free(h);
}

/* a + b - a == b, bucket by bucket, and clear leaves nothing. */
static void test_add_and_sub(void **state)
{
  struct bn_hist *a = bn_hist_new(), *b = bn_hist_new(), *sum = bn_hist_new();
  struct bn_rng r;

  (void)state;
  assert_true(a != NULL && b != NULL && sum != NULL);
  bn_rng_seed(&r, 2, BN_RNG_DATA, 0);
  for (int i = 0; i < 100000; i++) {
    bn_hist_record(a, bn_rng_next(&r) >> (20 + bn_rng_below(&r, 44)));
    bn_hist_record(b, bn_rng_next(&r) >> (20 + bn_rng_below(&r, 44)));
  }
  bn_hist_add(sum, a);
  bn_hist_add(sum, b);
  assert_int_equal(bn_hist_count(sum), 200000);
  bn_hist_sub(sum, a);
  assert_int_equal(bn_hist_count(sum), 100000);
  for (size_t i = 0; i < BN_HIST_BUCKETS; i++)
    assert_int_equal(atomic_load(&sum->bucket[i]), atomic_load(&b->bucket[i]));
  assert_int_equal(atomic_load(&sum->overflow), atomic_load(&b->overflow));
  assert_true(atomic_load(&b->overflow) > 0);
  bn_hist_clear(sum);
  assert_int_equal(bn_hist_count(sum), 0);
  for (size_t i = 0; i < BN_HIST_BUCKETS; i++)
    assert_int_equal(atomic_load(&sum->bucket[i]), 0);
  bn_hist_record(sum, 3);
  assert_int_equal(bn_hist_count(sum), 1);
  bn_hist_free(a);
  bn_hist_free(b);
  bn_hist_free(sum);
}

static size_t resident_pages(void *p, size_t len)
{
  unsigned char in_core[sizeof(struct bn_hist) / 4096 + 2] = {0};
  size_t n = 0;

  assert_int_equal(sysconf(_SC_PAGESIZE), 4096);
  assert_int_equal(mincore(p, len, in_core), 0);
  for (size_t i = 0; i < sizeof in_core; i++)
    n += in_core[i] & 1;
  return n;
}

static void test_memory_is_used_on_demand(void **state)
{
  struct bn_hist *h, *copy;

  (void)state;
  if (sysconf(_SC_PAGESIZE) != 4096)
    skip();
  bn_hist_free(bn_hist_new()); /* a recycled block is no different */
  h = bn_hist_new();
  copy = bn_hist_new();
  assert_true(h != NULL && copy != NULL);
  bn_hist_record(h, 1500000);
  bn_hist_add(copy, h);
  assert_int_equal(bn_hist_percentile(copy, 50), bn_hist_highest(bn_hist_index(1500000)));
  assert_int_equal(resident_pages(h, sizeof *h), 2); /* the head, and a page of buckets */
  assert_int_equal(resident_pages(copy, sizeof *copy), 2);
  bn_hist_free(h);
  bn_hist_free(copy);
}

enum { RECORDS = 200000, WRITERS = 4 };

static void *record_alone(void *arg)
{
  for (uint64_t i = 0; i < RECORDS; i++)
    bn_hist_record(arg, i * 7 % 100000);
  return NULL;
}

static void *record_together(void *arg)
{
  for (uint64_t i = 0; i < RECORDS; i++)
    bn_hist_record_shared(arg, i * 7 % 100000);
  return NULL;
}

/* Snapshots while n threads record: counts never shrink, differences are never negative, and the
   last snapshot has everything. */
static void snapshot_while(void *(*record)(void *), unsigned writers)
{
  struct bn_hist *h = bn_hist_new(), *snap = bn_hist_new(), *last = bn_hist_new();
  pthread_t threads[WRITERS];
  uint64_t before = 0;

  assert_true(h != NULL && snap != NULL && last != NULL);
  for (unsigned i = 0; i < writers; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, record, h), 0);
  for (int i = 0; i < 20; i++) {
    bn_hist_clear(snap);
    bn_hist_add(snap, h);
    const uint64_t now = bn_hist_count(snap);

    assert_in_range(now, before, (uint64_t)writers * RECORDS);
    bn_hist_sub(snap, last);
    assert_int_equal(bn_hist_count(snap), now - before);
    bn_hist_add(last, snap);
    before = now;
  }
  for (unsigned i = 0; i < writers; i++)
    assert_int_equal(pthread_join(threads[i], NULL), 0);
  assert_int_equal(bn_hist_count(h), (uint64_t)writers * RECORDS);
  bn_hist_free(h);
  bn_hist_free(snap);
  bn_hist_free(last);
}

static void test_snapshot_of_one_writer(void **state)
{
  (void)state;
  snapshot_while(record_alone, 1);
}

static void test_snapshot_of_shared_stripe(void **state)
{
  (void)state;
  snapshot_while(record_together, WRITERS);
}

/* Counts of a bucket around and above the largest that 32 bits hold. */
static void large_counts_are_exact(void **state)
{
  static const uint64_t counts[] = {
      BN_HIST_LOW_MOST - 6, BN_HIST_LOW_MOST - 2, BN_HIST_LOW_MOST - 1, BN_HIST_LOW_MOST,
      BN_HIST_LOW_MOST + 1, UINT32_MAX - 1,       UINT32_MAX,           UINT64_C(1) << 32,
      UINT64_C(1) << 53,    UINT64_MAX / 4};

  (void)state;
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    struct bn_hist *h = bn_hist_new(), *sum = bn_hist_new();
    const struct bn_hist_part part = {bn_hist_index(1000), 5};
    struct list l = {.n = 0};

    bn_hist_put(h, 1000, counts[i]);
    for (unsigned n = 0; n < 4; n++)
      bn_hist_record(h, 1000);
    for (unsigned n = 0; n < 4; n++)
      bn_hist_record_shared(h, 1000);
    bn_hist_put_parts(h, &part, 1);
    assert_int_equal(bn_hist_count(h), counts[i] + 13);
    bn_hist_each(h, append, &l);
    assert_true(l.n == 1 && l.count[0] == counts[i] + 13);
    bn_hist_record(h, 2000);
    assert_int_equal(bn_hist_value_at_rank(h, NULL, counts[i] + 13), 1000);
    assert_int_equal(bn_hist_value_at_rank(h, NULL, counts[i] + 14), 2000);
    bn_hist_add(sum, h);
    bn_hist_add(sum, h);
    bn_hist_add(sum, h);
    bn_hist_sub(sum, h);
    assert_int_equal(bn_hist_count(sum), 2 * (counts[i] + 14));
    bn_hist_sub(sum, h);
    bn_hist_sub(sum, h);
    assert_int_equal(bn_hist_count(sum), 0);
    bn_hist_clear(h);
    assert_int_equal(bn_hist_count(h), 0);
    bn_hist_record(h, 1000);
    assert_int_equal(bn_hist_count(h), 1);
    bn_hist_free(h);
    bn_hist_free(sum);
  }
}

enum { PUTS = 200000 };
static const uint64_t half = BN_HIST_LOW_MOST / 2;

/* A histogram, and how many puts into bucket 0 have begun and ended. */
struct putting {
  struct bn_hist *h;
  _Atomic uint64_t begun, ended;
};

static void *put_large_counts(void *arg)
{
  struct putting *p = arg;

  for (uint64_t i = 1; i <= PUTS; i++) {
    p->begun = i;
    bn_hist_put(p->h, 0, half);
    p->ended = i;
  }
  return NULL;
}

/* Each third put moves the number; a reader finds all that was put before it looked, and no more
   than had begun when it had looked. */
static void a_large_count_is_read_whole(void **state)
{
  struct putting p = {.h = bn_hist_new()};
  uint64_t ended;
  pthread_t writer;

  (void)state;
  assert_int_equal(pthread_create(&writer, NULL, put_large_counts, &p), 0);
  while ((ended = p.ended) < PUTS) {
    if (ended > 0)
      assert_int_equal(bn_hist_value_at_rank(p.h, NULL, ended * half), 0);
    const uint64_t too_many = (p.begun + 1) * half;

    if (bn_hist_value_at_rank(p.h, NULL, too_many) == 0)
      assert_true(p.begun * half >= too_many);
  }
  assert_int_equal(pthread_join(writer, NULL), 0);
  assert_int_equal(bn_hist_count(p.h), PUTS * half);
  bn_hist_free(p.h);
}

/* The work of a writer of full buckets. */
struct filling {
  struct bn_hist *h;
  unsigned from;
  _Atomic unsigned *n_ended;
};

enum { FULL = 500 }; /* buckets of each writer */

/* Each value makes a number exceed what `bucket` may have. */
static void *record_into_full_buckets(void *arg)
{
  const struct filling *f = arg;

  for (unsigned i = 0; i < FULL; i++)
    bn_hist_record_shared(f->h, i * WRITERS + f->from);
  (*f->n_ended)++;
  return NULL;
}

static void writers_of_full_buckets_lose_no_value(void **state)
{
  const uint64_t before = WRITERS * FULL * (uint64_t)BN_HIST_LOW_MOST,
                 all = before + WRITERS * FULL;
  struct bn_hist *h = bn_hist_new();
  struct filling filling[WRITERS];
  pthread_t writer[WRITERS];
  _Atomic unsigned n_ended = 0;
  uint64_t seen = before;

  (void)state;
  for (unsigned i = 0; i < WRITERS * FULL; i++)
    bn_hist_put(h, i, BN_HIST_LOW_MOST);
  for (unsigned i = 0; i < WRITERS; i++) {
    filling[i] = (struct filling){.h = h, .from = i, .n_ended = &n_ended};
    assert_int_equal(pthread_create(&writer[i], NULL, record_into_full_buckets, &filling[i]), 0);
  }
  while (n_ended < WRITERS) {
    const uint64_t now = bn_hist_count(h);

    assert_in_range(now, seen, all);
    seen = now;
  }
  for (unsigned i = 0; i < WRITERS; i++)
    assert_int_equal(pthread_join(writer[i], NULL), 0);
  assert_int_equal(bn_hist_count(h), all);
  for (unsigned i = 0; i < WRITERS * FULL; i++)
    assert_int_equal(atomic_load(&h->bucket[i]), 0);
  bn_hist_free(h);
}

static void many_of_a_value_count_as_often_recorded(void **state)
{
  struct bn_hist *h = bn_hist_new(), *one = bn_hist_new();

  (void)state;
  assert_non_null(h);
  assert_non_null(one);
  bn_hist_put(h, 1000, 3);
  bn_hist_put(h, UINT64_C(1) << BN_HIST_TOP_BIT, 2);
  for (int i = 0; i < 3; i++)
    bn_hist_record(one, 1000);
  bn_hist_record(one, UINT64_MAX);
  bn_hist_record(one, UINT64_MAX);
  assert_memory_equal(h, one, sizeof *h);
  bn_hist_free(h);
  bn_hist_free(one);
}

/* The edges of pages and of the grid: a bucket is there however many others come with it. */
static void parts_count_like_values(void **state)
{
  static const uint64_t edges[] = {0, BN_HIST_PAGE, 4 * BN_HIST_PAGE, BN_HIST_BUCKETS};
  struct bn_hist_part part[2 * sizeof edges / sizeof edges[0]];
  struct bn_hist *h = bn_hist_new(), *one = bn_hist_new();
  size_t n = 0;

  (void)state;
  assert_non_null(h);
  assert_non_null(one);
  for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
    if (edges[i] > 0)
      part[n++] = (struct bn_hist_part){edges[i] - 1, 2 * i};
    part[n++] = (struct bn_hist_part){edges[i], 2 * i + 1};
  }
  /* Each run of neighbours, so that a part meets every one before it or none. */
  for (size_t from = 0; from < n; from++)
    for (size_t to = from + 1; to <= n; to++) {
      bn_hist_put_parts(h, part + from, to - from);
      for (size_t i = from; i < to; i++)
        bn_hist_put(one, bn_hist_lowest(part[i].index), part[i].count);
      assert_memory_equal(h, one, sizeof *h);
      bn_hist_clear(h);
      bn_hist_clear(one);
    }
  bn_hist_free(h);
  bn_hist_free(one);
}

BN_TESTS(hist)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_buckets_are_contiguous),
      cmocka_unit_test(test_percentiles_match_sorted_arrays),
      cmocka_unit_test(test_empty),
      cmocka_unit_test(test_overflow),
      cmocka_unit_test(test_each_is_ascending),
      cmocka_unit_test(test_add_and_sub),
      cmocka_unit_test(test_memory_is_used_on_demand),
      cmocka_unit_test(test_snapshot_of_one_writer),
      cmocka_unit_test(test_snapshot_of_shared_stripe),
      cmocka_unit_test(large_counts_are_exact),
      cmocka_unit_test(a_large_count_is_read_whole),
      cmocka_unit_test(writers_of_full_buckets_lose_no_value),
      cmocka_unit_test(many_of_a_value_count_as_often_recorded),
      cmocka_unit_test(parts_count_like_values),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
