/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors of databases: the lists of errors in --db-ignore-errors and in the drivers' own options,
   and the messages about failures. */
#include "sql/errors.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/escape.h"
#include "base/log.h"
#include "option/opt.h"

static const struct bn_sql_class_traits class_traits[] = {
    [BN_CLASS_OTHER] = {.name = "other"},
    [BN_CLASS_DEADLOCK] = {.name = "deadlock", .refuses_commit = true},
    [BN_CLASS_LOCK_TIMEOUT] = {.name = "lock-timeout", .refuses_commit = true},
    [BN_CLASS_SERIALIZATION] = {.name = "serialization", .refuses_commit = true},
    [BN_CLASS_CONNECTION] = {.name = "connection", .of_server = true},
    [BN_CLASS_READ_ONLY] = {.name = "read-only", .refuses_commit = true, .of_server = true},
    [BN_CLASS_DUPLICATE] = {.name = "duplicate", .refuses_commit = true},
    [BN_CLASS_RESOURCE] = {.name = "resource"},
};
enum { CLASSES = sizeof class_traits / sizeof *class_traits };

const struct bn_sql_class_traits *bn_sql_errors_class(enum bn_sql_class class)
{
  /* The module of a driver may return a class that is not known here. */
  return &class_traits[(unsigned)class < CLASSES ? class : BN_CLASS_OTHER];
}

/* Returns whether the text is a whole number without a sign. */
static bool errors_is_number(const char *s)
{
  return s[0] != '\0' && s[strspn(s, "0123456789")] == '\0';
}

