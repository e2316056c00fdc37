/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inner loops of the memory test: a call is a pass over a block in single machine words. */
#ifndef BN_TESTS_MEMORY_KERNEL_H
#define BN_TESTS_MEMORY_KERNEL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "api/opt.h"
#include "base/dist.h"
#include "base/rng.h"

enum bn_memory_oper { BN_MEMORY_READ, BN_MEMORY_WRITE, BN_MEMORY_NONE };
enum bn_memory_mode { BN_MEMORY_SEQ, BN_MEMORY_RND };

/* Words are atomic and relaxed: plain loads and stores for the machine, which the compiler may
   neither merge nor drop, and no data race where sessions share one block. */
typedef _Atomic uint64_t bn_memory_word;

struct bn_memory_job {
  bn_memory_word *word; /* 8-byte aligned; shared by all sessions when the scope is global */
  size_t n;             /* words in the block, >= 1 */
  uint64_t tid;         /* the value that 1.1 stores */
  struct bn_rng *rng;
  const struct bn_dist *dist; /* 1.1 draws indexes from --rand-type */
};

typedef void (*bn_memory_kernel)(const struct bn_memory_job *job);

/* Returns the loop of a version.  uniform_only: the loop of 1.0 and 0.5, which stores the number of
   remaining words and draws indexes uniformly whatever the type; else the loop of 1.1, which stores
   the number of the session and draws by the type. */
bn_memory_kernel bn_memory_kernel_get(bool uniform_only, enum bn_memory_oper oper,
                                      enum bn_memory_mode mode, enum bn_dist_type type);

/* --memory-oper=latency follows pointers around a random cycle: every load waits for the previous
   one, so that a turn shows the latency of a load. */
enum {
  BN_CHASE_LINE = 64,   /* bytes between pointers: a pointer in each cache line */
  BN_CHASE_LOADS = 4096 /* loads of an event */
};

/* Links the lines from byte `from` up to byte `to` of an area, multiples of a line, at random
   places into the cycle of all lines before byte `from`, which earlier calls have linked; `at` is
   aligned to a line. */
void bn_chase_link(void *at, size_t from, size_t to, struct bn_rng *rng);
/* Follows BN_CHASE_LOADS pointers and returns the last one. */
const void *bn_chase_follow(const void *at);

#endif
