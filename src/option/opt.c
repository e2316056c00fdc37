/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The set of options: tables added, values set by name, settings that wait for their option. */
#include "option/opt.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/mask.h"
#include "base/near.h"
#include "base/units.h"
#include "option/delay.h"
#include "option/optval.h"
#include "option/words.h"

void bn_optset_mark_files_sent(struct bn_optset *s)
{
  s->sent = true;
}

struct bn_optset *bn_optset_new(const struct bn_policy *policy)
{
  struct bn_optset *s = bn_alloc(1, sizeof *s);

  s->policy = policy;
  return s;
}

static void opt_free_setting(struct bn_setting *st)
{
  free(st->name);
  free(st->text);
  free(st->typed);
  free(st->path);
  *st = (struct bn_setting){0};
}

static void opt_free_entry(struct bn_entry *e)
{
  bn_optval_clear(e->o, e->value);
  opt_free_setting(&e->last);
  free(e->group);
  free(e->name);
  free(e);
}

void bn_optset_free(struct bn_optset *s)
{
  if (s == NULL)
    return;
  for (size_t i = 0; i < s->n; i++)
    opt_free_entry(s->entry[i]);
  free(s->entry);
  for (size_t i = 0; i < s->n_pending; i++)
    opt_free_setting(&s->pending[i]);
  free(s->pending);
  free(s);
}

/* Returns a copy of a setting.  is_read, which only pending settings have, is false in it. */
static struct bn_setting opt_copy_setting(const struct bn_setting *in)
{
  return (struct bn_setting){.name = bn_alloc_copy(in->name),
                             .text = bn_alloc_copy(in->text),
                             .typed = bn_alloc_copy(in->typed),
                             .path = bn_alloc_copy(in->path),
                             .line = in->line,
                             .bad_bool = in->bad_bool,
                             .order = in->order};
}

static void opt_remove_pending(struct bn_optset *s, size_t i)
{
  opt_free_setting(&s->pending[i]);
  memmove(&s->pending[i], &s->pending[i + 1], (s->n_pending - i - 1) * sizeof s->pending[0]);
  s->n_pending--;
}

/* Appends the items of a repeated setting to the list that the first setting has begun. */
static enum bn_optset_error opt_append_list(struct bn_entry *e, const struct bn_setting *st)
{
  struct bn_list added = {0}, *list = e->value;
  const enum bn_optset_error rc = bn_optval_parse_setting(e->o, &added, st);

  for (size_t i = 0; i < added.n; i++)
    bn_words_adopt(list, added.item[i]);
  free(added.item);
  return rc;
}

/* Returns whether a comma in a value of a file belongs to the text, as it does on the command line:
   "hosts=a,b".  In a dialect a comma ends the value, as in sysbench. */
static bool opt_keeps_commas(const struct bn_optset *s, const struct bn_opt *o)
{
  return !s->policy->loose_values && (o->type == BN_STRING || o->type == BN_PATH);
}

/* Notes that a line of a file has items after the value, which are ignored.  The value of a secret
   is not shown. */
static void opt_warn_of_ignored_items(const struct bn_optset *s, const struct bn_entry *e,
                                      const struct bn_setting *st)
{
  const char *text = st->text != NULL ? st->text : "", *rest;
  /* A list uses all items, but in a dialect a list of whole numbers is a single number. */
  const bool is_one_number = s->policy->loose_values && e->o->scalar && e->o->whole;
  struct bn_optval_item item;
  char masked[BN_MASK_MAX];

  /* An old name is applied under its own name first, and then under the present one. */
  const bool is_other_name = !bn_opt_is_same_name(st->name, e->o->name);

  if (st->path == NULL || s->sent || is_other_name || (e->o->type == BN_LIST && !is_one_number))
    return;
  char *first = bn_optval_copy_first(text, opt_keeps_commas(s, e->o), &rest);
  const bool has_ignored = bn_optval_next(&rest, &item) > 0;
  const bool is_hidden = strcmp(bn_opt_mask_text(e->o, text), text) != 0;

  if (has_ignored && is_hidden)
    bn_log_note("%s:%u: only the first item of '%s' is used: write it in quotes", st->path,
                st->line, e->o->name);
  else if (has_ignored)
    bn_log_note("%s:%u: only the first item of '%s' is used: '%s'", st->path, st->line, e->o->name,
                bn_mask_text(first, masked));
  free(first);
}

