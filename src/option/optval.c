/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses and checks the value of an option, and says what is wrong with it. */
#include "option/optval.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/mask.h"
#include "base/near.h"
#include "base/units.h"
#include "option/delay.h"
#include "option/words.h"

static const char item_blanks[] = " \t\r\n\v\f", item_separators[] = ", \t\r\n\v\f";

void bn_optval_clear(const struct bn_opt *o, void *value)
{
  if (o->type == BN_STRING || o->type == BN_PATH) {
    free(*(char **)value);
    *(char **)value = NULL;
  } else if (o->type == BN_LIST) {
    bn_words_done(value);
  }
}

int bn_optval_next(const char **pos, struct bn_optval_item *item)
{
  const char *text = *pos + strspn(*pos, item_separators), *end;

  if (*text == '\0' || *text == '#')
    return 0;
  if (*text == '"' || *text == '\'') {
    end = strchr(text + 1, *text);
    if (end == NULL)
      return -1;
    *pos = end + 1;
    text++;
  } else {
    end = text + strcspn(text, item_separators);
    *pos = end;
  }
  *item = (struct bn_optval_item){.text = text, .len = (size_t)(end - text)};
  return 1;
}

char *bn_optval_copy_first(const char *text, bool with_commas, const char **rest)
{
  char *first = bn_alloc(strlen(text) + 1, 1);
  struct bn_optval_item item;
  size_t len = 0;
  bool goes_on = true;

  while (goes_on) {
    for (; with_commas && *text != '\0' && strchr(item_separators, *text) != NULL; text++)
      if (*text == ',')
        first[len++] = ',';
    if (bn_optval_next(&text, &item) <= 0)
      break;
    memcpy(first + len, item.text, item.len);
    len += item.len;
    goes_on = with_commas && text[strspn(text, item_blanks)] == ',';
  }
  *rest = text;
  return first;
}

void bn_optval_split_items(const char *text, struct bn_list *out)
{
  struct bn_optval_item item;

  while (bn_optval_next(&text, &item) > 0)
    bn_words_adopt(out, bn_alloc_part(item.text, item.len));
}

/* Returns whether the option has bounds: 0 and 0 mean that it has none. */
static bool optval_is_bounded(const struct bn_opt *o)
{
  return o->min != 0 || o->max != 0;
}

/* The functions optval_parse_* set the value to that of the text and return OK, or leave the value
   as it is and return what is wrong with the text.  An empty text is the number 0, the size 0 and
   the time 0: opt.c has refused it, unless the dialect accepts it. */
static enum bn_optset_error optval_parse_int(const struct bn_opt *o, int64_t *value,
                                             const char *text)
{
  /* Numbers fit into an int, as in sysbench, unless the bounds allow others. */
  const bool is_wide = o->max > INT32_MAX || o->min < INT32_MIN;
  int64_t v = 0;

  if (text[0] != '\0' && bn_units_parse_int(text, &v) != 0)
    return BN_OPTSET_BAD;
  if (!is_wide && (v > INT32_MAX || v < INT32_MIN))
    return BN_OPTSET_BAD;
  if (optval_is_bounded(o) && (v < o->min || v > o->max))
    return BN_OPTSET_RANGE;
  *value = v;
  return BN_OPTSET_OK;
}

static enum bn_optset_error optval_parse_size(const struct bn_opt *o, uint64_t *value,
                                              const char *text)
{
  uint64_t v = 0;

  /* sysbench takes a malformed size for 0, and refuses 0 if the option has a sentence for that. */
  if (text[0] != '\0' && bn_units_parse_size(text, &v) != 0)
    return o->range_text != NULL ? BN_OPTSET_RANGE : BN_OPTSET_BAD;
  const bool is_in_range = v <= (uint64_t)INT64_MAX && (int64_t)v >= o->min && (int64_t)v <= o->max;

  if (optval_is_bounded(o) && !is_in_range)
    return BN_OPTSET_RANGE;
  *value = v;
  return BN_OPTSET_OK;
}

