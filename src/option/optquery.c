/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queries of the set of options: names, faults, settings that wait for their option, values. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/mask.h"
#include "base/near.h"
#include "option/opt.h"
#include "option/optval.h"

/* Returns whether the character separates words of a name. */
static bool optquery_is_dash(char c)
{
  return c == '-' || c == '_';
}

bool bn_opt_is_named(const char *name, size_t len, const char *declared)
{
  for (size_t i = 0; i < len; i++) {
    const bool are_dashes = optquery_is_dash(name[i]) && optquery_is_dash(declared[i]);

    if (name[i] != declared[i] && !are_dashes)
      return false;
  }
  return declared[len] == '\0';
}

bool bn_opt_is_same_name(const char *a, const char *b)
{
  return bn_opt_is_named(a, strlen(a), b);
}

bool bn_opt_is_listed(const char *list, const char *name)
{
  while (list != NULL && *list != '\0') {
    const size_t len = strcspn(list, ",");

    if (bn_opt_is_named(list, len, name))
      return true;
    list += len;
    list += strspn(list, ", ");
  }
  return false;
}

bool bn_opt_is_reserved(const struct bn_opt *o)
{
  return bn_opt_is_native(o) && (o->traits & (BN_OPT_CONTROLLER_ONLY | BN_OPT_FIXED)) != 0;
}

const struct bn_opt *bn_opt_find(const struct bn_opt *table, const char *name, size_t len)
{
  for (; table != NULL && table->name != NULL; table++)
    if (bn_opt_is_named(name, len, table->name))
      return table;
  return NULL;
}

struct bn_entry *bn_optset_find_entry(const struct bn_optset *s, const char *name)
{
  for (size_t i = s->n; i > 0; i--)
    if (bn_opt_is_same_name(s->entry[i - 1]->o->name, name))
      return s->entry[i - 1];
  return NULL;
}

struct bn_entry *bn_optset_find_target(const struct bn_optset *s, const struct bn_entry *alias)
{
  const char *name = alias->o->alias_of;

  for (size_t i = 0; name != NULL && i < s->n; i++)
    if (bn_opt_is_same_name(s->entry[i]->o->name, name))
      return s->entry[i];
  return NULL;
}

/* Returns the name of a listed option that is closest to this name, or NULL if none is near. */
static const char *optquery_find_nearest(const struct bn_optset *s, const char *name)
{
  struct bn_near near = {.typed = name};

  for (size_t i = 0; i < s->n; i++)
    if (!s->entry[i]->o->hidden)
      bn_near_offer(&near, s->entry[i]->o->name);
  return near.best;
}

const char *bn_optset_find_nearest(const struct bn_optset *s, const char *name)
{
  static const char prefix[] = "oltp-";
  const size_t len = strlen(prefix);
  const char *nearest = optquery_find_nearest(s, name);

  /* The option oltp-table-size of 0.5 is called table_size since 1.0. */
  if (nearest == NULL && strlen(name) >= len && bn_opt_is_named(name, len, prefix))
    nearest = optquery_find_nearest(s, name + len);
  return nearest;
}

const struct bn_opt *bn_optset_find(const struct bn_optset *s, const char *name)
{
  const struct bn_entry *e = bn_optset_find_entry(s, name);

  return e != NULL ? e->o : NULL;
}

unsigned bn_optset_get_traits(const struct bn_optset *s, const char *name)
{
  const struct bn_entry *e = bn_optset_find_entry(s, name);

  return e != NULL ? e->traits : 0;
}

bool bn_optset_is_secret(const struct bn_optset *s, const char *name)
{
  const struct bn_opt *o = bn_optset_find(s, name);

  return o == NULL || bn_opt_is_secret(o);
}

