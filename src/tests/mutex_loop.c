/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The empty loop of the mutex test, which all kinds of locks use. */
#include "tests/mutex_type.h"

/* sysbench keeps its empty loop alive with a compiler barrier in each iteration.  The function is
   separate and aligned because a loop that straddles 32 bytes takes longer on many processors, and
   the scores would depend on the code linked before it. */
__attribute__((noinline, aligned(64))) void bn_mutex_spend(uint64_t loops)
{
  for (uint64_t i = 0; i < loops; i++)
    atomic_signal_fence(memory_order_seq_cst);
}
