/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls each reporter in order, and logs or keeps the errors. */
#include "measure/reporters.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "measure/view.h"

void bn_reporters_init(struct bn_reporters *r, const struct bn_report_use *use, size_t n)
{
  *r = (struct bn_reporters){.slot = bn_alloc(n, sizeof *r->slot), .n = n};
  bn_buf_init(&r->lines, BN_LINES_MAX);
  for (size_t i = 0; i < n; i++)
    r->slot[i] =
        (struct bn_reporters_slot){.use = use[i], .state = bn_alloc(1, use[i].ops->state_size)};
}

void bn_reporters_done(struct bn_reporters *r)
{
  for (size_t i = 0; i < r->n; i++)
    free(r->slot[i].state);
  free(r->slot);
  bn_buf_done(&r->lines);
  r->slot = NULL;
  r->n = 0;
}

/* A reporter's function for the views of one span. */
typedef int view_hook(void *self, const struct bn_view *v, struct bn_err *err);

/* Returns the function of a reporter for views of that span, or NULL if it wants none. */
static view_hook *reporters_find_hook(const struct bn_reporter *ops, enum bn_view_span span)
{
  switch (span) {
  case BN_VIEW_INTERVAL:
    return ops->interval;
  case BN_VIEW_CHECKPOINT:
    return ops->checkpoint;
  case BN_VIEW_TOTAL:
    return ops->total;
  case BN_VIEW_TICK:
    return ops->tick;
  }
  return NULL;
}

bool bn_reporters_want(const struct bn_reporters *r, enum bn_view_span span)
{
  for (size_t i = 0; i < r->n; i++)
    if (reporters_find_hook(r->slot[i].use.ops, span) != NULL)
      return true;
  return false;
}

bool bn_reporters_want_rest(const struct bn_reporters *r)
{
  for (size_t i = 0; i < r->n; i++)
    if (r->slot[i].use.ops->rest)
      return true;
  return false;
}

/* Notes that a call has failed.  If r->err is set, it gets the first error. */
static void reporters_keep_error(struct bn_reporters *r, const struct bn_err *err)
{
  if (r->err != NULL && !r->failed)
    *r->err = *err;
  r->failed = true;
}

/* Handles the result of a call of a reporter; rc 0: it has succeeded.  Returns whether it has.  If
   it has failed, sets r->failed; r->err gets the first error, or if it is NULL, each is logged.  An
   error without a text has been logged before. */
static bool reporters_check(struct bn_reporters *r, int rc, const struct bn_err *err)
{
  if (rc == 0)
    return true;
  if (r->err == NULL && err->text[0] != '\0')
    bn_log(BN_FATAL, "%s", err->text);
  reporters_keep_error(r, err);
  return false;
}

/* --- before the first view -------------------------------------------------------------------- */

/* Opens a reporter, and asks it whether it accepts the plan, unless plan is NULL.  Returns 0, or -1
   and err. */
static int reporters_open_slot(struct bn_reporters_slot *s, const struct bn_plan *plan,
                               struct bn_err *err)
{
  const struct bn_reporter *ops = s->use.ops;

  s->opened = true; /* even if it fails: then the reporter is closed, too */
  if (ops->open != NULL && ops->open(s->state, s->use.conf, s->use.path, s->use.out, err) != 0)
    return -1;
  if (ops->check == NULL || plan == NULL)
    return 0;
  return ops->check(s->state, plan, err);
}

bool bn_reporters_open(struct bn_reporters *r, const struct bn_plan *plan)
{
  for (size_t i = 0; i < r->n; i++) {
    struct bn_err err = {0};

    if (!reporters_check(r, reporters_open_slot(&r->slot[i], plan, &err), &err))
      return false;
    r->replaced |= r->slot[i].use.ops->replaces;
  }
  return true;
}

int bn_reporters_check_plan(const struct bn_reporters *r, const struct bn_plan *plan,
                            struct bn_err *err)
{
  for (size_t i = 0; i < r->n; i++) {
    const struct bn_reporters_slot *s = &r->slot[i];

    if (s->use.ops->check != NULL && s->use.ops->check(s->state, plan, err) != 0)
      return -1;
  }
  return 0;
}

void bn_reporters_begin(struct bn_reporters *r, const struct bn_facts *f)
{
  r->facts = f;
  for (size_t i = 0; i < r->n; i++)
    if (r->slot[i].use.ops->begin != NULL)
      r->slot[i].use.ops->begin(r->slot[i].state, f);
}

