/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Computes sums, differences and percentiles of latency histograms; only touched pages are read. */
#include "base/hist.h"

#include <math.h>
#include <sched.h>
#include <sys/mman.h>

#include "base/alloc.h"

/* Accesses are relaxed, except around the move of a count: a count is a number by itself, and a
   reader that misses the newest record sees it in the next snapshot. */
static uint64_t hist_load(const _Atomic uint64_t *p)
{
  return atomic_load_explicit(p, memory_order_relaxed);
}

static void hist_store(_Atomic uint64_t *p, uint64_t value)
{
  atomic_store_explicit(p, value, memory_order_relaxed);
}

static bool hist_page_is_touched(const struct bn_hist *h, size_t page)
{
  return hist_load(&h->touched) >> page & 1;
}

/* Returns the count of a bucket.  `moves` is the sequence number of a seqlock: if it is odd or has
   changed, the two parts may not belong together, and are read again.  The acquiring loads keep the
   second load of `moves` after those of the parts, also if a part was recorded after a move: the
   stores of the one writer continue the release sequence of C11. */
static uint64_t hist_count(const struct bn_hist *h, size_t i)
{
  for (;;) {
    const uint64_t moves = atomic_load_explicit(&h->moves, memory_order_acquire);
    uint64_t count = atomic_load_explicit(&h->bucket[i], memory_order_acquire);

    if (moves != 0)
      count += atomic_load_explicit(&h->high[i], memory_order_acquire);
    if (moves % 2 == 0 && hist_load(&h->moves) == moves)
      return count;
    sched_yield();
  }
}

/* Moves the low part of a count to the high part, and adds n to that.  n may be the result of a
   subtraction that has wrapped around.  Any writer may call this: the writer that makes the
   sequence number h->moves odd has the lock, until it makes the number even again.  The releases
   let a reader that sees a new part see the new sequence number too. */
static void hist_move(struct bn_hist *h, size_t i, uint64_t n)
{
  uint64_t moves = hist_load(&h->moves) & ~UINT64_C(1);

  while (!atomic_compare_exchange_weak_explicit(&h->moves, &moves, moves + 1, memory_order_acquire,
                                                memory_order_relaxed)) {
    moves &= ~UINT64_C(1); /* if it is odd, another writer has the lock */
    sched_yield();
  }
  n += hist_load(&h->high[i]) + atomic_exchange_explicit(&h->bucket[i], 0, memory_order_acq_rel);
  atomic_store_explicit(&h->high[i], n, memory_order_release);
  atomic_store_explicit(&h->moves, moves + 2, memory_order_release);
}

/* Sets the count of a bucket, whose only writer is this thread. */
static void hist_set(struct bn_hist *h, size_t i, uint64_t count)
{
  const uint64_t high = hist_load(&h->moves) != 0 ? hist_load(&h->high[i]) : 0;
  const uint64_t low = count - high; /* very large if the count is below the high part */

  if (low <= BN_HIST_LOW_MOST)
    atomic_store_explicit(&h->bucket[i], (uint32_t)low, memory_order_relaxed);
  else
    hist_move(h, i, count - hist_count(h, i));
}

static size_t hist_page_end(size_t page)
{
  return (page + 1) * BN_HIST_PAGE;
}

/* Returns whether the count of a bucket is above 0.  Most buckets need only two loads. */
static bool hist_is_used(const struct bn_hist *h, size_t i)
{
  /* The acquire pairs with the exchange in hist_move: a reader that sees the 0 of a move also sees
     that `moves` is not 0. */
  return atomic_load_explicit(&h->bucket[i], memory_order_acquire) != 0 ||
         (hist_load(&h->moves) != 0 && hist_count(h, i) != 0);
}

/* Returns the first non-empty bucket at or after i, or BN_HIST_BUCKETS. */
static size_t hist_next_used(const struct bn_hist *h, size_t i)
{
  while (i < BN_HIST_BUCKETS) {
    const size_t end = hist_page_end(i / BN_HIST_PAGE);

    if (hist_page_is_touched(h, i / BN_HIST_PAGE))
      for (; i < end; i++)
        if (hist_is_used(h, i))
          return i;
    i = end;
  }
  return BN_HIST_BUCKETS;
}