/* Returns whether the text has the form of a SQLSTATE: five digits or capital letters. */
static bool errors_is_sqlstate(const char *s)
{
  enum { STATE_LEN = 5 };

  return strlen(s) == STATE_LEN && strspn(s, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == STATE_LEN;
}

/* Returns whether the item is this name of a class, perhaps in capitals, or with '_' for '-'. */
static bool errors_is_class_word(const char *item, const char *name)
{
  for (; *name != '\0'; item++, name++) {
    const int normalized = *item == '_' ? '-' : tolower((unsigned char)*item);

    if (normalized != *name)
      return false;
  }
  return *item == '\0';
}

/* Adds the class that the item names.  Returns false if it names none. */
static bool errors_add_class(struct bn_sql_errors *e, const char *item)
{
  for (unsigned i = 0; i < CLASSES; i++) {
    if (errors_is_class_word(item, class_traits[i].name)) {
      e->classes |= 1u << i;
      return true;
    }
  }
  return false;
}

/* Adds an error by its number, by its SQLSTATE, or by either, for which the caller has made room.
   A number above INT_MAX, which no server has, becomes 0, which matches no error.  Returns false,
   and adds nothing, if the item is neither. */
static bool errors_add_key(struct bn_sql_errors *e, const char *item, bool is_number, bool is_state)
{
  const unsigned long code = is_number ? strtoul(item, NULL, 10) : 0;
  struct bn_sql_error *error = &e->error[e->n];

  if (!is_number && !is_state)
    return false;
  error->code = code <= INT_MAX ? (int)code : 0;
  if (is_state)
    memcpy(error->state, item, sizeof error->state);
  e->n++;
  return true;
}

/* Adds an item of --db-ignore-errors: a class, "all", a number or a SQLSTATE.  Returns false if the
   item is none of these. */
static bool errors_add_item(struct bn_sql_errors *e, const char *item)
{
  if (errors_add_class(e, item))
    return true;
  if (errors_is_class_word(item, "all")) {
    e->all = true;
    return true;
  }
  return errors_add_key(e, item, errors_is_number(item), errors_is_sqlstate(item));
}

int bn_sql_errors_parse(struct bn_sql_errors *e, const struct bn_policy *policy,
                        const struct bn_list *list, struct bn_err *err)
{
  bn_sql_errors_free(e);
  e->error = bn_alloc(list->n, sizeof *e->error);
  for (size_t i = 0; i < list->n; i++) {
    const char *item = list->item[i];

    if (!errors_add_item(e, item))
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

/* Adds an item of a driver's list: "all", or a key of the list.  An empty item counts as a number:
   it becomes 0, which matches no error.  Returns false if the item is neither. */
static bool errors_add_driver_item(struct bn_sql_errors *e, bool by_code, const char *item)
{
  const bool is_code = by_code && (item[0] == '\0' || errors_is_number(item));
  const bool is_state = !by_code && errors_is_sqlstate(item);

  if (strcmp(item, "all") == 0) {
    e->all = true;
    return true;
  }
  return errors_add_key(e, item, is_code, is_state);
}

int bn_sql_errors_read_driver(struct bn_sql_errors *e, const struct bn_driver *ops,
                              const void *conf, struct bn_err *err)
{
  const struct bn_sql_ignore *ignore = &ops->ignore;
  const bool by_code = ignore->key == BN_KEY_CODE;
  const struct bn_list *list;

  bn_sql_errors_free(e);
  e->classes = ignore->classes;
  if (ignore->option == NULL)
    return 0;
  list = (const void *)((const char *)conf +
                        bn_opt_find(ops->options, ignore->option, strlen(ignore->option))->offset);
  e->error = bn_alloc(list->n, sizeof *e->error);
  for (size_t i = 0; i < list->n; i++)
    if (!errors_add_driver_item(e, by_code, list->item[i]))
      return bn_err_set(err, EINVAL, "Invalid value for --%s: '%s' is no %s and not 'all'",
                        ignore->option, list->item[i], by_code ? "error number" : "SQLSTATE");
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

bool bn_sql_errors_include_loss(const struct bn_sql_errors *e, const struct bn_driver *ops)
{
  if (ops->classify == NULL)
    return false;
  for (size_t i = 0; i < e->n; i++) {
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

/* --- the messages about failures --- */

/* The texts of drivers that have none of their own. */
static const char *const default_texts[BN_STEPS] = {
    [BN_STEP_CONNECT] = "unable to connect to %w, aborting...\nerror %e: %m",
    [BN_STEP_PREPARE] = "%c failed\nerror %e: %m",
    [BN_STEP_BIND] = "%c failed\nerror %e: %m",
    [BN_STEP_QUERY] = "%c returned error %e (%m) for query '%q'",
};

/* The message when the statement is not known any more. */
static const char text_unnamed[] = "%c returned error %e (%m)";

/* A bulk insert is half a megabyte; sysbench cuts it here too. */
enum { MESSAGE_MAX = 4095 };

struct bn_sql_shown bn_sql_shown(const struct bn_sql_diag *d)
{
  struct bn_sql_shown s;

  (void)bn_escape_message(s.text, sizeof s.text, d->text);
  return s;
}

/* Returns the name of the function that has failed, or "". */
static const char *errors_call_name(const struct bn_sql_diag *d)
{
  return d->call != NULL ? d->call : "";
}

/* The values of the fields, "%c" and others, in the texts of a driver (api/driver.h). */
struct fields {
  const struct bn_policy *policy;
  const struct bn_sql_diag *diag;
  const char *sql; /* the statement, of len bytes; NULL: the text has no %q */
  size_t len;
};

/* Adds the value of the field whose letter follows a '%'.  Any other character stands for
   itself. */
static void errors_add_field(struct bn_buf *b, char letter, const struct fields *f)
{
  switch (letter) {
  case 'c':
    (void)bn_buf_str(b, errors_call_name(f->diag));
    break;
  case 'e':
    (void)bn_buf_printf(b, "%u", (unsigned)f->diag->code);
    break;
  case 'm':
    (void)bn_buf_str(b, bn_sql_shown(f->diag).text);
    break;
  case 'q':
    (void)bn_buf_add(b, f->sql, f->len);
    break;
  case 'w':
    (void)bn_buf_str(b, f->diag->where);
    break;
  case 'v': /* " was", or "" in dialect 0.5 */
    (void)bn_buf_str(b, f->policy->query_was);
    break;
  default:
    (void)bn_buf_char(b, letter);
  }
}

/* Adds the line at *line with its fields filled in, and moves *line to the next one. */
static void errors_add_line(struct bn_buf *b, const char **line, const struct fields *f)
{
  const char *p = *line;

  for (; *p != '\0' && *p != '\n'; p++) {
    if (*p == '%' && p[1] != '\0') {
      p++;
      errors_add_field(b, *p, f);
    } else {
      (void)bn_buf_char(b, *p);
    }
  }
  *line = *p == '\n' ? p + 1 : p;
}

/* Returns the line at *line followed by a suffix, both with their fields filled in, and cut to
   MESSAGE_MAX bytes.  Moves *line to the next one.  The caller frees the result. */
static char *errors_make_line(const char **line, const char *suffix, const struct fields *f)
{
  struct bn_buf b;

  bn_buf_init(&b, 0);
  errors_add_line(&b, line, f);
  errors_add_line(&b, &suffix, f);
  if (b.len > MESSAGE_MAX)
    b.data[MESSAGE_MAX] = '\0';
  return bn_buf_take(&b);
}

void bn_sql_log_remedy(const struct bn_driver *ops, const struct bn_sql_diag *d, const char *prefix,
                       _Atomic bool *reported)
{
  const char *remedy = ops->remedy != NULL ? ops->remedy(d) : NULL;
  struct bn_sql_shown shown;

  if (remedy == NULL || atomic_exchange(reported, true))
    return;
  if (prefix == NULL) {
    bn_log_hint("%s", remedy);
    return;
  }
  shown = bn_sql_shown(d);
  shown.text[strcspn(shown.text, "\n")] = '\0'; /* only the first of libpq's lines */
  bn_log_hint("%s: %s: %s", prefix, shown.text, remedy);
}

/* The length of the class of a SQLSTATE, which is its beginning. */
enum { STATE_CLASS_LEN = 2 };

/* The classes of SQLSTATEs that have traits here. */
static const struct state_class {
  char name[STATE_CLASS_LEN + 1];
  bool varies;       /* bn_sql_message_varies */
  bool of_statement; /* bn_sql_is_of_statement */
} state_classes[] = {
    {"22", .varies = true, .of_statement = true}, /* data */
    {"23", .varies = true, .of_statement = true}, /* integrity constraints */
    {"25", .of_statement = true},                 /* state of the transaction */
    {"28", .of_statement = true},                 /* rights of the user */
    {"3D", .of_statement = true},                 /* name of the database */
    {"3F", .of_statement = true},                 /* name of the schema */
    {"40", .varies = true, .of_statement = true}, /* rollbacks */
    {"42", .of_statement = true},                 /* syntax, names, rights */
    {"53", .varies = true},                       /* resources */
};

/* Returns the row of the SQLSTATE's class; a class without a row has no traits. */
static const struct state_class *errors_state_class_of(const char *state)
{
  static const struct state_class other = {.name = ""};

  for (size_t i = 0; i < sizeof state_classes / sizeof state_classes[0]; i++)
    if (strncmp(state, state_classes[i].name, STATE_CLASS_LEN) == 0)
      return &state_classes[i];
  return &other;
}

bool bn_sql_message_varies(const char *state)
{
  return errors_state_class_of(state)->varies;
}

bool bn_sql_is_of_statement(const char *state)
{
  return errors_state_class_of(state)->of_statement;
}

/* Returns a text that is the same for the failures of several threads if they have the same reason,
   for bn_log_fatal_as.  The server's message is part of it, unless messages with this SQLSTATE
   differ though the reason is the same.  The caller frees the text. */
static char *errors_make_kind(enum bn_sql_step step, const struct bn_sql_diag *d)
{
  static const char *const names[BN_STEPS] = {[BN_STEP_CONNECT] = "connect",
                                              [BN_STEP_PREPARE] = "prepare",
                                              [BN_STEP_BIND] = "bind",
                                              [BN_STEP_QUERY] = "query"};
  const char *subject = step == BN_STEP_CONNECT ? d->where : errors_call_name(d);
  /* The names of MySQL's servers begin with a blank: " on host 'x', port 3306". */
  const bool needs_blank = subject[0] != '\0' && subject[0] != ' ';
  struct bn_buf b;

  bn_buf_init(&b, 0);
  (void)bn_buf_printf(&b, "%s%s%s: error %u, SQLSTATE %s", names[step], needs_blank ? " " : "",
                      subject, (unsigned)d->code, d->state);
  if (step == BN_STEP_CONNECT || !bn_sql_message_varies(d->state))
    (void)bn_buf_printf(&b, ": %s", bn_sql_shown(d).text);
  return bn_buf_take(&b);
}

/* Returns the text for failures of this step: the driver's, or else the default text.  sql NULL:
   the statement is not known. */
static const char *errors_text_of(const struct bn_driver *ops, enum bn_sql_step step,
                                  const char *sql)
{
  if (step == BN_STEP_QUERY && sql == NULL)
    return text_unnamed;
  return ops->texts != NULL && ops->texts[step] != NULL ? ops->texts[step] : default_texts[step];
}

/* Returns the number of lines.  A newline at the end begins no line. */
static size_t errors_count_lines(const char *text)
{
  size_t n = 1;

  for (; *text != '\0'; text++)
    n += *text == '\n' && text[1] != '\0';
  return n;
}

void bn_sql_log_failure(const struct bn_driver *ops, const struct bn_policy *policy,
                        enum bn_sql_step step, const struct bn_sql_diag *d, const char *sql,
                        size_t len)
{
  const char *text = errors_text_of(ops, step, sql);
  const size_t n = errors_count_lines(text);
  char **line = bn_alloc(n, sizeof *line);
  /* sysbench does not show a statement that cannot be prepared. */
  const bool adds_statement = bn_policy_is_native(policy) && sql != NULL &&
                              (step == BN_STEP_PREPARE || step == BN_STEP_BIND);
  const bool is_alert =
      policy->query_failures_are_alerts && step == BN_STEP_QUERY && !ops->fatal_queries;
  const char *suffix = adds_statement ? " for query '%q'" : "";
  const struct fields fields = {.policy = policy, .diag = d, .sql = sql, .len = len};
  char *kind = errors_make_kind(step, d);

  /* Each call moves `text` to its next line. */
  for (size_t i = 0; i < n; i++)
    line[i] = errors_make_line(&text, i + 1 == n ? suffix : "", &fields);
  for (size_t i = 0; is_alert && i < n; i++)
    bn_log_text(BN_ALERT, line[i]); /* unlike a fatal error, an alert is logged by each thread */
  if (!is_alert)
    bn_log_fatal_as(kind, (const char *const *)line, n);
  free(kind);
  for (size_t i = 0; i < n; i++)
    free(line[i]);
  free((void *)line);
}
