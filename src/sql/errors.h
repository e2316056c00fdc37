/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors of databases: the lists of errors in --db-ignore-errors and in the drivers' own options,
   and the messages about failures.  Any thread may call these functions. */
#ifndef BN_SQL_ERRORS_H
#define BN_SQL_ERRORS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "api/driver.h"
#include "api/opt.h"
#include "base/err.h"
#include "base/escape.h"

/* An error in a list: by its number, by its SQLSTATE, or by either, if the typed text ("40001") may
   be both. */
struct bn_sql_error {
  int code;      /* 0: not by number */
  char state[6]; /* "": not by SQLSTATE */
};

/* A list of errors.  It is zeroed before it is filled, and constant from then on. */
struct bn_sql_errors {
  bool all;         /* the list has each error */
  unsigned classes; /* bit 1 << enum bn_sql_class: the list has each error of the class */
  struct bn_sql_error *error;
  size_t n;
};

/* Reads --db-ignore-errors: numbers, SQLSTATEs, names of classes, "all".  Returns 0, or -1 and
   err. */
int bn_sql_errors_parse(struct bn_sql_errors *e, const struct bn_policy *policy,
                        const struct bn_list *list, struct bn_err *err);
/* Reads the list of the errors that a driver ignores by itself; conf holds the values of its
   options.  Returns 0, or -1 and err. */
int bn_sql_errors_read_driver(struct bn_sql_errors *e, const struct bn_driver *ops,
                              const void *conf, struct bn_err *err);
/* Frees the list, or zeroed memory, and empties it. */
void bn_sql_errors_free(struct bn_sql_errors *e);
/* Returns whether the list names a SQLSTATE that the driver takes for the loss of a connection. */
bool bn_sql_errors_include_loss(const struct bn_sql_errors *e, const struct bn_driver *ops);

/* A class of errors.  A new class needs a value of enum bn_sql_class, a row of the table in
   errors.c, and the errors for which the `classify` of each driver returns it. */
struct bn_sql_class_traits {
  const char *name;    /* in --db-ignore-errors and in documents */
  bool refuses_commit; /* a COMMIT that fails with it has not been stored; else that is unknown */
  bool of_server;      /* this server cannot write, or cannot work; another one may */
};
/* Returns the row of a class. */
const struct bn_sql_class_traits *bn_sql_errors_class(enum bn_sql_class class);
/* Returns the class of a failure; a driver need not tell classes apart. */
static inline enum bn_sql_class bn_sql_errors_classify(const struct bn_driver *ops,
                                                       const struct bn_sql_diag *d)
{
  return ops->classify != NULL ? ops->classify(d) : BN_CLASS_OTHER;
}
/* Returns whether the list has the error, which is of that class. */
bool bn_sql_errors_have(const struct bn_sql_errors *e, const struct bn_sql_diag *d,
                        enum bn_sql_class class);

/* Logs a failure of the step in the words of the driver.  If errors go to standard error, a failure
   that several threads meet for the same reason is logged once.  sql NULL: the statement is not
   known any more. */
void bn_sql_log_failure(const struct bn_driver *ops, const struct bn_policy *policy,
                        enum bn_sql_step step, const struct bn_sql_diag *d, const char *sql,
                        size_t len);

/* Says on standard error what a user may do about the failure, if the driver knows a remedy and
   *reported is false, and sets *reported.  The line begins with the prefix and the server's
   message; prefix NULL: it has neither, because the message has been logged. */
void bn_sql_log_remedy(const struct bn_driver *ops, const struct bn_sql_diag *d, const char *prefix,
                       _Atomic bool *reported);

/* Returns whether messages with this SQLSTATE name a value, a row, a lock or a limit, and so differ
   between failures for the same reason: data, integrity constraints, rollbacks, resources. */
bool bn_sql_message_varies(const char *state);
/* Returns whether a statement that has failed with this SQLSTATE would fail whether it is prepared
   or sent as text: syntax, names, rights, values, and the transaction. */
bool bn_sql_is_of_statement(const char *state);

/* The message of a server, as it is shown. */
struct bn_sql_shown {
  char text[BN_ESCAPED * sizeof((struct bn_sql_diag *)0)->text];
};

/* Returns the message, escaped, so that it cannot steer a terminal.  Line breaks stay: libpq's
   messages have several lines. */
struct bn_sql_shown bn_sql_shown(const struct bn_sql_diag *d);

#endif