/* Reads the number of an option of the type BN_DOUBLE or BN_SECONDS.  Returns false if the text has
   none. */
static bool optval_read_number(const struct bn_opt *o, const char *text, double *v)
{
  /* A negative time, which is no duration, is read as a number, so that it is out of range. */
  if (o->type == BN_SECONDS)
    return bn_units_parse_duration(text, v) == 0 || bn_units_parse_double(text, v) == 0;
  return bn_units_parse_number(text, v) == 0;
}

static enum bn_optset_error optval_parse_double(const struct bn_opt *o, double *value,
                                                const char *text)
{
  double v = 0;

  if (text[0] != '\0' && !optval_read_number(o, text, &v))
    return BN_OPTSET_BAD;
  if (optval_is_bounded(o) && (v < (double)o->min || v > (double)o->max))
    return BN_OPTSET_RANGE;
  *value = v;
  return BN_OPTSET_OK;
}

static enum bn_optset_error optval_parse_choice(const struct bn_opt *o, int *value,
                                                const char *text)
{
  for (int i = 0; o->choices[i] != NULL; i++)
    if (strcasecmp(o->choices[i], text) == 0) {
      *value = i;
      return BN_OPTSET_OK;
    }
  return BN_OPTSET_RANGE;
}

/* A switch without a value (text NULL) is on. */
static enum bn_optset_error optval_parse_bool(bool *value, const char *text)
{
  if (text == NULL) {
    *value = true;
    return BN_OPTSET_OK;
  }
  return bn_units_parse_bool(text, value) == 0 ? BN_OPTSET_OK : BN_OPTSET_BOOL;
}

/* An empty text is a value if the option is `blank`; otherwise it stands for NULL, no value. */
static enum bn_optset_error optval_parse_string(const struct bn_opt *o, char **value,
                                                const char *text)
{
  const bool has_value = text[0] != '\0' || o->blank;
  char *copy = has_value ? bn_alloc_text(text) : NULL;

  free(*value);
  *value = copy;
  return BN_OPTSET_OK;
}

/* Parses the text of a value that is no list, without the quotes of a file.  text NULL: the option
   was given without '='. */
static enum bn_optset_error optval_parse_scalar(const struct bn_opt *o, void *value,
                                                const char *text)
{
  const char *given = text != NULL ? text : "";

  switch (o->type) {
  case BN_BOOL:
    return optval_parse_bool(value, text);
  case BN_INT:
    return optval_parse_int(o, value, given);
  case BN_SIZE:
    return optval_parse_size(o, value, given);
  case BN_DOUBLE:
  case BN_SECONDS:
    return optval_parse_double(o, value, given);
  case BN_CHOICE:
    return optval_parse_choice(o, value, given);
  case BN_STRING:
  case BN_PATH:
    return optval_parse_string(o, value, given);
  case BN_LIST:
    break;
  }
  return BN_OPTSET_BAD;
}

/* Parses the first item of a file's value, or "" if there is none.  sysbench ignores the other
   items, and sets a boolean without an item to off. */
static enum bn_optset_error optval_parse_first_item(const struct bn_opt *o, void *value,
                                                    const char *text)
{
  struct bn_optval_item item = {.text = "", .len = 0};

  (void)bn_optval_next(&text, &item);
  if (o->type == BN_BOOL && item.len == 0) {
    *(bool *)value = false;
    return BN_OPTSET_OK;
  }
  char *first = bn_alloc_part(item.text, item.len);
  const enum bn_optset_error rc = optval_parse_scalar(o, value, first);

  free(first);
  return rc;
}

/* Replaces a list by the items of a text of the command line: only commas separate items, blanks
   belong to them, and empty items are dropped. */