/* Sets a boolean as the dialect reads it.  In a file, any text after '=' means on.  On the command
   line, any other text than "on" means off in some dialects. */
static enum bn_optset_error opt_parse_bool_loosely(const struct bn_optset *s, struct bn_entry *e,
                                                   const struct bn_setting *st)
{
  const char *text = st->text != NULL ? st->text : "";
  struct bn_optval_item item;

  if (st->path != NULL)
    *(bool *)e->value = bn_optval_next(&text, &item) > 0;
  else if (s->policy->only_on_is_on && st->text != NULL)
    *(bool *)e->value = strcmp(st->text, "on") == 0;
  else
    return bn_optval_parse(e->o, e->value, st->text);
  return BN_OPTSET_OK;
}

/* Sets the number at the beginning of the text, or 0 if there is none, as a dialect does.  The
   number is printed, exactly by 17 digits, and parsed again, because parsing checks the bounds.
   Returns OK or RANGE. */
static enum bn_optset_error opt_set_leading_number(const struct bn_entry *e, const char *text)
{
  char number[64];

  (void)snprintf(number, sizeof number, "%.17g", strtod(text, NULL));
  return bn_optval_parse(e->o, e->value, number);
}

/* Sets the number to the bound that the text is beyond.  A text that is no number counts as 0. */
static void opt_clamp(const struct bn_entry *e, const char *text)
{
  int64_t v = 0;

  if (text != NULL)
    (void)bn_units_parse_int(text, &v); /* v stays 0 if the text is no number */
  *(int64_t *)e->value = v < e->o->min ? e->o->min : e->o->max;
}

/* Sets the value that a dialect takes for a text that is out of bounds or none of the choices: the
   nearest bound if the option has `clamp`, or the default for an empty text if it has `blank`.
   Returns RANGE for any other text, which the dialect refuses too. */
static enum bn_optset_error opt_set_out_of_bounds(const struct bn_optset *s,
                                                  const struct bn_entry *e, const char *text)
{
  const bool is_empty = text == NULL || text[0] == '\0';

  if (e->o->clamp) {
    opt_clamp(e, text);
    return BN_OPTSET_OK;
  }
  if (e->o->type == BN_CHOICE && e->o->blank && is_empty)
    return bn_optval_parse(e->o, e->value, bn_opt_get_default(e->o, s->policy));
  return BN_OPTSET_RANGE;
}

/* Sets the value that the dialect has for a text with this fault, BAD or RANGE.  Returns OK, or BAD
   or RANGE if the dialect refuses the text too. */
static enum bn_optset_error opt_set_despite_fault(const struct bn_optset *s,
                                                  const struct bn_entry *e,
                                                  const struct bn_setting *st,
                                                  enum bn_optset_error fault)
{
  const bool is_typed = st->path == NULL && st->text != NULL;

  if (e->o->late) {
    *(int64_t *)e->value = BN_OPT_LATE;
    return BN_OPTSET_OK;
  }
  if (fault == BN_OPTSET_RANGE)
    return opt_set_out_of_bounds(s, e, st->text);
  if (is_typed && e->o->type == BN_DOUBLE)
    return opt_set_leading_number(e, st->text);
  /* sysbench takes a text that is not a size for 0.  For an option with a range_text,
     optval_parse_size has returned RANGE. */
  if (is_typed && e->o->type == BN_SIZE) {
    *(uint64_t *)e->value = 0;
    return BN_OPTSET_OK;
  }
  return fault;
}

/* Returns whether the text of a setting, or its first item in a file, is missing, empty or a whole
   number of 32 bits. */
