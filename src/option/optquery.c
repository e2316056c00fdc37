/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the set of options can be asked: names, faults, what waits for its option, values. */
#include <stdio.h>
#include <string.h>

#include "base/near.h"
#include "option/opt.h"
#include "option/optval.h"

bool bn_opt_same_name(const char *a, const char *b)
{
  for (; *a != '\0' && *b != '\0'; a++, b++)
    if (*a != *b && !((*a == '-' || *a == '_') && (*b == '-' || *b == '_')))
      return false;
  return *a == *b;
}

struct bn_entry *bn_optset_entry(const struct bn_optset *s, const char *name)
{
  for (size_t i = s->n; i > 0; i--)
    if (bn_opt_same_name(s->entry[i - 1]->o->name, name))
      return s->entry[i - 1];
  return NULL;
}

struct bn_entry *bn_optset_target(const struct bn_optset *s, const struct bn_entry *alias)
{
  for (size_t i = 0; alias->o->alias_of != NULL && i < s->n; i++)
    if (bn_opt_same_name(s->entry[i]->o->name, alias->o->alias_of))
      return s->entry[i];
  return NULL;
}

static const char *nearest_to(const struct bn_optset *s, const char *name)
{
  struct bn_near near = {.typed = name};

  for (size_t i = 0; i < s->n; i++)
    if (!s->entry[i]->o->hidden)
      bn_near_offer(&near, s->entry[i]->o->name);
  return near.best;
}

const char *bn_optset_nearest(const struct bn_optset *s, const char *name)
{
  const char *best = nearest_to(s, name);

  /* What 0.5 called oltp-table-size is table_size since. */
  if (best == NULL && (strncmp(name, "oltp-", 5) == 0 || strncmp(name, "oltp_", 5) == 0))
    best = nearest_to(s, name + 5);
  return best;
}

const char *bn_optset_pending(const struct bn_optset *s, const char **nearest)
{
  for (size_t i = 0; i < s->n_pending; i++) {
    const struct bn_setting *st = &s->pending[i];

    if (st->path != NULL)
      continue;
    if (nearest != NULL)
      *nearest = st->bad_bool ? NULL : bn_optset_nearest(s, st->name);
    return st->typed != NULL ? st->typed : st->name;
  }
  return NULL;
}

const char *bn_optset_bad_bool(const struct bn_optset *s)
{
  for (size_t i = 0; i < s->n_pending; i++)
    if (s->pending[i].bad_bool)
      return s->pending[i].typed;
  return NULL;
}

const struct bn_opt *bn_optset_find(const struct bn_optset *s, const char *name)
{
  const struct bn_entry *e = bn_optset_entry(s, name);

  return e != NULL ? e->o : NULL;
}

void bn_optset_each_pending(const struct bn_optset *s,
                            void (*fn)(void *arg, const char *name, const char *value,
                                       const char *path, unsigned line),
                            void *arg)
{
  for (size_t i = 0; i < s->n_pending; i++)
    if (!s->pending[i].bad_bool)
      fn(arg, s->pending[i].name, s->pending[i].text, s->pending[i].path, s->pending[i].line);
}

bool bn_optset_fault(const struct bn_optset *s, struct bn_optset_fault *out)
{
  for (size_t i = 0; i < s->n; i++) {
    const struct bn_entry *e = s->entry[i];

    if (e->bad == BN_OPTSET_OK)
      continue;
    bn_optval_explain(e->o, e->last.text, e->bad, out);
    if (e->last.path != NULL)
      (void)snprintf(out->hint, sizeof out->hint, "it was set in %.120s, line %u", e->last.path,
                     e->last.line);
    return true;
  }
  return false;
}

bool bn_optset_given(const struct bn_optset *s, const char *name)
{
  for (size_t i = 0; i < s->n; i++) {
    const struct bn_opt *o = s->entry[i]->o;

    const char *text = s->entry[i]->last.text;

    if (s->entry[i]->given && text != NULL && text[0] != '\0' &&
        (bn_opt_same_name(o->name, name) ||
         (o->alias_of != NULL && bn_opt_same_name(o->alias_of, name))))
      return true;
  }
  return false;
}

void bn_optset_each(const struct bn_optset *s,
                    void (*fn)(void *arg, const char *name, const struct bn_opt *o,
                               const void *value),
                    void *arg)
{
  for (size_t i = 0; i < s->n; i++) {
    const struct bn_entry *e = s->entry[i];
    const struct bn_entry *target = bn_optset_target(s, e);

    if (!e->shadowed)
      fn(arg, e->name, e->o, target != NULL ? target->value : e->value);
  }
}

bool bn_optset_has_group(const struct bn_optset *s, const char *group)
{
  for (size_t i = 0; i < s->n; i++)
    if (strcmp(s->entry[i]->group, group) == 0)
      return true;
  return false;
}

const struct bn_opt *bn_optset_at(const struct bn_optset *s, size_t i, const char **group)
{
  if (i >= s->n)
    return NULL;
  if (group != NULL)
    *group = s->entry[i]->group;
  return s->entry[i]->o;
}

const struct bn_policy *bn_optset_policy(const struct bn_optset *s)
{
  return s->policy;
}