void bn_reporters_starting(struct bn_reporters *r, const struct bn_facts *f)
{
  for (size_t i = 0; i < r->n; i++)
    if (r->slot[i].use.ops->starting != NULL)
      r->slot[i].use.ops->starting(r->slot[i].state, f);
}

void bn_reporters_started(struct bn_reporters *r, const struct bn_facts *f)
{
  for (size_t i = 0; i < r->n; i++)
    if (r->slot[i].use.ops->started != NULL)
      r->slot[i].use.ops->started(r->slot[i].state, f);
}

/* --- views ------------------------------------------------------------------------------------ */

/* Passes a view to one reporter.  Returns false if the reporter has failed.  The thread that ends a
   run in spite of slow reports learns from r->in_hook and r->shown how far the total has come. */
static bool reporters_pass_view(struct bn_reporters *r, const struct bn_reporters_slot *s,
                                const struct bn_view *v)
{
  const struct bn_reporter *ops = s->use.ops;
  view_hook *const hook = reporters_find_hook(ops, v->span);
  const bool is_total = v->span == BN_VIEW_TOTAL;
  const bool is_of_script = ops->add != NULL || (ops->replaces & BN_REPLACES_TOTAL) != 0;
  const bool prints_total = is_total && ops == r->text && !v->replaced;
  struct bn_err err = {0};
  int rc = 0;

  atomic_store(&r->in_hook, is_total && is_of_script);
  if (hook != NULL)
    rc = hook(s->state, v, &err);
  atomic_store(&r->in_hook, false);
  if (prints_total)
    atomic_store(&r->shown, true); /* even if it has failed: a part may have been printed */
  return reporters_check(r, rc, &err);
}

/* Points v->lines at the lines that scripts add to the view, or sets it to NULL if there are none
   or a reporter has failed.  Without such scripts, v->lines stays that of a stored result.  Returns
   false if a reporter has failed. */
static bool reporters_collect_lines(struct bn_reporters *r, struct bn_view *v)
{
  bool has_hook = false, ok = true;

  bn_buf_clear(&r->lines);
  for (size_t i = 0; i < r->n; i++) {
    const struct bn_reporters_slot *s = &r->slot[i];
    struct bn_err err = {0};

    if (s->use.ops->add == NULL)
      continue;
    has_hook = true;
    atomic_store(&r->in_hook, v->span == BN_VIEW_TOTAL);
    ok &= reporters_check(r, s->use.ops->add(s->state, v, &r->lines, &err), &err);
    atomic_store(&r->in_hook, false);
  }
  if (has_hook)
    v->lines = ok && r->lines.len > 0 ? r->lines.data : NULL;
  return ok;
}

/* Passes the members of a run, the groups of its hosts, to one reporter, if it takes them.  Returns
   false if it has failed. */
static bool reporters_pass_members(struct bn_reporters *r, const struct bn_reporters_slot *s,
                                   const struct bn_group *member, size_t n_members)
{
  struct bn_err err = {0};

  if (n_members == 0 || s->use.ops->members == NULL)
    return true;
  return reporters_check(r, s->use.ops->members(s->state, member, n_members, &err), &err);
}

/* Has the reporters print a view because the hooks of a script that replace it have failed. */
static void reporters_print_instead(struct bn_reporters *r, const struct bn_view *v)
{
  for (size_t i = 0; i < r->n; i++) {
    const struct bn_reporters_slot *s = &r->slot[i];
    struct bn_err err = {0};

    if (s->use.ops->instead != NULL)
      (void)reporters_check(r, s->use.ops->instead(s->state, v, &err), &err);
  }
}

/* Passes a view, with the lines that scripts add, and after it the members of the run, to all
   reporters, even if one of them fails.  v->replaced tells each reporter whether another one prints
   the view.  Returns false if a reporter has failed. */
static bool reporters_pass_to_all(struct bn_reporters *r, struct bn_view *v,
                                  const struct bn_group *member, size_t n_members)
{
  /* Hooks that replace the total also replace checkpoints. */
  const unsigned replace_bit =
      v->span == BN_VIEW_INTERVAL ? BN_REPLACES_INTERVAL : BN_REPLACES_TOTAL;
  const bool may_print_instead = v->span == BN_VIEW_CHECKPOINT || v->span == BN_VIEW_TOTAL;
  const bool was_replaced = v->replaced; /* by the script on each host */
  bool ok = true, replacement_failed = false;

  if (v->span == BN_VIEW_TOTAL) { /* kept for reporters_rescue() */
    r->total = v;
    r->member = member;
    r->n_members = n_members;
  }
  if (v->span != BN_VIEW_TICK)
    ok &= reporters_collect_lines(r, v);
  for (size_t i = 0; i < r->n; i++) {
    struct bn_reporters_slot *s = &r->slot[i];
    const bool replaces = (s->use.ops->replaces & replace_bit) != 0;
    const bool other_replaces = (r->replaced & replace_bit) != 0 && !replaces;

    v->replaced = was_replaced || other_replaces;
    if (!reporters_pass_view(r, s, v) || !reporters_pass_members(r, s, member, n_members)) {
      ok = false;
      replacement_failed |= replaces;
    }
  }
  if (replacement_failed && may_print_instead)
    reporters_print_instead(r, v);
  return ok;
}

