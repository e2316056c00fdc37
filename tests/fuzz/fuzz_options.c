/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzzes option settings: each line of the input is one "name=value" or bare "name". */
#include <stdlib.h>
#include <string.h>

#include "options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void set_line(struct bn_optset *set, char *line)
{
  char *value = strchr(line, '=');

  if (value != NULL)
    *value++ = '\0';
  (void)bn_optset_set(set, line, value, line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct fuzz_values values = {0};
  struct bn_err err = {0};
  struct bn_optset *set = bn_optset_new(&bn_policy_bench);
  char *text = malloc(size + 1);
  struct bn_optset_fault fault;

  if (set == NULL || text == NULL)
    goto out;
  memcpy(text, data, size);
  text[size] = '\0';
  if (bn_optset_add(set, "Options", fuzz_options, &values, false, &err) != 0)
    abort();
  for (char *line = text, *next; line != NULL; line = next) {
    next = strchr(line, '\n');
    if (next != NULL)
      *next++ = '\0';
    set_line(set, line);
  }
  if (!fuzz_values_allowed(&values))
    abort();
  (void)bn_optset_find_unknown(set, false, &fault);
out:
  bn_optset_free(set);
  free(text);
  return 0;
}