static bool opt_is_whole(const struct bn_setting *st)
{
  enum { WITHOUT_COMMAS = false };
  const char *rest;
  int64_t v = 0;

  if (st->text == NULL)
    return true;
  char *first = st->path != NULL ? bn_optval_copy_first(st->text, WITHOUT_COMMAS, &rest)
                                 : bn_alloc_text(st->text);
  const bool is_number = first[0] == '\0' || bn_units_parse_int(first, &v) == 0;

  free(first);
  return is_number && v >= INT32_MIN && v <= INT32_MAX;
}

/* Sets the value as sysbench reads it.  sysbench has some value for most texts that do not fit, but
   refuses them if it declares the option as an int.  Returns BAD or RANGE for a text that the
   dialect refuses. */
static enum bn_optset_error opt_parse_loosely(const struct bn_optset *s, struct bn_entry *e,
                                              const struct bn_setting *st)
{
  const bool is_one_int = e->o->whole && e->o->scalar; /* a list only here, as --percentile */
  const bool needs_int = is_one_int || (e->o->whole && e->o->type != BN_LIST);
  enum bn_optset_error rc;

  if (e->o->type == BN_BOOL)
    return opt_parse_bool_loosely(s, e, st);
  if (needs_int && !opt_is_whole(st))
    return BN_OPTSET_BAD;
  rc = bn_optval_parse_setting(e->o, e->value, st);
  if (rc == BN_OPTSET_BAD || rc == BN_OPTSET_RANGE)
    return opt_set_despite_fault(s, e, st, rc);
  /* In a file, sysbench takes the first item of a line. */
  if (rc == BN_OPTSET_OK && is_one_int)
    for (struct bn_list *list = e->value; list->n > 1; list->n--)
      free(list->item[list->n - 1]);
  return rc;
}

/* Returns whether the setting has no value.  In a file, blanks, a comment and "" are no value. */
static bool opt_setting_is_empty(const struct bn_setting *st)
{
  const char *text = st->text;
  struct bn_optval_item item;

  if (text == NULL || text[0] == '\0')
    return true;
  if (st->path == NULL)
    return false;
  return bn_optval_next(&text, &item) <= 0 || item.len == 0;
}

/* Returns whether the text of the option must not be empty.  An option of sysbench may have an
   empty text, as there.  An option that only bench has must not, if it has a default: an empty text
   most often comes from a shell variable that was not set. */
static bool opt_needs_text(const struct bn_optset *s, const struct bn_opt *o)
{
  const char *def = bn_opt_get_default(o, s->policy);
  const bool has_default = def != NULL && def[0] != '\0';
  const bool is_text = o->type == BN_STRING || o->type == BN_PATH;

  return is_text && bn_opt_is_native(o) && !o->blank && has_default;
}

/* Returns whether the option needs a value and has none.  Outside of dialects a number needs one:
   sysbench takes "--time=" for "--time=0", and the run never ends. */
static bool opt_lacks_value(const struct bn_optset *s, const struct bn_opt *o,
                            const struct bn_setting *st)
{
  const bool has_no_equals = st->text == NULL && st->path == NULL; /* "--time" */

  if (!opt_setting_is_empty(st))
    return false;
  const bool is_empty_list = o->type == BN_LIST && !has_no_equals; /* "--percentile=" */

  if (o->filled)
    return true;
  if (bn_optval_is_numeric(o))
    return !s->policy->loose_values && !is_empty_list;
  return opt_needs_text(s, o);
}

/* Sets a text to the first item of a file's value, with its commas. */
static enum bn_optset_error opt_parse_text_of_file(const struct bn_entry *e, const char *text)
{
  enum { WITH_COMMAS = true };
  const char *rest;
  char *first = bn_optval_copy_first(text != NULL ? text : "", WITH_COMMAS, &rest);
  const enum bn_optset_error rc = bn_optval_parse(e->o, e->value, first);

  free(first);
  return rc;
}

