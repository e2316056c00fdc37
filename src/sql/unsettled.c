/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The failure that a script is asked about, until it has answered. */
#include "sql/unsettled.h"

#include <stdlib.h>

/* What failed; the text is borrowed. */
struct bn_sql_kept {
  struct bn_sql_diag diag;
  enum bn_sql_step step;
  const char *sql;
  size_t len;
  bool told;
};

/* Without memory it is forgotten: the script still hears of it. */
void bn_sql_unsettled_keep(struct bn_sql_unsettled *u, const struct bn_sql_diag *diag)
{
  u->pending = false;
  if (u->kept == NULL)
    u->kept = malloc(sizeof *u->kept);
  if (u->kept != NULL)
    *u->kept = (struct bn_sql_kept){*diag, u->step, u->sql, u->len, u->told};
}

void bn_sql_unsettled_rolled_back(struct bn_sql_unsettled *u)
{
  if (u->kept != NULL)
    u->kept->diag.rolled_back = true;
}

bool bn_sql_unsettled_take(struct bn_sql_unsettled *u, struct bn_sql_diag *diag)
{
  if (u->kept == NULL)
    return false;
  *diag = u->kept->diag;
  u->step = u->kept->step;
  u->sql = u->kept->sql;
  u->len = u->kept->len;
  u->told = u->kept->told;
  return true;
}

void bn_sql_unsettled_free(struct bn_sql_unsettled *u)
{
  free(u->kept);
  u->kept = NULL;
}