bool bn_reporters_total(struct bn_reporters *r, struct bn_view *v, const struct bn_group *g,
                        size_t n)
{
  return reporters_pass_to_all(r, v, g, n);
}

bool bn_reporters_view(struct bn_reporters *r, struct bn_view *v)
{
  return reporters_pass_to_all(r, v, NULL, 0);
}

void bn_reporters_ended(struct bn_reporters *r)
{
  for (size_t i = 0; i < r->n; i++)
    if (r->slot[i].use.ops->ended != NULL)
      r->slot[i].use.ops->ended(r->slot[i].state);
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Has a reporter finish its report.  Threads that were abandoned may still add facts, so the lock
   is held.  Returns 0, or -1 and err. */
static int reporters_finish_slot(struct bn_reporters *r, struct bn_reporters_slot *s,
                                 const struct bn_end *end, struct bn_err *err)
{
  int rc;

  if (s->use.ops->finish == NULL)
    return 0;
  if (r->lock != NULL)
    (void)pthread_mutex_lock(r->lock);
  rc = s->use.ops->finish(s->state, end, err);
  if (r->lock != NULL)
    (void)pthread_mutex_unlock(r->lock);
  return rc;
}

/* Closes a report.  If r->err holds the error of an earlier call, `close` gets NULL instead of err,
   which tells the reporter that its report is not complete.  Returns 0, or -1 and, if `close` got
   it, err. */
static int reporters_close_slot(const struct bn_reporters *r, struct bn_reporters_slot *s,
                                struct bn_err *err)
{
  const bool has_error = r->err != NULL && r->failed;

  s->opened = false; /* even if it fails: it is not closed twice */
  if (s->use.ops->close == NULL)
    return 0;
  return s->use.ops->close(s->state, has_error ? NULL : err);
}

/* Marks a report that could not be completed as lost, keeps or logs the error, and returns false.
   A report that nobody reads any more is no failure: then nothing is done, and true is returned. */
static bool reporters_mark_lost(struct bn_reporters *r, struct bn_reporters_slot *s,
                                const char *prefix, const struct bn_err *err)
{
  if (r->reader_left != NULL && r->reader_left() && bn_file_is_stdout(s->use.path))
    return true;
  if (r->err == NULL)
    bn_log_stderr("%s%s", prefix, err->text);
  reporters_keep_error(r, err);
  s->lost = true;
  return false;
}

/* Returns whether reporters_rescue() is to print the result, because a report of it is lost and no
   complete text report has it.  A reporter with `aside` has no such report.  A dialect prints no
   more than sysbench does, so it rescues nothing. */
static bool reporters_need_rescue(const struct bn_reporters *r)
{
  bool has_text = false, has_lost_one = false;

  if (r->text == NULL || r->total == NULL || !r->facts->plan.native)
    return false;
  for (size_t i = 0; i < r->n; i++) {
    const struct bn_reporters_slot *s = &r->slot[i];

    has_text |= s->use.ops == r->text && !s->lost;
    has_lost_one |= s->lost && !s->use.ops->aside;
  }
  return has_lost_one && !has_text;
}

/* Returns whether a report, or the hooks of a script, write to standard output. */
static bool reporters_use_stdout(const struct bn_reporters *r)
{
  for (size_t i = 0; i < r->n; i++)
    if (!r->slot[i].use.ops->aside && bn_file_is_stdout(r->slot[i].use.path))
      return true;
  return r->replaced != 0;
}

/* Prints the facts, the total and the end as a text report of its own, at the usual verbosity.
   Errors of this report are logged.  It does not lock, because the caller holds r->lock. */
static void reporters_print_text(const struct bn_reporters *r, const struct bn_report_use *use,
                                 const struct bn_end *end)
{
  struct bn_facts facts = *r->facts;
  struct bn_view total = *r->total;
  struct bn_reporters text;

  facts.plan.verbosity = BN_NOTICE;
  total.replaced = false;
  bn_reporters_init(&text, use, 1);
  if (bn_reporters_open(&text, NULL)) {
    bn_reporters_begin(&text, &facts);
    (void)bn_reporters_total(&text, &total, r->member, r->n_members);
  }
  (void)bn_reporters_close(&text, end);
  bn_reporters_done(&text);
}

/* Prints the result as text, whatever the verbosity: it cannot be measured again.  The lock is held
   because threads that were abandoned may still add facts. */
static void reporters_rescue(const struct bn_reporters *r, const struct bn_end *end)
{
  const bool to_stderr = reporters_use_stdout(r);
  const struct bn_report_use use = {.ops = r->text, .out = bn_log_stream(to_stderr)};

  bn_log_stderr("the text report goes to standard %s instead", to_stderr ? "error" : "output");
  if (r->lock != NULL)
    (void)pthread_mutex_lock(r->lock);
  reporters_print_text(r, &use, end);
  if (r->lock != NULL)
    (void)pthread_mutex_unlock(r->lock);
}

/* Finishes and closes all reporters, even if one fails, and rescues the result if it got lost. */
bool bn_reporters_close(struct bn_reporters *r, const struct bn_end *end)
{
  bool ok = true;

  for (size_t i = 0; i < r->n; i++) {
    struct bn_reporters_slot *s = &r->slot[i];
    struct bn_err err = {0};

    if (!s->opened)
      continue;
    if (end != NULL && reporters_finish_slot(r, s, end, &err) != 0)
      ok &= reporters_mark_lost(r, s, "" /* no prefix */, &err);
    if (reporters_close_slot(r, s, &err) != 0)
      ok &= reporters_mark_lost(r, s, "report not complete: ", &err);
  }
  if (!ok && reporters_need_rescue(r))
    reporters_rescue(r, end);
  return ok;
}

/* --- stored results --------------------------------------------------------------------------- */

/* Passes a record as a view, which is printed even if a hook of the script replaced it in the run.
   Returns false if a reporter has failed. */
static bool reporters_replay_record(struct bn_reporters *r, const struct bn_record *record)
{
  struct bn_view v = record->view;

  v.replaced = false;
  return bn_reporters_view(r, &v);
}

/* Passes the records of a group in the order of time; at one moment the interval comes before the
   checkpoint.  Returns false if a reporter has failed. */
static bool reporters_replay_group(struct bn_reporters *r, const struct bn_group *g)
{
  size_t i = 0, c = 0; /* the next interval and the next checkpoint */

  while (i < g->n_intervals || c < g->n_checkpoints) {
    const bool interval_is_next =
        c == g->n_checkpoints ||
        (i < g->n_intervals && g->interval[i].view.at_s <= g->checkpoint[c].view.at_s);
    const struct bn_record *next = interval_is_next ? &g->interval[i] : &g->checkpoint[c];

    if (!reporters_replay_record(r, next))
      return false;
    if (interval_is_next)
      i++;
    else
      c++;
  }
  bn_reporters_ended(r);
  return !g->has_total || reporters_replay_record(r, &g->total);
}

/* Passes the groups of hosts, which follow the first group, their sum.  Returns false if a reporter
   has failed. */
static bool reporters_replay_members(struct bn_reporters *r, const struct bn_result *result)
{
  size_t n = 0;

  if (result->n_groups == 0)
    return true;
  while (n + 1 < result->n_groups && result->group[n + 1].member != NULL)
    n++;
  for (size_t i = 0; i < r->n; i++)
    if (!reporters_pass_members(r, &r->slot[i], result->group + 1, n))
      return false;
  return true;
}

bool bn_reporters_replay(struct bn_reporters *r, const struct bn_result *result)
{
  bn_reporters_begin(r, &result->facts);
  bn_reporters_starting(r, &result->facts);
  /* A run that ended before its start barrier opened has no start. */
  if (result->facts.start_ns != 0)
    bn_reporters_started(r, &result->facts);
  for (size_t i = 0; i < result->n_groups; i++)
    if (result->group[i].member == NULL && !reporters_replay_group(r, &result->group[i]))
      return false;
  if (!reporters_replay_members(r, result))
    return false;
  for (size_t i = 0; i < r->n; i++) {
    struct bn_err err = {0};

    if (!reporters_check(r, reporters_finish_slot(r, &r->slot[i], &result->end, &err), &err))
      return false;
  }
  return true;
}