static enum bn_optset_error optval_parse_list(const struct bn_opt *o, struct bn_list *value,
                                              const char *text)
{
  struct bn_list items = {0};

  if (o->verbatim) {
    bn_words_add(&items, text);
  } else {
    for (text += strspn(text, ","); *text != '\0'; text += strspn(text, ",")) {
      const size_t len = strcspn(text, ",");

      bn_words_adopt(&items, bn_alloc_part(text, len));
      text += len;
    }
  }
  bn_words_done(value);
  *value = items;
  return BN_OPTSET_OK;
}

enum bn_optset_error bn_optval_parse(const struct bn_opt *o, void *value, const char *text)
{
  if (o->type == BN_LIST)
    return optval_parse_list(o, value, text != NULL ? text : "");
  return optval_parse_scalar(o, value, text);
}

enum bn_optset_error bn_optval_parse_setting(const struct bn_opt *o, void *value,
                                             const struct bn_setting *st)
{
  const char *items = st->text != NULL ? st->text : "";

  if (st->path == NULL)
    return bn_optval_parse(o, value, st->text);
  if (o->type != BN_LIST)
    return optval_parse_first_item(o, value, items);
  bn_words_done(value);
  bn_optval_split_items(items, value);
  return BN_OPTSET_OK;
}

/* policy->default_at is the offset of the dialect's member among def, def10 and def05. */
const char *bn_opt_get_default(const struct bn_opt *o, const struct bn_policy *policy)
{
  const char *dialect_def = *(const char *const *)((const char *)o + policy->default_at);
  const char *def = dialect_def != NULL ? dialect_def : o->def;
  const bool is_none = def == NULL || strcmp(def, BN_OPT_NO_DEFAULT) == 0;

  return is_none ? NULL : def;
}

enum bn_optset_error bn_optval_set_default(const struct bn_opt *o, const struct bn_policy *policy,
                                           void *value)
{
  static const union bn_optval zero;
  static const size_t sizes[] = {[BN_BOOL] = sizeof(bool),           [BN_INT] = sizeof(int64_t),
                                 [BN_SIZE] = sizeof(uint64_t),       [BN_DOUBLE] = sizeof(double),
                                 [BN_STRING] = sizeof(char *),       [BN_CHOICE] = sizeof(int),
                                 [BN_LIST] = sizeof(struct bn_list), [BN_PATH] = sizeof(char *),
                                 [BN_SECONDS] = sizeof(double)};
  const char *def = bn_opt_get_default(o, policy);

  memcpy(value, &zero, sizes[o->type]);
  if (def == NULL || (o->blank && def[0] == '\0'))
    return BN_OPTSET_OK;
  return bn_optval_parse(o, value, def);
}

double bn_optval_to_number(const struct bn_opt *o, const void *value)
{
  switch (o->type) {
  case BN_BOOL:
    return *(const bool *)value ? 1 : 0;
  case BN_INT:
    return (double)*(const int64_t *)value;
  case BN_SIZE:
    return (double)*(const uint64_t *)value;
  case BN_DOUBLE:
  case BN_SECONDS:
    return *(const double *)value;
  case BN_CHOICE:
    return *(const int *)value;
  case BN_STRING:
  case BN_PATH:
  case BN_LIST:
    break;
  }
  return 0;
}

bool bn_opt_is_secret(const struct bn_opt *o)
{
  return o->secret ||
         ((o->type == BN_STRING || o->type == BN_LIST) && bn_mask_names_secret(o->name));
}

/* The text of a switch such as --mysql-password-prompt is masked too: it may be the password. */
const char *bn_opt_mask_text(const struct bn_opt *o, const char *text)
{
  const bool is_secret_switch = o->type == BN_BOOL && bn_mask_names_secret(o->name);
  const bool is_hidden = bn_opt_is_secret(o) || is_secret_switch;

  return text[0] != '\0' && is_hidden ? BN_MASK : text;
}

/* Writes a message of an option's declaration, with the value in the place of its "%s", if it has
   one.  A text that is too long is cut.  The message is no format of snprintf(), because the
   compiler checks only formats that are literals. */
