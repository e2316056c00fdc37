/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A kind of lock for the mutex test, as data, and the loop that measures it. */
#ifndef BN_TESTS_MUTEX_TYPE_H
#define BN_TESTS_MUTEX_TYPE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"

/* The work of a session. */
struct bn_mutex_job {
  char *slot;     /* the array of locks */
  size_t stride;  /* bytes from one lock to the next */
  uint64_t n;     /* number of locks */
  uint64_t times; /* lock operations to do */
  uint64_t loops; /* empty iterations before each operation */
  struct bn_rng *rng;
  _Atomic uint64_t *counter; /* shared by all sessions and locks */
  void *context;             /* context_size bytes of this session */
};

struct bn_mutex_type {
  const char *name;
  bool fifo_spin; /* waiters spin in a fixed order: a waiter without a CPU stops all behind it */
  size_t slot_size, context_size;
  /* The slot and the context are zeroed and aligned to a cache line, and live until the last
     session is done. */
  int (*init)(void *slot, unsigned sessions); /* 0, or -1 if out of memory */
  void (*done)(void *slot);                   /* NULL: nothing to free */
  void (*context_init)(void *context);        /* NULL: zeros are right */
  void (*work)(const struct bn_mutex_job *job);
};

/* The tables end with a NULL name.  The second table is empty where Concurrency Kit is absent. */
extern const struct bn_mutex_type bn_mutex_types_posix[], bn_mutex_types_ck[];

/* Executes `loops` empty iterations, each of about one cycle. */
void bn_mutex_spend(uint64_t loops);

/* Counts without an instruction that locks the bus: the lock has to protect the counter.  The
   accesses are atomic because the sanitizer cannot see the locks that are written in assembly. */
static inline void bn_mutex_count(_Atomic uint64_t *counter)
{
  atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
                        memory_order_relaxed);
}

/* Defines mutex_work_<NAME>(): it picks a lock uniformly, spends the loops before it locks,
   acquires the lock, counts and releases the lock, as often as the job says.  In ACQUIRE and
   RELEASE, `lock` is the lock and `context` is the context of the session, both void *. */
#define BN_MUTEX_WORK(NAME, ACQUIRE, RELEASE)                                                      \
  static void mutex_work_##NAME(const struct bn_mutex_job *job)                                    \
  {                                                                                                \
    void *const context = job->context;                                                            \
                                                                                                   \
    (void)context; /* most locks have none */                                                      \
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
