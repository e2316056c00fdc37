/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The failure that a script is asked about, until it has answered. */
#include "sql/pending_failure.h"

#include <stdlib.h>
#include <string.h>

/* What failed.  The text is a copy: that of an emulated statement is overwritten by the next. */
struct bn_sql_kept {
  struct bn_sql_diag diag;
  enum bn_sql_step step;
  size_t len;
  bool named; /* text is what failed */
  bool told;
  char text[];
};

/* Without memory it is forgotten: the script still hears of it. */
void bn_sql_pending_failure_keep(struct bn_sql_pending_failure *u, const struct bn_sql_diag *diag)
{
  const bool named = u->sql != NULL;
  const size_t len = named ? u->len : 0;
  struct bn_sql_kept *kept = malloc(sizeof *kept + len + 1);

  bn_sql_pending_failure_free(u);
  u->pending = false;
  u->kept = kept;
  if (kept == NULL)
    return;
  *kept = (struct bn_sql_kept){*diag, u->step, len, named, u->told};
  if (named)
    memcpy(kept->text, u->sql, len);
  kept->text[len] = '\0';
}

void bn_sql_pending_failure_rolled_back(struct bn_sql_pending_failure *u)
{
  if (u->kept != NULL)
    u->kept->diag.rolled_back = true;
}

bool bn_sql_pending_failure_take(struct bn_sql_pending_failure *u, struct bn_sql_diag *diag)
{
  if (u->kept == NULL)
    return false;
  *diag = u->kept->diag;
  u->step = u->kept->step;
  u->sql = u->kept->named ? u->kept->text : NULL;
  u->len = u->kept->len;
  u->told = u->kept->told;
  return true;
}

void bn_sql_pending_failure_free(struct bn_sql_pending_failure *u)
{
  free(u->kept);
  u->kept = NULL;
}
