/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options as records of a run show them: each with its value as a text, and who has set it. */
#include <inttypes.h>

#include "base/buf.h"
#include "base/mask.h"
#include "base/units.h"
#include "option/opt.h"
#include "option/optval.h"

/* Appends a size with the largest letter that keeps it exact: 64K, 1000. */
static void optfact_add_size(struct bn_buf *b, uint64_t bytes)
{
  static const char letters[] = "KMGT";
  size_t power = 0;

  for (; bytes != 0 && bytes % 1024 == 0 && letters[power] != '\0'; power++)
    bytes /= 1024;
  (void)bn_buf_printf(b, "%" PRIu64, bytes);
  if (power > 0)
    (void)bn_buf_char(b, letters[power - 1]);
}

/* Appends the items of a list.  "; " separates verbatim items, because they may have commas. */
static void optfact_add_list(struct bn_buf *b, const struct bn_list *list, bool verbatim)
{
  const char *separator = verbatim ? "; " : ",";

  for (size_t i = 0; i < list->n; i++)
    (void)bn_buf_printf(b, "%s%s", i == 0 ? "" : separator, list->item[i]);
}

/* Appends a value as a user would type it. */
static void optfact_add_value(struct bn_buf *b, const struct bn_opt *o, const void *value)
{
  const char *const *text = value;
  char digits[BN_UNITS_DIGITS];

  switch (o->type) {
  case BN_BOOL:
    (void)bn_buf_str(b, *(const bool *)value ? "on" : "off");
    break;
  case BN_INT:
    (void)bn_buf_printf(b, "%" PRId64, *(const int64_t *)value);
    break;
  case BN_SIZE:
    optfact_add_size(b, *(const uint64_t *)value);
    break;
  case BN_DOUBLE:
  case BN_SECONDS:
    (void)bn_buf_str(b, bn_units_format_shortest(digits, *(const double *)value));
    break;
  case BN_CHOICE:
    (void)bn_buf_str(b, o->choices[*(const int *)value]);
    break;
  case BN_LIST:
    optfact_add_list(b, value, o->verbatim);
    break;
  case BN_STRING:
  case BN_PATH:
    (void)bn_buf_str(b, *text != NULL ? *text : "");
    break;
  }
}

/* Returns whether a later pending setting of the command line sets the same option as the i-th. */
static bool optfact_is_repeated(const struct bn_optset *s, size_t i)
{
  for (size_t k = i + 1; k < s->n_pending; k++)
    if (s->pending[k].path == NULL && bn_opt_is_same_name(s->pending[k].name, s->pending[i].name))
      return true;
  return false;
}

/* Calls fn for the options that no table declares, which scripts of 1.0 and 0.5 read.  The last
   setting counts.  The value of an option that the script does not read is hidden, because it may
   be a password whose name was mistyped. */
static void optfact_each_undeclared(const struct bn_optset *s,
                                    void (*fn)(void *arg, const struct bn_opt_fact *f), void *arg)
{
  for (size_t i = 0; i < s->n_pending; i++) {
    const struct bn_setting *st = &s->pending[i];

    if (st->path != NULL || st->bad_bool || optfact_is_repeated(s, i))
      continue;
    const bool is_secret = !st->is_read || bn_mask_names_secret(st->name);
    const char *text = st->text != NULL ? st->text : "";
    char masked[BN_MASK_MAX], masked_text[BN_MASK_MAX];
    const struct bn_opt_fact fact = {.name = bn_mask_arg(st->name, masked),
                                     .origin = BN_FROM_COMMAND_LINE,
                                     .secret = is_secret,
                                     .text = is_secret ? NULL : bn_mask_text(text, masked_text)};

    fn(arg, &fact);
  }
}

/* Returns what a record shows of the value of an option, or NULL for a secret.  `text` and `masked`
   are memory for it. */
static const char *optfact_show_value(const struct bn_entry *e, struct bn_buf *text,
                                      char masked[BN_MASK_MAX])
{
  if (bn_opt_is_secret(e->o))
    return NULL;
  bn_buf_clear(text);
  (void)bn_buf_str(text, ""); /* an empty list adds nothing, and text->data must not be NULL */
  optfact_add_value(text, e->o, e->value);
  const bool is_group = e->o->verbatim && (e->o->traits & BN_OPT_COMMAND_LINE_ONLY) != 0;

  /* bn_groups_mask_texts has masked the passwords of --group, and bn_mask_text would cut off the
     words after the first one. */
  return is_group ? text->data : bn_mask_text(text->data, masked);
}

void bn_optset_each_fact(const struct bn_optset *s,
                         void (*fn)(void *arg, const struct bn_opt_fact *f), void *arg)
{
  struct bn_buf text = {.max = 0};
  char masked[BN_MASK_MAX];

  for (size_t i = 0; i < s->n; i++) {
    const struct bn_entry *e = s->entry[i];

    if (e->o->alias_of == NULL && !e->o->hidden)
      fn(arg, &(struct bn_opt_fact){.name = e->o->name,
                                    .group = e->group,
                                    .origin = bn_optval_origin(e),
                                    .traits = e->traits,
                                    .secret = bn_opt_is_secret(e->o),
                                    .text = optfact_show_value(e, &text, masked)});
  }
  optfact_each_undeclared(s, fn, arg);
  bn_buf_done(&text);
}
