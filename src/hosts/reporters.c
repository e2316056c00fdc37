/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls the reporters, and logs what goes wrong in one. */
#include "hosts/reporters.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/wait.h"

static const struct bn_wait left_behind = {"the end of the process", BN_BOUND_LEFT_BEHIND};

/* What comes once, in order. */
enum stage { STAGE_NONE, STAGE_BEGIN, STAGE_STARTING, STAGE_STARTED, STAGE_TOTAL };

static void reporters_leave(struct bn_reporters_slot *s)
{
  atomic_store(&s->busy, false);
}

/* Nobody reads what it would print. */
static bool is_unread(const struct bn_reporters_slot *s)
{
  return !s->use.ops->aside && bn_file_is_stdout(s->use.path) &&
         !bn_wait_is_writable(STDOUT_FILENO);
}

/* Whether another thread has taken over from this one. */
static bool is_left_behind(const struct bn_reporters *t)
{
  return atomic_load(&t->left) && pthread_equal(t->hung, pthread_self()) != 0;
}

/* Before each call.  false: another thread hangs in that reporter, this one would, or it has been
   told. */
static bool reporters_enter(struct bn_reporters *t, struct bn_reporters_slot *s, enum stage stage)
{
  if (is_left_behind(t))
    bn_wait_park(&left_behind);
  if (atomic_exchange(&s->busy, true)) {
    t->failed = true;
    return false;
  }
  /* It may just have been left. */
  if (is_left_behind(t)) {
    reporters_leave(s);
    bn_wait_park(&left_behind);
  }
  if (atomic_load(&t->left) && is_unread(s)) {
    reporters_leave(s);
    return false;
  }
  if (stage != STAGE_NONE && s->stage >= (int)stage) {
    reporters_leave(s);
    return false;
  }
  if (stage != STAGE_NONE)
    s->stage = (int)stage;
  return true;
}

void bn_reporters_leave(struct bn_reporters *t, pthread_t hung)
{
  t->hung = hung;
  atomic_store(&t->left, true);
}

bool bn_reporters_is_left(const struct bn_reporters *t)
{
  return atomic_load(&t->left);
}

/* What is told at a forced end is not to wait for a reader of standard error. */
static bool may_log(const struct bn_reporters *t)
{
  return !bn_reporters_is_left(t) || bn_wait_is_writable(STDERR_FILENO);
}

static void reporters_note(struct bn_reporters *t, int rc, const struct bn_err *err)
{
  if (rc == 0)
    return;
  t->failed = true;
  if (err->text[0] != '\0' && may_log(t))
    bn_log(BN_FATAL, "%s", err->text);
}

static int open_one(struct bn_reporters_slot *s, const struct bn_plan *plan, struct bn_err *err)
{
  const struct bn_report_use *u = &s->use;

  s->state = calloc(1, u->ops->state_size + 1);
  if (s->state == NULL)
    return bn_err_set(err, 0, "out of memory");
  s->opened = true;
  if (u->ops->open != NULL && u->ops->open(s->state, u->conf, u->path, u->out, err) != 0)
    return -1;
  return u->ops->check != NULL ? u->ops->check(s->state, plan, err) : 0;
}

bool bn_reporters_open(struct bn_reporters *t, const struct bn_report_use *use, size_t n,
                       const struct bn_plan *plan)
{
  struct bn_err err = {0};

  *t = (struct bn_reporters){.slot = calloc(n + 1, sizeof *t->slot), .n = n};
  if (t->slot == NULL) {
    t->n = 0;
    reporters_note(t, bn_err_set(&err, 0, "out of memory"), &err);
    return false;
  }
  for (size_t i = 0; i < n && !t->failed; i++) {
    t->slot[i].use = use[i];
    reporters_note(t, open_one(&t->slot[i], plan, &err), &err);
  }
  return !t->failed;
}

static void tell_facts(struct bn_reporters *t, struct bn_reporters_slot *s, enum stage stage,
                       void (*tell)(void *self, const struct bn_facts *f), const struct bn_facts *f)
{
  if (tell == NULL || !reporters_enter(t, s, stage))
    return;
  tell(s->state, f);
  reporters_leave(s);
}

