/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The locks of the C library for the mutex test, and the empty loop, which all locks use. */
#include <pthread.h>

#include "tests/mutex_type.h"

/* sysbench keeps its empty loop alive with a compiler barrier in each iteration.  The function is
   separate and aligned because a loop that straddles 32 bytes takes longer on many processors, and
   the scores would depend on the code linked before it. */
__attribute__((noinline, aligned(64))) void bn_mutex_spend(uint64_t loops)
{
  for (uint64_t i = 0; i < loops; i++)
    atomic_signal_fence(memory_order_seq_cst);
}

BN_MUTEX_WORK(pthread, (void)pthread_mutex_lock(lock), (void)pthread_mutex_unlock(lock))
BN_MUTEX_WORK(spin, (void)pthread_spin_lock(lock), (void)pthread_spin_unlock(lock))
BN_MUTEX_WORK(rwlock, (void)pthread_rwlock_wrlock(lock), (void)pthread_rwlock_unlock(lock))

/* Defines mutex_posix_init_<name> and mutex_posix_done_<name>. */
#define MUTEX_POSIX_LOCK(NAME, TYPE, ATTRIBUTE)                                                    \
  static int mutex_posix_init_##NAME(void *slot, unsigned sessions)                                \
  {                                                                                                \
    (void)sessions;                                                                                \
    return pthread_##TYPE##_init(slot, ATTRIBUTE) == 0 ? 0 : -1;                                   \
  }                                                                                                \
                                                                                                   \
  static void mutex_posix_done_##NAME(void *slot)                                                  \
  {                                                                                                \
    (void)pthread_##TYPE##_destroy(slot);                                                          \
  }

MUTEX_POSIX_LOCK(pthread, mutex, NULL)
MUTEX_POSIX_LOCK(spin, spin, PTHREAD_PROCESS_PRIVATE)
MUTEX_POSIX_LOCK(rwlock, rwlock, NULL)

const struct bn_mutex_type bn_mutex_types_posix[] = {
    {.name = "pthread",
     .slot_size = sizeof(pthread_mutex_t),
     .init = mutex_posix_init_pthread,
     .done = mutex_posix_done_pthread,
     .work = mutex_work_pthread},
    {.name = "spin",
     .slot_size = sizeof(pthread_spinlock_t),
     .init = mutex_posix_init_spin,
     .done = mutex_posix_done_spin,
     .work = mutex_work_spin},
    {.name = "rwlock",
     .slot_size = sizeof(pthread_rwlock_t),
     .init = mutex_posix_init_rwlock,
     .done = mutex_posix_done_rwlock,
     .work = mutex_work_rwlock},
    {.name = NULL},
};