/* Sets the value of the option as the policy reads the setting. */
static enum bn_optset_error opt_parse(const struct bn_optset *s, struct bn_entry *e,
                                      const struct bn_setting *st)
{
  if (opt_lacks_value(s, e->o, st))
    return BN_OPTSET_BAD;
  if (e->o->type == BN_LIST && e->o->repeat && e->given)
    return opt_append_list(e, st);
  if (s->policy->loose_values)
    return opt_parse_loosely(s, e, st);
  if (st->path != NULL && opt_keeps_commas(s, e->o))
    return opt_parse_text_of_file(e, st->text);
  return bn_optval_parse_setting(e->o, e->value, st);
}

/* Returns the member at this offset of the struct of values that has the option's value. */
static void *opt_get_member(const struct bn_entry *e, size_t offset)
{
  return (char *)e->value - e->o->offset + offset;
}

/* Sets the distribution that the text of the option describes, if it has one, as --think-time has.
   Returns OK or BAD. */
static enum bn_optset_error opt_set_delay(const struct bn_entry *e)
{
  const char *text;
  struct bn_delay *delay;

  if (e->o->delay == 0)
    return BN_OPTSET_OK;
  text = *(char *const *)e->value;
  delay = opt_get_member(e, e->o->delay);
  *delay = (struct bn_delay){.shape = BN_DELAY_UNIFORM};
  return text == NULL || bn_delay_parse(text, delay) == 0 ? BN_OPTSET_OK : BN_OPTSET_BAD;
}

/* Sets the members beside the value in the struct of the owner, if the option has them: the text of
   the last setting, and whether there was one. */
static void opt_update_owner(const struct bn_entry *e)
{
  if (e->o->typed != 0)
    *(const char **)opt_get_member(e, e->o->typed) = e->last.text;
  if (e->o->given != 0)
    *(bool *)opt_get_member(e, e->o->given) = e->given;
}

/* Sets the option and keeps a copy of the setting for messages.  Returns OK, or a fault, which
   becomes that of the option.  BOOL, a bad boolean of the command line, does not: the caller keeps
   the setting as pending, because a script may declare an option of the same name later. */
static enum bn_optset_error opt_apply(const struct bn_optset *s, struct bn_entry *e,
                                      const struct bn_setting *st)
{
  enum bn_optset_error rc = opt_parse(s, e, st);

  if (rc == BN_OPTSET_OK)
    rc = opt_set_delay(e);
  if (rc == BN_OPTSET_BOOL && st->path != NULL)
    rc = BN_OPTSET_BAD; /* the setting of a file is not kept as pending */
  opt_free_setting(&e->last);
  e->last = opt_copy_setting(st);
  opt_warn_of_ignored_items(s, e, &e->last);
  e->given = true;
  opt_update_owner(e);
  e->bad = rc == BN_OPTSET_BOOL ? BN_OPTSET_OK : rc;
  return rc;
}

/* Returns whether the setting can be that of e, the option of its name or NULL.  A file for 0.5
   sets only options that 0.5 or bench alone has. */
static bool opt_is_known(const struct bn_optset *s, const struct bn_entry *e,
                         const struct bn_setting *st)
{
  if (e == NULL)
    return false;
  if (st->path == NULL || !s->policy->files_set_listed)
    return true;
  return bn_opt_is_native(e->o) || (e->o->in & s->policy->listed) != 0;
}

/* Applies the setting to its option, or keeps it as pending for an option that may be declared
   later.  Takes over the texts of the setting. */
static enum bn_optset_error opt_set(struct bn_optset *s, struct bn_setting *st)
{
  struct bn_entry *e = bn_optset_find_entry(s, st->name);
  enum bn_optset_error rc;

  st->order = ++s->n_settings;
  rc = opt_is_known(s, e, st) ? opt_apply(s, e, st) : BN_OPTSET_UNKNOWN;
  st->bad_bool = rc == BN_OPTSET_BOOL;
  if (rc == BN_OPTSET_UNKNOWN || rc == BN_OPTSET_BOOL) {
    s->pending = bn_alloc_resize(s->pending, s->n_pending + 1, sizeof *s->pending);
    s->pending[s->n_pending++] = *st;
  } else {
    opt_free_setting(st);
  }
  return rc;
}

