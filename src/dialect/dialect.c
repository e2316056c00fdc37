/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds dialects by name. */
#include "dialect/dialect.h"

#include <string.h>

const struct bn_policy *bn_policy_named(const char *name)
{
  static const struct bn_policy *const all[] = {&bn_policy_11, &bn_policy_10, &bn_policy_05};

  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
    if (strcmp(all[i]->dialect, name) == 0)
      return all[i];
  return NULL;
}
