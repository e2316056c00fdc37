/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The assertions of a run: the check before it, the time each has been violated, the verdicts.

   Each assertion is judged once a second, and the seconds in which it is violated are added up.  A
   second in which it holds sets the sum to 0, and a second in which neither is known leaves the sum
   as it is.  An assertion that has ended the run does not hold, whatever the final report says. */
#ifndef BN_ENGINE_ASSERTS_H
#define BN_ENGINE_ASSERTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "api/session.h"
#include "base/err.h"
#include "measure/assert.h"
#include "measure/facts.h"
#include "measure/view.h"

struct bn_asserts {
  const struct bn_assert *asserts; /* borrowed */
  size_t n;
  double patience_s;                    /* --abort-on-assert; 0: no assertion ends the run */
  double violated_s[BN_ASSERTS_MAX];    /* used by the reporting thread only */
  bool unjudged[BN_ASSERTS_MAX];        /* assertions that are judged in the final report alone */
  _Atomic(const struct bn_assert *) by; /* the assertion that ended the run; NULL: none did */
  struct bn_proof proof;                /* by which "proof" was judged */
};

/* Borrows n assertions; patience_s: --abort-on-assert. */
void bn_asserts_init(struct bn_asserts *a, const struct bn_assert *asserts, size_t n,
                     double patience_s);
/* Checks, before the run, that the figures of all assertions will be measured.  Returns 0, or -1
   and err, which names the first assertion whose figure will not be. */
int bn_asserts_check(const struct bn_asserts *a, const struct bn_assert_scope *scope,
                     struct bn_err *err);
/* Judges a view of about one second, or an interval of several hosts.  The reporting thread calls
   it, in the order of time.  Returns the assertion that has been violated for too long, or NULL. */
const struct bn_assert *bn_asserts_judge_second(struct bn_asserts *a, const struct bn_view *v,
                                                const struct bn_view_rules *rules);
/* Judges the final report and adds the verdicts to the facts. v is NULL if nothing was measured. */
void bn_asserts_judge_total(struct bn_asserts *a, const struct bn_view *v,
                            const struct bn_view_rules *rules, struct bn_facts *f);
/* Completes the verdict of "proof", if it is asserted, after bn_asserts_judge_total.  A line that
   could not be checked may hide a violation. */
void bn_asserts_prove(struct bn_asserts *a, const struct bn_proof *proof, struct bn_facts *f);
/* Logs the assertions that do not hold, or each of them if logs_all, after bn_asserts_judge_total.
   An assertion that ended the run was logged then, and is repeated only if logs_all; a judged
   "proof" is logged by the counts of its lines.  Returns false if an assertion does not hold or has
   no verdict. */
bool bn_asserts_log(const struct bn_asserts *a, const struct bn_facts *f, bool logs_all);

#endif
