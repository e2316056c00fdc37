/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A kind of lock for the mutex test, as data, and the loop that all kinds are measured with. */
#ifndef BN_TESTS_MUTEX_TYPE_H
#define BN_TESTS_MUTEX_TYPE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"

/* One session's share of the work. */
struct bn_mutex_job {
  char *slot;     /* the array of locks */
  size_t stride;  /* bytes from one lock to the next */
  uint64_t n;     /* how many there are */
  uint64_t times; /* lock operations to do */
  uint64_t loops; /* empty iterations before each */
  struct bn_rng *rng;
  _Atomic uint64_t *counter; /* shared by all sessions and locks */
  void *context;             /* this session's, of context_size */
};

struct bn_mutex_type {
  const char *name;
  bool fifo_spin; /* waiters spin in a fixed order: one without a CPU stops all behind it */
  size_t slot_size, context_size;
  /* slot_size and context_size zeroed bytes, both aligned to a cache line, which live until the
     last session is done.  0 or -1: out of memory. */
  int (*init)(void *slot, unsigned sessions);
  void (*done)(void *slot);
  void (*context_init)(void *context);
  void (*work)(const struct bn_mutex_job *job);
};

/* End with a NULL name.  The second table is empty where Concurrency Kit is absent. */
extern const struct bn_mutex_type bn_mutex_types_posix[], bn_mutex_types_ck[];

/* LOOPS empty iterations, of one cycle each. */
void bn_mutex_spend(uint64_t loops);

/* Not one instruction with a bus lock: what the lock protects is the point.  Atomic, because the
   sanitizer cannot see the locks that are written in assembly. */
static inline void bn_mutex_count(_Atomic uint64_t *counter)
{
  atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
                        memory_order_relaxed);
}

/* Defines work_<name>: pick a lock uniformly, spend the loops outside it, acquire, count, release.
   In ACQUIRE and RELEASE `lock` is the lock and `own` the session's context, both void *. */
#define BN_MUTEX_WORK(NAME, ACQUIRE, RELEASE)                                                      \
  static void work_##NAME(const struct bn_mutex_job *job)                                          \
  {                                                                                                \
    void *const own = job->context;                                                                \
                                                                                                   \
    (void)own;                                                                                     \
    for (uint64_t k = 0; k < job->times; k++) {                                                    \
      void *const lock = job->slot + bn_rng_below(job->rng, job->n) * job->stride;                 \
                                                                                                   \
      bn_mutex_spend(job->loops);                                                                  \
      ACQUIRE;                                                                                     \
      bn_mutex_count(job->counter);                                                                \
      RELEASE;                                                                                     \
    }                                                                                              \
  }

#endif
