/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options --assert, --label and --watch, whose values are checked before a run. */
#ifndef BN_NAMED_OPTIONS_H
#define BN_NAMED_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "api/opt.h"
#include "api/watch.h"
#include "measure/assert.h"

/* All return 0, or -1 after a message that says what is wrong. */

/* Reads the values of --assert into out[0..*n), which has room for BN_ASSERTS_MAX.  The message
   about a metric that does not exist lists all that do. */
int bn_named_asserts(const struct bn_list *list, struct bn_assert *out, size_t *n);
/* Checks the values of --label: each has a key of 1 to BN_LABEL_MAX bytes, and '=' after it. */
enum { BN_LABEL_MAX = 63 };
int bn_named_check_labels(const struct bn_list *list);
/* Finds the watchers of --watch, each once and in the order of the registry, for out[0..*n), which
   has room for BN_WATCHERS_MAX (engine/watch.h).  Watchers of what all hosts share are left out
   unless this is the first host of the run. */
int bn_named_find_watchers(const struct bn_list *list, bool is_first_host,
                           const struct bn_watcher **out, size_t *n);

#endif