/* mmap is used instead of calloc: after a large block was freed, glibc serves such blocks from the
   heap, and clears them by writing.  Huge pages would give every stripe 2 MiB. */
struct bn_hist *bn_hist_new(void)
{
  void *const p = mmap(NULL, sizeof(struct bn_hist), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (p == MAP_FAILED)
    bn_alloc_fail();
  (void)madvise(p, sizeof(struct bn_hist), MADV_NOHUGEPAGE);
  return p;
}

void bn_hist_free(struct bn_hist *h)
{
  if (h != NULL)
    (void)munmap(h, sizeof *h);
}

uint64_t bn_hist_lowest(size_t index)
{
  return bn_hist_bucket_lowest(index, BN_HIST_SUB_BITS);
}

uint64_t bn_hist_highest(size_t index)
{
  return bn_hist_lowest(index + 1) - 1;
}

/* Marks a page, whose buckets may then be other than 0.  Its bit is read first, because most pages
   are marked already. */
static void hist_touch(struct bn_hist *h, size_t page)
{
  if (!hist_page_is_touched(h, page))
    atomic_fetch_or_explicit(&h->touched, UINT64_C(1) << page, memory_order_relaxed);
}

void bn_hist_record_shared(struct bn_hist *h, uint64_t ns)
{
  if (__builtin_expect(ns >> BN_HIST_TOP_BIT, 0)) {
    atomic_fetch_add_explicit(&h->overflow, 1, memory_order_relaxed);
    return;
  }
  const size_t i = bn_hist_index(ns);

  hist_touch(h, i / BN_HIST_PAGE);
  /* The one writer that takes the count past BN_HIST_LOW_MOST moves it.  Until it has done so, the
     32 bits have room for about as many records of other writers. */
  if (atomic_fetch_add_explicit(&h->bucket[i], 1, memory_order_relaxed) == BN_HIST_LOW_MOST)
    hist_move(h, i, 0);
}

void bn_hist_record_rare(struct bn_hist *h, uint64_t ns)
{
  bn_hist_put(h, ns, 1);
}

/* Adds n to the count of a bucket, whose only writer is this thread, or to the overflow. */
static void hist_increase(struct bn_hist *h, size_t i, uint64_t n)
{
  if (i >= BN_HIST_BUCKETS) {
    hist_store(&h->overflow, hist_load(&h->overflow) + n);
    return;
  }
  hist_touch(h, i / BN_HIST_PAGE);
  hist_set(h, i, hist_count(h, i) + n);
}

void bn_hist_put(struct bn_hist *h, uint64_t ns, uint64_t n)
{
  hist_increase(h, ns >> BN_HIST_TOP_BIT != 0 ? BN_HIST_BUCKETS : bn_hist_index(ns), n);
}

void bn_hist_put_parts(struct bn_hist *h, const struct bn_hist_part *part, size_t n)
{
  for (size_t i = 0; i < n; i++)
    hist_increase(h, part[i].index, part[i].count);
}

void bn_hist_add(struct bn_hist *into, const struct bn_hist *from)
{
  for (size_t i = hist_next_used(from, 0); i < BN_HIST_BUCKETS; i = hist_next_used(from, i + 1))
    hist_increase(into, i, hist_count(from, i));
  hist_increase(into, BN_HIST_BUCKETS, hist_load(&from->overflow));
}

/* The number of values in one histogram or several. */
struct sum {
  uint64_t total;
  bool fits; /* total has not overflowed */
};

/* Adds the count of a bucket to a struct sum; for bn_hist_each. */
static void hist_add_count(void *arg, uint64_t lowest, uint64_t highest, uint64_t count)
{
  struct sum *s = arg;

  (void)lowest;
  (void)highest;
  s->total += count;
  if (s->total < count)
    s->fits = false;
}

bool bn_hist_sum_fits(const struct bn_hist *a, const struct bn_hist *b)
{
  struct sum sum = {.fits = true};

  bn_hist_each(a, hist_add_count, &sum);
  bn_hist_each(b, hist_add_count, &sum);
  return sum.fits;
}

bool bn_hist_has_at_most(const struct bn_hist *h, uint64_t most)
{
  struct sum sum = {.fits = true};

  bn_hist_each(h, hist_add_count, &sum);
  return sum.fits && sum.total <= most;
}

void bn_hist_sub(struct bn_hist *from, const struct bn_hist *base)
{
  for (size_t i = hist_next_used(base, 0); i < BN_HIST_BUCKETS; i = hist_next_used(base, i + 1))
    hist_set(from, i, hist_count(from, i) - hist_count(base, i));
  hist_store(&from->overflow, hist_load(&from->overflow) - hist_load(&base->overflow));
}

void bn_hist_clear(struct bn_hist *h)
{
  for (size_t i = hist_next_used(h, 0); i < BN_HIST_BUCKETS; i = hist_next_used(h, i + 1))
    hist_set(h, i, 0);
  hist_store(&h->touched, 0);
  hist_store(&h->overflow, 0);
}

uint64_t bn_hist_count(const struct bn_hist *h)
{
  uint64_t n = hist_load(&h->overflow);

  for (size_t i = hist_next_used(h, 0); i < BN_HIST_BUCKETS; i = hist_next_used(h, i + 1))
    n += hist_count(h, i);
  return n;
}

uint64_t bn_hist_percentile(const struct bn_hist *h, double percent)
{
  const uint64_t count = bn_hist_count(h);

  if (count == 0)
    return 0;
  const double rank = floor((double)count * percent / 100 + 0.5);

  /* As a double, a count near 2^64 may be rounded up to 2^64, which is no uint64_t. */
  return bn_hist_value_at_rank(h, NULL, rank >= (double)count ? count : (uint64_t)rank);
}

/* Returns the first bucket at or after i that is not empty in a or in b, which may be NULL. */
static size_t hist_next_used_of_both(const struct bn_hist *a, const struct bn_hist *b, size_t i)
{
  const size_t in_a = hist_next_used(a, i);
  const size_t in_b = b != NULL ? hist_next_used(b, i) : BN_HIST_BUCKETS;

  return in_a < in_b ? in_a : in_b;
}

uint64_t bn_hist_value_at_rank(const struct bn_hist *h, const struct bn_hist *more, uint64_t rank)
{
  uint64_t seen = 0;

  for (size_t i = hist_next_used_of_both(h, more, 0); i < BN_HIST_BUCKETS;
       i = hist_next_used_of_both(h, more, i + 1)) {
    seen += hist_count(h, i) + (more != NULL ? hist_count(more, i) : 0);
    if (seen >= rank)
      return bn_hist_highest(i);
  }
  return UINT64_MAX;
}

bool bn_hist_bounds(const struct bn_hist *h, uint64_t *lowest, uint64_t *highest)
{
  const bool has_overflow = hist_load(&h->overflow) != 0;
  const size_t first = hist_next_used(h, 0);
  size_t last = first;

  if (first == BN_HIST_BUCKETS && !has_overflow)
    return false;
  for (size_t i = first; i < BN_HIST_BUCKETS; i = hist_next_used(h, i + 1))
    last = i;
  *lowest = bn_hist_lowest(first); /* BN_HIST_BUCKETS if only the overflow has values */
  *highest = has_overflow ? UINT64_MAX : bn_hist_highest(last);
  return true;
}

void bn_hist_each(const struct bn_hist *h,
                  void (*fn)(void *arg, uint64_t lowest, uint64_t highest, uint64_t count),
                  void *arg)
{
  const uint64_t overflow = hist_load(&h->overflow);

  for (size_t i = hist_next_used(h, 0); i < BN_HIST_BUCKETS; i = hist_next_used(h, i + 1))
    fn(arg, bn_hist_lowest(i), bn_hist_highest(i), hist_count(h, i));
  if (overflow != 0)
    fn(arg, bn_hist_lowest(BN_HIST_BUCKETS), UINT64_MAX, overflow);
}
