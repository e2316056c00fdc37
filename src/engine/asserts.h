/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The assertions of a run: the check before it, the time each has been violated, the verdicts.

   An assertion is judged once a second; a second in which it holds resets the time for which it has
   been violated, and a second in which that cannot be known leaves this time as it is.  An
   assertion that has ended the run does not hold, whatever the final report says. */
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
  bool unjudged[BN_ASSERTS_MAX];        /* those that are judged in the final report alone */
  _Atomic(const struct bn_assert *) by; /* the assertion that ended the run; NULL: none did */
  struct bn_proof proof;                /* by which "proof" was judged */
};

/* Borrows n assertions; patience_s: --abort-on-assert. */
void bn_asserts_init(struct bn_asserts *a, const struct bn_assert *asserts, size_t n,
                     double patience_s);
/* Is called before the run.  Returns -1 if an assertion is about something that will not be
   measured; err names it. */
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
/* Logs the assertions that do not hold, or each of them if `all`.  One that ended the run was
   logged then and is repeated only if `all`; a judged "proof" is logged by the counts of its lines.
   Returns false if an assertion does not hold or has no verdict.  bn_asserts_judge_total comes
   first. */
bool bn_asserts_log(const struct bn_asserts *a, const struct bn_facts *f, bool all);

#endif
