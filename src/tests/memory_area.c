/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Allocates the blocks of the memory test: plain, from the pool of huge pages, on NUMA nodes. */
#include "tests/memory_area.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/sysinfo.h>

#include "base/log.h"
#include "base/plugin.h"
#include "engine/run.h"
#include "measure/host.h"

/* Parses a placement: "local", "interleave", or the number of a node.  Returns 0, or -1 if the text
   is none of these. */
static int area_read_place(const char *text, int *place)
{
  char *end;
  long node;

  if (strcmp(text, "local") == 0) {
    *place = BN_PLACE_LOCAL;
    return 0;
  }
  if (strcmp(text, "interleave") == 0) {
    *place = BN_PLACE_INTERLEAVE;
    return 0;
  }
  node = strtol(text, &end, 10);
  if (text[0] < '0' || text[0] > '9' || *end != '\0' || node > INT_MAX)
    return -1;
  *place = (int)node;
  return 0;
}

int bn_area_read_placement(struct bn_area_traits *traits, const char *text, struct bn_err *err)
{
  static const struct bn_plugin_kind kind = BN_PLACEMENT_KIND;

  if (text == NULL || text[0] == '\0')
    return 0;
  if (area_read_place(text, &traits->where) != 0)
    return bn_err_set(err, BN_ERR_OPTION, "%s", "");
  traits->numa = bn_plugin_open(&kind, "numa", err);
  if (traits->numa == NULL)
    return bn_plugin_advise(err, "libnuma-dev", "memory-numa");
  return traits->numa->check(traits->where, err);
}

/* Returns the size of a huge page from /proc/meminfo, or 2 MiB if it is not there. */
static size_t area_read_huge_page_size(void)
{
  FILE *f = fopen("/proc/meminfo", "re");
  unsigned long kib = 2048;
  char line[128];

  if (f == NULL)
    return kib * 1024;
  while (fgets(line, sizeof line, f) != NULL)
    if (sscanf(line, "Hugepagesize: %lu kB", &kib) == 1)
      break;
  (void)fclose(f);
  return kib * 1024;
}

/* Logs why huge pages cannot be allocated. */
static void area_log_refused_huge_pages(size_t size, int error)
{
  bn_log_errno(BN_FATAL, error, "Failed to allocate %zu bytes from HugeTLB memory.", size);
  if (error == ENOMEM)
    bn_log_hint("the pool of huge pages is too small: raise sysctl vm.nr_hugepages");
  else if (error == EPERM)
    bn_log_hint("huge pages are for root and the group of sysctl vm.hugetlb_shm_group");
}

/* Allocates an area in the pool of huge pages.  Returns 0, or -1 after it has logged why not. */
static int area_map_huge(struct bn_area *a, size_t size)
{
  const size_t page = area_read_huge_page_size();

  a->size = (size + page - 1) / page * page;
  const int id = shmget(IPC_PRIVATE, a->size, IPC_CREAT | SHM_HUGETLB | 0600);

  if (id < 0) {
    area_log_refused_huge_pages(a->size, errno);
    return -1;
  }
  a->at = shmat(id, NULL, 0);
  if (a->at == (void *)-1) {
    bn_log_errno(BN_FATAL, errno, "Failed to attach shared memory segment,");
    a->at = NULL;
  }
  /* The segment is removed with the last process that is attached. */
  (void)shmctl(id, IPC_RMID, NULL);
  a->shared_segment = true;
  return a->at != NULL ? 0 : -1;
}

/* Maps plain memory.  Returns 0, or -1 if the kernel refuses it. */
static int area_map(struct bn_area *a, size_t size)
{
  a->size = size;
  a->at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (a->at == MAP_FAILED)
    a->at = NULL;
  return a->at != NULL ? 0 : -1;
}

int bn_area_check_run(const struct bn_session *s, struct bn_err *err)
{
  return bn_session_over(s) ? bn_err_set(err, EINTR, "%s", "") : 0;
}

/* Lets the kernel find the huge pages of a piece, so that missing pages are an error instead of a
   SIGBUS at the first write.  They may be missing although shmget() has reserved them in the pool,
   because of the limit of the control group or the NUMA node.  Kernels before 5.14 do not have the
   call, and return EINVAL, which counts as success.  Returns 0, or -1 and err. */
static int area_find_huge_pages(char *at, size_t size, struct bn_err *err)
{
  enum { POPULATE_WRITE = 23 }; /* MADV_POPULATE_WRITE, which older headers lack */

  if (madvise(at, size, POPULATE_WRITE) == 0)
    return 0;
  const bool lacks_pages = errno == EFAULT || errno == ENOMEM;

  if (!lacks_pages)
    return 0;
  return bn_err_set(err, errno,
                    "the pool has no more huge pages for this control group or NUMA node: see "
                    "hugetlb.*.max, vm.nr_hugepages and --memory-numa");
}

/* Fills the area with zeros, so that no page fault falls into the measured time.  Returns 0, or -1
   and err: EINTR without a text if the run is over. */
static int area_fill_with_zeros(char *at, size_t size, bool huge, const struct bn_session *s,
                                struct bn_err *err)
{
  for (size_t done = 0; done < size; done += BN_AREA_PIECE) {
    const size_t len = size - done < BN_AREA_PIECE ? size - done : BN_AREA_PIECE;

    if (bn_area_check_run(s, err) != 0)
      return -1;
    if (huge && area_find_huge_pages(at + done, len, err) != 0)
      return -1;
    memset(at + done, 0, len);
  }
  return 0;
}

int bn_area_open(struct bn_area *a, size_t size, const struct bn_area_traits *traits,
                 const struct bn_session *s, struct bn_err *err)
{
  const int rc = traits->huge ? area_map_huge(a, size) : area_map(a, size);

  if (rc != 0)
    return -1;
  /* The kernel places pages when they are first written. */
  if (traits->numa != NULL && traits->numa->place(a->at, a->size, traits->where, err) != 0)
    return -1;
  return area_fill_with_zeros(a->at, size, traits->huge, s, err);
}

void bn_area_close(struct bn_area *a)
{
  if (a->at == NULL)
    return;
  if (a->shared_segment)
    (void)shmdt(a->at);
  else
    (void)munmap(a->at, a->size);
  a->at = NULL;
}

size_t bn_area_limit(uint64_t ram, uint64_t swap, uint64_t group_limit)
{
  const bool is_limited = group_limit != 0 && group_limit < ram;
  const uint64_t bytes = (is_limited ? group_limit : ram) + swap;

  return bytes > SIZE_MAX ? SIZE_MAX : (size_t)bytes;
}

size_t bn_area_read_limit(bool huge)
{
  struct bn_host host;
  struct sysinfo info;

  if (sysinfo(&info) != 0)
    return SIZE_MAX;
  bn_host_read(&host, "");
  /* The limit of a control group does not count huge pages. */
  const uint64_t group_limit = huge ? 0 : host.memory_limit_bytes;

  return bn_area_limit((uint64_t)info.totalram * info.mem_unit,
                       (uint64_t)info.totalswap * info.mem_unit, group_limit);
}
