/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Client-side prepared statements: puts the values in place of the question marks. */
#ifndef BN_SQL_EMULATE_H
#define BN_SQL_EMULATE_H

#include <stdbool.h>
#include <stddef.h>

#include "api/driver.h"
#include "base/buf.h"

/* A text and the rules by which its server reads literals: they decide what is a parameter. */
struct bn_sql_emulation {
  const char *sql;
  size_t len;
  const struct bn_sql_caps *caps;
  /* As the driver's hook; called with conn. */
  size_t (*quote)(void *conn, char *out, const char *in, size_t len);
  void *conn;
};

/* Returns the next question mark from p on that stands for a parameter: one outside of literals,
   quoted names and comments.  Returns end if there is none.  The text is from begin to end. */
const char *bn_sql_find_param(const char *p, const char *begin, const char *end,
                              const struct bn_sql_caps *caps);
/* Returns how many question marks stand for parameters. */
size_t bn_sql_count_params(const char *sql, size_t len, const struct bn_sql_caps *caps);

/* Replaces the content of out by the text with the values in place.  binds has as many entries as
   bn_sql_count_params says, or more.  out has no limit. */
void bn_sql_emulate(const struct bn_sql_emulation *e, const struct bn_sql_bind *binds,
                    struct bn_buf *out);

#endif