void bn_reporters_begin(struct bn_reporters *t, const struct bn_facts *f)
{
  for (size_t i = 0; i < t->n; i++)
    tell_facts(t, &t->slot[i], STAGE_BEGIN, t->slot[i].use.ops->begin, f);
  for (size_t i = 0; i < t->n; i++)
    tell_facts(t, &t->slot[i], STAGE_STARTING, t->slot[i].use.ops->starting, f);
}

void bn_reporters_started(struct bn_reporters *t, const struct bn_facts *f)
{
  for (size_t i = 0; i < t->n; i++)
    tell_facts(t, &t->slot[i], STAGE_STARTED, t->slot[i].use.ops->started, f);
}

typedef int (*take_view)(void *self, const struct bn_view *v, struct bn_err *err);

/* NULL: it wants none of that span. */
static take_view reporters_taker(const struct bn_reporter *ops, enum bn_view_span span)
{
  switch (span) {
  case BN_VIEW_INTERVAL:
    return ops->interval;
  case BN_VIEW_CHECKPOINT:
    return ops->checkpoint;
  case BN_VIEW_TICK:
    return ops->tick;
  case BN_VIEW_TOTAL:
    break;
  }
  return NULL;
}

bool bn_reporters_wants(const struct bn_reporters *t, enum bn_view_span span)
{
  for (size_t i = 0; i < t->n; i++)
    if (reporters_taker(t->slot[i].use.ops, span) != NULL)
      return true;
  return false;
}

void bn_reporters_view(struct bn_reporters *t, const struct bn_view *v)
{
  for (size_t i = 0; i < t->n; i++) {
    struct bn_reporters_slot *s = &t->slot[i];
    const take_view take = reporters_taker(s->use.ops, v->span);
    struct bn_err err = {0};

    if (take == NULL || !reporters_enter(t, s, STAGE_NONE))
      continue;
    reporters_note(t, take(s->state, v, &err), &err);
    reporters_leave(s);
  }
}

static void tell_total(struct bn_reporters *t, struct bn_reporters_slot *s,
                       const struct bn_result *r)
{
  const struct bn_reporter *ops = s->use.ops;
  struct bn_err err = {0};

  if (ops->ended != NULL)
    ops->ended(s->state);
  if (ops->total != NULL)
    reporters_note(t, ops->total(s->state, &r->group[0].total.view, &err), &err);
  if (ops->members != NULL)
    reporters_note(t, ops->members(s->state, r->group + 1, r->n_groups - 1, &err), &err);
}

void bn_reporters_total(struct bn_reporters *t, const struct bn_result *r)
{
  for (size_t i = 0; i < t->n; i++) {
    struct bn_reporters_slot *s = &t->slot[i];

    if (!reporters_enter(t, s, STAGE_TOTAL))
      continue;
    tell_total(t, s, r);
    reporters_leave(s);
  }
}

static void close_one(struct bn_reporters *t, struct bn_reporters_slot *s, const struct bn_end *end)
{
  const bool has_left = end->signo == SIGPIPE && bn_file_is_stdout(s->use.path); /* its reader */
  struct bn_err err = {0};

  if (s->opened && s->use.ops->finish != NULL && s->use.ops->finish(s->state, end, &err) != 0)
    reporters_note(t, -1, has_left ? &(struct bn_err){0} : &err);
  if (s->opened && s->use.ops->close != NULL && s->use.ops->close(s->state, &err) != 0) {
    t->failed = true;
    if (!has_left && may_log(t))
      bn_log_stderr("report not complete: %s", err.text);
  }
  s->opened = false;
  free(s->state);
  s->state = NULL;
}

/* Who hangs in one comes back to it. */
static void close_some(struct bn_reporters *t, const struct bn_end *end)
{
  for (size_t i = 0; i < t->n; i++) {
    struct bn_reporters_slot *s = &t->slot[i];

    if (reporters_enter(t, s, STAGE_NONE)) {
      close_one(t, s, end);
      reporters_leave(s);
    } else if (s->use.path != NULL && may_log(t)) {
      bn_log_stderr("report not complete: '%s' was still being written when the run ended",
                    s->use.path);
    }
  }
}

void bn_reporters_close(struct bn_reporters *t, const struct bn_end *end)
{
  close_some(t, end);
  if (bn_reporters_is_left(t))
    return;
  free(t->slot);
  t->slot = NULL;
  t->n = 0;
}
