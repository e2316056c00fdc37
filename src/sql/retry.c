/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events that ignored errors have ended: whether they are repeated, after which wait. */
#include "measure/stat.h"
#include "sql/count.h"
#include "sql/driver.h"
#include "sql/recover.h"

/* Differs between sessions that fail at the same time.  The random numbers of the session belong to
   its script, which is to find the same ones whatever fails. */
static uint64_t noise_of(const struct bn_session *s, uint64_t now_ns)
{
  const uint64_t mixed = (now_ns + s->number) * UINT64_C(0x9e3779b97f4a7c15);

  return mixed >> 32;
}

bool bn_sql_retry(const struct bn_sqlsys *sys, struct bn_session *s, uint64_t tries, bool counts)
{
  const uint64_t now_ns = bn_clock_mono();
  const struct bn_sql_repetition r =
      bn_sql_repeat(tries, (uint64_t)sys->conf->max_tries, noise_of(s, now_ns));

  if (r.wait_ns > 0)
    s->services->pause(s, now_ns + r.wait_ns);
  if (!counts)
    return !r.fails;
  if (r.fails) {
    bn_stat_count(s->stat, BN_SQL_C_FAILED, 1);
  } else if (!bn_session_over(s)) {
    bn_stat_count(s->stat, BN_SQL_C_RETRIED, tries == 1);
    bn_stat_count(s->stat, BN_SQL_C_RETRIES, 1);
  }
  return !r.fails;
}
