/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inside of the memory test, shared by its files only: its options and what they come to. */
#ifndef BN_TESTS_MEMORY_H
#define BN_TESTS_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/run.h"
#include "option/conf.h"
#include "tests/memory_area.h"
#include "tests/memory_kernel.h"
#include "tests/memory_vector.h"

struct bn_memory_conf {
  uint64_t block_size, total_size;
  const char *typed_block_size; /* NULL: the default */
  bool hugetlb;
  char *scope, *oper, *mode, *kernel, *numa;
};

/* What an event is: a pass over words, as the reference's; over vectors; or a number of loads of
   which each waits for the one before. */
enum bn_memory_work { BN_MEMORY_WORDS, BN_MEMORY_VECTORS, BN_MEMORY_LOADS };

struct bn_memory {
  struct bn_session *main; /* the main thread's */
  const struct bn_memory_conf *conf;
  const struct bn_conf *run_conf;
  enum bn_memory_work work;
  bn_memory_kernel kernel;               /* BN_MEMORY_WORDS */
  const struct bn_vector_kernel *vector; /* BN_MEMORY_VECTORS */
  bool local;
  unsigned bytes_counter; /* where a pass counts its bytes */
  uint64_t passes;        /* of all sessions, or of each (each_all); 0: until the time is over */
  bool old;               /* words of 0.5: the total is the limit, also when it is 0 */
  bool no_request;        /* 0.5: random access without an operation is none */
  bool each_all;          /* sessions have parts of one block and do all passes */
  struct bn_area_way way;
  struct bn_area *area; /* owned: one, or one per session */
  unsigned n_areas;
  uint64_t empty_events, empty_ns;
};

/* Counters.  An empty event is timed before the run, so that reports can tell its cost. */
enum {
  BN_MEMORY_BYTES_UNTOUCHED = BN_C_FIXED,
  BN_MEMORY_LOADS_DONE,
  BN_MEMORY_EMPTY_EVENTS,
  BN_MEMORY_EMPTY_NS
};

extern const struct bn_opt bn_memory_options[];

/* Reads m->conf: fills work, kernels, local, way and passes, opens nothing.  0, or -1 and err. */
int bn_memory_read_options(struct bn_memory *m, struct bn_err *err);

#endif
