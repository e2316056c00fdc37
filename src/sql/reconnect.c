/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections that were lost: made again, to the next server if there are several, with waits
   between the attempts. */
#include "base/clock.h"
#include "base/log.h"
#include "measure/stat.h"
#include "sql/conn.h"
#include "sql/count.h"
#include "sql/errors.h"
#include "sql/recover.h"

/* Without a deadline of the run, as in `prepare`, reconnecting ends after PATIENCE_S.  An attempt
   to reach one of several servers lasts ATTEMPT_S at most in the first round over all servers,
   twice as long in the next one, and so on, DOUBLINGS times.  A connection that is lost less than
   PROOF_S after it was opened may have been of no use. */
enum { PATIENCE_S = 60, ATTEMPT_S = 2, DOUBLINGS = 3, PROOF_S = 1 };

/* Sets the view after the last attempt, whose failure is logged unless the end of the run has ended
   it.  Returns -1. */
static int reconnect_give_up(struct bn_sql_conn *c, bool is_run_over)
{
  if (!is_run_over)
    bn_sql_log_failure(c->drv->ops, c->sys->policy, BN_STEP_CONNECT, &c->diag, "", 0);
  c->view.error = BN_VERDICT_FATAL;
  c->view.sql_errno = c->diag.code;
  return -1;
}

/* Returns the progress of the session: its events, in a command its statements. */
static uint64_t reconnect_get_progress(const struct bn_sql_conn *c)
{
  const struct bn_stat *st = c->session->stat;

  if (!c->session->services->is_command)
    return bn_stat_get(&st->counter[BN_C_EVENTS]) + bn_stat_get(&st->warm_events);
  return bn_stat_get(&st->counter[BN_C_READ]) + bn_stat_get(&st->counter[BN_C_WRITE]) +
         bn_stat_get(&st->counter[BN_C_OTHER]);
}

/* Returns whether the connection was opened again less than PROOF_S ago, and the session has made
   no progress since. */
static bool reconnect_is_unproven(const struct bn_sql_conn *c)
{
  return c->renewed && c->renewed_progress == reconnect_get_progress(c) &&
         bn_clock_mono() < c->renewed_ns + PROOF_S * BN_NSEC_PER_SEC;
}

/* Lets the next attempt be made to the next server, if there are several. */
static void reconnect_select_next_server(struct bn_sql_conn *c)
{
  if (c->places > 1)
    c->ordinal++;
}

/* Counts a failed attempt, selects the next server, and waits before that if all servers have
   failed in turn.  Returns 0 if the next one is to be tried, or -1 if it is too late, which the
   view says. */
static int reconnect_pass_to_next_server(struct bn_sql_conn *c, uint64_t until_ns)
{
  const bool is_run_over = bn_session_over(c->session);
  const unsigned wait_ms = bn_sql_choose_connect_wait(c->tries, c->places);

  if (is_run_over || bn_clock_mono() >= until_ns)
    return reconnect_give_up(c, is_run_over);
  if (wait_ms > 0) {
    c->session->services->pause(c->session, bn_clock_mono() + wait_ms * BN_NSEC_PER_MSEC);
    if (bn_session_over(c->session))
      return reconnect_give_up(c, true /* the run is over */);
  }
  c->tries++;
  reconnect_select_next_server(c);
  return 0;
}

/* Returns the deadline of the next attempt: until_ns, or, if there are several servers, ATTEMPT_S
   from now, doubled with each round. */
static uint64_t reconnect_attempt_deadline(const struct bn_sql_conn *c, uint64_t until_ns)
{
  const unsigned round = c->tries / c->places;
  const unsigned doublings = round < DOUBLINGS ? round : DOUBLINGS;
  const uint64_t attempt_ns = (ATTEMPT_S * BN_NSEC_PER_SEC) << doublings;

  return c->places > 1 ? bn_clock_min(bn_clock_mono() + attempt_ns, until_ns) : until_ns;
}

/* Opens the connection again, to one server after another.  Returns 0, or -1 if it is too late,
   which the view says. */
static int reconnect_open(struct bn_sql_conn *c, uint64_t until_ns)
{
  while (bn_sql_conn_open(c, reconnect_attempt_deadline(c, until_ns)) != 0) {
    bn_sql_log_remedy(c->drv->ops, &c->diag, "cannot connect again", &c->sys->remedy_reported);
    if (reconnect_pass_to_next_server(c, until_ns) != 0)
      return -1;
  }
  c->renewed = true;
  c->renewed_progress = reconnect_get_progress(c);
  c->renewed_ns = bn_clock_mono();
  bn_log(BN_DEBUG, "Reconnected");
  bn_sql_pending_failure_rolled_back(&c->failure);
  bn_stat_count(c->session->stat, BN_C_RECONNECT, 1);
  bn_sql_conn_count_server(c, BN_SQL_L_RECONNECTS);
  return 0;
}

/* Opens a connection that was lost, to the next server; the server that lost it is the last to be
   tried.  in_vain: the lost connection was of no use, so its loss counts as one more failed
   attempt, and the waits between the attempts go on growing; else the attempts are counted anew.
   Returns as reconnect_open. */
static int reconnect_elsewhere(struct bn_sql_conn *c, bool in_vain, uint64_t until_ns)
{
  const uint64_t from_ns = bn_clock_mono();
  int rc = 0;

  bn_sql_conn_count_server(c, BN_SQL_L_LOSSES);
  if (in_vain) {
    rc = reconnect_pass_to_next_server(c, until_ns);
  } else {
    c->tries = 0;
    reconnect_select_next_server(c);
  }
  if (rc == 0)
    rc = reconnect_open(c, until_ns);
  if (c->owner->measured)
    bn_stat_count(c->session->stat, BN_SQL_C_CONNECTION_WAIT, bn_clock_mono() - from_ns);
  return rc;
}

int bn_sql_reconnect(struct bn_sql_conn *c)
{
  const bool was_closed = c->state == BN_CONN_CLOSED;
  const bool was_lost = c->state == BN_CONN_LOST;
  bool was_in_vain;
  uint64_t until_ns; /* no attempt is made after it */

  if (c->owner == NULL) {
    bn_log(BN_ALERT, "attempt to use an already closed connection");
    bn_sql_refuse(c);
    return -1;
  }
  /* The connection was lost before it was of use, as on a server that lets users in and then
     refuses their statements.  If there is one server, dialects do not distinguish that, as
     sysbench does not. */
  was_in_vain = was_lost && reconnect_is_unproven(c) &&
                (c->places > 1 || bn_policy_is_native(c->sys->policy));
  until_ns = bn_session_deadline(c->session);
  if (until_ns == UINT64_MAX)
    until_ns = bn_clock_mono() + PATIENCE_S * BN_NSEC_PER_SEC;
  bn_log(BN_DEBUG, "Reconnecting");
  /* The hook that is asked about a failure may call this before it answers. */
  if (c->failure.pending)
    bn_sql_pending_failure_keep(&c->failure, &c->diag);
  bn_sql_conn_shut(c);
  /* If the connection cannot be opened again, the script may still disconnect it, as it has not
     done so before: CLOSED would refuse that, GONE does not. */
  if (!was_closed)
    c->state = BN_CONN_GONE;
  if (was_lost)
    return reconnect_elsewhere(c, was_in_vain, until_ns);
  /* If a hook asks for another connection before the last one was of use, the attempts are not
     counted anew. */
  if (!reconnect_is_unproven(c))
    c->tries = 0;
  return reconnect_open(c, until_ns);
}
