/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzzes the reader of configuration files: the input is the file. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct fuzz_values values = {0};
  struct bn_err err = {0};
  struct bn_optset *set = bn_optset_new(&bn_policy_bench);
  const int fd = memfd_create("options", 0);
  char path[64];

  if (set == NULL || fd < 0 || write(fd, data, size) != (ssize_t)size)
    goto out;
  if (bn_optset_add(set, "Options", fuzz_options, &values, false, &err) != 0)
    abort();
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  (void)bn_optset_read_file(set, path, &err);
  if (!fuzz_values_allowed(&values))
    abort();
out:
  if (fd >= 0)
    (void)close(fd);
  bn_optset_free(set);
  return 0;
}
