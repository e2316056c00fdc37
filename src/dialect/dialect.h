/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The forms of bench: the native one, and a dialect for each version of sysbench.  The words of the
   text report in each of them are in report/text/templates.c. */
#ifndef BN_DIALECT_DIALECT_H
#define BN_DIALECT_DIALECT_H

#include "api/policy.h"

extern const struct bn_policy bn_policy_bench, bn_policy_05, bn_policy_10, bn_policy_11;

/* The dialects, in the order in which messages list them; ends with NULL. */
extern const struct bn_policy *const bn_policy_dialects[];
/* Returns the dialect that has this name as a value of --compat, or NULL if none has. */
const struct bn_policy *bn_policy_find(const char *name);

#endif
