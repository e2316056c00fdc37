/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Drives a reporter with a result, as the run did that it came from. */
#include "measure/replay.h"

#include <errno.h>
#include <stdlib.h>

struct bn_replay {
  const struct bn_reporter *ops;
  void *state; /* owned */
  struct bn_err *err;
};

/* Reports that a hook printed in the run are printed here. */
static int hand_over(const struct bn_replay *p,
                     int (*hook)(void *self, const struct bn_view *v, struct bn_err *err),
                     const struct bn_record *r)
{
  struct bn_view v = r->view;

  v.replaced = false;
  return hook != NULL ? hook(p->state, &v, p->err) : 0;
}

/* In the order of time; at one moment the interval comes first. */
static int replay_group(const struct bn_replay *p, const struct bn_group *g)
{
  size_t i = 0, c = 0;
  int rc = 0;

  while (rc == 0 && (i < g->n_intervals || c < g->n_checkpoints)) {
    if (c == g->n_checkpoints ||
        (i < g->n_intervals && g->interval[i].view.at_s <= g->checkpoint[c].view.at_s))
      rc = hand_over(p, p->ops->interval, &g->interval[i++]);
    else
      rc = hand_over(p, p->ops->checkpoint, &g->checkpoint[c++]);
  }
  if (rc == 0 && p->ops->ended != NULL)
    p->ops->ended(p->state);
  return rc == 0 && g->has_total ? hand_over(p, p->ops->total, &g->total) : rc;
}

/* Those of the first group. */
static int replay_members(const struct bn_replay *p, const struct bn_result *r)
{
  size_t n = 0;

  while (n + 1 < r->n_groups && r->group[n + 1].member != NULL)
    n++;
  return n > 0 && p->ops->members != NULL ? p->ops->members(p->state, r->group + 1, n, p->err) : 0;
}

struct bn_replay *bn_replay_open(const struct bn_reporter *ops, FILE *out, struct bn_err *err)
{
  struct bn_replay *p = calloc(1, sizeof *p);

  if (p != NULL)
    *p = (struct bn_replay){ops, calloc(1, ops->state_size + 1), err};
  if (p == NULL || p->state == NULL) {
    free(p);
    (void)bn_err_set(err, ENOMEM, "out of memory");
    return NULL;
  }
  if (ops->open == NULL || ops->open(p->state, NULL, NULL, out, err) == 0)
    return p;
  (void)bn_replay_close(p, false);
  return NULL;
}

int bn_replay_result(struct bn_replay *p, const struct bn_result *r)
{
  int rc = 0;

  if (p->ops->begin != NULL)
    p->ops->begin(p->state, &r->facts);
  if (p->ops->starting != NULL)
    p->ops->starting(p->state, &r->facts);
  /* Without a start the run did not get so far. */
  if (r->facts.start_ns != 0 && p->ops->started != NULL)
    p->ops->started(p->state, &r->facts);
  for (size_t i = 0; rc == 0 && i < r->n_groups; i++)
    if (r->group[i].member == NULL)
      rc = replay_group(p, &r->group[i]);
  if (rc == 0)
    rc = replay_members(p, r);
  if (rc == 0 && p->ops->finish != NULL)
    rc = p->ops->finish(p->state, &r->end, p->err);
  return rc;
}

int bn_replay_close(struct bn_replay *p, bool complete)
{
  int rc = 0;

  if (p->ops->close != NULL)
    rc = p->ops->close(p->state, complete ? p->err : NULL);
  free(p->state);
  free(p);
  return rc;
}
