/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks each assertion about a view. */
#include "engine/judge.h"

void bn_judge_init(struct bn_judge *j, const struct bn_assert *asserts, size_t n)
{
  *j = (struct bn_judge){.asserts = asserts, .n = n};
}

int bn_judge_check(const struct bn_judge *j, const struct bn_assert_scope *scope,
                   struct bn_err *err)
{
  struct bn_err why = {0};

  for (size_t i = 0; i < j->n; i++)
    if (bn_assert_check(&j->asserts[i], scope, &why) != 0)
      return bn_err_set(err, BN_ERR_OPTION, "--assert=%s: %s", j->asserts[i].text, why.text);
  return 0;
}

void bn_judge_total(struct bn_judge *j, const struct bn_view *v, const struct bn_view_rules *rules,
                    struct bn_facts *f)
{
  for (size_t i = 0; i < j->n; i++) {
    const struct bn_assert *a = &j->asserts[i];
    const struct bn_finding found = bn_assert_judge(a, v, rules);

    bn_facts_verdict(f, a->text, a->unit, &found);
  }
}
