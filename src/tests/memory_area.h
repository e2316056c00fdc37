/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory that the memory test accesses: allocated, placed on NUMA nodes, freed. */
#ifndef BN_TESTS_MEMORY_AREA_H
#define BN_TESTS_MEMORY_AREA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/placement.h"
#include "api/workload.h"

struct bn_area {
  void *at; /* page aligned; NULL: not open */
  size_t size;
  bool shared_segment;
};

/* The properties of the areas to be made. */
struct bn_area_traits {
  bool huge;                       /* takes pages from the pool of huge pages */
  const struct bn_placement *numa; /* the module; NULL: the kernel chooses the place */
  int where;                       /* with numa: a node, BN_PLACE_LOCAL or BN_PLACE_INTERLEAVE */
};

/* Reads a placement ("local", "interleave" or the number of a node; NULL or "": none) and opens the
   module that checks it.  Returns 0, or -1 and err: BN_ERR_OPTION without a text if the word is
   none of these. */
int bn_area_read_placement(struct bn_area_traits *traits, const char *text, struct bn_err *err);
/* Areas are written in pieces of this size, and bn_area_check_run() is called before each of them,
   because the kernel takes seconds to find the pages of many gigabytes. */
enum { BN_AREA_PIECE = 64 << 20 };
/* Returns 0, or -1 and EINTR without a text in err if the run is over. */
int bn_area_check_run(const struct bn_session *s, struct bn_err *err);
/* Makes an area, and fills it with zeros by writing, so that no page is missing in the measured
   time.  Returns 0, or -1 and err: EINTR without a text if the run is over; err is empty if the
   reason was logged or the kernel refuses the memory.  The caller closes the area in all cases. */
int bn_area_open(struct bn_area *a, size_t size, const struct bn_area_traits *traits,
                 const struct bn_session *s, struct bn_err *err);
/* Frees the area, unless it is not open. */
void bn_area_close(struct bn_area *a);
/* Returns how many bytes a process can have, at most SIZE_MAX: the memory of the machine, or what
   its control group allows of it (0: no limit), and the swap, which that limit does not count. */
size_t bn_area_limit(uint64_t ram, uint64_t swap, uint64_t group_limit);
/* Returns bn_area_limit() of this process, or SIZE_MAX if it is not known.  huge: the memory is
   from the pool of huge pages, which does not count for the limit of a control group. */
size_t bn_area_read_limit(bool huge);

#endif
