/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The SQL layer as a whole: made before a script can ask for a driver, freed after the last use. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "sql/conn.h"
#include "sql/count.h"
#include "sql/emulate.h"

/* Returns the driver of row `index`, which is not loaded yet, with the functions of the program
   that drivers call. */
static struct bn_sql_driver sqlsys_make_driver(struct bn_sqlsys *sys, unsigned index)
{
  return (struct bn_sql_driver){.sys = sys,
                                .index = index,
                                .host = {.log = bn_log_text,
                                         .policy = sys->policy,
                                         .now_ns = bn_clock_mono,
                                         .verbosity = bn_log_set_verbosity,
                                         .notice = bn_log_foreign,
                                         .next_param = bn_sql_find_param,
                                         .alloc = bn_alloc,
                                         .resize = bn_alloc_resize,
                                         .text = bn_alloc_text,
                                         .print = bn_alloc_print}};
}

struct bn_sqlsys *bn_sqlsys_new(const struct bn_sql_conf *conf, const struct bn_policy *policy,
                                const struct bn_sql_driver_entry *rows, size_t n_rows)
{
  struct bn_sqlsys *sys = bn_alloc(1, sizeof *sys);

  sys->drivers = bn_alloc(n_rows, sizeof *sys->drivers);
  sys->conf = conf;
  sys->policy = policy;
  sys->by_first_word = policy->statements_by_first_word;
  bn_sql_metrics_init(sys);
  sys->rows = rows;
  sys->n_rows = n_rows;
  for (unsigned i = 0; i < n_rows; i++)
    sys->drivers[i] = sqlsys_make_driver(sys, i);
  pthread_mutex_init(&sys->lock, NULL);
  pthread_mutex_init(&sys->texts.lock, NULL);
  bn_sql_preflight_init(&sys->preflight);
  bn_sql_verify_init(&sys->verify);
  return sys;
}

void bn_sql_note_all_connect(struct bn_sqlsys *sys)
{
  if (!bn_sql_preflight_lock(&sys->preflight))
    return; /* another session of this worker connects, and has called this function before that */
  /* Sessions read all_connect without the lock once they connect, after their own call.  So only
     the first call may write it, and later calls wait for that one. */
  if (!sys->preflight.all_connect)
    sys->preflight.all_connect = true;
  bn_sql_preflight_unlock(&sys->preflight);
}

void bn_sqlsys_ask_settings(struct bn_sqlsys *sys)
{
  sys->wants_settings = true;
}

void bn_sqlsys_log_end_hints(const struct bn_sqlsys *sys)
{
  bn_sql_end_hints_log(&sys->hints);
}

bool bn_sqlsys_verifies_commits(const struct bn_sqlsys *sys)
{
  return sys->conf->verify_commits;
}

/* Starts, in the main thread, the driver whose servers have the table.  Returns false if it does
   not start; that, and the table that is left, have been logged. */
static bool sqlsys_start_verified(struct bn_sqlsys *sys, struct bn_session *main)
{
  struct bn_sql_driver *drv = sys->drivers;

  /* The search ends, because a driver of the list has made the table. */
  while (drv->ops != sys->verify.drv.ops)
    drv++;
  if (bn_sql_session_get(sys, main, drv) != NULL)
    return true;
  bn_sql_verify_log_left_table(&sys->verify, "");
  return false;
}

int bn_sqlsys_verify(struct bn_sqlsys *sys, struct bn_session *main, struct bn_err *err)
{
  if (!sys->verify.made)
    return 0;
  if (!sqlsys_start_verified(sys, main))
    return bn_err_set(err, 0, "--verify-commits: the database driver does not start");
  return bn_sql_verify_end(&sys->verify, main, err);
}

void bn_sqlsys_drop_commit_table(struct bn_sqlsys *sys, struct bn_session *main)
{
  if (bn_sql_verify_cancel(&sys->verify) && sqlsys_start_verified(sys, main))
    bn_sql_verify_drop(&sys->verify, main);
}

void bn_sqlsys_sample_commits(const struct bn_sqlsys *sys, uint64_t *counter)
{
  const struct bn_sql_commit_counts *c = &sys->verify.counts;

  counter[bn_sql_counter_index(sys, BN_SQL_C_ACKNOWLEDGED)] = c->acknowledged;
  counter[bn_sql_counter_index(sys, BN_SQL_C_MISSING)] = c->missing;
  counter[bn_sql_counter_index(sys, BN_SQL_C_UNKNOWN)] = c->unknown;
  counter[bn_sql_counter_index(sys, BN_SQL_C_UNKNOWN_STORED)] = c->unknown_stored;
}

void bn_sqlsys_free(struct bn_sqlsys *sys)
{
  if (sys == NULL)
    return;
  bn_sql_retired_free(sys);
  bn_sql_drivers_done(sys);
  bn_sql_verify_done(&sys->verify);
  bn_sql_preflight_done(&sys->preflight);
  pthread_mutex_destroy(&sys->texts.lock); /* all statements have been destroyed */
  pthread_mutex_destroy(&sys->lock);
  free(sys->drivers);
  free(sys);
}
