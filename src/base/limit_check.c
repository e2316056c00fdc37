/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares the need of a run with the number allowed. */
#include "base/limit_check.h"

#include <string.h>

#include "base/log.h"

/* Returns how much of the limit other clients use; an unknown number counts as 0. */
static int64_t limit_check_count_others(const struct bn_limit_check *c)
{
  return c->others > 0 ? c->others : 0;
}

/* Judges whether the limit is enough for the run, and for the other clients with it. */
static enum bn_judgement limit_check_judge(const struct bn_limit_check *c)
{
  if (c->allowed < 0) /* there is no limit */
    return BN_ENOUGH;
  if (c->needed > c->allowed)
    return c->certain ? BN_REFUSED : BN_TOO_FEW;
  return limit_check_count_others(c) <= c->allowed - c->needed ? BN_ENOUGH : BN_TIGHT;
}

void bn_limit_check_append_remedy(struct bn_buf *b, const char *remedy, int64_t number)
{
  static const char placeholder[] = "%n";
  const char *text = remedy, *found;

  if (remedy == NULL)
    return;
  while ((found = strstr(text, placeholder)) != NULL) {
    (void)bn_buf_printf(b, "%.*s%lld", (int)(found - text), text, (long long)number);
    text = found + strlen(placeholder);
  }
  (void)bn_buf_printf(b, "%s, or ", text); /* the caller appends another remedy */
}

enum bn_judgement bn_limit_check_append(struct bn_buf *b, const struct bn_limit_check *c)
{
  const enum bn_judgement judgement = limit_check_judge(c);
  const long long needed = c->needed, allowed = c->allowed, others = limit_check_count_others(c);

  if (judgement == BN_ENOUGH)
    return judgement;
  (void)bn_buf_printf(b, "%sthe run needs up to %lld %s",
                      judgement == BN_REFUSED ? "" : "warning: ", needed, c->what);
  if (judgement == BN_TIGHT)
    (void)bn_buf_printf(b, "; %s allows %lld, and other clients use %lld: ", c->by, allowed,
                        others);
  else
    (void)bn_buf_printf(b, ", but %s allows %lld: ", c->by, allowed);
  bn_limit_check_append_remedy(b, c->remedy, c->needed + others + c->reserved);
  (void)bn_buf_str(b, c->instead);
  return judgement;
}

enum bn_judgement bn_limit_check_log(const struct bn_limit_check *c)
{
  struct bn_buf b = {.max = 0};
  const enum bn_judgement judgement = bn_limit_check_append(&b, c);

  if (judgement == BN_REFUSED)
    bn_log_stderr("%s", b.data);
  else if (judgement != BN_ENOUGH)
    bn_log_note("%s", b.data);
  bn_buf_done(&b);
  return judgement;
}
