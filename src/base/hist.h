/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Log-linear latency histogram (HdrHistogram's geometry, 3 digits, unit 1 ns) that only grows. */
#ifndef BN_BASE_HIST_H
#define BN_BASE_HIST_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BN_HIST_SUB_BITS 10 /* 1,024 buckets per power of two: error <= 0.1 % */
#define BN_HIST_TOP_BIT  42 /* values >= 2^42 ns (73 minutes) go to the overflow bucket */
#define BN_HIST_TOP_MS   ((double)(UINT64_C(1) << BN_HIST_TOP_BIT) / 1e6) /* the same bound */
enum {
  BN_HIST_LINEAR = 2 << BN_HIST_SUB_BITS, /* values below 2,048 have a bucket each */
  BN_HIST_BUCKETS =
      BN_HIST_LINEAR + (BN_HIST_TOP_BIT - BN_HIST_SUB_BITS - 1) * (1 << BN_HIST_SUB_BITS),
  BN_HIST_PAGE = 1 << BN_HIST_SUB_BITS, /* buckets of a bit in `touched`: 4 KiB */
  BN_HIST_PAGES = BN_HIST_BUCKETS / BN_HIST_PAGE
};
static_assert(BN_HIST_PAGES <= 64, "a bit for each page");

/* A number in `bucket` that would exceed it is moved to `high`. */
#define BN_HIST_LOW_MOST (UINT32_C(1) << 31)

/* A stripe.  One worker writes it (bn_hist_record), or several do (bn_hist_record_shared); other
   threads read it at any time.  bn_hist_new makes it from zero pages, so that untouched pages cost
   no memory; each power of two has a page of its own.  A count is the sum of bucket[i] and high[i]:
   32 bits are enough for nearly all buckets, and take half the memory and cache. */
struct bn_hist {
  _Atomic uint64_t touched;  /* bit p: buckets of page p may be other than 0 */
  _Atomic uint64_t overflow; /* values from 2^BN_HIST_TOP_BIT on */
  _Atomic uint64_t moves;    /* odd while a number moves: readers read again; 0: `high` is 0 */
  _Alignas(4096) _Atomic uint32_t bucket[BN_HIST_BUCKETS];
  _Atomic uint64_t high[BN_HIST_BUCKETS]; /* not read, so that it has no page, before a move */
};

/* Returns an empty histogram, or ends the process if there is no memory. */
struct bn_hist *bn_hist_new(void);
void bn_hist_free(struct bn_hist *h); /* NULL: nothing */

/* Returns the bucket of a value, if each power of two has 2^sub_bits buckets.  A value below
   2 * 2^sub_bits has a bucket for itself.  A greater value is shifted down to a number from
   2^sub_bits on below that; each shift has the 2^sub_bits buckets after those of the shift
   before. */
static inline size_t bn_hist_bucket(uint64_t value, unsigned sub_bits)
{
  if (value < UINT64_C(2) << sub_bits)
    return (size_t)value;
  const unsigned shift = 63u - (unsigned)__builtin_clzll(value) - sub_bits;

  return ((size_t)shift << sub_bits) + (size_t)(value >> shift);
}
/* Returns the smallest value of such a bucket. */
static inline uint64_t bn_hist_bucket_lowest(size_t index, unsigned sub_bits)
{
  const size_t shift = index < (size_t)2 << sub_bits ? 0 : (index >> sub_bits) - 1;

  return (uint64_t)(index - (shift << sub_bits)) << shift;
}
static inline size_t bn_hist_index(uint64_t ns)
{
  return bn_hist_bucket(ns, BN_HIST_SUB_BITS);
}
/* Return the smallest and the largest value of a bucket. */
uint64_t bn_hist_lowest(size_t index);
uint64_t bn_hist_highest(size_t index);

/* Records a value as bn_hist_record does, which calls this for a value that is beyond the buckets,
   or the first in its bucket, or whose bucket is full. */
__attribute__((cold)) void bn_hist_record_rare(struct bn_hist *h, uint64_t ns);

/* Records a value; this thread is the only writer of h.  The calls come last, so that callers keep
   no registers across them. */
static inline void bn_hist_record(struct bn_hist *h, uint64_t ns)
{
  if (__builtin_expect(ns >> BN_HIST_TOP_BIT, 0)) {
    bn_hist_record_rare(h, ns);
    return;
  }
  _Atomic uint32_t *bucket = &h->bucket[bn_hist_index(ns)];
  const uint32_t n = atomic_load_explicit(bucket, memory_order_relaxed);

  if (__builtin_expect((int32_t)n <= 0, 0)) /* BN_HIST_LOW_MOST is negative as an int32_t */
    bn_hist_record_rare(h, ns);
  else
    atomic_store_explicit(bucket, n + 1, memory_order_relaxed);
}

/* As bn_hist_record for a stripe that several threads write, all of them by this function. */
void bn_hist_record_shared(struct bn_hist *h, uint64_t ns);

/* Records a value n times; this thread is the only writer of h. */
void bn_hist_put(struct bn_hist *h, uint64_t ns, uint64_t n);
/* A bucket of a histogram and its count. */
struct bn_hist_part {
  uint64_t index, count; /* index BN_HIST_BUCKETS: the overflow */
};
/* Adds n buckets; h is private. */
void bn_hist_put_parts(struct bn_hist *h, const struct bn_hist_part *part, size_t n);
/* Adds the values of `from`, which threads may be writing, to `into`, which is private to the
   caller.  Reads only the pages that were touched. */
void bn_hist_add(struct bn_hist *into, const struct bn_hist *from);
/* Returns whether a number of 64 bits can count the values of both histograms together, so that
   bn_hist_add overflows nowhere. */
bool bn_hist_sum_fits(const struct bn_hist *a, const struct bn_hist *b);
/* Returns whether h has at most `most` values. */
bool bn_hist_has_at_most(const struct bn_hist *h, uint64_t most);
/* Removes the values of `base` from `from`, which has all of them.  Both are private. */
void bn_hist_sub(struct bn_hist *from, const struct bn_hist *base);
/* Removes all values of a private histogram. */
void bn_hist_clear(struct bn_hist *h);
/* Returns the number of values. */
uint64_t bn_hist_count(const struct bn_hist *h);
/* Returns the highest equivalent value of the bucket that holds the rank max(1, floor(count *
   percent / 100 + 0.5)); 0 if empty, UINT64_MAX if the rank falls into the overflow bucket.
   percent is in [0, 100]. */
uint64_t bn_hist_percentile(const struct bn_hist *h, double percent);
/* As bn_hist_percentile, for the rank-th smallest of the values of both histograms together (more:
   NULL for none); rank is in [0, count of both], and 0 counts as 1. */
uint64_t bn_hist_value_at_rank(const struct bn_hist *h, const struct bn_hist *more, uint64_t rank);
/* Sets *lowest to the lowest value of the first non-empty bucket, and *highest to the highest value
   of the last one (UINT64_MAX: overflow).  Returns false if h is empty. */
bool bn_hist_bounds(const struct bn_hist *h, uint64_t *lowest, uint64_t *highest);
/* Calls fn for every non-empty bucket, ascending; overflow comes last with highest = UINT64_MAX. */
void bn_hist_each(const struct bn_hist *h,
                  void (*fn)(void *arg, uint64_t lowest, uint64_t highest, uint64_t count),
                  void *arg);

#endif