void bn_optset_mark_read(struct bn_optset *s, bool (*reads)(void *arg, const char *name), void *arg)
{
  for (size_t i = 0; i < s->n_pending; i++)
    s->pending[i].is_read = reads(arg, s->pending[i].name);
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

/* Writes the sentence that sysbench prints, which has the option as it was typed.  The whole value
   is masked if the option's name is that of a secret; else a password in it, and what follows. */
static void optquery_explain_plainly(struct bn_optset_fault *out)
{
  char masked[BN_MASK_MAX];
  const char *shown = bn_mask_names_secret(out->typed) ? bn_mask_arg(out->typed, masked)
                                                       : bn_mask_text(out->typed, masked);

  (void)snprintf(out->text, sizeof out->text, "invalid option: %s", shown);
}

/* Says that an option does not exist, and which one was probably meant. */
static void optquery_explain_unknown(const struct bn_optset *s, const struct bn_setting *st,
                                     struct bn_optset_fault *out)
{
  char dashed[128], masked[BN_MASK_MAX];
  const char *nearest = bn_optset_find_nearest(s, st->name);
  const char *shown = bn_mask_arg(out->typed, masked);

  if (nearest == NULL) {
    (void)snprintf(out->text, sizeof out->text, "%s: no such option", shown);
    return;
  }
  bn_near_copy_dashed(dashed, sizeof dashed, nearest);
  (void)snprintf(out->text, sizeof out->text, "%s: no such option; did you mean --%s?", shown,
                 dashed);
}

/* Returns the switch to which a pending setting gives a bad value, or NULL if the option of the
   setting is unknown. */
static const struct bn_opt *optquery_find_switch(const struct bn_optset *s,
                                                 const struct bn_setting *st)
{
  return st->bad_bool ? bn_optset_find(s, st->name) : NULL;
}

/* Returns whether a test that accepts unknown options accepts the pending setting.  1.0 and
   0.5 do not know the switches of bench's own, and so accept any value for them. */
static bool optquery_is_acceptable(const struct bn_optset *s, const struct bn_setting *st)
{
  const struct bn_opt *o = optquery_find_switch(s, st);

  if (!st->bad_bool)
    return true;
  return o != NULL && bn_opt_is_native(o) && s->policy->old_names_always;
}

/* Sets *out to the fault of a pending setting. */
static void optquery_explain_pending(const struct bn_optset *s, const struct bn_setting *st,
                                     struct bn_optset_fault *out)
{
  const struct bn_opt *o = optquery_find_switch(s, st);

  *out = (struct bn_optset_fault){.kind = BN_OPTSET_UNKNOWN,
                                  .typed = st->typed != NULL ? st->typed : st->name};
  if (s->policy->plain_errors)
    optquery_explain_plainly(out);
  else if (o == NULL)
    optquery_explain_unknown(s, st, out);
  else
    bn_optval_explain(o, st->text, BN_OPTSET_BOOL, s->policy, out);
}

bool bn_optset_find_unknown(const struct bn_optset *s, bool accept_any, struct bn_optset_fault *out)
{
  for (size_t i = 0; i < s->n_pending; i++) {
    const struct bn_setting *st = &s->pending[i];
    const bool is_from_file = st->path != NULL;
    const bool is_accepted = accept_any && optquery_is_acceptable(s, st);

    if (is_from_file || is_accepted)
      continue;
    optquery_explain_pending(s, st, out);
    return true;
  }
  return false;
}

/* Turns "--NAME=VALUE: ..." into "FILE:LINE: NAME=VALUE: ..." if a file has the setting.  The
   sentences of dialects have other forms, and do not name the place. */
static void optquery_name_place(const struct bn_optset *s, const struct bn_setting *st,
                                struct bn_optset_fault *fault)
{
  enum { PATH_SHOWN = 200, SENTENCE_SHOWN = 400 }; /* bytes; the text has room for both */
  static const char dashes[] = "--";
  char text[sizeof fault->text];

  if (st->path == NULL || s->policy->plain_errors)
    return;
  assert(strncmp(fault->text, dashes, strlen(dashes)) == 0);
  (void)snprintf(text, sizeof text, "%.*s:%u: %.*s", PATH_SHOWN, st->path, st->line, SENTENCE_SHOWN,
                 fault->text + strlen(dashes));
  memcpy(fault->text, text, sizeof text);
}

void bn_optset_refuse(const struct bn_optset *s, const struct bn_opt_refusal *r, const char *plain,
                      struct bn_optset_fault *out)
{
  struct bn_err err;

  (void)bn_opt_refuse(s->policy, r, plain, &err);
  *out = (struct bn_optset_fault){.kind = BN_OPTSET_RANGE};
  (void)snprintf(out->text, sizeof out->text, "%s", err.text);
  optquery_name_place(s, &bn_optset_find_entry(s, r->name)->last, out);
}

bool bn_optset_find_fault(const struct bn_optset *s, struct bn_optset_fault *out)
{
  for (size_t i = 0; i < s->n; i++) {
    const struct bn_entry *e = s->entry[i];

    if (e->bad == BN_OPTSET_OK)
      continue;
    bn_optval_explain(e->o, e->last.text, e->bad, s->policy, out);
    out->typed = e->last.typed;
    optquery_name_place(s, &e->last, out);
    return true;
  }
  return false;
}

bool bn_optset_is_given(const struct bn_optset *s, const char *name)
{
  for (size_t i = 0; i < s->n; i++) {
    const struct bn_entry *e = s->entry[i];
    const struct bn_opt *o = e->o;
    const bool has_text = e->given && e->last.text != NULL && e->last.text[0] != '\0';
    const char *present_name = o->alias_of != NULL ? o->alias_of : o->name;

    if (has_text && (bn_opt_is_same_name(o->name, name) || bn_opt_is_same_name(present_name, name)))
      return true;
  }
  return false;
}

enum bn_origin bn_optset_get_origin(const struct bn_optset *s, const char *name)
{
  const struct bn_entry *e = bn_optset_find_entry(s, name);

  return e != NULL ? bn_optval_origin(e) : BN_FROM_DEFAULT;
}

const char *bn_optset_get_typed(const struct bn_optset *s, const char *name)
{
  const struct bn_entry *e = bn_optset_find_entry(s, name);

  if (e == NULL || bn_optval_origin(e) != BN_FROM_COMMAND_LINE)
    return NULL;
  return e->last.text != NULL ? e->last.text : "";
}

void bn_optset_each(const struct bn_optset *s,
                    void (*fn)(void *arg, const char *name, const struct bn_opt *o,
                               const void *value),
                    void *arg)
{
  for (size_t i = 0; i < s->n; i++) {
    const struct bn_entry *e = s->entry[i];
    const struct bn_entry *target = bn_optset_find_target(s, e);

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

const struct bn_opt *bn_optset_get_at(const struct bn_optset *s, size_t i, const char **group)
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
