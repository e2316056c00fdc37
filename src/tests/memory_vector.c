/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds a vector kernel, and defines those that every processor can run. */
#include "tests/memory_vector.h"

#include <stdbool.h>
#include <string.h>

#include "tests/memory_stream.h"

static void memory_vector_copy(const struct bn_vector_job *job)
{
  /* Compilers turn the loop of STREAM into this call, which may write past the caches. */
  memcpy(job->c, job->a, job->bytes);
}

BN_STREAM_KERNELS(plain, , 16)

const struct bn_vector_kernel bn_vector_kernels_plain[] = {
    {.name = "copy", .width = "of memcpy", .reads = 1, .writes = 1, .work = memory_vector_copy},
    BN_STREAM_ROWS(plain, "128 bits", 0),
    {.name = NULL},
};

/* Returns the first kernel in the table that has the name and that the processor can run, or NULL.
   Sets *is_known to true if the table has the name. */
static const struct bn_vector_kernel *memory_vector_find_row(const struct bn_vector_kernel *table,
                                                             const char *name, unsigned features,
                                                             bool *is_known)
{
  for (const struct bn_vector_kernel *k = table; k->name != NULL; k++) {
    const bool can_run = (k->needs & ~features) == 0; /* it needs no feature that is missing */

    if (strcmp(k->name, name) != 0)
      continue;
    *is_known = true;
    if (can_run)
      return k;
  }
  return NULL;
}

const struct bn_vector_kernel *bn_vector_find(const char *name, unsigned features,
                                              struct bn_err *err)
{
  bool is_known = false;
  const struct bn_vector_kernel *k =
      memory_vector_find_row(bn_vector_kernels_wide, name, features, &is_known);

  if (k == NULL)
    k = memory_vector_find_row(bn_vector_kernels_plain, name, features, &is_known);
  if (k == NULL && is_known)
    (void)bn_err_set(err, 0,
                     "--memory-kernel=%s: this processor lacks AVX, which the kernel is made of; "
                     "use copy, scale, add or triad",
                     name);
  else if (k == NULL)
    (void)bn_err_set(err, BN_ERR_OPTION, "Invalid value for memory-kernel: %s", name);
  return k;
}
