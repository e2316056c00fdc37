/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The assertions of a run: which it can measure, and what became of them. */
#ifndef BN_ENGINE_JUDGE_H
#define BN_ENGINE_JUDGE_H

#include <stddef.h>

#include "base/err.h"
#include "measure/assert.h"
#include "measure/facts.h"
#include "measure/view.h"

struct bn_judge {
  const struct bn_assert *asserts; /* borrowed */
  size_t n;
};

void bn_judge_init(struct bn_judge *j, const struct bn_assert *asserts, size_t n);
/* Before the run.  -1: err names an assertion about something that will not be measured. */
int bn_judge_check(const struct bn_judge *j, const struct bn_assert_scope *scope,
                   struct bn_err *err);
/* The final report; v NULL: nothing was measured.  The verdicts go into the facts. */
void bn_judge_total(struct bn_judge *j, const struct bn_view *v, const struct bn_view_rules *rules,
                    struct bn_facts *f);

#endif
