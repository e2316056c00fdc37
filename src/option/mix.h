/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The name of a mix, which is a run of several workloads: "oltp_read_only@8 ./new order.lua@2.5",
   each with its weight.  A blank after a weight separates two workloads. */
#ifndef BN_OPTION_MIX_H
#define BN_OPTION_MIX_H

#include <stdbool.h>
#include <stddef.h>

#include "api/policy.h"
#include "base/err.h"

/* A workload within such a name. */
struct bn_mix_item {
  const char *name; /* not ended by a null byte */
  size_t len;
  double weight;
};

/* Returns whether the text is meant to be "NAME@WEIGHT", or several of them: a number, right or
   wrong, follows its last '@'. */
bool bn_mix_has_weight(const char *text);
/* Returns whether the test, which may be NULL, is a mix.  Dialects know no mixes. */
bool bn_mix_is_test(const struct bn_policy *policy, const char *test);
/* Reads the workload at *pos and moves *pos past it.  Returns 1, 0 if there is no other, or -1 and
   err. */
int bn_mix_next(const char **pos, struct bn_mix_item *item, struct bn_err *err);

#endif
