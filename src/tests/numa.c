/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Places memory with libnuma.  It is a module because no other part loads that library. */
#include <errno.h>
#include <numa.h>
#include <numaif.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>

#include "api/placement.h"

/* Returns the node that this thread runs on, or -1 and errno.  Asks the kernel: libnuma reads /sys
   for it, which a chroot need not have. */
static int numa_find_node(void)
{
  unsigned cpu, node;

  return getcpu(&cpu, &node) != 0 ? -1 : (int)node;
}

/* Returns whether this process may take memory from the node. */
static bool numa_is_allowed(unsigned node)
{
  struct bitmask *allowed = numa_get_mems_allowed();
  const bool is_allowed = numa_bitmask_isbitset(allowed, node) != 0;

  numa_free_nodemask(allowed);
  return is_allowed;
}

/* Implements `check` of struct bn_placement. */
static int numa_check(int where, struct bn_err *err)
{
  if (numa_available() < 0)
    return bn_err_set(err, 0, "--memory-numa: this kernel has no support for NUMA");
  if (where >= 0 && (where > numa_max_node() || !numa_is_allowed((unsigned)where)))
    return bn_err_set(err, 0,
                      "--memory-numa=%d: there is no such node, or it has no memory for this "
                      "process (the highest is %d)",
                      where, numa_max_node());
  return 0;
}

/* Keeps this thread on the processors of the node, as far as it may use them: taskset may have
   restricted it.  Returns 0, or -1 and errno. */
static int numa_keep_on_node(int node)
{
  struct bitmask *allowed_cpus = numa_allocate_cpumask();
  struct bitmask *node_cpus = numa_allocate_cpumask();
  int rc = -1;

  if (numa_sched_getaffinity(0, allowed_cpus) >= 0 && numa_node_to_cpus(node, node_cpus) == 0) {
    for (unsigned cpu = 0; cpu < allowed_cpus->size; cpu++)
      if (numa_bitmask_isbitset(node_cpus, cpu) == 0)
        numa_bitmask_clearbit(allowed_cpus, cpu);
    rc = numa_sched_setaffinity(0, allowed_cpus);
  }
  numa_free_cpumask(node_cpus);
  numa_free_cpumask(allowed_cpus);
  return rc;
}

/* Implements `stay` of struct bn_placement. */
static int numa_stay(struct bn_err *err)
{
  const int node = numa_find_node();

  const bool is_only_node = node == 0 && numa_max_node() == 0;

  if (is_only_node) /* there is no other node to move to, and the call may be forbidden */
    return 0;
  if (node < 0 || numa_keep_on_node(node) != 0)
    return bn_err_set(err, errno, "--memory-numa=local: cannot keep a thread on its node: %s",
                      strerror(errno));
  return 0;
}

/* Implements `place` of struct bn_placement, by mbind(2), because the functions of libnuma print
   their errors. */
static int numa_place(void *at, size_t len, int where, struct bn_err *err)
{
  const bool is_interleaved = where == BN_PLACE_INTERLEAVE;
  const int node = where == BN_PLACE_LOCAL ? numa_find_node() : where;
  const int mode = is_interleaved ? MPOL_INTERLEAVE : MPOL_BIND;

  if (node < 0 && !is_interleaved)
    return bn_err_set(err, errno, "--memory-numa=local: cannot find the node of a thread: %s",
                      strerror(errno));
  struct bitmask *nodes = numa_allocate_nodemask();

  if (is_interleaved)
    copy_bitmask_to_bitmask(numa_all_nodes_ptr, nodes);
  else
    numa_bitmask_setbit(nodes, (unsigned)node);
  /* The kernel reads one bit less than it is told. */
  const long rc = mbind(at, len, mode, nodes->maskp, nodes->size + 1, 0);

  if (rc != 0)
    (void)bn_err_set(err, errno, "--memory-numa: cannot place %zu bytes: mbind: %s", len,
                     strerror(errno));
  numa_free_nodemask(nodes);
  return rc == 0 ? 0 : -1;
}

__attribute__((visibility("default"))) extern const struct bn_placement bench_placement;
const struct bn_placement bench_placement = {
    .abi = BN_PLACEMENT_ABI,
    .size = sizeof(struct bn_placement),
    .name = "numa",
    .check = numa_check,
    .stay = numa_stay,
    .place = numa_place,
};
