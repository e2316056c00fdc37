/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The internals of the memory test, for its files only: its options and the values they imply. */
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

/* The work of an event: a pass over words, as in sysbench; over vectors; or a number of loads that
   each wait for the previous one. */
enum bn_memory_work { BN_MEMORY_WORDS, BN_MEMORY_VECTORS, BN_MEMORY_LOADS };

struct bn_memory {
  struct bn_session *main; /* session of the main thread */
  const struct bn_memory_conf *conf;
  const struct bn_conf *run_conf;
  enum bn_memory_work work;
  bn_memory_kernel kernel;               /* BN_MEMORY_WORDS */
  const struct bn_vector_kernel *vector; /* BN_MEMORY_VECTORS */
  bool local;             /* each session has an area of its own (--memory-scope=local) */
  unsigned bytes_counter; /* index of the counter of bytes */
  /* Passes of all sessions together, or of each (each_does_all); 0: until the time is over. */
  uint64_t passes;
  bool short_words; /* 0.5: words of 4 bytes, and the total is the limit even if it is 0 */
  bool no_request;  /* 0.5: random access without an operation, which ends the run with a failure */
  bool each_does_all; /* each session has a part of one block and does all passes */
  struct bn_area_traits traits;
  struct bn_area *area; /* owned: an area, or an area per session */
  unsigned n_areas;
  uint64_t empty_events, empty_ns;
};

/* The counters.  An empty event is timed before the run, so that reports can show its cost. */
enum {
  BN_MEMORY_BYTES_UNTOUCHED = BN_C_FIXED,
  BN_MEMORY_LOADS_DONE,
  BN_MEMORY_EMPTY_EVENTS,
  BN_MEMORY_EMPTY_NS
};

extern const struct bn_opt bn_memory_options[];

/* Checks m->conf, and computes the members from `work` to `traits` for the run of m->run_conf.
   Returns 0, or -1 and err. */
int bn_memory_read_options(struct bn_memory *m, struct bn_err *err);

#endif