enum bn_optset_error bn_optset_set(struct bn_optset *s, const char *name, const char *value,
                                   const char *arg_as_typed)
{
  return opt_set(s, &(struct bn_setting){.name = bn_alloc_copy(name),
                                         .text = bn_alloc_copy(value),
                                         .typed = bn_alloc_copy(arg_as_typed)});
}

void bn_optset_set_arg(struct bn_optset *s, const char *arg)
{
  const char *name = arg + strlen("--"), *equals = strchr(name, '=');

  /* The set keeps a fault, for bn_optset_find_unknown and bn_optset_find_fault. */
  (void)opt_set(s, &(struct bn_setting){.name = bn_alloc_part(name, strcspn(name, "=")),
                                        .text = bn_alloc_copy(equals != NULL ? equals + 1 : NULL),
                                        .typed = bn_alloc_copy(arg)});
}

void bn_optset_set_from_file(struct bn_optset *s, const char *name, const char *text,
                             const char *path, unsigned line)
{
  /* A bad value is kept with its place, for bn_optset_find_fault. */
  (void)opt_set(s, &(struct bn_setting){.name = bn_alloc_copy(name),
                                        .text = bn_alloc_copy(text),
                                        .path = bn_alloc_copy(path),
                                        .line = line});
}

/* Returns a new entry, which opt_free_entry frees.  The value of the option is a member of
   `values`; an alias has it in the entry. */
static struct bn_entry *opt_new_entry(const struct bn_opt *o, const char *group, void *values)
{
  struct bn_entry *e = bn_alloc(1, sizeof *e);

  e->o = o;
  e->traits = o->traits;
  e->group = bn_alloc_text(group);
  e->name = bn_alloc_text(o->name);
  bn_near_replace_dashes(e->name);
  if (o->alias_of != NULL)
    e->value = &e->own;
  else
    e->value = (char *)values + o->offset;
  return e;
}

/* Applies the pending settings of an option that was added, and removes them.  A bad boolean stays,
   because it may be meant for an option that is added still later.  Settings of files have no
   effect in 1.0 and 1.1, which read files before they set the defaults of a test. */
static void opt_apply_pending(struct bn_optset *s, struct bn_entry *e)
{
  size_t i = 0;

  while (i < s->n_pending) {
    struct bn_setting *st = &s->pending[i];
    const bool has_effect = st->path == NULL || !s->policy->defaults_beat_files;

    if (!bn_opt_is_same_name(st->name, e->o->name)) {
      i++;
    } else if (has_effect && opt_apply(s, e, st) == BN_OPTSET_BOOL) {
      st->bad_bool = true;
      i++;
    } else {
      opt_remove_pending(s, i);
    }
  }
}

/* Sets the value that sysbench has for a default with this fault.  Returns OK, or the fault if
   there is no such value. */
static enum bn_optset_error opt_set_bad_default(struct bn_entry *e, const char *text,
                                                enum bn_optset_error fault)
{
  if (e->o->type == BN_DOUBLE)
    return opt_set_leading_number(e, text);
  if (e->o->type == BN_SIZE) /* bn_optval_set_default has set 0 */
    return BN_OPTSET_OK;
  if (e->o->type != BN_INT)
    return fault;
  /* bn_optset_find_fault reports it later, unless a setting replaces the default. */
  e->bad = fault;
  e->last.text = bn_alloc_text(text);
  return BN_OPTSET_OK;
}

/* Sets a new option to its default in the dialect.  Returns 0, or -1 and err. */
static int opt_set_default(const struct bn_optset *s, struct bn_entry *e, struct bn_err *err)
{
  const char *text = bn_opt_get_default(e->o, s->policy);
  enum bn_optset_error rc = bn_optval_set_default(e->o, s->policy, e->value);

  if (rc != BN_OPTSET_OK && s->policy->loose_values)
    rc = opt_set_bad_default(e, text, rc);
  if (rc == BN_OPTSET_OK && opt_set_delay(e) == BN_OPTSET_OK)
    return 0;
  return bn_err_set(err, 0, "the default of option --%s does not fit its type: '%s'", e->o->name,
                    text);
}

