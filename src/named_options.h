/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options that name what measure/ or the registry knows: assertions and watchers. */
#ifndef BN_NAMED_OPTIONS_H
#define BN_NAMED_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "api/opt.h"
#include "api/watch.h"
#include "measure/assert.h"

/* All return 0, or -1 after having said why. */

/* --assert; at most BN_ASSERTS_MAX.  A metric that does not exist is told of with all that do. */
int bn_named_asserts(const struct bn_list *list, struct bn_assert *out, size_t *n);
/* --label: each has a key of 1 to BN_LABEL_MAX bytes, and '=' behind it. */
enum { BN_LABEL_MAX = 63 };
int bn_named_labels(const struct bn_list *list);
/* --watch: in the order of the registry, each once; at most BN_WATCHERS_MAX (engine/watch.h).
   first: this is the first host of the run, which watches what all of them share. */
int bn_named_watchers(const struct bn_list *list, bool first, const struct bn_watcher **out,
                      size_t *n);

#endif
