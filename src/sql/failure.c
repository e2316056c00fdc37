/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Failures on a connection, and the repetition of events that they have ended: carries out the
   decisions of recover.h. */
#include "sql/failure.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "base/log.h"
#include "base/rng.h"
#include "measure/facts.h"
#include "measure/stat.h"
#include "sql/conn.h"
#include "sql/count.h"
#include "sql/errors.h"
#include "sql/recover.h"

/* Names the error by its number, or else by its SQLSTATE, escaped, because a server or a proxy may
   have filled it with any bytes. */
static void failure_name_error(const struct bn_sql_diag *d, char *label, size_t size)
{
  if (d->code != 0)
    (void)snprintf(label, size, "%d", d->code);
  else
    (void)bn_escape(label, size, d->state[0] != '\0' ? d->state : "unknown", "");
}

/* Counts the error, in total and under its label.  The class and the message of the first error of
   a label become facts, because most errors of a label are the same. */
static void failure_count_error(struct bn_sql_conn *c)
{
  const enum bn_sql_class class = bn_sql_errors_classify(c->drv->ops, &c->diag);
  const struct bn_services *services = c->session->services;
  char label[BN_LABEL_LEN];

  failure_name_error(&c->diag, label, sizeof label);
  if (services->count_label(services->of, BN_L_ERRORS, label)) { /* it is the first one */
    services->fact(services->of, BN_ERROR_CLASSES, label, bn_sql_errors_class(class)->name);
    services->fact(services->of, BN_ERROR_MESSAGES, label, c->diag.text);
  }
  bn_stat_count(c->session->stat, BN_C_ERROR, 1);
}

/* Returns whether a new connection to the same address may reach another server: the address can be
   that of a proxy, or pass from one server to another.  A database in memory would be gone.
   Dialects stay where they are, as sysbench does. */
static bool failure_may_reach_other_server(const struct bn_sql_conn *c)
{
  return bn_policy_is_native(c->sys->policy) && c->drv->ops->place != NULL;
}

/* Returns whether the connection is open and its transaction can only be rolled back. */
static bool failure_is_transaction_aborted(const struct bn_sql_conn *c)
{
  return c->state == BN_CONN_OPEN && bn_sql_link_is_aborted(&c->link);
}

/* Opens the connection again.  Whether or not that succeeds, the script sees the failure of its
   statement, as an ignorable one.  counts: a failure to connect is counted as an error. */
static void failure_reconnect(struct bn_sql_conn *c, bool counts)
{
  const bool was_over = bn_policy_is_native(c->sys->policy) && bn_session_over(c->session);
  const struct bn_sql_diag statement_diag = c->diag;

  if (bn_sql_reconnect(c) != 0 && counts) {
    /* If the run was over, its end and not the server has ended the attempt: the error of the
       statement is counted instead. */
    if (was_over)
      c->diag = statement_diag;
    failure_count_error(c);
  }
  c->diag = statement_diag;
  c->view.error = BN_VERDICT_IGNORABLE;
  c->view.sql_errno = c->diag.code;
}

void bn_sql_roll_back(struct bn_sql_conn *c)
{
  static const char rollback[] = "ROLLBACK";
  /* In a dialect in which unread results block statements, they block ROLLBACK too. */
  const bool is_blocked = c->cur.more && c->sys->policy->unread_results_block;
  const struct bn_sql_link *link = &c->link;
  struct bn_sql_diag d = {0};
  enum bn_sql rc;

  c->failure.rollback_due = false;
  if (c->state != BN_CONN_OPEN || is_blocked)
    return;
  if (link->ops->transaction != NULL && link->ops->transaction(link->handle) == BN_TRANSACTION_OWN)
    return; /* no transaction is open */
  (void)bn_sql_conn_drop_results(c, NULL);
  bn_sql_trace(&c->sys->trace, c->session, rollback, strlen(rollback));
  rc = bn_sql_link_execute(link, rollback, NULL, &d);
  /* A transaction that the server does not roll back, as within XA, ends with the connection. */
  if (rc == BN_SQL_LOST || (rc != BN_SQL_DONE && failure_may_reach_other_server(c)))
    c->state = BN_CONN_LOST;
  if (c->state == BN_CONN_LOST)
    failure_reconnect(c, false /* not counted */);
}

/* Carries out IGNORE and RECONNECT: the script may repeat its event. */
static void failure_ignore(struct bn_sql_conn *c, const struct bn_sql_recovery *r)
{
  const bool was_open = c->state == BN_CONN_OPEN;

  c->view.error = BN_VERDICT_IGNORABLE;
  if (bn_log_get_verbosity() >= BN_DEBUG) /* the text ends as in sysbench */
    bn_log(BN_DEBUG, "Ignoring error %u %s, ", (unsigned)c->diag.code, bn_sql_shown(&c->diag).text);
  if (was_open) {
    if (r->counts)
      failure_count_error(c);
    c->failure.rollback_due |= r->roll_back;
    /* sysbench sends ROLLBACK at once if the server carries out nothing else. */
    if (r->roll_back && !bn_policy_is_native(c->sys->policy) && failure_is_transaction_aborted(c))
      bn_sql_roll_back(c);
    /* The server has answered, but is of no use (recover_decide_ignored). */
    if (r->action == BN_SQL_RECONNECT)
      c->state = BN_CONN_LOST;
  }
  /* The loss of a connection counts as an error only if it cannot be opened again. */
  if (c->state == BN_CONN_LOST)
    failure_reconnect(c, r->counts && !was_open);
}