static void optval_format_message(char *out, size_t len, const char *message, const char *value)
{
  static const char placeholder[] = "%s";
  const char *found = strstr(message, placeholder);

  if (found == NULL)
    (void)snprintf(out, len, "%s", message);
  else
    (void)snprintf(out, len, "%.*s%s%s", (int)(found - message), message, value,
                   found + strlen(placeholder));
}

int bn_opt_refuse(const struct bn_policy *policy, const struct bn_opt_refusal *r, const char *plain,
                  struct bn_err *err)
{
  char masked[BN_MASK_MAX];
  const char *shown;

  if (policy->plain_errors) {
    optval_format_message(err->text, sizeof err->text, plain, r->value);
    err->code = 0;
    return -1;
  }
  shown = bn_mask_text(r->value, masked);
  if (r->allowed == NULL)
    return bn_err_set(err, BN_ERR_OPTION, "--%s=%.200s: %s", r->name, shown, r->wrong);
  return bn_err_set(err, BN_ERR_OPTION, "--%s=%.200s: %s; allowed: %s", r->name, shown, r->wrong,
                    r->allowed);
}

void bn_optval_list_choices(const struct bn_opt *o, char *out, size_t len)
{
  size_t used = 0;

  out[0] = '\0';
  for (size_t i = 0; o->choices[i] != NULL && o->choices[i][0] != '\0' && used < len; i++)
    used += (size_t)snprintf(out + used, len - used, "%s%s", i > 0 ? ", " : "", o->choices[i]);
}

bool bn_optval_is_numeric(const struct bn_opt *o)
{
  return o->type == BN_INT || o->type == BN_SIZE || o->type == BN_DOUBLE || o->type == BN_SECONDS ||
         (o->type == BN_LIST && o->scalar);
}

/* Explains, in the words of sysbench, that a value is out of bounds or not among the choices.  An
   empty number is shown as 0, as sysbench reads it. */
static void optval_explain_range(const struct bn_opt *o, const char *text,
                                 struct bn_optset_fault *out)
{
  const char *shown = bn_optval_is_numeric(o) && text[0] == '\0' ? "0" : bn_opt_mask_text(o, text);

  if (o->range_text != NULL)
    optval_format_message(out->text, sizeof out->text, o->range_text, shown);
  else if (o->type == BN_CHOICE)
    (void)snprintf(out->text, sizeof out->text, "Invalid value for --%s: '%.400s'", o->name, shown);
  else
    (void)snprintf(out->text, sizeof out->text,
                   "Invalid value for --%s: %.400s (allowed: %" PRId64 " to %" PRId64 ")", o->name,
                   shown, o->min, o->max);
}

/* Prints the bounds with the unit after them, or `unbounded` if there are none.  An upper bound
   that is only that of the type tells a user nothing and is left out. */
static void optval_print_bounds(const struct bn_opt *o, const char *unit, const char *unbounded,
                                char *out, size_t len)
{
  const bool has_all_numbers = o->min == INT64_MIN && o->max == INT64_MAX;

  if (!optval_is_bounded(o) || has_all_numbers)
    (void)snprintf(out, len, "%s", unbounded);
  else if (o->max >= INT32_MAX)
    (void)snprintf(out, len, "%" PRId64 " or more%s", o->min, unit);
  else
    (void)snprintf(out, len, "%" PRId64 " to %" PRId64 "%s", o->min, o->max, unit);
}

/* Returns which texts the option takes, or `any` if it takes all. */
static const char *optval_describe_texts(const struct bn_opt *o, const char *any)
{
  if (o->scalar)
    return "numbers, separated by commas";
  if (o->delay != 0)
    return bn_delay_forms;
  return o->filled ? o->form + strlen("=") : any; /* each `filled` option has a form, "=NAME" */
}

