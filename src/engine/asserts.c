/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks each assertion about a view and adds up the seconds in which it is violated. */
#include "engine/asserts.h"

#include <math.h>

#include "base/log.h"

void bn_asserts_init(struct bn_asserts *a, const struct bn_assert *asserts, size_t n,
                     double patience_s)
{
  *a = (struct bn_asserts){.asserts = asserts, .n = n, .patience_s = n > 0 ? patience_s : 0};
}

int bn_asserts_check(const struct bn_asserts *a, const struct bn_assert_scope *scope,
                     struct bn_err *err)
{
  struct bn_err reason = {0};

  for (size_t i = 0; i < a->n; i++)
    if (bn_assert_check(&a->asserts[i], scope, &reason) != 0)
      return bn_err_set(err, BN_ERR_OPTION, "--assert=%s: %s", a->asserts[i].text, reason.text);
  return 0;
}

const struct bn_assert *bn_asserts_judge_second(struct bn_asserts *a, const struct bn_view *v,
                                                const struct bn_view_rules *rules)
{
  /* The view that completes the time may be early by a quarter of its span, or of a second. */
  const double early_s = fmin(v->span_s, 1) / 4;

  for (size_t i = 0; i < a->n; i++) {
    enum bn_assert_second second;

    if (a->unjudged[i])
      continue;
    second = bn_assert_judge_second(&a->asserts[i], v, rules);
    if (second == BN_SECOND_HOLDS)
      a->violated_s[i] = 0;
    if (second != BN_SECOND_VIOLATED)
      continue;
    a->violated_s[i] += v->span_s;
    if (a->violated_s[i] + early_s >= a->patience_s) {
      atomic_store(&a->by, &a->asserts[i]);
      return &a->asserts[i];
    }
  }
  return NULL;
}

void bn_asserts_judge_total(struct bn_asserts *a, const struct bn_view *v,
                            const struct bn_view_rules *rules, struct bn_facts *f)
{
  const struct bn_assert *ended_by = atomic_load(&a->by);

  for (size_t i = 0; i < a->n; i++) {
    const struct bn_assert *assertion = &a->asserts[i];
    struct bn_finding found = bn_assert_judge(assertion, v, rules);

    found.ended_run = assertion == ended_by;
    if (found.ended_run)
      found.holds = false;
    bn_facts_add_verdict(f, assertion->text, assertion->unit, &found);
  }
}

void bn_asserts_prove(struct bn_asserts *a, const struct bn_proof *proof, struct bn_facts *f)
{
  a->proof = *proof; /* for bn_asserts_log */
  for (size_t i = 0; i < a->n && i < f->n_verdicts; i++)
    if (a->asserts[i].what == BN_ASSERT_PROOF)
      f->verdict[i].found = (struct bn_finding){.value = proof->violated,
                                                .measured = true,
                                                .at_least = proof->unchecked > 0,
                                                .holds = proof->violated + proof->unchecked == 0};
}

/* Logs how many lines of the proof sheet do not hold or are undecided; nothing if all hold. */
static void asserts_log_proof(const struct bn_proof *p, const struct bn_finding *found)
{
  if (!found->holds)
    bn_log_stderr("--assert=proof does not hold: of %u lines of the proof sheet, violated: %u, not "
                  "checked: %u, undecided: %u",
                  p->lines, p->violated, p->unchecked, p->undecided);
  else if (p->undecided > 0)
    bn_log_note("--assert=proof holds, but of %u lines of the proof sheet, undecided: %u; they "
                "neither hold nor are violated, because the run was too short or did not measure "
                "them",
                p->lines, p->undecided);
}

bool bn_asserts_log(const struct bn_asserts *a, const struct bn_facts *f, bool logs_all)
{
  bool all_hold = f->n_verdicts == a->n; /* an assertion without a verdict does not hold */
  char shown[64];

  /* bn_asserts_judge_total has added the verdicts in the order of the assertions. */
  for (size_t i = 0; i < a->n && i < f->n_verdicts; i++) {
    const struct bn_verdict *v = &f->verdict[i];
    const bool was_logged = v->found.ended_run; /* when it ended the run */

    all_hold &= v->found.holds;
    if (v->found.measured && a->asserts[i].what == BN_ASSERT_PROOF)
      asserts_log_proof(&a->proof, &v->found);
    else if (logs_all || (!v->found.holds && !was_logged))
      bn_log_stderr("--assert=%s %s: %s", v->text, v->found.holds ? "holds" : "does not hold",
                    bn_assert_format(v, shown, sizeof shown));
  }
  return all_hold;
}