/* Advises, once in a run, to run 'prepare' if the table of a script's statement does not exist.
   Bundled workloads look for their tables before the start. */
static void failure_hint_at_prepare(struct bn_sql_conn *c)
{
  const struct bn_driver *ops = c->drv->ops;

  if (!bn_policy_is_native(c->sys->policy) || c->session->services->is_command)
    return;
  if (ops->missing == NULL || !ops->missing(&c->diag))
    return;
  if (!atomic_exchange(&c->sys->remedy_reported, true))
    bn_log_hint("the table does not exist: if the script has 'prepare', run it first, with the "
                "same options");
}

/* Logs the failure with its remedy, unless it has been logged. */
static void failure_log(struct bn_sql_conn *c)
{
  struct bn_sql_pending_failure *f = &c->failure;

  if (f->logged)
    return;
  f->logged = true;
  bn_sql_log_failure(c->drv->ops, c->sys->policy, f->step, &c->diag, f->sql, f->len);
  bn_sql_log_remedy(c->drv->ops, &c->diag, NULL, &c->sys->remedy_reported);
  failure_hint_at_prepare(c);
}

/* Leaves the decision to the script; until it has answered, the failure is fatal.  A dialect that
   logs failures before it asks (failures_told_first) does not log one without an error of the
   server, such as an empty text, because sysbench does not. */
static void failure_ask(struct bn_sql_conn *c)
{
  const bool has_error = c->diag.code != 0 || c->diag.state[0] != '\0';

  c->view.error = BN_VERDICT_FATAL;
  c->failure.pending = true;
  if (c->sys->policy->failures_told_first && has_error)
    failure_log(c);
}

/* Returns whether the session is in the loop of its events. */
static bool failure_is_in_event(const struct bn_sql_conn *c)
{
  return atomic_load_explicit(&c->session->stat->running, memory_order_relaxed);
}

/* Returns whether the failure ends the session or the run even if the script catches the error,
   because its event would then count as done. */
static bool failure_is_final(const struct bn_sql_conn *c, const struct bn_sql_recovery *r)
{
  /* A hook that is asked about an earlier, kept failure may try statements on the connection. */
  const bool is_in_hook = c->failure.kept != NULL;

  return r->action == BN_SQL_FAIL && !is_in_hook && failure_is_in_event(c) &&
         c->sys->policy->caught_errors_end_run;
}

/* Ends the run or, with --on-thread-error=continue, the session. */
static void failure_end_session(const struct bn_sql_conn *c)
{
  char label[BN_LABEL_LEN];

  failure_name_error(&c->diag, label, sizeof label);
  c->session->services->fail_session(c->session, label, c->diag.text);
}

void bn_sql_leave_session(struct bn_sql_conn *c)
{
  c->view.error = failure_is_in_event(c) ? BN_VERDICT_IGNORABLE : BN_VERDICT_FATAL;
}

/* Returns a description of the connection's failure, on which the decision depends.  `answer` is
   the script's. */
static struct bn_sql_failing failure_describe(const struct bn_sql_conn *c,
                                              enum bn_sql_answer answer)
{
  const enum bn_sql_class class = bn_sql_errors_classify(c->drv->ops, &c->diag);

  return (struct bn_sql_failing){
      .step = c->failure.step,
      .class = class,
      .listed = bn_sql_driver_ignores(c->drv, &c->diag, class),
      .rolled_back = c->diag.rolled_back,
      .lost = c->state == BN_CONN_LOST,
      .may_move = c->places > 1 || failure_may_reach_other_server(c),
      .unrepeatable = c->failure.unrepeatable,
      .asks = c->failure.asks,
      .interrupted = bn_session_interrupted(c->session),
      .preparations_count = c->sys->policy->failed_prepares_count && failure_is_in_event(c),
      .fatal_uncounted = c->sys->policy->fatal_errors_uncounted,
      .aborted = c->failure.rollback_due && failure_is_transaction_aborted(c),
      .answer = answer,
  };
}

/* Carries out the decision about the failure. */
static void failure_act(struct bn_sql_conn *c, const struct bn_sql_recovery *r)
{
  switch (r->action) {
  case BN_SQL_IGNORE:
  case BN_SQL_RECONNECT:
    failure_ignore(c, r);
    break;
  case BN_SQL_ASK:
    failure_ask(c);
    break;
  case BN_SQL_LEAVE:
    bn_sql_leave_session(c);
    break;
  case BN_SQL_FAIL:
    c->view.error = BN_VERDICT_FATAL;
    failure_log(c);
    if (r->counts) {
      failure_count_error(c);
      bn_stat_count(c->session->stat, BN_SQL_C_FATAL, 1);
    }
  }
}

