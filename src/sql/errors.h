/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of errors: what --db-ignore-errors and the drivers' own options name, and what it matches.
 */
#ifndef BN_SQL_ERRORS_H
#define BN_SQL_ERRORS_H

#include <stdbool.h>
#include <stddef.h>

#include "api/driver.h"
#include "api/opt.h"
#include "base/err.h"

/* One error by its number, its SQLSTATE, or either if it was typed as what may be both. */
struct bn_sql_error {
  int code;      /* 0: not by number */
  char state[6]; /* "": not by SQLSTATE */
};

/* Zeroed before it is filled, constant from then on. */
struct bn_sql_errors {
  bool all;
  unsigned classes; /* bit 1 << enum bn_sql_class */
  struct bn_sql_error *error;
  size_t n;
};

/* --db-ignore-errors: numbers, SQLSTATEs, names of classes, "all".  0, or -1 and err. */
int bn_sql_errors_parse(struct bn_sql_errors *e, const struct bn_policy *policy,
                        const struct bn_list *list, struct bn_err *err);
/* What a driver ignores by itself; conf holds the values of its options.  0, or -1 and err. */
int bn_sql_errors_of_driver(struct bn_sql_errors *e, const struct bn_driver *ops, const void *conf,
                            struct bn_err *err);
void bn_sql_errors_free(struct bn_sql_errors *e);
/* Whether it names a SQLSTATE of a lost connection of that driver. */
bool bn_sql_errors_name_loss(const struct bn_sql_errors *e, const struct bn_driver *ops);
/* The name of a class, as lists have it. */
const char *bn_sql_errors_class(enum bn_sql_class class);
/* The class of a failure; a driver need not tell classes apart. */
static inline enum bn_sql_class bn_sql_errors_classify(const struct bn_driver *ops,
                                                       const struct bn_sql_diag *d)
{
  return ops->classify != NULL ? ops->classify(d) : BN_CLASS_OTHER;
}
bool bn_sql_errors_have(const struct bn_sql_errors *e, const struct bn_sql_diag *d,
                        enum bn_sql_class class);

#endif