/* Returns the setting of a general option that counts more than the default of a script's own
   option of its name, or NULL.  In 1.0 and 1.1 the script's default replaces a setting of a file,
   and any setting of an option that sysbench has: these versions read files and their own options
   before they set the defaults of the script. */
static const struct bn_setting *opt_find_stronger_setting(const struct bn_optset *s,
                                                          const struct bn_entry *general)
{
  const bool default_wins = s->policy->defaults_beat_files &&
                            (!bn_opt_is_native(general->o) || general->last.path != NULL);

  return general->given && !default_wins ? &general->last : NULL;
}

const char *bn_optset_get_taken(const struct bn_optset *s, const char *name)
{
  const struct bn_entry *general = bn_optset_find_entry(s, name);
  const struct bn_setting *st = general != NULL ? opt_find_stronger_setting(s, general) : NULL;

  if (st == NULL || st->path != NULL)
    return NULL;
  return st->text != NULL ? st->text : "";
}

/* Lets a script's own option take the place of the general option of its name, with the traits and
   the setting of the general option. */
static void opt_shadow(const struct bn_optset *s, struct bn_entry *own, struct bn_entry *general)
{
  const struct bn_setting *st = opt_find_stronger_setting(s, general);

  own->traits |= general->traits;
  general->shadowed = true;
  if (st != NULL)
    (void)opt_apply(s, own, st);
}

/* Adds an option as bn_optset_add does.  Returns 0, or -1 and err. */
static int opt_add_one(struct bn_optset *s, const char *group, const struct bn_opt *o, void *values,
                       bool override, struct bn_err *err)
{
  struct bn_entry *existing = bn_optset_find_entry(s, o->name), *e;
  const struct bn_entry *target;

  if (existing != NULL && !override)
    return bn_err_set(err, 0, "option --%s of '%s' exists already in '%s'", o->name, group,
                      existing->group);
  e = opt_new_entry(o, group, values);
  if (opt_set_default(s, e, err) != 0) {
    opt_free_entry(e);
    return -1;
  }
  s->entry = bn_alloc_resize(s->entry, s->n + 1, sizeof(struct bn_entry *));
  s->entry[s->n++] = e;
  target = bn_optset_find_target(s, e);
  if (target != NULL)
    e->traits |= target->traits;
  if (existing != NULL)
    opt_shadow(s, e, existing);
  opt_apply_pending(s, e);
  return 0;
}

/* Returns the option that a script's own option of the same name has replaced, or NULL. */
static struct bn_entry *opt_find_replaced(const struct bn_optset *s, const struct bn_opt *own)
{
  for (size_t i = 0; i < s->n; i++) {
    struct bn_entry *e = s->entry[i];

    if (e->o != own && e->shadowed && bn_opt_is_same_name(e->o->name, own->name))
      return e;
  }
  return NULL;
}

/* Sets the option to its default, as if nobody had given it. */
static void opt_reset(const struct bn_optset *s, struct bn_entry *e)
{
  bn_optval_clear(e->o, e->value);
  (void)bn_optval_set_default(e->o, s->policy, e->value);
  (void)opt_set_delay(e);
  opt_free_setting(&e->last);
  e->given = false;
  e->bad = BN_OPTSET_OK;
  opt_update_owner(e);
}

int bn_optset_use_script_default(struct bn_optset *s, const struct bn_opt *own, struct bn_err *err)
{
  const char *text = bn_opt_get_default(own, s->policy);
  struct bn_entry *e = opt_find_replaced(s, own);

  if (text == NULL || e == NULL)
    return 0;
  if (opt_find_stronger_setting(s, e) != NULL)
    return 0;
  if (bn_optval_parse(e->o, e->value, text) == BN_OPTSET_OK && opt_set_delay(e) == BN_OPTSET_OK)
    return 1;
  /* The script has the name by chance, because sysbench has no such option. */
  if (bn_opt_is_native(e->o)) {
    opt_reset(s, e);
    return 0;
  }
  return bn_err_set(err, 0, "the default of option --%s, '%s', is none that bench can use",
                    own->name, text);
}

