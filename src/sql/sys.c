/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The SQL layer as a whole: made before a script can ask for a driver, freed after the last use. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "sql/driver.h"

struct bn_sqlsys *bn_sqlsys_new(const struct bn_sql_conf *conf, const struct bn_policy *policy,
                                const struct bn_sql_row *rows, size_t n_rows)
{
  struct bn_sqlsys *sys = calloc(1, sizeof *sys);

  if (sys == NULL)
    return NULL;
  sys->drivers = calloc(n_rows > 0 ? n_rows : 1, sizeof *sys->drivers);
  if (sys->drivers == NULL) {
    free(sys);
    return NULL;
  }
  sys->conf = conf;
  sys->policy = policy;
  sys->by_first_word = policy->statements_by_first_word;
  sys->rows = rows;
  sys->n_rows = n_rows;
  for (size_t i = 0; i < n_rows; i++)
    sys->drivers[i] = (struct bn_sql_driver){.sys = sys,
                                             .index = (unsigned)i,
                                             .host = {.log = bn_log_text,
                                                      .policy = policy,
                                                      .now_ns = bn_clock_mono,
                                                      .verbosity = bn_log_verbosity,
                                                      .notice = bn_log_foreign}};
  pthread_mutex_init(&sys->lock, NULL);
  pthread_mutex_init(&sys->sessions.lock, NULL);
  bn_sql_statement_cache_init(&sys->texts);
  bn_sql_preflight_init(&sys->preflight);
  bn_sql_ledger_init(&sys->ledger);
  bn_sql_verify_init(&sys->verify);
  return sys;
}

void bn_sql_all_connect(struct bn_sqlsys *sys)
{
  bn_sql_preflight_lock(&sys->preflight);
  /* Not written again: by then it is read without the lock. */
  if (!sys->preflight.all_connect)
    sys->preflight.all_connect = true;
  bn_sql_preflight_unlock(&sys->preflight);
}

void bn_sqlsys_tell(const struct bn_sqlsys *sys)
{
  bn_sql_zero_rows_tell(&sys->missed);
  bn_sql_lazy_prepare_tell(&sys->first_uses);
}

void bn_sqlsys_free(struct bn_sqlsys *sys)
{
  if (sys == NULL)
    return;
  bn_sql_retired_free(sys);
  bn_sql_drivers_done(sys);
  bn_sql_verify_done(&sys->verify);
  bn_sql_ledger_done(&sys->ledger);
  bn_sql_preflight_done(&sys->preflight);
  bn_sql_statement_cache_done(&sys->texts);
  pthread_mutex_destroy(&sys->sessions.lock);
  pthread_mutex_destroy(&sys->lock);
  free(sys->drivers);
  free(sys);
}
