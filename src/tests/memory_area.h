/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory that the memory test goes through: allocated, placed on NUMA nodes, given back. */
#ifndef BN_TESTS_MEMORY_AREA_H
#define BN_TESTS_MEMORY_AREA_H

#include <stdbool.h>
#include <stddef.h>

#include "api/placement.h"
#include "api/workload.h"

struct bn_area {
  void *at; /* page aligned; NULL: none */
  size_t size;
  bool shared_segment;
};

/* How areas are made. */
struct bn_area_way {
  bool huge;                       /* from the pool of huge pages */
  const struct bn_placement *numa; /* NULL: where the kernel puts them */
  int where;                       /* with numa: a node, BN_PLACE_LOCAL or BN_PLACE_INTERLEAVE */
};

/* "local", "interleave" or a node's number; opens the module and asks it.  NULL or "": no
   placement.  0, or -1 and err. */
int bn_area_placement(struct bn_area_way *way, const char *text, struct bn_err *err);
/* Zero-filled by writing, so that no page is missing when the clock runs.  0, or -1 and, unless the
   reason has been logged, err: EINTR without a text when s's run is over meanwhile. */
int bn_area_open(struct bn_area *a, size_t size, const struct bn_area_way *way,
                 const struct bn_session *s, struct bn_err *err);
/* Bytes to be written before it is looked again whether the run is over. */
enum { BN_AREA_PIECE = 64 << 20 };
void bn_area_close(struct bn_area *a);
/* Bytes of memory and swap of this machine; SIZE_MAX: unknown. */
size_t bn_area_limit(void);

#endif
