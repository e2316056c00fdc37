/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls the reporters, and logs what goes wrong in one. */
#include "hosts/reporters.h"

#include <signal.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/log.h"

static void reporters_note(struct bn_reporters *t, int rc, const struct bn_err *err)
{
  if (rc == 0)
    return;
  t->failed = true;
  if (err->text[0] != '\0')
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

void bn_reporters_begin(struct bn_reporters *t, const struct bn_facts *f)
{
  for (size_t i = 0; i < t->n; i++)
    if (t->slot[i].use.ops->begin != NULL)
      t->slot[i].use.ops->begin(t->slot[i].state, f);
  for (size_t i = 0; i < t->n; i++)
    if (t->slot[i].use.ops->starting != NULL)
      t->slot[i].use.ops->starting(t->slot[i].state, f);
}

void bn_reporters_started(struct bn_reporters *t, const struct bn_facts *f)
{
  for (size_t i = 0; i < t->n; i++)
    if (t->slot[i].use.ops->started != NULL)
      t->slot[i].use.ops->started(t->slot[i].state, f);
}

typedef int (*take_view)(void *self, const struct bn_view *v, struct bn_err *err);

/* NULL: it wants no view of that span. */
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
  return ops->total;
}

bool bn_reporters_wants(const struct bn_reporters *t, enum bn_view_span span)
{
  for (size_t i = 0; i < t->n; i++)
    if (reporters_taker(t->slot[i].use.ops, span) != NULL)
      return true;
  return false;
}

static void tell_view(struct bn_reporters *t, struct bn_reporters_slot *s, const struct bn_view *v)
{
  const take_view take = reporters_taker(s->use.ops, v->span);
  struct bn_err err = {0};

  if (take != NULL)
    reporters_note(t, take(s->state, v, &err), &err);
}

void bn_reporters_view(struct bn_reporters *t, const struct bn_view *v)
{
  for (size_t i = 0; i < t->n; i++)
    tell_view(t, &t->slot[i], v);
}

void bn_reporters_total(struct bn_reporters *t, const struct bn_result *r)
{
  for (size_t i = 0; i < t->n; i++) {
    struct bn_reporters_slot *s = &t->slot[i];
    const struct bn_reporter *ops = s->use.ops;
    struct bn_err err = {0};

    if (ops->ended != NULL)
      ops->ended(s->state);
    tell_view(t, s, &r->group[0].total.view);
    if (ops->members != NULL)
      reporters_note(t, ops->members(s->state, r->group + 1, r->n_groups - 1, &err), &err);
  }
}

/* A user whose reader of standard output has left needs no message about it. */
static void close_one(struct bn_reporters *t, struct bn_reporters_slot *s, const struct bn_end *end)
{
  const bool unread = end->signo == SIGPIPE && bn_file_is_stdout(s->use.path);
  struct bn_err err = {0};

  if (s->opened && s->use.ops->finish != NULL && s->use.ops->finish(s->state, end, &err) != 0)
    reporters_note(t, -1, unread ? &(struct bn_err){0} : &err);
  if (s->opened && s->use.ops->close != NULL && s->use.ops->close(s->state, &err) != 0) {
    t->failed = true;
    if (!unread)
      bn_log_stderr("report not complete: %s", err.text);
  }
  free(s->state);
}

void bn_reporters_close(struct bn_reporters *t, const struct bn_end *end)
{
  for (size_t i = 0; i < t->n; i++)
    close_one(t, &t->slot[i], end);
  free(t->slot);
  *t = (struct bn_reporters){.failed = t->failed};
}