/* Prints which values the option takes. */
static void optval_print_allowed(const struct bn_opt *o, char *out, size_t len)
{
  switch (o->type) {
  case BN_BOOL:
    (void)snprintf(out, len, "on, true, 1, off, false, 0");
    break;
  case BN_INT:
    optval_print_bounds(o, "", "a whole number", out, len);
    break;
  case BN_SIZE:
    optval_print_bounds(o, " bytes, also with K, M, G or T", "bytes, also with K, M, G or T", out,
                        len);
    break;
  case BN_DOUBLE:
    optval_print_bounds(o, "", "a number", out, len);
    break;
  case BN_SECONDS:
    optval_print_bounds(o, " seconds, also with ms, s, m or h", "seconds, also with ms, s, m or h",
                        out, len);
    break;
  case BN_CHOICE:
    bn_optval_list_choices(o, out, len);
    break;
  case BN_LIST:
    (void)snprintf(out, len, "%s", optval_describe_texts(o, "any text"));
    break;
  case BN_STRING:
  case BN_PATH:
    (void)snprintf(out, len, "%s", optval_describe_texts(o, "any text but an empty one"));
    break;
  }
}

/* Returns what is wrong with a text, in bench's own words.  The kind of the fault alone does not
   tell that. */
static const char *optval_find_reason(const struct bn_opt *o, const char *text,
                                      enum bn_optset_error kind)
{
  static const char *const misfits[] = {
      [BN_BOOL] = "neither on nor off", [BN_INT] = "not a whole number", [BN_SIZE] = "not a size",
      [BN_DOUBLE] = "not a number",     [BN_CHOICE] = "unknown",         [BN_LIST] = "not a list",
      [BN_SECONDS] = "not a time"};
  uint64_t size;
  int64_t number;

  if (o->delay != 0 && text[0] != '\0')
    return "not a time";
  const bool is_empty = text[0] == '\0' && o->type != BN_BOOL;
  const bool is_text = o->type == BN_STRING || o->type == BN_PATH;

  if (is_empty || is_text) /* nothing else can be wrong with a text */
    return "no value";
  /* A number that is too large for an int is BAD. */
  if (o->type == BN_INT && bn_units_parse_int(text, &number) == 0)
    return "out of range";
  /* An unknown choice is RANGE, and so is a text that is not a size. */
  const bool is_no_size = o->type == BN_SIZE && bn_units_parse_size(text, &size) != 0;
  const bool is_misfit = kind != BN_OPTSET_RANGE || o->type == BN_CHOICE || is_no_size;

  return is_misfit ? misfits[o->type] : "out of range";
}

/* Explains a fault in the words of sysbench. */
static void optval_explain_plainly(const struct bn_opt *o, const char *text,
                                   enum bn_optset_error kind, struct bn_optset_fault *out)
{
  char name[128];

  if (kind == BN_OPTSET_RANGE) {
    optval_explain_range(o, text, out);
    return;
  }
  (void)snprintf(name, sizeof name, "%s", o->name);
  bn_near_replace_dashes(name);
  (void)snprintf(out->text, sizeof out->text, "Invalid value for the '%s' option: '%.400s'", name,
                 bn_opt_mask_text(o, text));
}

void bn_optval_explain(const struct bn_opt *o, const char *text, enum bn_optset_error kind,
                       const struct bn_policy *policy, struct bn_optset_fault *out)
{
  const char *shown = text != NULL ? text : "";
  char name[128], allowed[200], masked[BN_MASK_MAX];

  *out = (struct bn_optset_fault){.kind = kind, .opt = o};
  if (policy->plain_errors) {
    optval_explain_plainly(o, shown, kind, out);
    return;
  }
  bn_near_copy_dashed(name, sizeof name, o->name);
  optval_print_allowed(o, allowed, sizeof allowed);
  if (text == NULL)
    (void)snprintf(out->text, sizeof out->text, "--%s: no value; allowed: %s", name, allowed);
  else
    (void)snprintf(out->text, sizeof out->text, "--%s=%.200s: %s; allowed: %s", name,
                   bn_mask_text(bn_opt_mask_text(o, text), masked),
                   optval_find_reason(o, text, kind), allowed);
}