/* Copies the statement's text for bn_sql_failed_text, because a statement that cannot be prepared
   is freed with its text before the script raises the error.  Dialects do not show statements. */
static void failure_copy_text(struct bn_sql_conn *c)
{
  enum { SHOWN_MAX = 4000 };

  c->failed_len = 0;
  if (c->failure.sql == NULL || c->failure.len == 0 || !bn_policy_is_native(c->sys->policy))
    return;
  c->failed_len = c->failure.len < SHOWN_MAX ? c->failure.len : SHOWN_MAX;
  c->failed_text = bn_alloc_resize(c->failed_text, c->failed_len, 1);
  memcpy(c->failed_text, c->failure.sql, c->failed_len);
}

const char *bn_sql_failed_text(const struct bn_sql_conn *c, size_t *len)
{
  *len = c->failed_len;
  return c->failed_len > 0 ? c->failed_text : NULL;
}

/* Makes the failed call, whose outcome is rc and whose error is in c->diag, the failure of the
   connection, which is LOST if rc is. */
static void failure_record(struct bn_sql_conn *c, enum bn_sql rc, enum bn_sql_step step,
                           const char *sql, size_t len)
{
  const bool is_lost = rc == BN_SQL_LOST;

  c->view.sql_errno = c->diag.code;
  c->view.lost = is_lost;
  if (is_lost)
    c->state = BN_CONN_LOST;
  c->failure.logged = false;
  c->failure.step = step;
  c->failure.sql = sql;
  c->failure.len = len;
  failure_copy_text(c);
}

bool bn_sql_handle_failure(struct bn_sql_conn *c, enum bn_sql rc, enum bn_sql_step step,
                           const char *sql, size_t len)
{
  struct bn_sql_failing f;
  struct bn_sql_recovery r;

  failure_record(c, rc, step, sql, len);
  f = failure_describe(c, BN_ANSWER_NONE);
  r = bn_sql_choose_recovery(&f);
  failure_act(c, &r);
  if (failure_is_final(c, &r))
    failure_end_session(c);
  /* bn_sql_settle_failure decides about a pending failure, and needs it until then. */
  if (!c->failure.pending)
    c->diag.rolled_back = false;
  if (step == BN_STEP_QUERY || r.action != BN_SQL_RECONNECT || c->state != BN_CONN_OPEN)
    return false;
  /* Within an event, nothing is tried again on the new connection: the event is repeated from its
     beginning, because its transaction has ended with the old one. */
  if (failure_is_in_event(c) || bn_session_over(c->session))
    return false;
  c->view.error = BN_VERDICT_NONE;
  c->view.sql_errno = 0;
  return true;
}

void bn_sql_defer_failure(struct bn_sql_conn *c)
{
  c->failure.asks = true;
}

void bn_sql_settle_failure(struct bn_sql_conn *c, bool ignore)
{
  const bool was_pending = c->failure.pending;
  struct bn_sql_failing f;
  struct bn_sql_recovery r;

  /* If the script has used the connection before its answer, the failure was kept. */
  if (!was_pending) {
    if (!bn_sql_pending_failure_restore(&c->failure, &c->diag))
      return;
    c->view.sql_errno = c->diag.code;
    failure_copy_text(c);
  }
  c->failure.pending = false;
  f = failure_describe(c, ignore ? BN_ANSWER_IGNORE : BN_ANSWER_FAIL);
  r = bn_sql_choose_recovery(&f);
  failure_act(c, &r);
  if (!was_pending)
    bn_sql_pending_failure_free(&c->failure);
  if (failure_is_final(c, &r))
    failure_end_session(c);
  c->diag.rolled_back = false;
}

bool bn_sql_retry(struct bn_sqlsys *sys, struct bn_session *s, uint64_t tries, bool counts)
{
  const uint64_t now_ns = bn_clock_mono();
  /* Sessions that fail at the same time get different noise.  It does not come from the random
     numbers of the session: its script must find the same ones, whatever fails. */
  const uint64_t noise = bn_rng_mix(now_ns + s->number);
  const struct bn_sql_repetition r =
      bn_sql_choose_repetition(tries, (uint64_t)sys->conf->max_tries, noise);
  const struct bn_sql_session *owner = bn_sql_session_find(s); /* NULL: it has no connection */

  for (struct bn_sql_conn *c = owner != NULL ? owner->all : NULL; c != NULL; c = c->next_all) {
    if (c->failure.rollback_due)
      bn_sql_roll_back(c);
  }
  if (r.wait_ns > 0)
    s->services->pause(s, now_ns + r.wait_ns);
  if (counts && r.fails) {
    bn_stat_count(s->stat, BN_SQL_C_FAILED, 1);
  } else if (counts && !bn_session_over(s)) { /* else the end of the run prevents the retry */
    bn_stat_count(s->stat, BN_SQL_C_RETRIED, tries == 1);
    bn_stat_count(s->stat, BN_SQL_C_RETRIES, 1);
  }
  return !r.fails;
}