void bn_optset_use_general_default(struct bn_optset *s, const struct bn_opt *own)
{
  const struct bn_entry *general = opt_find_replaced(s, own);
  struct bn_entry *e = bn_optset_find_entry(s, own->name);

  if (general != NULL && !general->given)
    (void)bn_optval_parse(e->o, e->value, bn_opt_get_default(general->o, s->policy));
}

bool bn_optset_leave_to_script(struct bn_optset *s, const struct bn_opt *own)
{
  struct bn_entry *e = opt_find_replaced(s, own);

  if (e == NULL || !e->given || !bn_opt_is_native(e->o) || bn_opt_is_reserved(e->o))
    return false;
  opt_reset(s, e);
  return true;
}

int bn_optset_add(struct bn_optset *s, const char *group, const struct bn_opt *table, void *values,
                  bool override, struct bn_err *err)
{
  for (; table != NULL && table->name != NULL; table++)
    if (opt_add_one(s, group, table, values, override, err) != 0)
      return -1;
  return 0;
}

/* Drops the setting of an old name if it is a 0 out of bounds, which 1.0 ignores.  Returns whether
   it did. */
static bool opt_drop_zero(const struct bn_optset *s, struct bn_entry *alias)
{
  const char *text = alias->last.text != NULL ? alias->last.text : "";
  const bool is_bad_zero = alias->bad == BN_OPTSET_RANGE && strtol(text, NULL, 10) == 0;

  if (!s->policy->old_name_with_0_ignored || !is_bad_zero)
    return false;
  alias->bad = BN_OPTSET_OK;
  alias->given = false;
  return true;
}

/* Returns whether the number of an alias is not its default.  An alias without a default, or with
   one that does not fit, always differs. */
static bool opt_differs_from_default(const struct bn_optset *s, const struct bn_entry *alias)
{
  union bn_optval def = {0};
  const char *text = bn_opt_get_default(alias->o, s->policy);
  double def_number;

  if (text == NULL || bn_optval_parse(alias->o, &def, text) != BN_OPTSET_OK)
    return true;
  def_number = bn_optval_to_number(alias->o, &def);
  bn_optval_clear(alias->o, &def);
  return bn_optval_to_number(alias->o, alias->value) != def_number;
}

/* Gives the value of an alias to its target.  Returns whether the alias was given a value other
   than its default. */
static bool opt_resolve_alias(struct bn_optset *s, struct bn_entry *alias, struct bn_entry *target)
{
  if (!alias->given || opt_drop_zero(s, alias) || alias->bad != BN_OPTSET_OK)
    return false;
  const bool differs = opt_differs_from_default(s, alias);
  /* The later setting counts; in sysbench that of the alias, unless its value is the default. */
  const bool target_counts =
      bn_policy_is_native(s->policy) ? target->last.order > alias->last.order : !differs;

  if (!target->given || !target_counts)
    (void)opt_apply(s, target, &alias->last);
  return differs;
}

void bn_optset_resolve_aliases(struct bn_optset *s, void (*warn)(void *arg, const char *text),
                               void *arg)
{
  for (size_t t = 0; t < s->n; t++) {
    struct bn_entry *target = s->entry[t];

    for (size_t a = 0; a < s->n; a++) {
      struct bn_entry *alias = s->entry[a];

      if (bn_optset_find_target(s, alias) != target)
        continue;
      const bool differs = opt_resolve_alias(s, alias, target);

      if (differs && alias->o->deprecated_text != NULL)
        warn(arg, alias->o->deprecated_text);
    }
  }
}

void bn_opt_read_name(const char *arg, char name[BN_OPT_NAME_MAX])
{
  const char *begin = arg + strlen("--");
  char typed[BN_OPT_NAME_MAX];

  (void)snprintf(typed, sizeof typed, "%.*s", (int)strcspn(begin, "="), begin);
  bn_near_copy_dashed(name, BN_OPT_NAME_MAX, typed);
}
