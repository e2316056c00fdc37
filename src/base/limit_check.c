/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares the need of a run with the number allowed. */
#include "base/limit_check.h"

#include <string.h>

#include "base/log.h"

/* Returns how many other parties use; an unknown number counts as 0. */
static int64_t limit_check_others(const struct bn_limit_check *d)
{
  return d->others > 0 ? d->others : 0;
}

static enum bn_judgement limit_check_judge(const struct bn_limit_check *d)
{
  if (d->allowed < 0 || limit_check_others(d) <= d->allowed - d->needed)
    return BN_ENOUGH;
  if (d->needed <= d->allowed)
    return BN_TIGHT;
  return d->certain ? BN_REFUSED : BN_TOO_FEW;
}

void bn_limit_check_remedy(struct bn_buf *b, const char *remedy, int64_t number)
{
  const char *mark;

  if (remedy == NULL)
    return;
  while ((mark = strstr(remedy, "%n")) != NULL) {
    (void)bn_buf_printf(b, "%.*s%lld", (int)(mark - remedy), remedy, (long long)number);
    remedy = mark + 2;
  }
  (void)bn_buf_printf(b, "%s, or ", remedy);
}

enum bn_judgement bn_limit_check_append(struct bn_buf *b, const struct bn_limit_check *d)
{
  const enum bn_judgement judgement = limit_check_judge(d);
  const long long needed = d->needed, allowed = d->allowed, others = limit_check_others(d);

  if (judgement == BN_ENOUGH)
    return judgement;
  (void)bn_buf_printf(b, "%sthe run needs up to %lld %s",
                      judgement == BN_REFUSED ? "" : "warning: ", needed, d->what);
  if (judgement == BN_TIGHT)
    (void)bn_buf_printf(b, "; %s allows %lld, and %s use %lld: ", d->by, allowed, d->clients,
                        others);
  else
    (void)bn_buf_printf(b, ", but %s allows %lld: ", d->by, allowed);
  bn_limit_check_remedy(b, d->remedy, d->needed + others + d->reserved);
  (void)bn_buf_str(b, d->instead);
  return judgement;
}

enum bn_judgement bn_limit_check_log(const struct bn_limit_check *d)
{
  enum bn_judgement judgement;
  struct bn_buf b;

  bn_buf_init(&b, 0);
  judgement = bn_limit_check_append(&b, d);
  if (judgement == BN_REFUSED)
    bn_log_stderr("%s", b.data);
  else if (judgement != BN_ENOUGH)
    bn_log_note("%s", b.data);
  bn_buf_done(&b);
  return judgement;
}
