/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The assertions of a run: which it can measure, how long each has been violated, and what became
   of them.

   A second counts if it violates the assertion by itself, and one in which it holds begins anew.
   Once an assertion has ended the run, it does not hold, whatever the final report says. */
#ifndef BN_ENGINE_ASSERTS_H
#define BN_ENGINE_ASSERTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "measure/assert.h"
#include "measure/facts.h"
#include "measure/view.h"

struct bn_asserts {
  const struct bn_assert *asserts; /* borrowed */
  size_t n;
  double patience_s;                    /* --abort-on-assert; 0: no assertion ends the run */
  double violated_s[BN_ASSERTS_MAX];    /* the reporting thread's */
  _Atomic(const struct bn_assert *) by; /* what ended the run; NULL: nothing did */
};

void bn_asserts_init(struct bn_asserts *j, const struct bn_assert *asserts, size_t n,
                     double patience_s);
/* Before the run.  -1: err names an assertion about something that will not be measured. */
int bn_asserts_check(const struct bn_asserts *j, const struct bn_assert_scope *scope,
                     struct bn_err *err);
/* A difference of about a second.  The reporting thread, in the order of time.  Returns what has
   been violated for too long; NULL: nothing has. */
const struct bn_assert *bn_asserts_second(struct bn_asserts *j, const struct bn_view *v,
                                          const struct bn_view_rules *rules);
/* The final report; v NULL: nothing was measured.  The verdicts go into the facts. */
void bn_asserts_total(struct bn_asserts *j, const struct bn_view *v,
                      const struct bn_view_rules *rules, struct bn_facts *f);
/* After that.  false: one does not hold, or has no verdict. */
bool bn_asserts_holds(const struct bn_asserts *j, const struct bn_facts *f);
/* The same, and logs the assertions that do not hold, or (all) each of them. */
bool bn_asserts_log(const struct bn_asserts *j, const struct bn_facts *f, bool all);

#endif
