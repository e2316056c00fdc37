/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of errors: what --db-ignore-errors and the drivers' own options name, and what it matches.
 */
#include "sql/errors.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "option/opt.h"

static const struct {
  const char *name;
  enum bn_sql_class class;
} class_names[] = {
    {"other", BN_CLASS_OTHER},
    {"deadlock", BN_CLASS_DEADLOCK},
    {"lock-timeout", BN_CLASS_LOCK_TIMEOUT},
    {"serialization", BN_CLASS_SERIALIZATION},
    {"connection", BN_CLASS_CONNECTION},
    {"read-only", BN_CLASS_READ_ONLY},
    {"duplicate", BN_CLASS_DUPLICATE},
    {"resource", BN_CLASS_RESOURCE},
};

const char *bn_sql_errors_class(enum bn_sql_class class)
{
  for (size_t i = 0; i < sizeof class_names / sizeof *class_names; i++)
    if (class_names[i].class == class)
      return class_names[i].name;
  return class_names[0].name;
}

static bool is_number(const char *s)
{
  return s[0] != '\0' && s[strspn(s, "0123456789")] == '\0';
}

static bool is_sqlstate(const char *s)
{
  return strlen(s) == 5 && strspn(s, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 5;
}

/* Unlike options, names of classes may be written in capitals. */
static bool is_word(const char *item, const char *name)
{
  char lower[32] = "";

  if (strlen(item) >= sizeof lower)
    return false;
  for (size_t i = 0; item[i] != '\0'; i++)
    lower[i] = (char)tolower((unsigned char)item[i]);
  return bn_opt_same_name(lower, name);
}

/* Room for all of the list; what was there goes. */
static int errors_reserve(struct bn_sql_errors *e, const struct bn_list *list, struct bn_err *err)
{
  bn_sql_errors_free(e);
  e->error = calloc(list->n > 0 ? list->n : 1, sizeof *e->error);
  return e->error != NULL ? 0 : bn_err_set(err, ENOMEM, "out of memory");
}

static void errors_add(struct bn_sql_errors *e, const char *item, bool by_code, bool by_state)
{
  struct bn_sql_error *error = &e->error[e->n++];
  const unsigned long code = by_code ? strtoul(item, NULL, 10) : 0;

  error->code = code <= INT_MAX ? (int)code : 0;
  if (by_state)
    memcpy(error->state, item, sizeof error->state);
}

/* true: the item is the name of a class. */
static bool add_class(struct bn_sql_errors *e, const char *item)
{
  for (size_t i = 0; i < sizeof class_names / sizeof class_names[0]; i++) {
    if (is_word(item, class_names[i].name)) {
      e->classes |= 1u << class_names[i].class;
      return true;
    }
  }
  return false;
}

int bn_sql_errors_parse(struct bn_sql_errors *e, const struct bn_policy *policy,
                        const struct bn_list *list, struct bn_err *err)
{
  if (errors_reserve(e, list, err) != 0)
    return -1;
  for (size_t i = 0; i < list->n; i++) {
    const char *item = list->item[i];

    if (add_class(e, item))
      continue;
    if (is_word(item, "all"))
      e->all = true;
    else if (is_number(item) || is_sqlstate(item))
      errors_add(e, item, is_number(item), is_sqlstate(item));
    else
      return bn_opt_refuse(policy,
                           &(struct bn_opt_refusal){"db-ignore-errors", item, "unknown",
                                                    "error numbers, SQLSTATEs, classes of errors, "
                                                    "all"},
                           "Invalid value for --db-ignore-errors: '%s' is no error number, "
                           "SQLSTATE, class of errors or 'all'",
                           err);
  }
  return 0;
}

static const struct bn_opt *option_named(const struct bn_driver *ops, const char *name)
{
  const struct bn_opt *o = ops->options;

  while (o != NULL && o->name != NULL && strcmp(o->name, name) != 0)
    o++;
  return o != NULL && o->name != NULL && o->type == BN_LIST ? o : NULL;
}

int bn_sql_errors_of_driver(struct bn_sql_errors *e, const struct bn_driver *ops, const void *conf,
                            struct bn_err *err)
{
  const struct bn_sql_ignore *ignore = &ops->ignore;
  const bool by_code = ignore->key == BN_KEY_CODE;
  const struct bn_opt *option;
  const struct bn_list *list;

  bn_sql_errors_free(e);
  e->classes = ignore->classes;
  if (ignore->option == NULL)
    return 0;
  option = option_named(ops, ignore->option);
  if (option == NULL)
    return bn_err_set(err, EINVAL, "the database driver '%s' has no option '%s'", ops->name,
                      ignore->option);
  list = (const void *)((const char *)conf + option->offset);
  if (errors_reserve(e, list, err) != 0)
    return -1;
  e->classes = ignore->classes;
  for (size_t i = 0; i < list->n; i++) {
    const char *item = list->item[i];

    if (strcmp(item, "all") == 0)
      e->all = true;
    else if (by_code ? item[0] == '\0' || is_number(item) : is_sqlstate(item))
      errors_add(e, item, by_code, !by_code);
    else
      return bn_err_set(err, EINVAL, "Invalid value for --%s: '%s' is no %s and not 'all'",
                        ignore->option, item, by_code ? "error number" : "SQLSTATE");
  }
  return 0;
}

void bn_sql_errors_free(struct bn_sql_errors *e)
{
  free(e->error);
  e->error = NULL;
  e->n = 0;
  e->classes = 0;
  e->all = false;
}

bool bn_sql_errors_name_loss(const struct bn_sql_errors *e, const struct bn_driver *ops)
{
  for (size_t i = 0; ops->classify != NULL && i < e->n; i++) {
    struct bn_sql_diag d = {.code = 0};

    memcpy(d.state, e->error[i].state, sizeof e->error[i].state);
    if (d.state[0] != '\0' && ops->classify(&d) == BN_CLASS_CONNECTION)
      return true;
  }
  return false;
}

bool bn_sql_errors_have(const struct bn_sql_errors *e, const struct bn_sql_diag *d,
                        enum bn_sql_class class)
{
  if (e->all || (e->classes & (1u << class)) != 0)
    return true;
  for (size_t i = 0; i < e->n; i++) {
    const struct bn_sql_error *error = &e->error[i];

    if (error->state[0] != '\0' && strcmp(error->state, d->state) == 0)
      return true;
    if (error->code > 0 && error->code == d->code)
      return true;
  }
  return false;
}
