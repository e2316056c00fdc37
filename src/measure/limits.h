/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits of the host on threads and open files: of the user, of control groups, of the kernel.

   Those on threads are read from /proc and /sys before a run, and again when one was refused. */
#ifndef BN_MEASURE_LIMITS_H
#define BN_MEASURE_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#include "base/demand.h"

enum { BN_LIMITS_MAX = 16 };

/* Not to be copied: each demand has pointers to the texts beside it. */
struct bn_limits {
  size_t n;
  struct bn_limit {
    struct bn_demand demand; /* of all threads */
    char by[256], remedy[256];
  } limit[BN_LIMITS_MAX];
};

/* Those that are set and can be read below `root` (""; a folder with made-up files in tests), for
   that many threads, each with a stack of that size. */
void bn_limits_read(struct bn_limits *l, const char *root, unsigned threads, uint64_t stack_bytes);
/* What a process may have open, and has; -1: unlimited. */
struct bn_limits_range {
  int64_t used, soft, hard;
};
/* The same for so many more files and connections; the last one is the process's. */
void bn_limits_files(struct bn_limits *l, const char *root, unsigned files,
                     const struct bn_limits_range *range);
/* The limit that leaves less than some threads need: it is why the next one was refused.
   NULL: none does.  n is what was read for. */
const struct bn_demand *bn_limits_met(const struct bn_limits *l, unsigned n);

#endif
